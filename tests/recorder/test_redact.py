"""conformance.recorder.redact: what the recorder knows to be secret is in nothing it writes; all else stays."""

from __future__ import annotations

import gzip
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.capture import exchanges
from conformance.cassette.model import Cassette, Envelope, Frame, Interaction, RecordedRequest
from conformance.cassette.store import Library
from conformance.contract.catalog import CATALOG
from conformance.contract.clause import Outcome
from conformance.contract.judge import judge
from conformance.recorder.known import Known
from conformance.recorder.redact import Cleaned, cleaned

MIXED = "Ab12Cd34Ef56Gh78Ij90Kl"
KEY = f"some-key-{MIXED}"
PHRASE = "plain-Looking-Words-Of-A-Key"


def zipped(data: bytes) -> bytes:
    """The same bytes at any time: they name a test."""
    return gzip.compress(data, mtime=0)


def interaction(
    body: bytes = b"{}",
    *head: str,
    sent: bytes = b"{}",
    headers: tuple[tuple[str, str], ...] = (("Authorization", "Bearer someone-elses-t0ken"),),
    status: str = "200 OK",
) -> Interaction:
    """An interaction with this response."""
    return Interaction(
        request=RecordedRequest(method="POST", uri="https://api.test/v1/x", headers=headers, body=sent),
        envelope=Envelope(head=(f"HTTP/1.1 {status}", *head), body=body, frames=(Frame(0.0, len(body)),)),
    )


def known(*keys: str, member: bool = False) -> Known:
    """What somebody told."""
    told = Known()
    for key in keys:
        told.told(key, member=member)
    return told


def clean(one: Interaction, *keys: str) -> Cleaned:
    """A client's interaction without these keys."""
    return cleaned(one, known(*keys))


@pytest.mark.parametrize("key", [KEY, PHRASE])
def test_a_whole_key_gives_way_to_one_made_for_tests(key: str) -> None:
    """In any case, in values and bodies, with as many bytes; the client's own, too."""
    text = f'{{"message":"no such key: {key}, {key.upper()}, nor someone-elses-t0ken"}}'
    done = clean(interaction(text.encode(), f"X-Echo: {key}"), key)
    assert (done.reason, done.told) == ("", "")
    body = done.interaction.envelope.body.decode()
    assert len(body) == len(text)
    assert key.lower() not in body.lower()
    stand_in = done.interaction.envelope.head[1].removeprefix("X-Echo: ")
    assert stand_in == f"sk-test-00001{'-stand-in' * 9}"[: len(key)]
    assert body.count(stand_in) == body.count(stand_in.upper()) == 1
    assert {("response body", "key"), ("response header x-echo", "key")} <= set(done.notes)
    assert done.interaction.request.headers == (("Authorization", "Bearer sk-test-00002-stand"),)
    assert "sk-test-00002-stand" in body


@pytest.mark.parametrize(
    ("said", "left"),
    [
        (f"it begins with {KEY[:16]}.", False),
        (f"it begins with {KEY[:14]}.", True),
        (f"it ends with {KEY[-12:]}.", False),
        (f"half of it: {KEY[-16:]}.", False),
        (f"{KEY[:13]}***", False),
        ("some-key-***", True),
        ("some-key- is no part of it", True),
        (f"no more than {KEY[-11:]}", True),
    ],
)
def test_a_piece_of_a_key_goes_where_it_cannot_be_said_by_chance(said: str, left: bool) -> None:
    """Twelve bytes of it that are no words, or its head before a mask."""
    body = clean(interaction(said.encode()), KEY).interaction.envelope.body.decode()
    assert (body == said) is left
    assert len(body) == len(said)


def test_a_masked_key_keeps_its_form() -> None:
    """Its head, also where that is but the kind of key, becomes the stand-in's; what the mask hides is hidden."""
    key = "sk-" + "proj-" + MIXED
    body = f"Incorrect key: {key[:8]}***{key[-4:]}, sk-proj- keys"
    done = cleaned(interaction(body.encode()), known(key, member=True))
    assert done.interaction.envelope.body.decode() == f"Incorrect key: sk-up-00***{key[-4:]}, sk-proj- keys"


