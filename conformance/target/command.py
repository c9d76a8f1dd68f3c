"""What exactly is executed for a profile: arguments, environment, version. Placeholders become values here.

Looks up programs on PATH and reads environment variables; starts nothing but the version command.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import conformance
from conformance.errors import TargetError
from conformance.target.profile import Profile
from conformance.target.template import fill, fill_all

#: All that a target's environment keeps of ours. No proxy, no key, no setting of another tool gets in.
_KEPT = ("PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "SYSTEMROOT")

_LOOPBACK = "127.0.0.1,localhost,::1"
_VERSION = re.compile(r"\d+\.\d+[0-9A-Za-z.+-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A program to execute: arguments (the first an absolute path) and the whole environment."""

    arguments: tuple[str, ...]
    environment: Mapping[str, str]


def assemble(
    profile: Profile, *, port: int, spare_port: int, config: Path | None, scratch: Path, members: tuple[str, ...]
) -> Command:
    """The profile's command for one launch; `members` are the API roots for {member_urls}.

    Raises TargetError when a program is not there, with the profile's word on how to get it.
    """
    values = program_values(profile) | {
        "scratch": str(scratch),
        "config": str(config or ""),
        "host": "127.0.0.1",
        "port": str(port),
        "spare_port": str(spare_port),
    }
    words = fill_all(profile.command, values, {"member_urls": members})
    variables = {name: fill(text, values) for name, text in profile.environment}
    return Command(
        arguments=(_executable(words[0], profile), *words[1:]),
        environment=clean_environment(scratch) | variables,
    )


def clean_environment(scratch: Path) -> dict[str, str]:
    """The environment that a target starts from: PATH and language kept, home in `scratch`, proxies off."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return kept | {
        "HOME": str(scratch),
        "TMPDIR": str(scratch),
        "NO_PROXY": _LOOPBACK,
        "no_proxy": _LOOPBACK,
        "PYTHONUNBUFFERED": "1",
    }


def program_values(profile: Profile) -> dict[str, str]:
    """The values of {python}, {program}, {bin} and {folder}. Raises TargetError when the program is not there."""
    values = {"python": sys.executable, "folder": profile.folder}
    if not profile.program and not profile.program_variable:
        return values
    named = os.environ.get(profile.program_variable, "") if profile.program_variable else ""
    program = _find(named or profile.program)
    if not program:
        wanted = named or profile.program
        variable = f"; or set {profile.program_variable} to its path" if profile.program_variable else ""
        raise TargetError(
            f"the gateway's program {wanted} is not there" if wanted else f"{profile.program_variable} is not set",
            where=f"target {profile.name}",
            hint=f"{profile.install or 'install it'}{variable}",
        )
    return values | {"program": program, "bin": str(Path(program).resolve().parent)}


def read_version(profile: Profile, scratch: Path) -> str:
    """What version the target says it is, "" when it cannot be told. The reference gateway's is the suite's own."""
    if profile.kind == "reference":
        return conformance.__version__
    if not profile.version_command:
        return ""
    words = fill_all(profile.version_command, program_values(profile), {})
    try:
        run = subprocess.run(
            (_executable(words[0], profile), *words[1:]),
            env=clean_environment(scratch),
            cwd=scratch,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired, TargetError):
        return ""
    match = _VERSION.search(run.stdout.decode("utf-8", "replace")) if run.returncode == 0 else None
    return match.group(0) if match else ""


def _executable(word: str, profile: Profile) -> str:
    found = shutil.which(word)
    if not found:
        raise TargetError(f"{word} is not on PATH", where=f"{profile.name}: command", hint=profile.install)
    return str(Path(found).absolute())


def _find(program: str) -> str:
    """An absolute path to an executable (searched on PATH) or a folder, "" when there is neither."""
    found = shutil.which(program) if program else None
    if not found and program and Path(program).is_dir():
        found = program  # only then: a report's folder may have a program's name
    return str(Path(found).absolute()) if found else ""
