"""A cassette's YAML, put together of one piece for each interaction: a growing file costs no more than what is new.

The same text as `dialect.dump(encode(cassette))` gives. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from conformance.cassette import dialect
from conformance.cassette.codec import encode
from conformance.cassette.model import Cassette, Interaction


@dataclass(frozen=True, slots=True)
class Piece:
    """One interaction's entry in each of the two lists, as text."""

    entry: str
    facts: str


def piece(interaction: Interaction) -> Piece:
    """The piece of an interaction."""
    document = encode(Cassette(name="", interactions=(interaction,)))
    facts = document["metadata"]["conformance"]["interactions"]
    return Piece(
        entry=_under({"interactions": document["interactions"]}, "interactions:\n"),
        facts=_under({"metadata": {"conformance": {"interactions": facts}}}, "    interactions:\n"),
    )


def joined(blank: Cassette, pieces: Iterable[Piece]) -> str:
    """The text of `blank` with the interactions that the pieces are of, at least one, instead of its own."""
    held = list(pieces)
    document = encode(replace(blank, interactions=()))
    facts = document["metadata"]["conformance"]
    del facts["interactions"]
    told = _under({"metadata": document["metadata"]}, "metadata:\n") if facts else "  conformance:\n"
    entries, ends = "".join(one.entry for one in held), "".join(one.facts for one in held)
    return f"version: 1\ninteractions:\n{entries}metadata:\n{told}    interactions:\n{ends}"


def _under(document: dict[str, object], line: str) -> str:
    """What stands below a line of the document's text, without the mark that ends a document of open texts."""
    text = dialect.dump(document)
    return text.removesuffix("...\n" if text.endswith("\n...\n") else "").split(line, 1)[1]
