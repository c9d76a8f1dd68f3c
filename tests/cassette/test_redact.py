"""Redaction: secrets go, lengths stay, test keys stay, every replacement is noted."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings

from conformance.cassette.model import Cassette, Envelope, Frame, Interaction, RecordedRequest
from conformance.cassette.redact import find_secrets, is_clean, redact

from .strategies import cassettes

quick = settings(max_examples=60, derandomize=True, deadline=None, database=None)

LONG = "abcdefghij0123456789ABCDEFGHIJ0123456789"

SECRETS = [
    (f"sk-{LONG}", "api-key", f"sk-{LONG}"),
    (f"key sk-ant-api03-{LONG}.", "api-key", f"sk-ant-api03-{LONG}"),
    (f"sk-or-v1-{LONG}", "api-key", f"sk-or-v1-{LONG}"),
    (f"gsk_{LONG}", "api-key", f"gsk_{LONG}"),
    (f"hf_{LONG}", "api-key", f"hf_{LONG}"),
    (f"AIza{LONG}", "api-key", f"AIza{LONG}"),
    (f"xai-{LONG}", "api-key", f"xai-{LONG}"),
    ("AKIAABCDEFGHIJ012345", "api-key", "AKIAABCDEFGHIJ012345"),
    (f"ghp_{LONG}", "api-key", f"ghp_{LONG}"),
    (f"org-{LONG}", "organisation", f"org-{LONG}"),
    ('"user_id":"user_2bWq3YkT8vN1mZ4xC7pL0s"', "account", "user_2bWq3YkT8vN1mZ4xC7pL0s"),
    (f'"authorized: Bearer {LONG}"', "bearer", LONG),
    (f"eyJ{LONG}.eyJ{LONG}.{LONG}", "jwt", f"eyJ{LONG}.eyJ{LONG}.{LONG}"),
    ('{"api_key": "short"}', "json-member", "short"),
    ('{"a":{"password":"a\\"b"}}', "json-member", 'a\\"b'),
    ('{"m":"{\\"apiKey\\": \\"inner\\"}"}', "json-member", "inner"),
    ("https://x.test/v1?model=m&key=short&b=c", "field", "short"),
    ("client_secret=short&x=y", "field", "short"),
    ("https://me:pass@x.test/", "userinfo", "me:pass"),
]

HARMLESS = [
    "sk-test-" + LONG,
    "Bearer sk-up-" + LONG,
    "sk-canary-" + LONG,
    '{"api_key": "sk-test-1"}',
    "risk-" + LONG,
    "sk-****************abcd",
    '{"logprobs":{"content":[{"token":"Hello","logprob":-0.1}]}}',
    "task-force-organisation-without-digits",
    "user_internationalizationsettings",
    '{"prompt_tokens":11,"max_tokens":5}',
    '{"api_key":"REDACTED****"}',
    "Bearer REDACTED",
    "https://x.test/v1?model=m",
]


@pytest.mark.parametrize(("text", "kind", "secret"), SECRETS)
def test_what_is_found(text: str, kind: str, secret: str) -> None:
    """Each form of secret is found once, exactly as far as it reaches."""
    data = text.encode()
    assert [(found.kind, data[found.start : found.end].decode()) for found in find_secrets(data)] == [(kind, secret)]


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret(text: str) -> None:
    """Test keys, masked keys, ordinary words and members, and what is redacted already are left alone."""
    assert find_secrets(text.encode()) == []


def _cassette(**changes: object) -> Cassette:
    request = RecordedRequest(
        method="POST",
        uri="https://x.test/v1/chat?api-key=short",
        headers=(
            ("Authorization", f"Bearer {LONG}"),
            ("X-Api-Key", "short"),
            ("OpenAI-Organization", "acme"),
            ("Cookie", "a=b; c=d"),
            ("Accept", "*/*"),
        ),
        body=json.dumps({"user": "u", "api_key": "short"}).encode(),
    )
    body = f"data: one sk-{LONG}\n\ndata: two\n\n".encode()
    envelope = Envelope(
        head=("HTTP/1.1 200 OK", "Set-Cookie:  s=1; Path=/", f"Content-Length: {len(body)}", "x-request-id: req_1"),
        body=body,
        frames=(Frame(0.0, 20), Frame(1.0, len(body) - 20)),
    )
    return Cassette(name="x", interactions=(Interaction(request=request, envelope=envelope),), origin="recorded")


def test_a_cassette_is_redacted() -> None:
    """Headers, URI and bodies of both sides lose their secrets; lengths, frames and order stay."""
    before = _cassette()
    after = redact(before)
    request, envelope = after.interactions[0].request, after.interactions[0].envelope
    assert request.uri == "https://x.test/v1/chat?api-key=REDAC"
    assert request.headers == (
        ("Authorization", "Bearer REDACTED"),
        ("X-Api-Key", "REDACTED"),
        ("OpenAI-Organization", "REDACTED"),
        ("Cookie", "REDACTED"),
        ("Accept", "*/*"),
    )
    assert json.loads(request.body) == {"user": "u", "api_key": "REDAC"}
    assert envelope.head[1] == "Set-Cookie:  REDACTED"
    assert envelope.head[2:] == before.interactions[0].envelope.head[2:]
    assert envelope.frames == before.interactions[0].envelope.frames
    assert len(envelope.body) == len(before.interactions[0].envelope.body)
    assert LONG.encode() not in envelope.body
    assert not is_clean(before.interactions[0])
    assert is_clean(after.interactions[0])


def test_each_replacement_is_noted() -> None:
    """The notes say where and which kind, never the secret."""
    assert set(redact(_cassette()).redactions) == {
        ("request uri", "field"),
        ("request header authorization", "credential"),
        ("request header x-api-key", "credential"),
        ("request header openai-organization", "organization"),
        ("request header cookie", "cookie"),
        ("request body", "json-member"),
        ("response header set-cookie", "cookie"),
        ("response body", "api-key"),
    }


def test_twice_is_once() -> None:
    """Redacting what is redacted changes nothing, notes included."""
    assert redact(redact(_cassette())) == redact(_cassette())


@pytest.mark.parametrize("value", ["Bearer sk-test-client", "sk-up-0", "Bearer REDACTED", "", "s=sk-canary-1; Path=/"])
def test_credentials_of_tests_stay(value: str) -> None:
    """A credential that holds a test key, or is redacted already, is kept."""
    request = RecordedRequest(method="GET", uri="http://x.test/", headers=(("authorization", value), ("cookie", value)))
    envelope = Envelope(head=("HTTP/1.1 200 OK",), body=b"", frames=())
    assert is_clean(Interaction(request=request, envelope=envelope))


@quick
@given(cassettes)
def test_nothing_but_content_changes(cassette: Cassette) -> None:
    """For any cassette: sizes and frames are kept, and a second time changes nothing."""
    after = redact(cassette)
    assert redact(after) == after
    for old, new in zip(cassette.interactions, after.interactions, strict=True):
        assert len(old.envelope.body) == len(new.envelope.body)
        assert old.envelope.frames == new.envelope.frames
        assert is_clean(new)
