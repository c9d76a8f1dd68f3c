"""A target's known violations: a TOML file becomes deviations, or an error that says which table is wrong and how.

Reads that file and its schema. What a deviation excuses in a report is `report.deviations`' matter.
"""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from conformance.errors import TargetError
from conformance.report.model import Deviation
from conformance.target.schema import closest, validate

#: A file written by hand; a larger one is not one.
MAX_FILE_BYTES = 1 << 20


def load_deviations(
    path: Path, *, clauses: Collection[str], scenarios: Collection[str], played: Collection[str]
) -> tuple[Deviation, ...]:
    """The deviations in the file `path`, in its order.

    `clauses` and `scenarios` are the ids that there are, `played` those of the scenarios that the run plays. Raises
    TargetError for a file that cannot be read or is not valid, an unknown clause, a glob that names no scenario.
    """
    table = _read(path)
    validate(table, where=path.name, schema="deviations")
    made = []
    for number, entry in enumerate(table.get("deviation", [])):
        where = f"{path.name}: deviation[{number}]"
        if entry["clause"] not in clauses:
            what = f"there is no clause {entry['clause']!r}"
            raise TargetError(what, where=f"{where}.clause", hint=closest(entry["clause"], clauses))
        named = _named(entry.get("scenarios", ["*"]), scenarios, f"{where}.scenarios")
        made.append(_deviation(entry, where, whole=named <= set(played)))
    return tuple(made)


def _read(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise TargetError(f"the file is larger than {MAX_FILE_BYTES} bytes", where=str(path))
        return tomllib.loads(path.read_bytes().decode())
    except OSError as error:
        hint = "a .toml file of [[deviation]] tables"
        raise TargetError(f"the deviations cannot be read: {error.strerror}", where=str(path), hint=hint) from error
    except ValueError as error:  # TOMLDecodeError and UnicodeDecodeError are both
        raise TargetError(f"is no TOML: {error}", where=str(path)) from error


def _named(globs: list[str], scenarios: Collection[str], where: str) -> set[str]:
    """The ids that the globs name."""
    for glob in globs:
        if not any(fnmatchcase(scenario, glob) for scenario in scenarios):
            hint = f"{closest(glob, scenarios)} One of your own is known with --scenarios"
            raise TargetError(f"no scenario matches {glob!r}", where=where, hint=hint)
    return {scenario for scenario in scenarios if any(fnmatchcase(scenario, glob) for glob in globs)}


def _deviation(entry: Mapping[str, Any], where: str, *, whole: bool) -> Deviation:
    expires = entry["expires"]
    if not isinstance(expires, datetime.date) or isinstance(expires, datetime.datetime):
        hint = "expires = 2027-03-31, without quotes"
        raise TargetError(f"{expires} is no date", where=f"{where}.expires", hint=hint)
    return Deviation(
        clause=entry["clause"],
        scenarios=tuple(entry.get("scenarios", ())),
        reason=" ".join(entry["reason"].split()),
        link=entry["link"].strip(),
        expires=expires.isoformat(),
        flaky=entry.get("flaky", False),
        whole=whole,
    )
