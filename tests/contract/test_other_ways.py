"""Other ways to be right: what a gateway may do that the reference gateway does not, and where such a way ends."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.contract.catalog import CATALOG
from conformance.contract.clause import Outcome
from conformance.contract.judge import judge_clause
from tests.contract.captures import (
    Capture,
    ask,
    capture,
    chat,
    chunk,
    compact,
    error,
    exchange,
    knowing,
    opening,
    stream,
    usage_chunk,
    wire,
    words,
)
from tests.contract.examples_sequences import ALONE, LONE_DOWN
from tests.contract.responding import said
from tests.contract.sequences import sequence, turn

STREAM = ask(stream=True)
METERED = ask(stream=True, stream_options={"include_usage": True})
RESPOND = ask("responses", stream=True)
REFUSED = wire(error("The upstream sent a broken stream.", type="api_error"), status=502)
LATE = wire(error("The upstream timed out.", type="api_error"), status=504)
CUT_SHORT = stream(opening(), chunk("One "), done=False)


def outcome(clause: str, item: Capture) -> Outcome:
    """What the clause says of it."""
    return judge_clause(CATALOG[clause], exchange(item)).outcome


def events(*items: dict[str, Any]) -> Any:
    """A stream of the Responses API."""
    return wire(stream(*((item["type"], item) for item in items), done=False))


def without(name: str) -> Any:
    """A whole stream of the Responses API, each event without one member."""
    return events(*({key: value for key, value in item.items() if key != name} for item in said("Hel", "lo.")))


def left(reply: Any, sent: Any = CUT_SHORT, healthy: str = "m0") -> Capture:
    """A gateway that closed the connection to a member in the middle of its stream, and what it then told."""
    item = capture(STREAM, reply, wire(sent, end="close"), "failover")
    terms = {"members": ("m0", "m1"), "healthy": frozenset({healthy} if healthy else ())}
    return knowing(item, attempt={"peer_closed": "before-event", "peer_closed_at": 12.0}, terms=terms)


@pytest.mark.parametrize(
    "usage", [{"prompt_tokens": None, "completion_tokens": None, "total_tokens": 0}, {"total_tokens": 4}, {}]
)
def test_a_usage_without_counts_need_not_be_passed_on(usage: dict[str, Any]) -> None:
    """What the member did not count the gateway leaves out or fills; what it counted is owed."""
    silent, counted = (wire(stream(*words("Hi"), usage_chunk(item))) for item in (usage, {**usage, **COUNTS}))
    told = wire(stream(*words("Hi")))
    assert outcome("usage.stream.present", capture(METERED, told, silent)) is Outcome.NOT_APPLICABLE
    assert outcome("usage.stream.present", capture(METERED, told, counted)) is Outcome.VIOLATED


COUNTS = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}


@pytest.mark.parametrize("member", ["output_index", "item_id", "sequence_number"])
def test_a_response_that_is_not_the_apis_own_may_be_refused(member: str) -> None:
    """Events that lack a member are completed or refused; whole ones are not refused."""
    broken, whole = without(member), events(*said("Hel", "lo."))
    assert outcome("relay.success.kept", capture(RESPOND, REFUSED, broken)) is Outcome.NOT_APPLICABLE
    assert outcome("relay.success.kept", capture(RESPOND, REFUSED, whole)) is Outcome.VIOLATED


CALL = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def calling(*calls: dict[str, Any]) -> Any:
    """A whole stream of those deltas of tool calls, a chunk each."""
    return wire(stream(opening(), *(chunk(delta={"tool_calls": [one]}) for one in calls), chunk(reason="tool_calls")))


@pytest.mark.parametrize(
    "calls",
    [
        ({**CALL, "index": 1},),
        ({key: item for key, item in CALL.items() if key != "id"},),
        (CALL, {**CALL, "id": "call_2"}),
        (CALL, {**CALL, "index": 1}),
        ({**CALL, "function": {"name": "f", "arguments": {}}},),
    ],
    ids=["a hole", "no id", "one index", "one id", "an object"],
)
def test_tool_calls_that_have_to_be_guessed_may_be_refused(calls: tuple[dict[str, Any], ...]) -> None:
    """Which call is meant may be guessed or refused; whole calls are not refused."""
    assert outcome("relay.success.kept", capture(STREAM, REFUSED, calling(*calls))) is Outcome.NOT_APPLICABLE
    whole = calling(CALL, {**CALL, "index": 1, "id": "call_2"})
    assert outcome("relay.success.kept", capture(STREAM, REFUSED, whole)) is Outcome.VIOLATED


def test_a_stop_that_says_nothing_may_be_refused() -> None:
    """Content null beside stop becomes a text or an error; an empty text is an answer."""
    mute, empty = (wire(chat(content)) for content in (None, ""))
    assert outcome("relay.success.kept", capture(ask(), REFUSED, mute)) is Outcome.NOT_APPLICABLE
    assert outcome("relay.success.kept", capture(ask(), REFUSED, empty)) is Outcome.VIOLATED


def test_a_good_stream_is_not_left_in_its_middle() -> None:
    """A member whose play is a success, left without a ground in what it had sent, and told as an error."""
    assert outcome("relay.success.kept", left(REFUSED)) is Outcome.VIOLATED


@pytest.mark.parametrize(
    "item",
    [
        left(LATE),
        left(REFUSED, healthy=""),
        left(REFUSED, stream(opening(id=7), done=False)),
        left(REFUSED, stream(opening(), chunk("x" * 300_000), done=False)),
    ],
    ids=["too late", "a play that fails", "a broken chunk", "too large"],
)
def test_a_stream_is_left_with_a_ground(item: Capture) -> None:
    """A time that is over, a broken event and a large one are grounds to leave a member."""
    assert outcome("relay.success.kept", item) is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("The model `o3-mini` does not exist or you do not have access to it.", "The model `fast` does not exist."),
        ("No endpoints found for dots-studio/dots-3-note-preview:free.", "No endpoints found for fast"),
        ("Too many tokens for team team-0038 and model grok-4.", "Too many tokens for this team and model fast."),
        ("Function '0f1e2d3c': Not found for account 'acct-13'", "Function not found for account [account]"),
        ("Invalid model: mistral-medium-3.5", "Invalid model: fast"),
        (
            "RateLimitError: Error code: 429 - {'error': {'message': 'Requests have exceeded the call rate limit.'}}",
            "Requests have exceeded the call rate limit.",
        ),
        ('upstream error: {"error":{"code":429}}', "upstream error"),
    ],
)
def test_a_reason_without_its_names_is_told(reason: str, told: str) -> None:
    """Names, accounts and raw bodies come out of a reason, as other clauses ask, and it is still the reason."""
    item = capture(ask(), wire(error(told), status=404), wire(error(reason), status=404))
    assert outcome("relay.error.reason-kept", item) is Outcome.HELD


#: A reason as Gemini's surface words it.
REASON = "models/gemini-0-none is not found for API version v1main, or is not supported for generateContent."


@pytest.mark.parametrize("told", ["Error code: 404", "api error 404: unknown error", "Not found", "The model failed."])
def test_a_reason_is_not_told_by_a_word_of_it(told: str) -> None:
    """A gateway that hides no provider tells more than a common word of the reason."""
    reason = "The model `o3-mini` does not exist or you do not have access to it."
    item = capture(ask(), wire(error(told), status=404), wire(error(reason), status=404))
    assert outcome("relay.error.reason-kept", item) is Outcome.VIOLATED


@pytest.mark.parametrize(
    "body",
    [
        {"0": {"error": {"code": 404, "message": REASON}}, "message": ""},
        [{"error": {"code": 404, "message": REASON}}],
        {"error": {"message": "", "metadata": {"raw": compact(error(REASON)).decode()}}},
        f"Error: {REASON}".encode(),
    ],
)
def test_a_reason_in_a_wrong_envelope_did_reach_the_client(body: Any) -> None:
    """The words are there for a person to read; that the envelope is wrong other clauses tell."""
    member = wire([error(REASON)], status=404)
    assert outcome("relay.error.reason-kept", capture(ask(), wire(body, status=404), member)) is Outcome.HELD
    bare = {"0": {"error": {"code": 404, "status": "NOT_FOUND"}}, "message": ""}
    assert outcome("relay.error.reason-kept", capture(ask(), wire(bare, status=404), member)) is Outcome.VIOLATED


def test_a_success_after_an_error_is_judged_by_the_member_that_gave_it() -> None:
    """Who passes over a 500 to a member whose stream is malformed, and mends it, tells no error as a success."""
    pinged = wire(stream(b"data:\n\n", *words("Hello", ".")))
    busy = wire(error("Busy."), status=500)
    mended = capture(ask(stream=True), wire(stream(*words("Hello", "."))), (busy, pinged))
    assert outcome("relay.status.kept", mended) is not Outcome.VIOLATED
    made_up = capture(ask(stream=True), wire(stream(*words("Hello", "."))), (pinged, busy))
    assert outcome("relay.status.kept", made_up) is Outcome.VIOLATED


def test_a_permit_takes_a_moment_to_return() -> None:
    """A request that follows a hang-up at once may come before the gateway knows of it."""
    gone = turn(400, "m0:ok:2:900", hangup=30, **ALONE)
    outcomes = [
        judge_clause(CATALOG["cooldown.probe-returned"], sequence(LONE_DOWN, gone, turn(at, **ALONE))).outcome
        for at in (440, 500)
    ]
    assert outcomes == [Outcome.NOT_APPLICABLE, Outcome.VIOLATED]
