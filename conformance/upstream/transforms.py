"""The closed set of named transforms: "rechunk:7" and its like, from text to a change of a draft.

One table says form, meaning and function; `transformed` looks a text up, reads its arguments and applies it. Pure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches

from conformance.cassette.model import EnvelopeEnd
from conformance.errors import ScenarioError
from conformance.upstream import rewrites as change
from conformance.upstream.draft import Draft

MAX_NUMBER = 256 * 1024 * 1024

#: How an argument of each form is read: counts are integers from 0, MS are milliseconds, VALUE may hold colons.
_READ: dict[str, Callable[[str], int | float | str]] = {
    "N": int,
    "TIMES": int,
    "BYTES": int,
    "CODE": int,
    "MS": float,
    "VALUE": str,
    "NAME": str,
}


@dataclass(frozen=True, slots=True)
class Transform:
    """One named change. `form` is how it is written ("delay-event:N:MS"); `meaning` is one line."""

    form: str
    meaning: str
    apply: Callable[..., Draft]

    @property
    def name(self) -> str:
        """The word before the first colon."""
        return self.form.partition(":")[0]

    @property
    def parameters(self) -> tuple[str, ...]:
        """The forms of its arguments."""
        return tuple(self.form.replace("=", ":").split(":")[1:])


def _ending(end: EnvelopeEnd) -> Callable[[Draft, int], Draft]:
    return lambda draft, number: change.end_after(draft, number, end)


_ROWS = (
    Transform("rechunk:N", "frames of N bytes", change.rechunk),
    Transform("split-every-byte", "frames of one byte", lambda draft: change.rechunk(draft, 1)),
    Transform(
        "split-characters:MS", "characters outside ASCII are cut, MS between their bytes", change.split_characters
    ),
    Transform("coalesce", "the whole body in one frame, together with the head", change.coalesce),
    Transform("pace:MS", "each event is one frame, MS after the one before", change.pace),
    Transform("delay-head:MS", "head and body come MS later", change.delay_head),
    Transform("delay-event:N:MS", "event N and all after it come MS later", change.delay_event),
    Transform("crlf", "lines end with CRLF", lambda draft: change.line_ends(draft, b"\r\n")),
    Transform("cr", "lines end with CR", lambda draft: change.line_ends(draft, b"\r")),
    Transform("bom", "a byte order mark leads the body", change.byte_order_mark),
    Transform("no-space-after-colon", "fields are written data:x", change.no_space_after_colon),
    Transform("no-final-blank-line", "no blank line ends the last event", change.no_final_blank_line),
    Transform("comment-before-event:N", "a comment stands before event N", change.comment_before),
    Transform("comments-every-event", "a comment stands before every event", change.comments_everywhere),
    Transform("truncate-after-event:N", "N events, then the member closes", _ending(EnvelopeEnd.CLOSE)),
    Transform("close-after-event:N", "the same as truncate-after-event", _ending(EnvelopeEnd.CLOSE)),
    Transform("stall-after-event:N", "N events, then silence", _ending(EnvelopeEnd.STALL)),
    Transform("reset-after-event:N", "N events, then a reset", _ending(EnvelopeEnd.RESET)),
    Transform("half-close-after-event:N", "N events, then the sending side shuts", _ending(EnvelopeEnd.HALF_CLOSE)),
    Transform("truncate-bytes:N", "N body bytes, then the member closes", change.end_after_bytes),
    Transform("drop-done", "no [DONE]", change.drop_done),
    Transform("double-done", "the [DONE] comes twice", change.double_done),
    Transform("repeat-event:N:TIMES", "event N comes TIMES times in all", change.repeat_event),
    Transform("bad-json-at:N", "the data of event N breaks off in its JSON", change.bad_json),
    Transform("unknown-event-at:N", "an event of an unknown type stands before event N", change.unknown_event),
    Transform("big-event:BYTES", "the first JSON event grows to BYTES, over many data lines", change.big_event),
    Transform("long-text:N:BYTES", "the text of event N grows by BYTES letters", change.long_text),
    Transform("endless-event:BYTES", "after event 1 comes one without end: BYTES, then a close", change.endless_event),
    Transform("gzip", "the body is gzip and the head says so", change.gzip),
    Transform("until-close", "no length and no chunks: the body runs until the close", change.until_close),
    Transform("content-type:VALUE", "the head names this media type", change.content_type),
    Transform("no-content-type", "the head names no media type", change.no_content_type),
    Transform("status:CODE", "the status line says CODE", change.status),
    Transform("header:NAME=VALUE", "one more header line", change.extra_header),
    Transform("retry-date:N", "Retry-After is a date, N seconds after the play is armed", change.retry_date),
    Transform("retry-date-from:N:VALUE", "Retry-After is a date, N seconds after the date VALUE", change.retry_date),
)

TRANSFORMS: dict[str, Transform] = {row.name: row for row in _ROWS}


def transformed(draft: Draft, text: str) -> Draft:
    """The draft after the transform `text`. Raises ScenarioError: unknown name, bad argument, nothing to change."""
    transform, arguments = _read(text)
    try:
        return transform.apply(draft, *arguments)
    except ScenarioError as error:
        raise ScenarioError(error.what, where=f"transform {text!r}", hint=error.hint) from None


def dated(text: str, now: str) -> str:
    """The transform `text`; one that counts from its arming is told that it is `now`, a date of RFC 9110's form."""
    name, _, seconds = text.partition(":")
    return f"retry-date-from:{seconds}:{now}" if name == "retry-date" else text


def _read(text: str) -> tuple[Transform, list[int | float | str]]:
    name, colon, rest = text.partition(":")
    transform = TRANSFORMS.get(name)
    if transform is None:
        near = get_close_matches(name, TRANSFORMS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(TRANSFORMS)}"
        raise ScenarioError(f"there is no transform {name!r}", where=f"transform {text!r}", hint=hint)
    parameters = transform.parameters
    separator = "=" if "=" in transform.form else ":"
    words = rest.split(separator, len(parameters) - 1) if colon and parameters else [rest] * bool(colon)
    if len(words) != len(parameters):
        raise ScenarioError("wrong number of arguments", where=f"transform {text!r}", hint=f"written {transform.form}")
    return transform, [_argument(word, form, text) for word, form in zip(words, parameters, strict=True)]


def _argument(word: str, form: str, text: str) -> int | float | str:
    try:
        value = _READ[form](word)
    except ValueError:
        value = -1
    if isinstance(value, str) or 0 <= value <= MAX_NUMBER:
        return value
    raise ScenarioError(f"{word!r} is no {form}", where=f"transform {text!r}", hint="a number from 0")
