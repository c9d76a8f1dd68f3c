"""Finds a target's profile: a bundled name, a TOML file, or the URL of a gateway that already runs.

Reads files and the one environment variable that holds a key; what the table means is `profile`'s matter.
"""

from __future__ import annotations

import dataclasses
import os
import tomllib
from pathlib import Path

from conformance.data import data_root
from conformance.errors import TargetError
from conformance.target.profile import Profile, at_url, decode
from conformance.target.schema import closest

#: "reference:NAME" is the reference gateway with the defect NAME.
_DEFECTIVE = "reference:"


def names() -> tuple[str, ...]:
    """The names of the bundled profiles, sorted."""
    return tuple(sorted(path.stem for path in data_root("targets").glob("*.toml")))


def load_profile(target: str) -> Profile:
    """The profile of `target`: a bundled name, a path to a .toml file, or an http(s) URL (the API root).

    Raises TargetError: nothing of that name, a file that cannot be read or is not valid, a key's variable that is
    not set.
    """
    if "://" in target:
        return at_url(target)
    if target.endswith(".toml") or os.sep in target:
        return load_file(Path(target))
    if target.startswith(_DEFECTIVE):
        return _with_defect(target.removeprefix(_DEFECTIVE))
    if target not in names():
        hint = closest(target, names())
        raise TargetError(f"there is no target {target!r}", hint=f"{hint}; a path to a .toml file or a URL will do too")
    return load_file(data_root("targets") / f"{target}.toml")


def _with_defect(name: str) -> Profile:
    """The reference gateway with one right behaviour turned wrong, for who wants to see a clause bite."""
    from conformance.reference.defects import find_defect

    defect = find_defect(name)
    faithful = load_file(data_root("targets") / "reference.toml")
    return dataclasses.replace(
        faithful,
        name=f"reference:{defect.name}",
        title=defect.title,
        command=(*faithful.command, "--defect", defect.name),
    )


def load_file(path: Path) -> Profile:
    """The profile in the TOML file `path`. Raises TargetError when it cannot be read or is not valid."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        hint = "name a profile's .toml file; `conformance targets` lists the bundled ones"
        raise TargetError(f"the profile cannot be read: {error.strerror}", where=str(path), hint=hint) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TargetError(f"is no TOML: {error}", where=str(path)) from error
    profile = decode(table, name=path.stem)
    return dataclasses.replace(profile, folder=str(path.resolve().parent), api_key=_api_key(profile))


def _api_key(profile: Profile) -> str:
    variable = profile.api_key_variable
    if not variable:
        return profile.api_key
    key = os.environ.get(variable, "")
    if not key:
        raise TargetError(
            f"{variable} is not set", where=f"{profile.name}: api_key_variable", hint="it holds the client's key"
        )
    return key
