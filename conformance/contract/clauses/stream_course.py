"""Streams: the one end of a chat or completion stream: [DONE], the finish reasons, an error."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.evidence import at_end, at_event, show
from conformance.contract.when import (
    CHOICES,
    good_stream,
    is_stream,
    ok,
    serving,
    stayed,
    the_reply,
)
from conformance.exchange.model import Endpoint, Exchange, StreamEvent
from conformance.wire.transcript import End


def _end_owed(x: Exchange) -> bool:
    if not stayed(x):
        return False
    attempt = serving(x)
    silent = attempt is not None and attempt.end is End.STALL
    return not silent or "idle-timeout" in x.declares


@clause(
    id="stream.end.arrives",
    level=Level.MUST,
    basis=Basis.PROTOCOL,
    title="The response comes to its end",
    rationale="A connection left open after the last event keeps every reader waiting for a message that is over.",
    source="rfc9112/body-length",
    applies=_end_owed,
)
def end_arrives(x: Exchange) -> Iterator[Finding]:
    if x.end is End.STALL:
        reply = the_reply(x)
        yield at_end(
            reply,
            "the end of the body",
            f"silence until the {x.transcript.deadline or 'last'} deadline, after {len(reply.message.body)} body bytes",
        )


def _done_judged(x: Exchange) -> bool:
    return good_stream(x) and bool(the_reply(x).events)


@clause(
    id="stream.done.present",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A stream that ends without an error ends with [DONE]",
    rationale="[DONE] is how a client tells a whole stream from one that was cut on a chunk border.",
    source="openai-api/chat-create",
    applies=_done_judged,
)
def done_present(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    if reply.answer.done == 0:
        yield at_end(reply, "data: [DONE] as the last event", "the stream ends without it, and without an error event")


@clause(
    id="stream.done.once",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="[DONE] comes at most once",
    rationale="Readers stop at the first one; on a reused connection or in a strict parser the second is an error.",
    source="openai-api/chat-create",
    applies=is_stream,
)
def done_once(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    for event in [event for event in reply.events if event.done][1:]:
        yield at_event(reply, event, "one [DONE]", f"{reply.answer.done} of them")


@clause(
    id="stream.done.last",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="No event follows [DONE]",
    rationale="Clients stop reading at [DONE]: what follows is lost.",
    source="openai-api/chat-create",
    applies=lambda x: is_stream(x) and the_reply(x).answer.done > 0,
)
def done_last(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    seen = False
    for event in reply.events:
        if seen and not event.done:
            yield at_event(reply, event, "nothing after [DONE]", show(event.event.data[:80].decode("utf-8", "replace")))
        seen = seen or event.done


@clause(
    id="stream.done.after-error",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="No [DONE] follows an error event",
    rationale="[DONE] says that the stream is whole; no norm speaks of errors, so this is a SHOULD.",
    source="incident/streams",
    applies=lambda x: is_stream(x) and bool(the_reply(x).answer.errors),
)
def done_after_error(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    for event in reply.events:
        if event.done:
            yield at_event(reply, event, "the end of the body after the error event", "[DONE]")


def _reasons(x: Exchange) -> Iterator[tuple[StreamEvent, int, object]]:
    for event in the_reply(x).events:
        choices = event.doc.get("choices") if event.doc is not None else None
        for position, choice in enumerate(choices if isinstance(choices, list) else []):
            if isinstance(choice, dict):
                index = choice.get("index", position)
                yield event, index if isinstance(index, int) else position, choice


@clause(
    id="stream.terminal.present",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="Every choice of a whole stream gets a finish reason",
    rationale="Without it a client cannot tell a finished answer from a cut one, and tools are never called.",
    source="openai-api/chat-streaming",
    applies=lambda x: is_stream(x) and stayed(x) and the_reply(x).answer.done > 0 and not the_reply(x).answer.errors,
)
def terminal_present(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    choices = reply.answer.choices
    if not choices:
        yield at_end(reply, "a choice with a finish_reason before [DONE]", "no choice at all")
    for choice in choices:
        if not [reason for reason in choice.reasons if reason != ""]:
            yield at_end(reply, f"a finish_reason for choice {choice.index} before [DONE]", "none")


def _told_again(x: Exchange, before: object, choice: object) -> bool:
    """Whether a legacy chunk without text repeats the reason, as the API's own legacy endpoint does under a token cap."""
    repeats = isinstance(choice, dict) and choice.get("finish_reason") == before and not choice.get("text")
    return x.request.endpoint is Endpoint.COMPLETIONS and repeats


