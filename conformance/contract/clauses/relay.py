"""Relay: whether the client learns how the upstream's generation went: nothing laundered, no success lost, none made up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from conformance.contract.clause import Basis, Clause, Finding, Level, clause
from conformance.contract.clauses import chat, responses, tool
from conformance.contract.clauses.chunk import requested_choices
from conformance.contract.clauses.embedded import vectors
from conformance.contract.clauses.legs import (
    CONVERSATION,
    names_timeout,
    served,
    speaks,
    told,
    told_success,
    torn_texts,
)
from conformance.contract.evidence import at_end, at_head, show
from conformance.contract.kinds import failing
from conformance.contract.shape import problems
from conformance.contract.when import CHOICES, reached_late, serving, stayed, the_reply, usable
from conformance.exchange.answer import Choice, normal_reason
from conformance.exchange.model import Attempt, Endpoint, Exchange, Reply


def _error_like(choice: Choice) -> bool:
    told = [reason for reason in choice.reasons if reason != ""] or list(choice.reasons)
    if told and all(normal_reason(reason) is None for reason in told):
        return True
    return choice.empty and any(failing(reason) for reason in choice.native)


def _truncated(x: Exchange) -> bool:
    found = speaks(x)
    if found is None:
        return False
    answer, reply = found[1].answer, found[1]
    if answer.errors or (answer.told_end and (answer.streamed or reply.complete)):
        return False
    if _running(reply):
        return not _running(the_reply(x)) and len(x.attempts or ()) == 1
    cut_json = not answer.streamed and bool(reply.content) and (not reply.complete or _cut_off(reply))
    return (answer.streamed and bool(answer.choices) and not answer.done) or cut_json


def _running(reply: Reply) -> bool:
    """Whether a response says that it has yet to be generated."""
    return reply.doc is not None and not reply.events and reply.doc.get("status") in ("queued", "in_progress")


def _cut_off(reply: Reply) -> bool:
    """Whether the content is the beginning of a JSON object, on a body whose framing cannot tell (until close)."""
    broken = reply.doc is not None and not reply.doc.ok
    return broken and reply.content.lstrip().startswith(b"{") and not reply.content.rstrip().endswith(b"}")


@clause(
    id="relay.truncation.told",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="An upstream answer that was cut is not told as a finished one",
    rationale="A truncated answer under stop and [DONE], or under a clean end, is taken for the whole truth.",
    source="rfc9112/incomplete",
    applies=_truncated,
)
def truncation_told(x: Exchange) -> Iterator[Finding]:
    found = speaks(x)
    made_up = [r for choice in the_reply(x).answer.choices for r in choice.reasons if normal_reason(r) is not None]
    if (told_success(x) or made_up) and found is not None:
        how = found[0].end.value
        yield at_end(
            the_reply(x),
            "an error event, an error status, or an aborted body",
            f"{told(x)}; the upstream: {how}, no finish_reason, no [DONE]",
        )


def _torn(x: Exchange) -> list[str]:
    attempt = serving(x)
    if attempt is None or attempt.reply is None or not stayed(x) or x.request.endpoint not in CONVERSATION:
        return []
    return torn_texts(attempt.reply) if attempt.reply.ok else []


@clause(
    id="relay.malformed.told",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A stream one of whose texts cannot be read is not told as finished without it",
    rationale="A chunk that is no JSON and is left out in silence takes its text along: the rest under stop and [DONE] is a truncated answer.",
    source="incident/streams",
    applies=lambda x: bool(_torn(x)),
)
def malformed_told(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    if not (told_success(x) and reply.answer.told_end):
        return
    # One that saves the text does well; one that relays the chunk as it is is judged by stream.event.json.
    saved = [text for choice in reply.answer.choices for text in _said(choice)] + torn_texts(reply)
    for text in _torn(x):
        if not any(text in other for other in saved):
            yield at_end(reply, f"an error, or {show(text)}, which stood in a chunk that is no JSON", told(x))


def _said(choice: Choice) -> tuple[str, ...]:
    return (choice.text, choice.refusal, *(call.arguments for call in choice.tool_calls))


#: Reasons that tell the client that the answer is not the whole one.
_CUT = ("length", "content_filter")


def _says_failure(reply: Reply) -> bool:
    """Whether a reply's reason says itself that the generation failed."""
    return any(failing(reason) for choice in reply.answer.choices for reason in (*choice.reasons, *choice.native))


def _laundry(x: Exchange) -> bool:
    found = speaks(x)
    return (
        found is not None
        and not found[1].answer.errors
        and any(_error_like(choice) for choice in found[1].answer.choices)
    )


