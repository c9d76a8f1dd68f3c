"""Facts about the pool: which failures move on to another member, which do not, and what the client is told in the
end.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.reference.failure import Kind, own_failure
from conformance.reference.pool import most_telling
from tests.reference.stage import (
    GOOD,
    HELLO,
    Script,
    completion,
    delta,
    event,
    hang,
    play,
    reply,
    slam,
    staged,
    stream,
)

MEMBER_FAILURES: dict[str, Script] = {
    "retired-404": reply(
        {"error": {"message": "No endpoints found for vendor/model-1:free.", "code": 404}}, status=404
    ),
    "plain-404": reply(b"404 page not found", status=404, kind="text/plain"),
    "names-the-model-400": reply(
        {"error": {"message": "ghost/ghost-9 is not a valid model ID", "code": 400}}, status=400
    ),
    "timeout-408": reply({}, status=408),
    "conflict-409": reply({}, status=409),
    "rate-limit-429": reply({"error": {"message": "slow down"}}, status=429),
    "key-401": reply({"error": "Unauthorized"}, status=401),
    "key-403": reply(b"<!DOCTYPE html><title>Blocked</title>", status=403, kind="text/html"),
    "quota-402": reply({"error": {"message": "Insufficient credits"}}, status=402),
    "server-500": reply(b"", status=500),
    "overloaded-529": reply(
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, status=529
    ),
    "redirect-302": reply(b"", status=302, fields=["Location: http://other.test/"]),
    "html-200": reply(b"<html>login</html>", kind="text/html"),
    "error-200": reply({"error": {"message": "worker limit reached", "code": 502}}),
    "no-choices-200": reply({"id": "x", "object": "chat.completion", "choices": []}),
    "broken-json-200": reply(b'{"id": "x", "choices": ['),
    "bad-reason-200": reply(completion("", "network_error")),
    "empty-200": reply(b""),
    "closed": slam,
    "short-body": reply(b'{"id": "x"', fields=["Content-Length: 4000"]),
}

STREAM_FAILURES: dict[str, Script] = {
    "network-error-chunk": stream(delta("network_error", role="assistant", content="")),
    "error-event": stream(b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error"}}\n\n', done=False),
    "error-chunk": stream({"choices": [], "error": {"code": 502, "message": "limit"}}),
    "empty": stream(done=False),
    "only-done": stream(),
    "only-role": stream(delta(role="assistant", content="")),
    "broken-json": stream(b'data: {"choices": [{"ind\n\n', *HELLO),
    "cut-before-output": stream(HELLO[0], done=False, end="close"),
    "reset-before-output": stream(HELLO[0], done=False, end="reset"),
    "native-error": stream(
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "native_finish_reason": "network_error"}]}
    ),
    "bare-error-line": stream(b'{"error":{"message":"prohibited"}}\n\n', done=False),
}


@pytest.mark.parametrize("name", MEMBER_FAILURES)
def test_a_failing_member_is_followed_by_another(name: str) -> None:
    """Each failure of a member is made good by the next one, and each is asked once."""

    async def work() -> None:
        async with staged(MEMBER_FAILURES[name], GOOD) as client:
            answer = await client.chat()
            assert answer.status == 200
            assert answer.doc["choices"][0]["message"]["content"] == "Hello"
            assert client.attempts == [1, 1]

    play(work)


@pytest.mark.parametrize("name", STREAM_FAILURES)
def test_a_stream_that_fails_before_output_is_followed_by_another(name: str) -> None:
    """A stream that breaks before its first output is replaced by the next member's, whole."""

    async def work() -> None:
        async with staged(STREAM_FAILURES[name], stream(*HELLO)) as client:
            answer = await client.chat(stream=True)
            assert (answer.status, answer.text, answer.events[-1]) == (200, "Hello", "[DONE]")
            assert client.attempts == [1, 1]

    play(work)


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_refused_request_is_passed_on_at_once(status: int) -> None:
    """A status that is about the request itself reaches the client after one dispatch."""
    refusal = reply({"error": {"message": "temperature: range 0..1", "type": "bad", "code": "range"}}, status=status)

    async def work() -> None:
        async with staged(refusal, GOOD) as client:
            answer = await client.chat()
            assert (answer.status, client.attempts) == (status, [1, 0])
            assert answer.error == {"message": "temperature: range 0..1", "type": "bad", "param": None, "code": "range"}

    play(work)


def test_a_context_error_in_a_stream_is_passed_on_at_once() -> None:
    """A prompt that is too long ends the ladder even when the member says so in its first event."""
    says = {"error": {"code": 400, "message": "prompt is too long: 1284668 tokens > 1000000 maximum"}}

    async def work() -> None:
        async with staged(stream(says), stream(*HELLO)) as client:
            answer = await client.chat(stream=True)
            assert (answer.status, client.attempts) == (400, [1, 0])
            assert answer.error["code"] == "context_length_exceeded"

    play(work)


