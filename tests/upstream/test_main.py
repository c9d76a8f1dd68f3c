"""python -m conformance.upstream: arguments become settings, a start that fails is exit code 3."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.errors import UpstreamError
from conformance.upstream import __main__ as command
from conformance.upstream.serve import Settings
from conformance.upstream.server import DEFAULT_BOUNDS, Bounds


def test_arguments_become_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Members, cassette folders in order, bounds; defaults otherwise."""
    seen: list[Settings] = []
    monkeypatch.setattr(command, "serve_attached", lambda settings: seen.append(settings) or 0)
    assert command.main(["--members", "2"]) == 0
    assert (
        command.main(
            ["--members", "1", "--cassettes", "a", "--cassettes", "b", "--journal-entries", "5", "--journal-bytes", "6"]
        )
        == 0
    )
    assert seen == [
        Settings(members=2, bounds=DEFAULT_BOUNDS),
        Settings(members=1, cassettes=(Path("a"), Path("b")), bounds=Bounds(entries=5, bytes=6)),
    ]


def test_a_start_that_fails_is_exit_code_3(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The reason is on stderr."""

    def fail(settings: Settings) -> int:
        raise UpstreamError("no port", where="127.0.0.1:1")

    monkeypatch.setattr(command, "serve_attached", fail)
    assert command.main(["--members", "1"]) == 3
    assert "127.0.0.1:1: no port" in capsys.readouterr().err