def test_the_uri_and_the_request_are_cleaned() -> None:
    """A key in a query, and a prompt that holds it."""
    asked = RecordedRequest(method="GET", uri=f"https://api.test/v1/x?q={KEY}&key=short", body=KEY.encode())
    request = clean(Interaction(request=asked, envelope=interaction().envelope), KEY).interaction.request
    assert KEY not in request.uri
    assert "short" not in request.uri
    assert request.body.startswith(b"sk-test-00001-")


def test_a_leak_is_the_same_key_in_both_legs() -> None:
    """A member's key has one stand-in, on its own leg and where the client is shown it; each key another one."""
    keys = [f"gs{'k'}_{MIXED}{number}" for number in range(2)]
    told = Known()
    asked = [cleaned(interaction(headers=(("Authorization", f"Bearer {key}"),)), told, member=True) for key in keys]
    shown = cleaned(interaction(f'{{"k":"{keys[1]}"}}'.encode(), f"x-goog-api-key: {keys[0]}"), told)
    first, second = (one.interaction.request.headers[0][1].removeprefix("Bearer ") for one in asked)
    assert first.startswith("sk-up-00001-")
    assert second.startswith("sk-up-00002-")
    assert shown.interaction.envelope.head[1] == f"x-goog-api-key: {first}"
    assert json.loads(shown.interaction.envelope.body) == {"k": second}


def test_a_key_that_is_passed_on_stays_the_clients() -> None:
    """A gateway that asks a member with the client's own key shows nobody's when it shows that."""
    told, headers = Known(), (("Authorization", f"Bearer {KEY}"),)
    client = cleaned(interaction(f"yours: {KEY}".encode(), headers=headers), told).interaction
    asked = cleaned(interaction(headers=headers), told, member=True).interaction
    assert asked.request.headers == client.request.headers == (("Authorization", f"Bearer {told.keys[KEY]}"),)
    assert client.envelope.body == f"yours: {told.keys[KEY]}".encode()
    assert told.keys[KEY].startswith("sk-test-")


def test_a_key_that_is_known_by_its_form_alone_has_a_stand_in() -> None:
    """In a response it counts as a member's, in a request as the client's."""
    seen, sent = f"xai{'-'}{MIXED}", f"hf{'_'}{MIXED}"
    done = clean(interaction(seen.encode(), sent=sent.encode()))
    assert done.interaction.envelope.body.startswith(b"sk-up-0000")
    assert done.interaction.request.body.startswith(b"sk-test-0000")


@pytest.mark.parametrize("key", ["sk-12345", "pass1word"])
def test_a_short_key_is_overwritten_without_a_stand_in(key: str) -> None:
    """There is no room for one: a leak of it is not to be seen."""
    one = interaction(f"of {key}, not {key}2".encode(), headers=(("Authorization", f"Bearer {key}"),))
    done = clean(one, key)
    assert done.interaction.request.headers == (("Authorization", "Bearer REDACTED"),)
    assert done.interaction.envelope.body == f"of {'REDACTED*'[: len(key)]}, not {key}2".encode()


def test_ids_of_request_and_account_go_wherever_they_stand() -> None:
    """Each header's value, and the same value in a body: with its length; words and short ones only in their field."""
    body = b'{"error":{"message":"Include req_0123456789 when you ask us at my-company. 7"},"created":1700000000}'
    heads = ("x-request-id: req_0123456789", "OpenAI-Organization: my-company", "cf-ray: 8a-FRA", "session-id: 7")
    done = clean(interaction(body, *heads, "x-account-id: 1700000000", "x-ratelimit-limit-requests: 100"))
    assert done.interaction.envelope.head[1:] == (
        "x-request-id: req_standin1zz",
        "OpenAI-Organization: standin2zz",
        "cf-ray: REDACT",
        "session-id: R",
        "x-account-id: standin5zz",
        "x-ratelimit-limit-requests: 100",
    )
    assert done.interaction.envelope.body == body.replace(b"req_0123456789", b"req_standin1zz")
    assert ("response body", "id") in done.notes


def test_an_id_is_the_same_in_both_legs() -> None:
    """What one leg's field tells is known in the other's text, and an account by its form."""
    told, org = Known(), f"org{'-'}{MIXED}"
    first = cleaned(interaction(b"{}", "x-request-id: 0af7651916cd43dd", f"openai-organization: {org}"), told)
    second = cleaned(interaction(f"about 0af7651916cd43dd of {org}".encode()), told)
    assert second.interaction.envelope.body == b"about standin1zzzzzzzz of " + f"org-standin2{'z' * 14}".encode()
    assert first.interaction.envelope.head[1:] == (
        "x-request-id: standin1zzzzzzzz",
        f"openai-organization: org-standin2{'z' * 14}",
    )