@clause(
    id="relay.reason.not-laundered",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="An upstream's failing finish reason does not become a clean end",
    rationale="network_error, error, an empty or unknown reason is a failed generation: as stop it ends an agent's turn mid-loop.",
    source="incident/errors",
    applies=_laundry,
)
def reason_not_laundered(x: Exchange) -> Iterator[Finding]:
    found = speaks(x)
    assert found is not None
    if not told_success(x):
        return
    reasons = [reason for choice in the_reply(x).answer.choices for reason in choice.reasons]
    if reasons and all(normal_reason(reason) in _CUT for reason in reasons) and not _says_failure(found[1]):
        return  # an unknown reason told as what it may well mean: no clean end is made up
    if reasons and all(normal_reason(reason) is None and reason != "" for reason in reasons):
        return  # passed on as it came: that is judged by the finish reason's enum
    given = [reason for choice in found[1].answer.choices for reason in choice.reasons]
    if reasons == given and all(normal_reason(reason) is None for reason in reasons):
        return  # the same, with an empty reason among them
    upstream = [reason for choice in found[1].answer.choices for reason in (*choice.reasons, *choice.native)]
    yield at_end(the_reply(x), f"an error (the upstream's reason is {show(upstream[-1])})", told(x))


def _native(x: Exchange) -> bool:
    return (
        stayed(x)
        and the_reply(x).ok
        and x.request.endpoint in CHOICES
        and any(choice.native and choice.reasons for choice in the_reply(x).answer.choices)
    )


