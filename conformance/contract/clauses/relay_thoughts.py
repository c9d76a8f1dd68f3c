"""The reasoning text of a member on its way to the client: told once where it is told, and not lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.clauses.legs import both_whole, pairs
from conformance.contract.evidence import at_end, show
from conformance.contract.when import serving, the_reply
from conformance.exchange.answer import Choice
from conformance.exchange.model import Endpoint, Exchange


def _thoughts(x: Exchange) -> list[tuple[Choice, Choice]]:
    """Each choice in which the member thought aloud, and what the client got of it, both in the chat API's words."""
    attempt = serving(x)
    chat = x.request.endpoint is Endpoint.CHAT and attempt is not None and attempt.request.endpoint is Endpoint.CHAT
    if not chat or both_whole(x) is None:
        return []
    return [(theirs, mine) for theirs, mine in pairs(x) if mine is not None and theirs.reasoning.strip()]


def _doubled(mine: str, theirs: str) -> bool:
    """Whether a text has every letter of the other twice: as a whole, or piece by piece."""
    if len(mine) != 2 * len(theirs):
        return False
    return Counter(mine) == {letter: 2 * times for letter, times in Counter(theirs).items()}


@clause(
    id="relay.reasoning.once",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The reasoning that an upstream sent is not told twice",
    rationale="Clients show it and send it back: thoughts that nobody had twice are text that the model did not write.",
    source="incident/streams",
    applies=lambda x: any(mine.reasoning for _, mine in _thoughts(x)),
)
def once(x: Exchange) -> Iterator[Finding]:
    for theirs, mine in _thoughts(x):
        if _doubled(mine.reasoning, theirs.reasoning):
            yield at_end(the_reply(x), show(theirs.reasoning, 60), show(mine.reasoning))


def _unwanted(x: Exchange) -> bool:
    """Whether the client asks for no reasoning text, in one of the ways that are in use."""
    asked = (
        x.request.get("include_reasoning"),
        x.request.get("reasoning", "exclude"),
        x.request.get("reasoning_format"),
    )
    return asked[0] is False or asked[1] is True or asked[2] == "hidden"


@clause(
    id="relay.reasoning.kept",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="The reasoning that an upstream sent reaches the client",
    rationale="Models ask for it back in the next turn. No norm knows the member that it stands in: a SHOULD.",
    source="incident/streams",
    applies=lambda x: bool(_thoughts(x)) and not _unwanted(x),
)
def kept(x: Exchange) -> Iterator[Finding]:
    for theirs, mine in _thoughts(x):
        told = theirs.reasoning.strip() in mine.reasoning or theirs.reasoning.strip() in mine.text
        if not told and not _doubled(mine.reasoning, theirs.reasoning):
            yield at_end(
                the_reply(x), show(theirs.reasoning, 60), show(mine.reasoning, 60) if mine.reasoning else "none"
            )
