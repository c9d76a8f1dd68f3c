"""An envelope under change: edits, cuts and re-timings that keep head, body and frames consistent.

Envelope -> Draft -> Draft ... -> script. Knows bytes, frames and header lines; which change is wanted is `transforms`'
and `rewrites`' matter. Pure.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from conformance.cassette.model import Envelope, EnvelopeEnd, Frame
from conformance.errors import ScenarioError

#: Replace the body's bytes from the first offset to the second by these.
Edit = tuple[int, int, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """Like an Envelope, with `head_at`: ms from the request to the head. Frames stay relative to the head."""

    head: tuple[str, ...]
    body: bytes
    frames: tuple[Frame, ...]
    end: EnvelopeEnd
    head_at: float = 0.0


def draft_of(envelope: Envelope) -> Draft:
    """The draft that plays `envelope` unchanged. Raises ScenarioError when the frames do not sum to the body."""
    framed = sum(frame.size for frame in envelope.frames)
    if framed != len(envelope.body):
        raise ScenarioError(
            f"the frames sum to {framed} bytes, the body has {len(envelope.body)}",
            where="envelope",
            hint="each body byte belongs to exactly one frame",
        )
    if any(frame.size < 0 or frame.at < 0 for frame in envelope.frames):
        raise ScenarioError("a frame has a negative size or time", where="envelope")
    return Draft(head=envelope.head, body=envelope.body, frames=envelope.frames, end=envelope.end)


def edited(draft: Draft, edits: Sequence[Edit]) -> Draft:
    """The draft with ordered, disjoint `edits` applied to its body; frames and a declared content length follow.

    What is inserted at a frame's first byte belongs to that frame, what is appended to the last one.
    """
    pieces: list[bytes] = []
    shifts, position = [0], 0
    for start, end, new in edits:
        pieces += (draft.body[position:start], new)
        shifts.append(shifts[-1] + len(new) - (end - start))
        position = end
    pieces.append(draft.body[position:])
    starts = [start for start, _, _ in edits]

    def moved(offset: int) -> int:
        passed = bisect_left(starts, offset)
        inside = passed > 0 and offset < edits[passed - 1][1]
        return (edits[passed - 1][1] if inside else offset) + shifts[passed]

    body = b"".join(pieces)
    borders = [moved(border) for border in accumulate(frame.size for frame in draft.frames)]
    times = [frame.at for frame in draft.frames] or [0.0]
    head = _with_length_moved(draft.head, len(body) - len(draft.body))
    return replace(draft, head=head, body=body, frames=_framed(times, [*borders[:-1], len(body)]))


def cut(draft: Draft, offset: int, end: EnvelopeEnd) -> Draft:
    """The draft that stops after `offset` body bytes and ends so. A declared content length stays: it is now a lie."""
    frames, left = [], offset
    for frame in draft.frames:
        if left <= 0:
            break
        frames.append(Frame(frame.at, min(frame.size, left)))
        left -= frame.size
    return replace(draft, body=draft.body[:offset], frames=tuple(frames), end=end)


def split(draft: Draft, offsets: Iterable[int]) -> Draft:
    """The draft with frame borders at `offsets` too; both halves of a frame keep its time."""
    borders = list(accumulate(frame.size for frame in draft.frames))
    wanted = sorted({offset for offset in offsets if 0 < offset < len(draft.body)})
    frames, previous, index = [], 0, 0
    for frame, border in zip(draft.frames, borders, strict=True):
        while index < len(wanted) and wanted[index] < border:
            if wanted[index] > previous:
                frames.append(Frame(frame.at, wanted[index] - previous))
                previous = wanted[index]
            index += 1
        frames.append(Frame(frame.at, border - previous))
        previous = border
    return replace(draft, frames=tuple(frames))


def recut(draft: Draft, borders: Sequence[int], time: Callable[[int], float] | None = None) -> Draft:
    """The draft framed anew at `borders` (offsets, the last the body's length).

    A frame's time is `time(index)`, or that of the old frame that held its last byte.
    """
    old = list(accumulate(frame.size for frame in draft.frames))

    def inherited(border: int) -> float:
        return draft.frames[min(bisect_left(old, border), len(old) - 1)].at

    times = [time(index) if time else inherited(border) for index, border in enumerate(borders)]
    return replace(draft, frames=_framed(times, borders))


def delayed(draft: Draft, offset: int, ms: float) -> Draft:
    """The draft whose bytes from `offset` on come `ms` later."""
    halves = split(draft, (offset,))
    frames, position = [], 0
    for frame in halves.frames:
        frames.append(Frame(frame.at + ms, frame.size) if position >= offset else frame)
        position += frame.size
    return replace(halves, frames=tuple(frames))


def header(draft: Draft, name: str) -> str | None:
    """The value of the first header line `name` (any case), or None."""
    for line in draft.head[1:]:
        key, _, value = line.partition(":")
        if key.strip().lower() == name:
            return value.strip()
    return None


def is_chunked(draft: Draft) -> bool:
    """Whether the head says that the body is sent in HTTP chunks."""
    return "chunked" in (header(draft, "transfer-encoding") or "").lower()


def without_headers(draft: Draft, *names: str) -> Draft:
    """The draft without the header lines `names` (lower case)."""
    kept = (line for line in draft.head[1:] if line.partition(":")[0].strip().lower() not in names)
    return replace(draft, head=(*draft.head[:1], *kept))


def with_header(draft: Draft, line: str) -> Draft:
    """The draft with one more header line, the last."""
    if not draft.head:
        raise ScenarioError("the envelope has no head to add a header line to", where=line)
    if "\r" in line or "\n" in line:
        raise ScenarioError("a header line holds a line end", where=repr(line))
    return replace(draft, head=(*draft.head, line))


def _framed(times: Sequence[float], borders: Sequence[int]) -> tuple[Frame, ...]:
    sizes = (border - previous for previous, border in zip((0, *borders), borders, strict=False))
    return tuple(Frame(at, size) for at, size in zip(times, sizes, strict=True))


def _with_length_moved(head: tuple[str, ...], delta: int) -> tuple[str, ...]:
    """The head whose content length, if it declares one, is `delta` bytes more; its spelling stays."""
    lines = list(head)
    for index, line in enumerate(lines):
        name, colon, value = line.partition(":")
        if index and colon and name.strip().lower() == "content-length" and value.strip().isdecimal() and delta:
            space = value[: len(value) - len(value.lstrip())]
            lines[index] = f"{name}:{space}{max(0, int(value) + delta)}"
    return tuple(lines)