@clause(
    id="stream.terminal.once",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A choice gets exactly one finish reason",
    rationale="The reason is null in every chunk but the last; a second one ends the turn twice.",
    source="openai-api/chat-streaming",
    applies=is_stream,
)
def terminal_once(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    ended: dict[int, object] = {}
    for event, index, choice in _reasons(x):
        reason = choice.get("finish_reason") if isinstance(choice, dict) else None
        if reason in (None, ""):
            continue
        if index in ended and not _told_again(x, ended[index], choice):
            yield at_event(
                reply, event, f"one finish_reason for choice {index}", f"{show(ended[index])}, then {show(reason)}"
            )
        ended.setdefault(index, reason)


@clause(
    id="stream.terminal.last",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="No output of a choice follows its finish reason",
    rationale="Clients close the turn at the reason: later text or tool arguments are dropped.",
    source="openai-api/chat-streaming",
    applies=is_stream,
)
def terminal_last(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    ended: set[int] = set()
    for event, index, choice in _reasons(x):
        assert isinstance(choice, dict)
        delta = choice.get("delta")
        delta = delta if isinstance(delta, dict) else {}
        output = delta.get("content") or delta.get("tool_calls") or delta.get("refusal") or choice.get("text")
        if index in ended and output:
            yield at_event(reply, event, f"no output of choice {index} after its finish_reason", show(output))
        if choice.get("finish_reason") not in (None, ""):
            ended.add(index)


def _error_events(x: Exchange) -> bool:
    reply = x.reply
    told = reply is not None and reply.stream is not None and bool(reply.answer.event_errors)
    return told and ok(x) and x.request.endpoint in CHOICES


@clause(
    id="stream.error.shape",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="An error inside a stream is an object `error` with message, type, param and code",
    rationale="SDKs raise on `error` and show its message; a text, a bare object or an empty message leaves the user without a cause.",
    source="openai-sdk/streaming",
    applies=_error_events,
)
def error_shape(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    for index in reply.answer.event_errors:
        event = reply.events[index]
        value = event.doc.value if event.doc is not None and event.doc.ok else None
        error = value.get("error") if isinstance(value, dict) else None
        if not isinstance(error, dict):
            yield at_event(reply, event, "an object `error`", show(value))
            continue
        problems = []
        if not (isinstance(error.get("message"), str) and error["message"].strip()):
            problems.append("no message")
        if not (isinstance(error.get("type"), str) and error["type"]):
            problems.append("no type")
        for name in ("param", "code"):
            if not isinstance(error.get(name), str | None):
                problems.append(f"{name} is {show(error[name])}")
        if problems:
            yield at_event(
                reply,
                event,
                "message and type as texts, param and code as text or null",
                f"{', '.join(problems)}: {show(error)}",
            )


@clause(
    id="stream.error.once",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="An error event comes once, and no chunk follows it",
    rationale="A stream ends exactly once: output after an error is read by nobody or believed by somebody.",
    source="incident/streams",
    applies=_error_events,
)
def error_once(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    first = reply.answer.event_errors[0]
    for event in reply.events[first + 1 :]:
        if not event.done:
            yield at_event(
                reply,
                event,
                "nothing but the end after an error event",
                show(event.event.data[:80].decode("utf-8", "replace")),
            )
