"""What is executed: programs are found, the environment is clean, versions are read."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import conformance
from conformance.errors import TargetError
from conformance.target.command import Command, assemble, read_version
from conformance.target.profile import Profile


def put_together(profile: Profile, scratch: Path) -> Command:
    """The command for a launch on port 4000."""
    return assemble(
        profile,
        port=4000,
        spare_port=4001,
        config=scratch / "c.json",
        scratch=scratch,
        members=("http://a", "http://b"),
    )


def test_placeholders_become_values(tmp_path: Path) -> None:
    """Ports, files, folders and the members' URLs stand where the profile wants them."""
    profile = Profile(
        name="x",
        kind="command",
        command=("{python}", "{config}", "{host}:{port}", "{spare_port}", "--urls", "{member_urls}"),
        environment=(("DATA", "{scratch}/data"),),
    )
    command = put_together(profile, tmp_path)
    assert command.arguments[1:] == (
        str(tmp_path / "c.json"),
        "127.0.0.1:4000",
        "4001",
        "--urls",
        "http://a",
        "http://b",
    )
    assert command.environment["DATA"] == f"{tmp_path}/data"


def test_nothing_of_ours_gets_into_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Proxies, keys and the home folder stay outside."""
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.test:3128")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-mine")
    environment = put_together(Profile(name="x", kind="command", command=("{python}",)), tmp_path).environment
    assert "HTTPS_PROXY" not in environment
    assert "OPENAI_API_KEY" not in environment
    assert environment["HOME"] == str(tmp_path)
    assert "127.0.0.1" in environment["NO_PROXY"]


def test_the_variable_replaces_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable's path is {program}; {bin} is the folder that it really lies in."""
    profile = Profile(
        name="x",
        kind="command",
        program="no-such-gateway",
        program_variable="X_PROGRAM",
        command=("{program}", "{bin}"),
    )
    (tmp_path / "link").symlink_to(sys.executable)
    monkeypatch.setenv("X_PROGRAM", str(tmp_path / "link"))
    command = put_together(profile, tmp_path)
    assert command.arguments == (str(tmp_path / "link"), str(Path(sys.executable).resolve().parent))


@pytest.mark.parametrize("value", ["", "/no/such/program"])
def test_a_missing_program_says_how_to_get_it(value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is the caller's, with the profile's word on installation and the variable's name."""
    monkeypatch.setenv("X_PROGRAM", value)
    profile = Profile(
        name="x",
        kind="command",
        program="no-such-gateway",
        program_variable="X_PROGRAM",
        install="pip install it",
        command=("{program}",),
    )
    with pytest.raises(TargetError, match=r"is not there .pip install it; or set X_PROGRAM"):
        put_together(profile, tmp_path)


def test_a_folder_with_the_programs_name_is_not_taken_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a report was written to a folder named like the gateway, the gateway is still found on PATH."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "gate").symlink_to(sys.executable)
    (tmp_path / "gate").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.chdir(tmp_path)
    command = put_together(Profile(name="x", kind="command", program="gate", command=("{program}",)), tmp_path)
    assert command.arguments == (str(tmp_path / "bin" / "gate"),)


def test_a_command_that_is_not_on_path_is_the_callers_mistake(tmp_path: Path) -> None:
    """A profile whose first word cannot be found cannot be used here."""
    with pytest.raises(TargetError, match="no-such-program is not on PATH"):
        put_together(Profile(name="x", kind="command", command=("no-such-program",)), tmp_path)


@pytest.mark.parametrize(
    ("code", "version"),
    [
        ("print('gate version 1.98.0 (build 7)')", "1.98.0"),
        ("import sys; sys.stderr.write('nginx/1.22.1')", "1.22.1"),
        ("print('no number')", ""),
        ("print('1.2.3'); raise SystemExit(1)", ""),
    ],
)
def test_a_version_is_read_from_what_the_command_prints(code: str, version: str, tmp_path: Path) -> None:
    """The first version number on either stream counts; a failing command tells nothing."""
    profile = Profile(name="x", kind="command", version_command=("{python}", "-I", "-S", "-c", code))
    assert read_version(profile, tmp_path) == version


def test_the_reference_gateways_version_is_the_suites(tmp_path: Path) -> None:
    """It ships with the suite; other targets without a version command tell none."""
    assert read_version(Profile(name="r", kind="reference"), tmp_path) == conformance.__version__
    assert read_version(Profile(name="x", kind="command"), tmp_path) == ""
