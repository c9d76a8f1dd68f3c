"""The linter of shipped cassettes: each valid, honest about its origin, free of secrets, unlike every other."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest

from conformance.cassette import dialect
from conformance.cassette.codec import ORIGINS, decode, encode
from conformance.cassette.model import Cassette
from conformance.cassette.redact import find_secrets, is_clean
from conformance.cassette.store import Library
from conformance.data import data_root

LIBRARY = Library()
NAMES = LIBRARY.names()
SCHEMA = jsonschema_rs.Draft202012Validator(json.loads((data_root("schemas") / "cassette.json").read_text()))

each_cassette = pytest.mark.parametrize("name", NAMES)


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return "binary"
    if isinstance(value, dict):
        return {key: _plain(member) for key, member in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


@each_cassette
def test_valid(name: str) -> None:
    """It fits the schema, its frames sum to its bodies, and it holds at least one interaction."""
    SCHEMA.validate(_plain(dialect.parse(LIBRARY.path(name).read_bytes())))
    cassette = LIBRARY.get(name)
    assert cassette.interactions
    for interaction in cassette.interactions:
        assert sum(frame.size for frame in interaction.envelope.frames) == len(interaction.envelope.body)
    assert decode(encode(cassette), name=name) == cassette


@each_cassette
def test_origin(name: str) -> None:
    """Its folder says its origin, and it names a title, a source and (recorded) a date."""
    cassette = LIBRARY.get(name)
    assert cassette.origin in ORIGINS
    assert name.split("/")[0] == cassette.origin
    assert cassette.title
    assert "should" not in cassette.title.lower()
    assert cassette.source
    assert cassette.date or cassette.origin == "authored"


@each_cassette
def test_no_secret(name: str) -> None:
    """Nothing in it looks like a secret, in the file's bytes or in what they mean."""
    found = [(secret.kind, secret.start) for secret in find_secrets(LIBRARY.path(name).read_bytes())]
    assert found == []
    assert all(is_clean(interaction) for interaction in LIBRARY.get(name).interactions)


@each_cassette
def test_status_lines(name: str) -> None:
    """Every head that is sent begins with a status line."""
    heads = [interaction.envelope.head for interaction in LIBRARY.get(name).interactions]
    assert all(head[0].startswith("HTTP/") for head in heads if head)


def test_names_differ_in_more_than_case() -> None:
    """No two names are equal on a file system that ignores case, and names are plain."""
    assert len({name.lower() for name in NAMES}) == len(NAMES)
    assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-_./") for name in NAMES)


def test_no_two_cassettes_are_the_same() -> None:
    """What is played by one cassette is not played by another."""
    played: dict[Any, str] = {}
    for name in NAMES:
        cassette: Cassette = LIBRARY.get(name)
        envelopes = tuple(interaction.envelope for interaction in cassette.interactions)
        assert envelopes not in played, f"{name} repeats {played[envelopes]}"
        played[envelopes] = name
