"""What a reader can do next: the command that shows one finding alone."""

from __future__ import annotations

import shlex
from dataclasses import replace

import pytest

from conformance import __version__
from conformance.arguments import build_parser
from conformance.report import follow
from conformance.report.model import Case

from . import sample

CHOSEN = "--select stream.twice --driver wire --clauses stream.done.once"


@pytest.mark.parametrize(
    ("command", "mode", "alone"),
    [
        ("conformance run --target sample", "replay", f"conformance run --target sample {CHOSEN}"),
        (
            "conformance run --target ./a.toml --select 'x.*' --select=y --clauses c -n 2 --report r --seed 3",
            "replay",
            f"conformance run --target ./a.toml --seed 3 {CHOSEN}",
        ),
        (
            "conformance run --load --load-max 8 -n8 --driver httpx",
            "replay",
            f"conformance run --load --load-max 8 {CHOSEN}",
        ),
        (
            "conformance run --live --target http://h/v1 --api-key-env KEY --model m",
            "live",
            f"conformance run --live --target http://h/v1 --api-key-env KEY --model m {CHOSEN}",
        ),
        (
            "conformance judge 'my client.yaml' --upstream u.yaml --clauses 'a.*'",
            "judge",
            "conformance judge 'my client.yaml' --upstream u.yaml --clauses stream.done.once",
        ),
    ],
)
def test_the_command_is_the_runs_own(command: str, mode: str, alone: str) -> None:
    """What was run stays, what was chosen is one scenario, driver and clause; the parser takes it."""
    made = follow.alone(replace(sample.HEADER, command=command, mode=mode), sample.VIOLATED, "stream.done.once")
    assert made == alone
    assert build_parser(__version__).parse_args(shlex.split(made)[1:])


@pytest.mark.parametrize("command", ["", "conformance run --target 'http://h/v1?...'", "conformance run 'unclosed"])
def test_a_command_that_cannot_be_repeated_is_not_shown(command: str) -> None:
    """Where the report does not hold the whole command, none is made up."""
    assert follow.alone(replace(sample.HEADER, command=command), Case(id="a", scenario="a"), "c") == ""
