"""Facts about JSON texts: strict reading, and one member replaced without touching the rest."""

from __future__ import annotations

import json

import pytest

from conformance.reference.jsontext import encode_json, parse_json, replace_member


@pytest.mark.parametrize("text", ["", "{", "{} {}", "NaN", "[Infinity]", "1e999", '{"a":}', "\ufeff{}"])
def test_only_json_is_read(text: str) -> None:
    """What is not exactly one JSON text raises ValueError."""
    with pytest.raises(ValueError):  # noqa: PT011 - any ValueError is the documented fault
        parse_json(text.encode())


def test_depth_and_encoding_are_bounded() -> None:
    """A text that is too deep, and one that is not UTF-8, raise ValueError."""
    for raw in (b"[" * 100_000, b'"\xff"', '"x"'.encode("utf-16")):
        with pytest.raises(ValueError):  # noqa: PT011 - any ValueError is the documented fault
            parse_json(raw)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"model":"a"}', '{"model":"b"}'),
        (' { "x" : 1.50 , "model" : "a" , "y":1e5}', ' { "x" : 1.50 , "model" : "b" , "y":1e5}'),
        ('{"model":"a","model":"c","z":{"model":"a"}}', '{"model":"b","model":"b","z":{"model":"a"}}'),
        (
            '{"t":"\\"model\\":","m\\u006fdel":"a","n":[{},{"k":"}"}]}',
            '{"t":"\\"model\\":","m\\u006fdel":"b","n":[{},{"k":"}"}]}',
        ),
        ("{}", "{}"),
    ],
)
def test_one_member_is_replaced(text: str, expected: str) -> None:
    """Numbers keep their spelling, nested members and spaces stay as they are."""
    assert replace_member(text, "model", "b") == expected


def test_half_a_surrogate_pair_is_written_escaped() -> None:
    """Our bytes are always valid UTF-8."""
    assert json.loads(encode_json({"a": "\ude00\u00e9"}).decode()) == {"a": "\ude00\u00e9"}