def test_an_unreachable_member_is_followed_by_another() -> None:
    """A member that refuses connections is passed over."""

    async def work() -> None:
        async with staged(GOOD, GOOD, dead=1) as client:
            assert (await client.chat()).status == 200
            assert client.attempts == [0, 1]

    play(work)


@pytest.mark.parametrize("streams", [False, True])
def test_a_silent_member_is_given_up(streams: bool) -> None:
    """A member that sends no first token in the declared time is followed by another."""

    async def work() -> None:
        good = stream(*HELLO) if streams else GOOD
        async with staged(hang, good, timeouts={"first_token": 0.1}) as client:
            assert (await client.chat(stream=streams)).status == 200
            assert client.attempts == [1, 1]

    play(work)


@pytest.mark.parametrize(
    ("scripts", "status", "code"),
    [
        ([MEMBER_FAILURES["retired-404"]] * 2, 404, "model_not_found"),
        ([MEMBER_FAILURES["key-401"]] * 2, 502, "upstream_authentication_failed"),
        ([MEMBER_FAILURES["rate-limit-429"], MEMBER_FAILURES["retired-404"]], 429, "rate_limit_exceeded"),
        ([MEMBER_FAILURES["retired-404"], MEMBER_FAILURES["server-500"]], 500, "upstream_error"),
        ([MEMBER_FAILURES["overloaded-529"]], 503, "upstream_error"),
        ([MEMBER_FAILURES["closed"]], 502, "upstream_error"),
        ([MEMBER_FAILURES["error-200"]], 502, "upstream_error"),
        ([MEMBER_FAILURES["quota-402"]], 402, "insufficient_quota"),
    ],
)
def test_when_all_fail_the_most_telling_failure_is_told(scripts: list[Script], status: int, code: str) -> None:
    """One clear error stands for all failures; each member was asked once."""

    async def work() -> None:
        async with staged(*scripts) as client:
            answer = await client.chat()
            assert (answer.status, answer.error["code"]) == (status, code)
            assert set(answer.error) == {"message", "type", "param", "code"}
            assert client.attempts == [1] * len(scripts)

    play(work)


def test_the_wait_is_kept_with_the_429() -> None:
    """Retry-After and the rate limit's fields reach the client; one in words is made a field."""

    async def work() -> None:
        fields = ["Retry-After: 7", "x-ratelimit-remaining-requests: 0", "cf-ray: canary"]
        async with staged(reply({}, status=429, fields=fields)) as client:
            answer = await client.chat()
            assert answer.fields["retry-after"] == "7"
            assert answer.fields["x-ratelimit-remaining-requests"] == "0"
            assert "cf-ray" not in answer.fields
        async with staged(reply({"error": {"message": "Rate limit. Try again in 2.5 seconds."}}, status=429)) as client:
            assert (await client.chat()).fields["retry-after"] == "3"

    play(work)


def test_unreachable_and_silent_members_have_their_own_statuses() -> None:
    """Nobody there is 503, nobody answering is 504."""

    async def work() -> None:
        async with staged(GOOD, GOOD, dead=2) as client:
            assert (await client.chat()).status == 503
        async with staged(hang, timeouts={"first_token": 0.1}) as client:
            assert (await client.chat()).status == 504

    play(work)


def test_members_take_turns() -> None:
    """Each request of a lane starts one member further; with rotation off, always at the first."""

    async def work() -> None:
        async with staged(GOOD, GOOD, GOOD) as client:
            for _ in range(4):
                await client.chat()
            assert client.attempts == [2, 1, 1]
        async with staged(GOOD, GOOD, rotate=False) as client:
            for _ in range(3):
                await client.chat()
            assert client.attempts == [3, 0]

    play(work)


def test_nothing_is_asked_after_output() -> None:
    """A stream that breaks after output ends with one error event and no [DONE]; no other member is asked."""

    async def work() -> None:
        async with staged(stream(HELLO[0], HELLO[1], done=False, end="reset"), stream(*HELLO)) as client:
            answer = await client.chat(stream=True)
            assert answer.whole
            assert answer.text == "Hel"
            assert [set(doc) for doc in answer.events[-1:]] == [{"error"}]
            assert answer.body.endswith(event(answer.events[-1]).replace(b'": ', b'":').replace(b', "', b',"'))
            assert client.attempts == [1, 0]

    play(work)


def test_the_most_telling_failure_is_the_last_of_its_kind() -> None:
    """Of two equal kinds the later failure is told; a limit that can be waited out comes before an outage."""
    first, second = own_failure(Kind.UNAVAILABLE, "first"), own_failure(Kind.UNAVAILABLE, "second")
    limit = replace(own_failure(Kind.RATE_LIMIT, "limit"), status=429)
    assert most_telling([first, second]).message == "second"
    assert most_telling([limit, first]) is limit
