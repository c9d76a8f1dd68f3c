"""Defects below the API: status line, field lines, framing."""

from __future__ import annotations

from conformance.reference.behaviour import Behaviour
from conformance.reference.defects.entry import Defect
from conformance.reference.framing import Framing


class _NoLastChunk(Framing):
    def end(self) -> bytes:
        return b""


TABLE = (
    Defect(
        name="body-without-last-chunk",
        title="A chunked body ends without its last chunk",
        violates=frozenset({"http.body.complete"}),
        behaviour=Behaviour(framing=_NoLastChunk),
    ),
)
