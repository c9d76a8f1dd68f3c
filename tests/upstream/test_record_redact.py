"""conformance.upstream.record_redact: what the recorder knows to be secret is in none of what it writes."""

from __future__ import annotations

import gzip

import pytest

from conformance.cassette.model import Envelope, Frame, Interaction, RecordedRequest
from conformance.upstream.record_redact import own_keys, without_known

KEY = "plain-Looking-Words-Of-A-Key"


def zipped(data: bytes) -> bytes:
    """The same bytes at any time: they name a test."""
    return gzip.compress(data, mtime=0)


def interaction(
    body: bytes = b"{}",
    *head: str,
    sent: bytes = b"{}",
    headers: tuple[tuple[str, str], ...] = (("Authorization", "Bearer someone-elses-t0ken"),),
) -> Interaction:
    """An interaction with this response."""
    return Interaction(
        request=RecordedRequest(method="POST", uri="https://api.test/v1/x", headers=headers, body=sent),
        envelope=Envelope(head=("HTTP/1.1 200 OK", *head), body=body, frames=(Frame(0.0, len(body)),)),
    )


@pytest.mark.parametrize(
    "body",
    [
        f'{{"message":"no such key: {KEY}"}}',
        f'{{"message":"NO SUCH KEY: {KEY.upper()}"}}',
        f'{{"message":"it begins with {KEY[:10]} and ends with {KEY[-9:]}"}}',
        '{"message":"someone-elses-t0ken is not known"}',
    ],
)
def test_a_key_is_overwritten_whole_or_in_pieces(body: str) -> None:
    """In any case, whatever it looks like, also where it is the client's own; every length stays."""
    clean, notes, reason = without_known(interaction(body.encode(), f"X-Echo: {KEY}"), (KEY,))
    assert reason == ""
    text = clean.envelope.body.decode()
    assert len(text) == len(body)
    assert not any(word in text.lower() for word in (KEY[:10].lower(), KEY[-9:].lower(), "someone-elses"))
    assert "REDACTED" in text
    assert KEY not in str(clean.envelope.head)
    assert ("response body", "key") in notes
    assert ("response header x-echo", "key") in notes
    assert clean.request.headers == (("Authorization", "Bearer REDACTED"),)


def test_the_uri_and_the_request_are_cleaned() -> None:
    """A key in a query, and a prompt that holds it."""
    asked = RecordedRequest(method="GET", uri=f"https://api.test/v1/x?q={KEY}&key=short", body=KEY.encode())
    clean, _, _ = without_known(Interaction(request=asked, envelope=interaction().envelope), (KEY,))
    assert KEY not in clean.request.uri
    assert "short" not in clean.request.uri
    assert clean.request.body == b"REDACTED".ljust(len(KEY), b"*")


def test_ids_of_request_and_account_go_wherever_they_stand() -> None:
    """Each header's value, and the same value in a body: with its length; a short one only where it is a header's."""
    body = b'{"error":{"message":"Include req_0123456789 when you ask us. 7"}}'
    heads = ("x-request-id: req_0123456789", "OpenAI-Organization: my-company", "cf-ray: 8a-FRA", "session-id: 7")
    clean, notes, _ = without_known(interaction(body, *heads, "x-ratelimit-limit-requests: 100"), ())
    assert clean.envelope.head[1:] == (
        "x-request-id: REDACTED******",
        "OpenAI-Organization: REDACTED",
        "cf-ray: REDACT",
        "session-id: R",
        "x-ratelimit-limit-requests: 100",
    )
    assert clean.envelope.body == body.replace(b"req_0123456789", b"REDACTED******")
    assert ("response body", "id") in notes


def test_cookies_and_accounts() -> None:
    """What looks like a secret goes, too."""
    body = b'{"error":{"code":404},"user_id":"user_2bWq3YkT8vN1mZ4xC7pL0s"}'
    clean, _, _ = without_known(interaction(body, "Set-Cookie: __cf_bm=abcdef; path=/"), ())
    assert clean.envelope.head[1] == "Set-Cookie: REDACTED"
    assert b"user_2bWq" not in clean.envelope.body


def test_words_in_a_keys_place_stay_in_texts() -> None:
    """A client of a local server gives any word as its key: it goes from the header, and not from what was said."""
    one = interaction(b"I am ollama", headers=(("Authorization", "Bearer ollama"),))
    clean, _, _ = without_known(one, ())
    assert clean.envelope.body == b"I am ollama"
    assert clean.request.headers == (("Authorization", "Bearer REDACTED"),)


def test_keys_made_for_tests_stay() -> None:
    """They are no secrets, and a leak of one is what a bug report may be about."""
    one = interaction(b"sk-test-1234567", headers=(("Authorization", "Bearer sk-test-1234567"),))
    clean, _, _ = without_known(one, ())
    assert clean == one
    assert own_keys(one) == frozenset()
    clean, _, _ = without_known(one, ("sk-test-1234567",))
    assert b"sk-test" not in clean.envelope.body


@pytest.mark.parametrize(
    ("body", "coding", "reason"),
    [
        (zipped(b"nothing secret"), "gzip", ""),
        (zipped(KEY.encode()), "gzip", "a secret stands in"),
        (zipped(b"sk-abcdefghij0123456789"), "gzip", "a secret stands in"),
        (zipped(b"about req_0123456789 " * 9), "gzip", "a secret stands in"),
        (zipped(KEY.encode() * 99)[:-12], "gzip", "cannot be searched"),
        (b"\x1b\x03", "br", "cannot be searched"),
        (b"plain", "identity", ""),
        (b"", "br", ""),
    ],
)
def test_what_is_coded_is_searched(body: bytes, coding: str, reason: str) -> None:
    """A coded body stays as it is, unless a secret may stand in it: then there is a reason not to write it."""
    one = interaction(body, f"Content-Encoding: {coding}", "x-request-id: req_0123456789")
    clean, _, told = without_known(one, (KEY,))
    assert clean.envelope.body == body
    assert told.partition(" its")[0] == reason if reason.endswith("in") else reason in told
    assert bool(told) is bool(reason)
