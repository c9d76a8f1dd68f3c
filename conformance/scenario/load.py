"""Scenario files (TOML) become scenarios, and globs choose among them. The only part of the room that touches files."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from conformance.data import data_root
from conformance.errors import ScenarioError
from conformance.nearest import near_glob
from conformance.scenario.codec import decode
from conformance.scenario.model import Scenario

#: A scenario file is written by hand; a larger one is not one.
MAX_FILE_BYTES = 4 << 20


def load_scenarios(paths: Sequence[Path] | None = None) -> tuple[Scenario, ...]:
    """The scenarios of `paths` (files, or folders of .toml files), in order of file name; by default the bundled ones.

    Raises ScenarioError when a file cannot be read, a scenario is not valid, or an id stands twice.
    """
    seen: dict[str, Path] = {}
    scenarios: list[Scenario] = []
    for path in _files([data_root("scenarios")] if paths is None else paths):
        for scenario in _read(path):
            if scenario.id in seen:
                where = f"{path.name}: {scenario.id}"
                raise ScenarioError("the id stands twice", where=where, hint=f"first in {seen[scenario.id].name}")
            seen[scenario.id] = path
            scenarios.append(scenario)
    return tuple(scenarios)


def select(scenarios: Iterable[Scenario], globs: Iterable[str]) -> tuple[Scenario, ...]:
    """The scenarios whose id matches one of `globs`, in their own order; all of them when there is no glob.

    Raises ScenarioError for a glob that matches nothing.
    """
    known = tuple(scenarios)
    patterns = tuple(globs)
    for pattern in patterns:
        if not any(fnmatchcase(scenario.id, pattern) for scenario in known):
            ids = (scenario.id for scenario in known)
            hint = near_glob(pattern, ids, otherwise="`conformance scenarios` lists them")
            raise ScenarioError(f"no scenario matches {pattern!r}", where="--select", hint=hint)
    if not patterns:
        return known
    return tuple(s for s in known if any(fnmatchcase(s.id, pattern) for pattern in patterns))


def _files(paths: Iterable[Path]) -> list[Path]:
    files: list[Path] = []
    for path in paths:
        found = sorted(path.glob("*.toml")) if path.is_dir() else [path]
        if not found:
            raise ScenarioError("the folder holds no .toml file", where=str(path))
        files += [file for file in found if file not in files]
    return files


def _read(path: Path) -> tuple[Scenario, ...]:
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise ScenarioError(f"the file is larger than {MAX_FILE_BYTES} bytes", where=str(path))
        document = tomllib.loads(path.read_bytes().decode())
    except OSError as error:
        raise ScenarioError(f"the file cannot be read: {error.strerror}", where=str(path)) from error
    except ValueError as error:  # TOMLDecodeError and UnicodeDecodeError are both
        raise ScenarioError(f"this is not TOML: {error}", where=str(path)) from error
    tables = document.get("scenario")
    if set(document) != {"scenario"} or not isinstance(tables, list):
        hint = "the file holds [[scenario]] tables and nothing else"
        raise ScenarioError("this is not a scenario file", where=str(path), hint=hint)
    return tuple(decode(table, where=path.name) for table in tables)
