"""Defects of a stream's life: its lines, its events, its end."""

from __future__ import annotations

from conformance.reference.behaviour import Behaviour
from conformance.reference.defects.entry import Defect
from conformance.reference.steps import Step

TABLE = (
    Defect(
        name="stream-without-done",
        title="A finished stream ends without [DONE]",
        violates=frozenset({"stream.done.present"}),
        behaviour=Behaviour(skip=frozenset({Step.DONE})),
    ),
)
