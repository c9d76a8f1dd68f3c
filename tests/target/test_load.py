"""A target is found by bundled name, by file or by URL."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.errors import TargetError
from conformance.target.load import load_profile, names
from conformance.target.render import RENDERERS


@pytest.mark.parametrize("name", names())
def test_every_bundled_profile_is_valid(name: str) -> None:
    """Each shipped file decodes, is named after its file, and has a title and a known renderer."""
    profile = load_profile(name)
    assert profile.name == name
    assert profile.title
    assert not profile.config or profile.config in RENDERERS
    assert Path(profile.folder, f"{name}.toml").is_file()


def test_the_bundled_names_are_there() -> None:
    """The targets that the documentation speaks of ship."""
    assert {"reference", "litellm", "nginx", "portkey", "smg"} <= set(names())


def test_a_file_is_loaded_by_its_path(tmp_path: Path) -> None:
    """A profile of one's own is a TOML file; its name is the file's."""
    (tmp_path / "edge.toml").write_text('kind = "url"\nbase_url = "http://127.0.0.1:1/v1"\n')
    assert load_profile(str(tmp_path / "edge.toml")).name == "edge"


def test_a_url_is_a_target() -> None:
    """A URL needs no file."""
    assert load_profile("http://127.0.0.1:4000/v1").base_url == "http://127.0.0.1:4000/v1"


@pytest.mark.parametrize(
    ("target", "text", "message"),
    [
        ("litelm", None, "there is no target 'litelm' .did you mean 'litellm'"),
        ("absent.toml", None, "cannot be read"),
        ("bad.toml", "kind = ", "is no TOML"),
        ("wrong.toml", "kind = 'url'\n", "wrong: a target of kind 'url' needs 'base_url'"),
    ],
)
def test_what_cannot_be_loaded_says_why(
    target: str, text: str | None, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unknown name, a missing file, bad TOML and a bad table each have their own words."""
    monkeypatch.chdir(tmp_path)
    if text is not None:
        (tmp_path / target).write_text(text)
    with pytest.raises(TargetError, match=message):
        load_profile(target)


def test_the_key_of_a_running_target_comes_from_its_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file names the variable that holds the key; without it there is an error, not a request without a key."""
    path = tmp_path / "edge.toml"
    path.write_text('kind = "url"\nbase_url = "http://127.0.0.1:1/v1"\napi_key_variable = "EDGE_KEY"\n')
    monkeypatch.setenv("EDGE_KEY", "sk-test-edge")
    assert load_profile(str(path)).api_key == "sk-test-edge"
    monkeypatch.delenv("EDGE_KEY")
    with pytest.raises(TargetError, match="EDGE_KEY is not set"):
        load_profile(str(path))