def test_cookies_and_accounts() -> None:
    """What looks like a secret goes, too."""
    body = b'{"error":{"code":404},"user_id":"user_2bWq3YkT8vN1mZ4xC7pL0s"}'
    done = clean(interaction(body, "Set-Cookie: __cf_bm=abcdef; path=/")).interaction
    assert done.envelope.head[1] == "Set-Cookie: REDACTED"
    assert b"user_2bWq" not in done.envelope.body


def test_words_in_a_keys_place_stay_in_texts() -> None:
    """A client of a local server gives any word as its key: it goes from the header, and not from what was said."""
    one = interaction(b"I am ollama", headers=(("Authorization", "Bearer ollama"),))
    done = clean(one)
    assert done.interaction.envelope.body == b"I am ollama"
    assert done.interaction.request.headers == (("Authorization", "Bearer REDACTED"),)
    assert clean(one, "ollama").told == "a key that is made of ordinary words stands in its body, and stays there"


@pytest.mark.parametrize("body", ['{"type":"%s"}', "event: %s\ndata: {}\n\n", "Unknown: '%s'", "x%s"])
def test_a_key_of_words_stays_where_the_protocol_may_mean_it(body: str) -> None:
    """As a whole value, an event's name, or within a longer word; and that is told."""
    key = "response.output_text.delta"
    said = (body % key).encode()
    done = clean(interaction(said), key)
    assert done.interaction.envelope.body == said
    assert done.told.startswith("a key that is made of ordinary words")
    assert key.encode() not in clean(interaction(f"no {key} here".encode()), key).interaction.envelope.body


def test_keys_made_for_tests_stay() -> None:
    """They are no secrets, and a leak of one is what a bug report may be about; unless somebody gave it as the key."""
    one = interaction(b"sk-test-1234567", headers=(("Authorization", "Bearer sk-test-1234567"),))
    assert clean(one).interaction == one
    assert b"1234567" not in clean(one, "sk-test-1234567").interaction.envelope.body


@pytest.mark.parametrize(
    "one",
    [
        interaction(status=f"401 Unknown {KEY}"),
        interaction(b"{}", f"Content-Type: application/json; key={KEY}"),
        interaction(b"{}", f"X-{KEY}: 1"),
        interaction(headers=(("Host", f"{KEY}.test"),)),
        interaction(status=f"401 Unknown sk{'-'}{MIXED}"),
    ],
)
def test_what_tells_how_to_read_it_is_never_overwritten(one: Interaction) -> None:
    """With a key in there it is not for a file."""
    done = clean(one, KEY)
    assert done.interaction.envelope.head == one.envelope.head
    assert done.reason.startswith("a key stands in its ")
    assert KEY not in done.reason
    assert clean(interaction(status="401 Unknown some-key"), KEY).reason == ""


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
    done = clean(one, KEY)
    assert done.interaction.envelope.body == body
    assert done.reason.partition(" its")[0] == reason if reason.endswith("in") else reason in done.reason
    assert bool(done.reason) is bool(reason)


WORDY = (
    "my-content-key-123456 my-internal-token-998877 chat-completion-key-2024 application/json-key1 assistant data"
    " text-event-stream-utf-8 chat.completion.chunk response.output_text.delta finish_reason-stop-1234"
    " Internal-Server-Error-500 invalid_request_error rate_limit_exceeded-429 transfer-encoding-chunked"
    " openai-version-2020-10-01 MODEL-Not-Found-1 x-ratelimit-limit-requests gpt-4o-mini-key-0001 model_not_found"
)


def test_keys_of_words_leave_what_is_shipped_as_it_is() -> None:
    """Every shipped cassette comes out as it does without a key."""
    library = Library()
    for name in library.names():
        for one in library.get(name).interactions:
            plain, done = clean(one), cleaned(one, known(*WORDY.split(), member=True))
            assert (done.interaction, done.reason) == (plain.interaction, plain.reason)


