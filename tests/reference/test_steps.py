"""Facts about the steps: each is taken somewhere, under its own name."""

from __future__ import annotations

from pathlib import Path

import pytest

import conformance.reference
from conformance.reference.steps import Step

SOURCES = [path.read_text() for path in Path(conformance.reference.__path__[0]).glob("*.py") if path.stem != "defects"]


@pytest.mark.parametrize("step", Step)
def test_every_step_is_taken(step: Step) -> None:
    """The gateway asks for the step, so that leaving it out changes something."""
    assert any(f"Step.{step.name})" in source for source in SOURCES)
    assert step.value == step.name.lower().replace("_", "-")
