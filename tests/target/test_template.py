"""Placeholders are filled once, and braces that are none stay."""

from __future__ import annotations

from conformance.target.template import COMMAND_WORDS, fill, fill_all, unknown_word


def test_known_words_are_filled_and_other_braces_stay() -> None:
    """JSON may stand in a value; a value is not filled again."""
    assert fill('{"a":{port}} {host}', {"port": "1", "host": "{port}"}) == '{"a":1} {port}'


def test_a_word_of_its_own_becomes_a_list() -> None:
    """One argument that is only a list's name becomes its arguments; inside other text it stays."""
    words = fill_all(["--urls", "{member_urls}", "{port}"], {"port": "1"}, {"member_urls": ("a", "b")})
    assert words == ("--urls", "a", "b", "1")


def test_an_unknown_word_is_found() -> None:
    """The first placeholder that nobody knows is named."""
    assert unknown_word("{port} {prot} {x}", COMMAND_WORDS) == "prot"
    assert unknown_word('{"json": 1} {port}', COMMAND_WORDS) == ""
