"""What a reader can do next: the command that shows one finding alone, made from the command that found it.

From a report's header and a violation to a command line for a shell. Runs nothing.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from conformance.report.model import Case, RunHeader

#: Options that choose what is run or where the report goes; each takes a value.
_CHOOSING = ("--select", "--clauses", "--driver", "--report", "--conformance-report", "--format", "-n")
#: What stands in a shown command for what must not be shown: such a command cannot be run again.
_HIDDEN = "..."


def alone(run: RunHeader, case: Case, clause: str) -> str:
    """The command that judges `clause` on the scenario of `case` alone; "" where the run's own cannot be repeated."""
    try:
        words = shlex.split(run.command)
    except ValueError:
        return ""
    if not words or any(_HIDDEN in word for word in words):
        return ""
    chosen = ["--clauses", clause]
    if run.mode != "judge":
        driver = ["--driver", case.driver] if case.driver else []
        chosen = ["--select", case.scenario, *driver, *chosen]
    return shlex.join([*_kept(words), *chosen])


def _kept(words: list[str]) -> Iterator[str]:
    """The words that are no option of _CHOOSING, nor its value."""
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in _CHOOSING:
            skip = True
        elif word.partition("=")[0] not in _CHOOSING and not (word.startswith("-n") and word[2:].isdigit()):
            yield word
