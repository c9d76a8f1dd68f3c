"""What the deltas of a chat or completion stream are: increments, each of which adds what was not there before.

A text that repeats itself is none of our business: only what no writer does is a violation. A member that sends it so
itself is at fault itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.clauses.inherited import own
from conformance.contract.evidence import at_event, show
from conformance.contract.when import is_stream, the_reply
from conformance.exchange.members import list_in, object_in, text_in
from conformance.exchange.model import Exchange, StreamEvent

Piece = tuple[StreamEvent, str]

#: Fewer deltas, shorter texts and fewer letters than these can repeat themselves by chance.
_SNAPSHOT = 12
_OPENING = 8
_LETTERS = 6
_PAIRS = 5


def _pieces(x: Exchange) -> dict[tuple[str, str], list[Piece]]:
    """The deltas that hold text, by choice and member, each with its event."""
    found: dict[tuple[str, str], list[Piece]] = {}
    for event in the_reply(x).events:
        if event.done:
            break
        for place, choice in enumerate(list_in(event.doc.value if event.doc is not None else None, "choices")):
            index = show(choice.get("index", place)) if isinstance(choice, dict) else ""
            delta: Any = object_in(choice, "delta")
            for name, text in (
                ("content", text_in(delta, "content")),
                ("reasoning", text_in(delta, "reasoning_content") or text_in(delta, "reasoning")),
                ("text", text_in(choice, "text")),
            ):
                if text:
                    found.setdefault((index, name), []).append((event, text))
    return found


def _grows(pieces: list[Piece]) -> StreamEvent | None:
    """Where the deltas are the whole text so far: four of five begin with the whole one before."""
    longer = [
        event
        for (_, before), (event, after) in pairwise(pieces)
        # Lines that grow, a path or a heading, each begin anew.
        if len(before) >= 3 and len(after) > len(before) and after.startswith(before) and before[0] != "\n"
    ]
    lines = sum(text.startswith("\n") for _, text in pieces[1:])
    if lines >= len(pieces) // 2:
        return None
    enough = len(longer) > 2 or (len(longer) == 2 and len(pieces[0][1]) >= _OPENING)
    varied = len(set(pieces[-1][1])) >= _LETTERS
    return longer[0] if enough and varied and len(longer) >= 0.8 * (len(pieces) - 1) else None


def _snapshot(pieces: list[Piece]) -> StreamEvent | None:
    """Where one delta is all that came before it, in at least two pieces, and nothing stands between the two."""
    size = 0
    for number, (event, text) in enumerate(pieces):
        told = number > 1 and len(text) == size >= _SNAPSHOT and len(set(text)) >= _LETTERS
        # Who says a thing twice parts the two; a text without any blank may do without.
        glued = told and text == text.strip() and any(letter.isspace() for letter in text) and text.isascii()
        if glued and text == "".join(piece for _, piece in pieces[:number]):
            return event
        size += len(text)
    return None


def _doubled(pieces: list[Piece]) -> StreamEvent | None:
    """Where every delta comes twice."""
    texts = [text for _, text in pieces]
    twice = len(texts) % 2 == 0 and texts[::2] == texts[1::2]
    words = {text for text in texts if len(text) > 1}
    return pieces[1][0] if twice and len(texts) >= 2 * _PAIRS and len(words) >= _PAIRS - 1 else None


_WAYS = (
    (_grows, "what is new in each delta", "the whole text so far in each"),
    (_snapshot, "what is new", "all that came before, again"),
    (_doubled, "each delta once", "each of them twice"),
)


@clause(
    id="stream.text.incremental",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A delta holds what is new, and not what came before",
    rationale="Every client joins the deltas: a text so far, or one sent again, stands in the answer once for each time.",
    source="openai-sdk/accumulation",
    applies=lambda x: is_stream(x) and bool(_pieces(x)),
)
@own
def text_incremental(x: Exchange) -> Iterator[Finding]:
    for pieces in _pieces(x).values():
        for way, expected, actual in _WAYS:
            event = way(pieces)
            if event is not None:
                yield at_event(the_reply(x), event, expected, f"{actual}: {show([text for _, text in pieces[:4]])}")
                break
