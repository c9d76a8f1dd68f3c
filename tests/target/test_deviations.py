"""A file of known violations becomes deviations, or an error that says which table is wrong and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.errors import TargetError
from conformance.report.model import Deviation
from conformance.target.deviations import load_deviations

ENTRY = """
[[deviation]]
clause = "stream.done.once"
scenarios = ["baseline.*"]
reason = "fixed in
  2.0"
link = "https://tracker.example/1"
expires = 2027-03-31
""".replace('"fixed in\n  2.0"', '"""fixed in\n  2.0"""')
SCENARIOS = ("baseline.chat", "baseline.chat-stream", "pool.member-retired-404")


def load(text: str, path: Path, played: tuple[str, ...] = SCENARIOS) -> tuple[Deviation, ...]:
    """The deviations in a file of this text."""
    file = path / "known.toml"
    file.write_text(text, encoding="utf-8")
    return load_deviations(file, clauses={"stream.done.once", "chat.shape"}, scenarios=SCENARIOS, played=played)


def test_a_table_becomes_a_deviation(tmp_path: Path) -> None:
    """Every key reaches its field; a reason is one line."""
    assert load(ENTRY, tmp_path) == (
        Deviation(
            clause="stream.done.once",
            scenarios=("baseline.*",),
            reason="fixed in 2.0",
            link="https://tracker.example/1",
            expires="2027-03-31",
        ),
    )
    assert load(ENTRY + "flaky = true\n", tmp_path)[0].flaky


def test_a_list_may_be_empty(tmp_path: Path) -> None:
    """What a draft writes where nothing is violated is a list, too: the gateway has come to conform."""
    assert load("", tmp_path) == load("deviation = []", tmp_path) == ()


def test_a_part_of_the_scenarios_is_not_the_whole(tmp_path: Path) -> None:
    """It is known whether the run plays all that a deviation names, be it by globs or by nothing."""
    assert load(ENTRY, tmp_path, SCENARIOS[:2])[0].whole
    assert not load(ENTRY, tmp_path, SCENARIOS[1:])[0].whole
    assert not load(ENTRY.replace('scenarios = ["baseline.*"]', ""), tmp_path, SCENARIOS[:2])[0].whole


@pytest.mark.parametrize(
    ("text", "what", "where", "hint"),
    [
        ("x = ", "is no TOML", "known.toml", ""),
        (ENTRY.replace("[[deviation]]", "[deviation]"), "is not of type 'array'", "known.toml", "[[deviation]]"),
        (ENTRY.replace("done.once", "done.onec"), "no clause 'stream.done.onec'", "deviation[0].clause", "done.once"),
        (
            ENTRY.replace("baseline.*", "basline.*"),
            "no scenario matches",
            "deviation[0].scenarios",
            "baseline.chat'? One of your own",
        ),
        (ENTRY.replace("reason", "reasons"), "unknown key 'reasons'", "deviation[0]", "did you mean 'reason'?"),
        (ENTRY.replace("https://tracker.example/1", " "), "is empty", "deviation[0].link", "followed up"),
        (ENTRY.replace("2027-03-31", '"2027-03-31"'), "2027-03-31 is no date", "deviation[0].expires", "quotes"),
        (ENTRY.replace("2027-03-31", "2027-03-31T10:00:00Z"), "is no date", "deviation[0].expires", "quotes"),
        (ENTRY.replace("expires = 2027-03-31", ""), "'expires' is a required property", "deviation[0]", ""),
        (ENTRY + "flaky = 1\n", "1 is not of type 'boolean'", "deviation[0].flaky", "stale"),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, text: str, what: str, where: str, hint: str) -> None:
    """What, where, and what to do."""
    with pytest.raises(TargetError) as caught:
        load(text, tmp_path)
    assert what in caught.value.what
    assert where in caught.value.where
    assert hint in caught.value.hint


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    """A missing file, a folder, bytes that are no text, a file that no hand wrote."""
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    (tmp_path / "big.toml").write_bytes(b"#" * (2 << 20))
    for name, what in (
        ("nope.toml", "cannot be read: No such file"),
        (".", "cannot be read: Is a directory"),
        ("bytes.toml", "is no TOML"),
        ("big.toml", "larger than"),
    ):
        with pytest.raises(TargetError, match=what):
            load_deviations(tmp_path / name, clauses=(), scenarios=(), played=())