REAL = st.builds(
    lambda head, text: head + text,
    st.sampled_from([f"sk{'-'}", f"sk{'-'}proj-", f"gsk{'_'}", f"AIz{'a'}", "", "local-"]),
    st.text("abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ0123456789_-", min_size=24, max_size=60).filter(
        lambda text: re.match("[A-Za-z0-9]", text) and re.search("[0-9].*[0-9]", text[:12]) and len(set(text)) > 9
    ),
)


@given(key=REAL, other=REAL, member=st.booleans())
@settings(max_examples=200, derandomize=True, deadline=None, database=None)
def test_no_key_is_left_anywhere(key: str, other: str, member: bool) -> None:
    """Whatever key a request carries, and wherever it and another one stand: neither is left, and no length changes."""
    body = json.dumps({"error": {"message": f"No {key}, {key[:-6]} or {other}", "key": other, "n": 1}}).encode()
    one = interaction(
        body,
        f"X-Debug: key={key};{other}",
        f"x-api-key: {key}",
        sent=json.dumps({"q": key}).encode(),
        headers=(("Authorization", f"Bearer {key}"), ("X-Other", other)),
    )
    told = known(other, member=member)
    done = cleaned(one, told, member=member)
    assert done.reason == ""
    after = done.interaction
    assert all(secret not in repr(after) for secret in (key, other, key[:-6]))
    assert [len(after.envelope.body), len(after.request.body)] == [len(body), len(one.request.body)]
    assert json.loads(after.envelope.body).keys() == {"error"}
    assert after.request.headers[0][1].removeprefix("Bearer ") == json.loads(after.request.body)["q"]
    assert cleaned(after, told, member=member).interaction == after


WORDS = (
    "content type application json text event stream chat completion chunk assistant role object choices delta message"
    " finish_reason stop internal server error OK transfer encoding chunked length data done usage total_tokens model"
    " Content Type Internal Server Error id index created openai request response output_text"
)
KEYS = st.builds(
    lambda joint, words, end: joint.join(words) + end,
    st.sampled_from(["-", "_", ".", "/", ""]),
    st.lists(st.sampled_from(WORDS.split()), min_size=1, max_size=5),
    st.sampled_from(["", "-1", "-123456", "-998877", "2"]),
)
STREAM = b"".join(
    b"data: " + json.dumps(event, separators=(",", ":")).encode() + b"\n\n"
    for event in (
        {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1700000000,
            "model": "model",
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
        }
        for delta, reason in (
            ({"role": "assistant", "content": "An Internal Server Error of content-type"}, None),
            ({}, "stop"),
        )
    )
) + (b"data: [DONE]\n\n")
ASKED = b'{"model":"model","stream":true,"messages":[{"role":"user","content":"Say hello."}]}'


@given(key=KEYS, own=KEYS)
@settings(max_examples=300, derandomize=True, deadline=None, database=None)
def test_keys_of_protocol_words_harm_nothing(key: str, own: str) -> None:
    """No name, reason phrase, media type or framing changes, no event is other than it was, and the judge agrees."""
    heads = ("Content-Type: text/event-stream", "Transfer-Encoding: chunked", "openai-version: 2020-10-01")
    sent = (("Content-Type", "application/json"), ("Authorization", f"Bearer {own}"), ("Accept", "text/event-stream"))
    one = interaction(STREAM, *heads, sent=ASKED, headers=sent)
    one = Interaction(
        request=RecordedRequest(
            method="POST", uri="https://api.test/v1/chat/completions", headers=one.request.headers, body=ASKED
        ),
        envelope=one.envelope,
    )
    done = clean(one, key)
    assert done.reason == ""
    after = done.interaction
    assert after.envelope == one.envelope
    assert after.request.body == ASKED
    assert [name for name, _ in after.request.headers] == [name for name, _ in sent]
    assert (after.request.headers[0], after.request.headers[2]) == (sent[0], sent[2])
    (exchange,) = exchanges(Cassette(name="x", interactions=(after,)), None, frozenset())
    assert not [verdict for verdict in judge(exchange, CATALOG.values()) if verdict.outcome is Outcome.VIOLATED]
    broken = clean(interaction(b"{}", "Content-Length: 2", status="500 Internal Server Error"), key).interaction
    assert broken.envelope.head == ("HTTP/1.1 500 Internal Server Error", "Content-Length: 2")
    assert re.fullmatch(rb"\{\}", broken.envelope.body)
