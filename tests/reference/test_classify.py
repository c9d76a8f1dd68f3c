"""Facts about what a member's error means: kind, status, code, and whether another member may be asked."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.reference.classify import from_error, from_response, passed_headers
from conformance.reference.failure import Kind, Names
from conformance.reference.http import ResponseHead
from conformance.reference.reason import reason_of

NAMES = Names(alias="lane-one", hidden=(("up-model-1", "lane-one"),))

# (upstream status, its body) -> (kind, status told, code told)
CASES: list[tuple[int, Any, Kind, int, str]] = [
    (404, {"error": {"message": "No endpoints found for a/b:free."}}, Kind.RETIRED, 404, "model_not_found"),
    (400, {"object": "error", "message": "Invalid model: x", "code": "1500"}, Kind.RETIRED, 404, "model_not_found"),
    (
        400,
        {"error": {"message": "Model Not Exist", "code": "invalid_request_error"}},
        Kind.RETIRED,
        404,
        "model_not_found",
    ),
    (400, {"error": "Model not found: grok-2"}, Kind.RETIRED, 404, "model_not_found"),
    (400, {"error": {"message": "x", "code": "model_not_available"}}, Kind.RETIRED, 404, "model_not_found"),
    (400, {"error": {"message": "temperature is not supported on this model"}}, Kind.REQUEST, 400, "invalid_request"),
    (400, {"message": "context length exceeded from messages"}, Kind.REQUEST, 400, "context_length_exceeded"),
    (
        500,
        {"error": {"type": "exceed_context_size_error", "message": "m"}},
        Kind.REQUEST,
        400,
        "context_length_exceeded",
    ),
    (
        413,
        {"error": {"message": "Request body too large for x. Max size: 8000 tokens."}},
        Kind.REQUEST,
        413,
        "context_length_exceeded",
    ),
    (422, {"detail": [{"msg": "Field required"}]}, Kind.REQUEST, 422, "invalid_request"),
    (400, {"error": {"code": "content_filter", "message": "filtered"}}, Kind.REQUEST, 400, "content_filter"),
    (
        429,
        {"error": {"message": "m", "type": "tokens", "code": "rate_limit_exceeded"}},
        Kind.RATE_LIMIT,
        429,
        "rate_limit_exceeded",
    ),
    (429, {"error": {"code": "429", "message": "m"}}, Kind.RATE_LIMIT, 429, "rate_limit_exceeded"),
    (429, {"error": {"code": "1113", "message": "Insufficient balance"}}, Kind.QUOTA, 429, "insufficient_quota"),
    (403, {"error": {"message": "organization exceeded current quota"}}, Kind.QUOTA, 429, "insufficient_quota"),
    (402, {"error": {"message": "Insufficient credits"}}, Kind.QUOTA, 402, "insufficient_quota"),
    (500, {"error": {"message": "insufficient balance (1008)"}}, Kind.QUOTA, 429, "insufficient_quota"),
    (401, {"error": "Unauthorized"}, Kind.AUTH, 502, "upstream_authentication_failed"),
    (403, "blocked", Kind.AUTH, 502, "upstream_authentication_failed"),
    (529, {"error": {"type": "overloaded_error", "message": "Overloaded"}}, Kind.UNAVAILABLE, 503, "upstream_error"),
    (522, "x", Kind.UNAVAILABLE, 502, "upstream_error"),
    (302, "", Kind.UNAVAILABLE, 502, "upstream_error"),
    (499, "x", Kind.UNAVAILABLE, 502, "upstream_error"),
]


@pytest.mark.parametrize(("status", "body", "kind", "told", "code"), CASES)
def test_an_error_response_is_classified(status: int, body: Any, kind: Kind, told: int, code: str) -> None:
    """The status and the words decide; only what is about the request stays where it is."""
    failure = from_response(ResponseHead(status=status, headers=()), json.dumps(body).encode(), NAMES)
    assert (failure.kind, failure.status, failure.code) == (kind, told, code)
    assert failure.moves_on is (kind is not Kind.REQUEST)
    assert failure.message
    assert failure.type


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ({"code": 429, "message": "m"}, 429),
        ({"message": "m"}, 502),
        ("m", 502),
        ({"type": "overloaded_error", "message": "m"}, 503),
        ({"type": "invalid_request_error", "message": "m"}, 400),
        ({"code": "model_not_found", "message": "m"}, 404),
    ],
)
def test_an_error_in_a_success_has_a_status(error: Any, told: int) -> None:
    """Its own status where it states one, else its word's, else 502."""
    assert from_error(reason_of(error), NAMES).status == told


def test_the_reason_is_told_and_the_member_is_not() -> None:
    """The words stay; a page becomes a marker; no words become the status."""

    def told(body: bytes, status: int = 500) -> str:
        return from_response(ResponseHead(status=status, headers=()), body, NAMES).message

    assert told(b'{"error":{"message":"up-model-1 is tired"}}') == "lane-one is tired"
    assert told(b"<html>x</html>") == "api error 500: the upstream sent an HTML page"
    assert told(b"") == "api error 500: unknown error"
    assert told(b'{"error":{"message":"vendor/x-1 gone"}}', 404).startswith("The model `lane-one` does not exist")


def test_facts_beside_the_message_are_kept() -> None:
    """What a client can use beside the four members goes on with a refused request."""
    body = b'{"error":{"message":"m","code":"tool_use_failed","failed_generation":"<f>","secret":"s"}}'
    failure = from_response(ResponseHead(status=400, headers=()), body, NAMES)
    assert failure.extra == {"failed_generation": "<f>"}


def test_only_the_limits_fields_are_passed() -> None:
    """Each once, short and printable; nothing else."""
    fields = [
        ("retry-after", "1"),
        ("retry-after", "2"),
        ("x-ratelimit-a", "x" * 65),
        ("server", "s"),
        ("x-ratelimit-b", "3"),
    ]
    assert passed_headers(fields) == (("retry-after", "1"), ("x-ratelimit-b", "3"))
