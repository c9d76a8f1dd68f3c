"""Scenario files are found, read and chosen from."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.errors import ScenarioError
from conformance.scenario import load
from conformance.scenario.load import load_scenarios, select

TABLE = '[[scenario]]\nid = "{id}"\ntitle = "A fact"\nrequest.endpoint = "models"\nlive = true\n'


def written(folder: Path, name: str, *ids: str) -> Path:
    """A scenario file with one scenario for each of `ids`."""
    path = folder / name
    path.write_text("".join(TABLE.format(id=identity) for identity in ids))
    return path


def refused(path: Path) -> ScenarioError:
    """The error that loading `path` raises."""
    with pytest.raises(ScenarioError) as caught:
        load_scenarios([path])
    return caught.value


def test_folder_and_files(tmp_path: Path) -> None:
    """A folder gives its .toml files by name, and a file that is named twice is read once."""
    first = written(tmp_path, "a.toml", "a.one", "a.two")
    written(tmp_path, "b.toml", "b.one")
    (tmp_path / "notes.txt").write_text("not a scenario")
    ids = [scenario.id for scenario in load_scenarios([first, tmp_path])]
    assert ids == ["a.one", "a.two", "b.one"]


def test_bundled_scenarios_are_the_default() -> None:
    """Without paths the scenarios that ship are loaded."""
    assert len(load_scenarios()) >= 90


def test_id_twice_across_files(tmp_path: Path) -> None:
    """An id stands once, over all files; the error names both places."""
    written(tmp_path, "a.toml", "a.one")
    written(tmp_path, "b.toml", "a.one")
    error = refused(tmp_path)
    assert (error.where, error.hint) == ("b.toml: a.one", "first in a.toml")


def test_file_that_is_not_there(tmp_path: Path) -> None:
    """A missing file is a usage error that names it."""
    error = refused(tmp_path / "none.toml")
    assert "cannot be read" in error.what
    assert error.where.endswith("none.toml")


def test_empty_folder(tmp_path: Path) -> None:
    """A folder without scenarios is refused: zero scenarios would look like success."""
    assert "no .toml" in refused(tmp_path).what


@pytest.mark.parametrize("content", [b"[[scenario", b"\xff", b"x = 1", b"scenario = 1", b"", b"[[other]]"])
def test_content_that_is_no_scenario_file(tmp_path: Path, content: bytes) -> None:
    """What is not TOML, or TOML of something else, is refused with the file's name."""
    path = tmp_path / "x.toml"
    path.write_bytes(content)
    assert refused(path).where == str(path)


def test_large_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file beyond the bound is refused before it is read."""
    monkeypatch.setattr(load, "MAX_FILE_BYTES", 10)
    assert "larger than 10" in refused(written(tmp_path, "a.toml", "a.one")).what


def test_select(tmp_path: Path) -> None:
    """Globs choose by id, each scenario once, in the files' order; without a glob all are chosen."""
    scenarios = load_scenarios([written(tmp_path, "a.toml", "a.one", "a.two", "b.one")])
    assert [s.id for s in select(scenarios, ["*.one", "a.*"])] == ["a.one", "a.two", "b.one"]
    assert [s.id for s in select(scenarios, ["b.one"])] == ["b.one"]
    assert select(scenarios, []) == scenarios


def test_select_nothing(tmp_path: Path) -> None:
    """A glob that matches nothing is an error, with the nearest ids."""
    scenarios = load_scenarios([written(tmp_path, "a.toml", "pool.member", "b.x")])
    with pytest.raises(ScenarioError, match=r"no scenario matches 'pool\.membr'.*did you mean pool\.member\?"):
        select(scenarios, ["b.*", "pool.membr"])
    with pytest.raises(ScenarioError, match="conformance scenarios"):
        select(scenarios, ["zzzzzz"])
