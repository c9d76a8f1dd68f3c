"""Placeholders in a profile's strings: `{port}` and the like become values. Pure; one pass, no nesting, no expressions.

A brace that is not a placeholder (lower-case letters and underscores between braces) stays as it is, so JSON may
stand in a value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

#: What may stand in a command, a version command or an environment value.
COMMAND_WORDS: dict[str, str] = {
    "python": "the Python that runs the harness",
    "program": "the profile's program: an executable or a folder",
    "bin": "the folder that holds the program, links followed",
    "folder": "the folder of the profile's file",
    "scratch": "an empty folder of this launch, also the working directory",
    "config": "the rendered configuration file",
    "host": "the address to listen on: 127.0.0.1",
    "port": "the port to listen on",
    "spare_port": "a second free port",
    "member_urls": "the API roots of the first lane's members; a word of its own becomes one argument for each",
}

#: What may stand in a lane's request header.
LANE_WORDS: dict[str, str] = {
    "alias": "the lane's alias",
    "portkey": "the lane as Portkey's per-request configuration (JSON)",
}

_WORD = re.compile(r"\{([a-z_]+)\}")


def unknown_word(text: str, known: Iterable[str]) -> str:
    """The first placeholder in `text` that is not in `known`, or ""."""
    allowed = frozenset(known)
    return next((word for word in _WORD.findall(text) if word not in allowed), "")


def fill(text: str, values: Mapping[str, str]) -> str:
    """`text` with every placeholder that has a value replaced by it; others stay."""
    return _WORD.sub(lambda match: values.get(match.group(1), match.group(0)), text)


def fill_all(words: Iterable[str], values: Mapping[str, str], lists: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Every word filled; a word that is exactly one placeholder of `lists` becomes as many words as its list has."""
    filled: list[str] = []
    for word in words:
        match = _WORD.fullmatch(word)
        if match is not None and match.group(1) in lists:
            filled += lists[match.group(1)]
        else:
            filled.append(fill(word, values))
    return tuple(filled)
