"""Facts about error bodies: every family gives its reason, and no reason gives away who served."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.reference.reason import MAX_MESSAGE, Reason, clean_message, read_reason

FAMILIES: list[tuple[Any, str, str]] = [
    ({"error": {"message": "m", "type": "t", "param": None, "code": "c"}}, "m", "c"),
    ({"error": {"message": "m", "code": 429}}, "m", "429"),
    ([{"error": {"code": 400, "message": "m", "status": "INVALID_ARGUMENT"}}], "m", "400"),
    ({"object": "error", "message": "m", "type": "t", "param": None, "code": "1500"}, "m", "1500"),
    ({"code": "Client specified an invalid argument", "error": "m"}, "m", ""),
    ({"detail": "m"}, "m", ""),
    ({"detail": [{"type": "missing", "loc": ["body"], "msg": "m"}]}, "m", ""),
    ({"code": 20012, "message": "m", "data": None}, "m", "20012"),
    ({"status": 404, "title": "Not Found", "detail": "m"}, "m", ""),
    ({"errors": [{"code": "x", "message": "m"}], "status_code": 400}, "m", "x"),
    ({"type": "error", "error": {"type": "overloaded_error", "message": "m"}}, "m", ""),
    ({"error": {"message": json.dumps({"error": {"code": 429, "message": "m"}})}}, "m", "429"),
    ({"error": {"message": "Error code: 429 - {'error': {'code': '429', 'message': 'm'}}", "code": "None"}}, "m", ""),
    ({"error": {}}, "", ""),
    ({}, "", ""),
    (None, "", ""),
    ("m", "m", ""),
    ({"error": {"message": "<400> Range is [1, 8]"}}, "<400> Range is [1, 8]", ""),
]


@pytest.mark.parametrize(("body", "message", "code"), FAMILIES)
def test_every_family_gives_its_reason(body: Any, message: str, code: str) -> None:
    """The message and the code are found, however they are wrapped."""
    reason = read_reason(json.dumps(body).encode())
    assert (reason.message, reason.code) == (message, code)


def test_other_bodies_are_told_apart() -> None:
    """A page is a page, a plain text is its own reason, nothing is nothing."""
    assert read_reason(b"\n <!DOCTYPE html><title>Attention</title>").html
    assert read_reason(b"error code: 1015").message == "error code: 1015"
    assert read_reason(b"") == Reason()


def test_a_status_inside_the_body_is_read() -> None:
    """A code between 400 and 599 is a status, as a number or as a text."""
    assert read_reason(b'{"error":{"code":502,"message":"m"}}').status == 502
    assert read_reason(b'{"error":{"http_code":"429","message":"m"}}').status == 429
    assert read_reason(b'{"error":{"code":1113,"message":"m"}}').status == 0


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("two\r\nlines\tand \x00 controls", "two lines and controls"),
        ("see https://api.other.test/v1/x?key=1 now", "see now"),
        ("dial tcp 10.0.0.5:18182: connect: connection refused", "dial tcp : connect: connection refused"),
        ("Incorrect API key provided: sk-proj-****MxYA.", "Incorrect API key provided: [redacted]."),
        ("Limit for up-model-1 in organization org-abcdef12", "Limit for lane-one in organization [redacted]"),
        ('Invalid input: {"object":"error"}', "Invalid input"),
        ("OpenAIException - openrouter said no", "upstream - upstream said no"),
        ("<p>blocked</p> by <b>rule</b>", "blocked by rule"),
        ("boom\nTraceback (most recent call last):\n File x", "boom"),
        ("no credit for vendor/model-7b:free here", "no credit for the model here"),
        ("", ""),
    ],
)
def test_a_message_is_made_fit_for_a_client(message: str, expected: str) -> None:
    """One line, no address, no key, no document, no name of who served."""
    assert clean_message(message, [("up-model-1", "lane-one")]) == expected


def test_a_message_is_capped() -> None:
    """A long message is cut."""
    assert len(clean_message("word " * 1000, [])) <= MAX_MESSAGE
