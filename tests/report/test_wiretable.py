"""Lines of wire as rows of a terminal."""

from __future__ import annotations

from io import StringIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from conformance.report.wiretable import WireTable, folded
from conformance.report.wireview import OPEN, SHUT, WireLine


def line(before: str, marked: str = "", after: str = "") -> WireLine:
    """A hit line that came at 5 ms."""
    return WireLine(at=5.0, before=before, marked=marked, after=after, hit=True)


@pytest.mark.parametrize(
    ("given", "rows"),
    [
        (line("abc", "def", "ghi"), ["abc⟦def⟧ghi"]),
        (line("abcdefghi", "jklm", "no"), ["abcdefghi", "⟦jklm⟧no"]),
        (line("abcdef", "ghijklmno", "pqrs"), ["abcdef⟦ghi⟧", "⟦jklmno⟧pqr", "s"]),
        (line("ab", "c" * 20), ["ab⟦ccccccc⟧", "⟦ccccccccc⟧", "⟦cccc⟧"]),
        (line("", "d" * 15), ["ddddddddddd", "dddd"]),
        (line("e" * 12), ["eeeeeeeeeee", "e"]),
        (line(""), [""]),
        (line("日本語", "日本", "語"), ["日本語⟦日⟧", "⟦本⟧語"]),
    ],
)
def test_a_mark_is_whole_on_each_row(given: WireLine, rows: list[str]) -> None:
    """A mark that a fold cuts is closed at the cut and opened again on the next row; a whole line needs none."""
    assert [row.text for row in folded(given, 11)] == rows


def test_the_marked_part_is_told_for_its_colour() -> None:
    """Each row tells where its marked part lies, without the brackets."""
    rows = folded(line("abcdef", "ghijklmno", "pqrs"), 11)
    assert [row.text[row.start : row.end] for row in rows] == ["ghi", "jklmno", ""]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.text("ab日", max_size=40), st.text("cd本", max_size=40), st.text("ef", max_size=40), st.integers(8, 30))
def test_nothing_is_lost_and_nothing_is_wide(before: str, marked: str, after: str, width: int) -> None:
    """Rows are as wide as allowed at most, joined they are the line, and brackets come in pairs on each."""
    rows = folded(line(before, marked, after), width)
    joined = "".join(row.text for row in rows)
    assert joined.replace(OPEN, "").replace(SHUT, "") == before + marked + after
    assert "".join(row.text[row.start : row.end] for row in rows) == marked
    for row in rows:
        assert cell_len(row.text) <= width
        assert row.text.count(OPEN) == row.text.count(SHUT) <= 1


def test_rows_stand_under_their_line() -> None:
    """Only the first row of a line has its time; all fit the console."""
    console = Console(file=StringIO(), width=40)
    with console.capture() as capture:
        console.print(WireTable((WireLine(at=None, before="… 9 bytes"), line("a" * 20, "b" * 20))))
    shown = capture.get().splitlines()
    assert shown == [
        "            … 9 bytes",
        "  +5.0 ms > aaaaaaaaaaaaaaaaaaaa⟦bbbbbb⟧",
        "          > ⟦bbbbbbbbbbbbbb⟧",
    ]