@clause(
    id="relay.reason.native-agrees",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="An empty answer whose native reason is a failure has no clean finish reason",
    rationale="Beside native_finish_reason network_error, a stop with nothing in it is a failed generation told as an answer.",
    source="incident/errors",
    applies=_native,
)
def native_agrees(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    for choice in reply.answer.choices:
        failures = [reason for reason in choice.native if failing(reason)]
        clean = any(normal_reason(reason) is not None for reason in choice.reasons)
        if choice.empty and failures and clean and not reply.answer.errors:
            yield at_end(reply, f"an error (the native reason is {show(failures[0])})", told(x))


def _in_band(x: Exchange) -> bool:
    found = served(x)
    return found is not None and found[1].ok and bool(found[1].answer.errors)


@clause(
    id="relay.error.told",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="An upstream error inside a 2xx reaches the client as an error",
    rationale="An error object in a 200 or in a stream is a failed generation; told as an empty success nobody retries it.",
    source="incident/errors",
    applies=_in_band,
)
def error_told(x: Exchange) -> Iterator[Finding]:
    found = served(x)
    if told_success(x) and found is not None:
        yield at_end(the_reply(x), f"an error (the upstream's says {show(found[1].answer.errors[0])})", told(x))


def _silence(x: Exchange) -> bool:
    """Whether members were asked and not one sent so much as a status, and no store is declared that could answer."""
    silent = all(attempt.reply is None or not attempt.reply.status for attempt in x.attempts or ())
    return bool(x.attempts) and silent and stayed(x) and "cache" not in x.declares and x.request.endpoint in CHOICES


def _nothing_said(x: Exchange) -> bool:
    if _silence(x):
        return True
    found = served(x)
    if found is None or not found[1].ok or found[1].answer.errors or _truncated(x):
        return False
    reply = found[1]
    if x.request.endpoint is Endpoint.EMBEDDINGS and found[0].request.endpoint is Endpoint.EMBEDDINGS:
        data = reply.doc.get("data") if reply.doc is not None else None
        return not data and not vectors(reply)
    if x.request.endpoint not in CHOICES or found[0].request.endpoint not in CHOICES:
        return False
    read = (reply.doc is not None and reply.doc.ok) or any(event.doc is not None for event in reply.events)
    if b'"choices"' in reply.content and not reply.answer.choices and not read:
        return False  # a completion stands in bytes that are neither JSON nor events: there is no one right reading
    return not any(choice.reasons or not choice.empty for choice in reply.answer.choices)


@clause(
    id="relay.empty.not-success",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="No answer of an upstream, or a 2xx without any, is not told as a success",
    rationale="A reset, an empty body, an HTML page or no choice at all is a failure; a made-up stop or text lands in the history.",
    source="incident/errors",
    applies=_nothing_said,
)
def empty_not_success(x: Exchange) -> Iterator[Finding]:
    found = served(x)
    if told_success(x) and found is None:
        ends = ", ".join(attempt.end.value for attempt in x.attempts or ())
        yield at_end(the_reply(x), "an error status or an error event", f"{told(x)}; the upstream: {ends}, no byte")
    elif told_success(x) and found is not None:
        what = found[1].content[:60].decode("utf-8", "replace")
        yield at_end(
            the_reply(x),
            "an error status or an error event",
            f"{told(x)}; the upstream's body: {show(what) if what else 'empty'}",
        )


#: A gateway's own refusals of what a member said (a guardrail, a bound) are 400, 403, 413, 422 and 451.
_REFUSALS = frozenset({400, 403, 413, 422, 451})
_LARGE = 8 << 20
#: No gateway bounds an event or an answer below this.
_SMALL = 256 << 10


def _conforms(x: Exchange, reply: Reply) -> bool:
    """Whether an upstream's reply is of the API's own shape, so that there is no ground to refuse it."""
    if reply.message.faults or len(reply.content) > _LARGE or (reply.stream is not None and reply.stream.faults):
        return False
    if x.request.endpoint in CHOICES and len(reply.answer.choices) != requested_choices(x):
        return False
    return _shaped(x, reply)


def _shaped(x: Exchange, reply: Reply) -> bool:
    """Whether what there is of a reply has the API's shape."""
    if x.request.endpoint is Endpoint.EMBEDDINGS:
        listed = reply.doc is not None and not problems("embedding-list", reply.doc.value)
        found = vectors(reply) if listed else []
        encoded = x.request.get("encoding_format") == "base64"
        data = reply.doc.get("data") if reply.doc is not None else None
        data = data if isinstance(data, list) else []
        kinds = {isinstance(item.get("embedding"), str) for item in data if isinstance(item, dict)}
        return bool(found) and kinds == {encoded}
    if x.request.endpoint is Endpoint.RESPONSES:
        return _holds(x, reply, responses.RULES)
    if x.request.endpoint not in CHOICES or not _holds(x, reply, (*tool.RULES, chat.logprobs_shape)):
        return False
    if _mute(reply):
        return False
    stream = bool(reply.events)
    name = (
        "completion" if x.request.endpoint is Endpoint.COMPLETIONS else f"chat-completion{'-chunk' if stream else ''}"
    )
    values = [event.doc.value for event in reply.events if event.doc is not None] if stream else []
    if reply.doc is not None and not stream:
        values = [reply.doc.value]
    return not any(problems(name, value) for value in values if not isinstance(value, dict) or value.get("choices"))


def _mute(reply: Reply) -> bool:
    """Whether a choice that stopped says nothing at all, not even an empty text: a success to some, a failure to others."""
    value = reply.doc.get("choices") if reply.doc is not None else None
    choices = [choice for choice in value if isinstance(choice, dict)] if isinstance(value, list) else []
    said = [choice.get("message") for choice in choices if choice.get("finish_reason") == "stop"]
    names = ("content", "refusal", "tool_calls", "function_call")
    return any(isinstance(message, dict) and not any(message.get(n) is not None for n in names) for message in said)


def _holds(x: Exchange, reply: Reply, rules: tuple[Clause, ...]) -> bool:
    """Whether an upstream's reply, passed on as it is, would violate none of `rules`."""
    relayed = replace(x, reply=reply)
    return not any(True for rule in rules if rule.applies(relayed) for _ in rule.check(relayed))


def _success_owed(x: Exchange) -> bool:
    attempt = serving(x)
    if attempt is None or attempt.reply is None or not stayed(x) or the_reply(x).status in _REFUSALS:
        return False
    if not names_timeout(the_reply(x)) and _dropped(x, attempt):
        return True
    given_up = attempt.ended_at > x.transcript.ended_at or reached_late(x, attempt)
    given_up = given_up and names_timeout(the_reply(x))
    return not given_up and usable(x, attempt) and _conforms(x, attempt.reply)


def _dropped(x: Exchange, attempt: Attempt) -> bool:
    """Whether the gateway left a stream that would have been a whole success, with no ground for it in what had come."""
    reply = attempt.reply
    if reply is None or attempt.peer_closed_at is None or attempt.member not in x.terms.healthy:
        return False
    fits = attempt.request.endpoint is x.request.endpoint and attempt.request.stream and bool(reply.events)
    return fits and reply.media_type == "text/event-stream" and len(reply.content) < _SMALL and _shaped(x, reply)


@clause(
    id="relay.success.kept",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="An upstream's whole success does not become an error",
    rationale="The generation is done and paid: told as an error over a split write, a comment or a late [DONE] it is asked for again.",
    source="openai-api/errors",
    applies=_success_owed,
)
def success_kept(x: Exchange) -> Iterator[Finding]:
    reply, attempt = the_reply(x), serving(x)
    assert attempt is not None
    if reply.answer.errors or not reply.ok:
        yield at_head(reply, f"the answer of {attempt.member}", f"status {reply.status}, {_reason(reply)}")


def _reason(reply: Reply) -> str:
    value = reply.answer.errors[0] if reply.answer.errors else reply.doc.value if reply.doc is not None else None
    return show(value)
