"""The YAML dialect: what vcrpy writes is read, what could execute or explode is not."""

from __future__ import annotations

import time

import pytest

from conformance.cassette.dialect import dump, parse


@pytest.mark.parametrize(
    "text",
    [
        "!!python/object/apply:os.system ['true']",
        "!!python/name:os.system ''",
        "!!python/object/new:os.system ['true']",
        "a: &x {k: v}\nb: {<<: *x}",
        "[" * 5000,
        "- " * 5000 + "x",
        "{[a]: b}",
        "a: [1, 2",
        "a: 1\n---\nb: 2",
        "a: \x01",
        "!!int '" + "9" * 5000 + "'",
        "!!binary 'é'",
        "!!binary '@@@'",
        "!!python/object/apply:multidict.istr {args: [a]}",
        "!!python/object/apply:multidict.istr [a, b]",
        "!!python/object/apply:multidict.istr [[a]]",
        "!!binary 'AP8'",
        "!!float x",
        "*a",
    ],
)
def test_refused(text: str) -> None:
    """Python objects, merge keys, deep nests, several documents and malformed YAML are a ValueError."""
    with pytest.raises(ValueError, match=r".+"):
        parse(text.encode("utf-8"))


def test_an_alias_bomb_stays_small() -> None:
    """Aliases share what they name: a bomb of nine levels parses at once."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 9)]
    started = time.monotonic()
    parsed = parse("\n".join(lines).encode())
    assert parsed["a8"][0] is parsed["a8"][1]
    assert time.monotonic() - started < 5


def test_harmless_tags_of_vcrpy() -> None:
    """Tags that vcrpy itself writes are read as plain data."""
    text = (
        "a: !!python/unicode 'x'\nb: !!python/str y\nc: !!python/tuple [1, 2]\nd: !!binary AP8=\n"
        "e: !!python/object/new:_io.BytesIO\n  state: !!python/tuple [!!binary AP8=, 0, null]\nf: 2026-08-25\n"
    )
    assert parse(text.encode()) == {"a": "x", "b": "y", "c": [1, 2], "d": b"\0\xff", "e": b"\0\xff", "f": "2026-08-25"}


def test_header_names_of_aiohttp() -> None:
    """vcrpy writes multidict's names as calls; they are read as the text that they hold."""
    text = "? !!python/object/apply:multidict._multidict.istr\n- Accept\n: - a\nb: c\n"
    assert parse(text.encode()) == {"Accept": ["a"], "b": "c"}


def test_dump_is_for_people() -> None:
    """Text of several lines is a block, equal lists are written twice, keys keep their order."""
    shared = [1]
    text = dump({"b": "one\ntwo\n", "a": [shared, shared]})
    assert text == "b: |\n  one\n  two\na:\n- - 1\n- - 1\n"
