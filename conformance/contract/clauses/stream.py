"""Streams: server-sent events on the wire, their delivery, and the one end of a chat or completion stream."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.contract.clause import Basis, Finding, Level, Undecided, clause
from conformance.contract.evidence import at_content, at_end, at_event, at_exchange, at_head, show
from conformance.contract.when import (
    CHOICES,
    ended_stream,
    good_stream,
    has_output,
    is_stream,
    ok,
    serving,
    stayed,
    the_reply,
    whole,
)
from conformance.exchange.model import Endpoint, Exchange, StreamEvent
from conformance.wire.facts import Span
from conformance.wire.sse import EventStream
from conformance.wire.transcript import End

#: incident F: one event has to be bounded, or an endless run of data lines grows a reader's memory without bound.
MAX_EVENT = 16 << 20

_PAYLOADS = (b"{", b"[DONE]")


def _events(x: Exchange) -> bool:
    reply = x.reply
    return ok(x) and reply is not None and reply.stream is not None and x.request.endpoint is not Endpoint.OTHER


def _read_events(x: Exchange) -> bool:
    return stayed(x) and _events(x)


@clause(
    id="stream.text.utf8",
    level=Level.MUST,
    basis=Basis.PROTOCOL,
    title="A stream is valid UTF-8",
    rationale="Event streams are UTF-8 by definition; a character cut in two is shown as a replacement character or kills the reader.",
    source="whatwg/event-stream",
    applies=_read_events,
)
def text_utf8(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    assert reply.stream is not None
    for fault in reply.stream.faults:
        if fault.code == "utf8.invalid" and (reply.complete or fault.span.end < len(reply.content)):
            yield at_content(
                reply, fault.span, "UTF-8", f"{fault.detail}: {fault.span.of(reply.content)[:16].hex(' ')}"
            )


@clause(
    id="stream.text.bom",
    level=Level.SHOULD,
    basis=Basis.PROTOCOL,
    title="A stream starts without a byte order mark",
    rationale="The standard strips one, SDK decoders do not: the first field's name, and so the first event, is lost.",
    source="whatwg/event-stream",
    applies=_events,
)
def text_bom(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    assert reply.stream is not None
    if reply.stream.bom:
        yield at_content(reply, Span(0, 3), "a first line that starts with a field name", "EF BB BF")


@clause(
    id="stream.lines.fields",
    level=Level.MUST,
    basis=Basis.PROTOCOL,
    title="No line with a payload lacks its field name",
    rationale="A conforming reader ignores a line whose field it does not know: the chunk, the error or [DONE] in it is lost.",
    source="whatwg/interpretation",
    applies=_read_events,
)
def lines_fields(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    assert reply.stream is not None
    for fault in reply.stream.faults:
        line = fault.span.of(reply.content)
        # The grammar allows fields of any name; what carries no JSON and no [DONE] is a field that nobody misses.
        if fault.code == "field.unknown" and any(mark in line for mark in _PAYLOADS):
            yield at_content(
                reply, fault.span, "data:, event:, id:, retry: or a comment", show(line[:80].decode("utf-8", "replace"))
            )


@clause(
    id="stream.lines.lf",
    level=Level.SHOULD,
    basis=Basis.PROTOCOL,
    title="Lines of a stream end with LF",
    rationale="CR and CRLF are legal, and readers that look for LF LF find no event in them.",
    source="whatwg/event-stream",
    applies=_events,
)
def lines_lf(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    assert reply.stream is not None
    others = sorted(reply.stream.line_ends - {"LF"})
    if others:
        start = max(0, reply.content.find(b"\r") - 40)
        yield at_content(reply, Span(start, min(len(reply.content), start + 80)), "LF", " and ".join(others))


@clause(
    id="stream.event.terminated",
    level=Level.MUST,
    basis=Basis.PROTOCOL,
    title="The last event ends with a blank line",
    rationale="A conforming reader discards an event that the end of the stream cuts off: the last chunk or [DONE] is lost.",
    source="whatwg/interpretation",
    applies=lambda x: _read_events(x) and whole(x),
)
def event_terminated(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    assert reply.stream is not None
    for event in reply.stream.events:
        if not event.terminated:
            yield at_content(
                reply,
                event.span,
                "a blank line after the event",
                f"the stream ends inside it: {show(event.data[:80].decode('utf-8', 'replace'))}",
            )


@clause(
    id="stream.event.has-data",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="Every event carries data",
    rationale="The API's streams are data-only: an id or event field before a blank line makes the official SDKs parse an empty text.",
    source="openai-sdk/streaming",
    applies=_read_events,
)
def event_has_data(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    assert reply.stream is not None
    for event in reply.stream.events:
        if event.terminated and not event.data.strip():
            yield at_content(
                reply,
                event.span,
                "an event with data, or a comment line",
                show(event.span.of(reply.content)[:80].decode("utf-8", "replace")),
            )
    for span in _blank_after_id(reply.content, reply.stream):
        yield at_content(
            reply, span, "comments without a blank line after an event with an id", "an event without data"
        )


def _blank_after_id(content: bytes, stream: EventStream) -> Iterator[Span]:
    """Where a blank line stands between events after an `id` field: the id is kept, so that the line ends an empty event."""
    named, previous = False, 0
    places = [(event.span, bool(event.id)) for event in stream.events]
    for span, has_id in (*places, (Span(len(content), len(content)), False)):
        if named and b"" in content[previous : span.start].splitlines():
            yield Span(previous, span.start)
        named, previous = named or has_id, span.end


@clause(
    id="stream.event.json",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The data of every event is one JSON object or [DONE]",
    rationale="SDKs parse each event's data as JSON; a keep-alive, a prefix or half a document ends the stream with a parse error.",
    source="openai-api/chat-streaming",
    applies=_events,
)
def event_json(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    for event in reply.events:
        doc = event.doc
        if doc is None or not event.event.data.strip():
            continue
        if event.event.span.end - event.event.span.start > MAX_EVENT:
            continue  # our own reader cut it: its size is judged
        if not doc.ok or not isinstance(doc.value, dict):
            what = doc.faults[0].detail if doc.faults else "not an object"
            yield at_event(
                reply,
                event,
                "a JSON object or [DONE]",
                f"{what}: {show(event.event.data[:80].decode('utf-8', 'replace'))}",
            )


@clause(
    id="stream.event.single-line",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="Each event's JSON stands on one data line",
    rationale="The API sends one line; readers that decode line by line break on the first half.",
    source="openai-api/chat-streaming",
    applies=_events,
)
def event_single_line(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    for event in reply.events:
        if event.event.data_lines > 1:
            yield at_event(reply, event, "one data line", f"{event.event.data_lines} data lines")


@clause(
    id="stream.event.bounded",
    level=Level.SHOULD,
    basis=Basis.PROTOCOL,
    title="No event is larger than 16 MiB",
    rationale="No norm sets a bound, so this is a SHOULD: an endless event grows every reader's memory until it dies.",
    source="incident/streams",
    applies=_events,
)
def event_bounded(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    assert reply.stream is not None
    for event in reply.stream.events:
        size = event.span.end - event.span.start
        if size > MAX_EVENT:
            span = Span(event.span.start, event.span.start + 240)
            yield at_content(reply, span, f"at most {MAX_EVENT} bytes", f"{size} bytes")
    for fault in reply.stream.faults:
        if fault.code in ("line.too-long", "event.too-long"):
            yield at_content(
                reply, Span(fault.span.start, fault.span.start + 240), f"at most {MAX_EVENT} bytes", fault.detail
            )


def _spread(events: tuple[StreamEvent, ...]) -> tuple[float, float]:
    """When the first and the last output came: a gateway may hold a role back until it knows that the member answers."""
    times = [event.at for event in events if has_output(event)]
    return (times[0], times[-1]) if times else (0.0, 0.0)


def _slow_upstream(x: Exchange) -> bool:
    attempt = serving(x)
    if attempt is None or attempt.reply is None or not is_stream(x) or not stayed(x) or not attempt.succeeded:
        return False
    if x.driver not in ("wire", "capture") or not x.timed or len(attempt.reply.events) < 3:
        return False
    first, last = _spread(attempt.reply.events)
    return last - first >= 250.0 and len(the_reply(x).events) >= 3


@clause(
    id="stream.delivery.incremental",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="Events reach the client while the upstream is still sending",
    rationale="A stream that is held back until its end has every cost of streaming and none of its use.",
    source="openai-api/chat-streaming",
    applies=_slow_upstream,
)
def delivery_incremental(x: Exchange) -> Iterator[Finding | Undecided]:
    attempt = serving(x)
    assert attempt is not None and attempt.reply is not None
    sent_first, sent_last = _spread(attempt.reply.events)
    first, last = _spread(the_reply(x).events)
    # A pause of our own hides what came in it, and no more: half of the time is enough to see events apart.
    if x.lag_ms > 0.5 * (sent_last - sent_first):
        yield Undecided(f"the harness itself did not run for {x.lag_ms:.0f} ms")
        return
    if last - first < 0.25 * (sent_last - sent_first):
        yield at_exchange(
            x,
            f"events spread over about the {sent_last - sent_first:.0f} ms in which the upstream sent them",
            f"all within {last - first:.0f} ms",
        )


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
    return _events(x) and reply is not None and x.request.endpoint in CHOICES and bool(reply.answer.event_errors)


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


@clause(
    id="stream.head.no-length",
    level=Level.SHOULD,
    basis=Basis.PROTOCOL,
    title="A stream has no Content-Length",
    rationale="A length is known only once the answer is: it shows that the stream was buffered whole.",
    source="rfc9112/body-length",
    # What is answered from memory is whole before it is sent.
    applies=lambda x: ended_stream(x) and x.attempts != (),
)
def head_no_length(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    value = reply.header("content-length")
    if value is not None:
        yield at_head(reply, "no Content-Length", f"Content-Length: {value}", field="content-length")
