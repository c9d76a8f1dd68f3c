"""Examples of the clauses on what an error's code and type, or the request itself, ask of its status."""

from __future__ import annotations

from typing import Any

from tests.contract.captures import Ask, Capture, ask, capture, chat, error, wire
from tests.contract.example import Example, Examples, told

LIMIT = error("Rate limit reached", type="requests", code="rate_limit_exceeded")
KEY = error("Incorrect API key provided.", code="invalid_api_key")
BAD = error("Invalid value.", param="temperature")
DOWN = error("The server had an error.", type="server_error")
FILTER = error("The prompt was filtered.", type="server_error", code="content_filter")


def under(body: Any, *statuses: int, upstream: Any = None) -> tuple[Capture, ...]:
    """The same error under each status."""
    return tuple(capture(ask(), wire(body, status=status), upstream) for status in statuses)


def typed(type: str, *statuses: int) -> tuple[Capture, ...]:
    """An error of that type under each status."""
    return under(error("No.", type=type), *statuses)


def sent(body: Any, reply: Any, upstream: Any = None, endpoint: str = "chat.completions", **fields: str) -> Capture:
    """A request with that body, and what it is answered with."""
    return capture(Ask(endpoint, body, headers=tuple(fields.items())), reply, upstream)


OK = wire(chat())
CUT = b'{"model":"alias-1","messages":[{"role":"user","content":"cf-q8w3zd"}'
COMMA = b'{"model":"alias-1","messages":[{"role":"user","content":"cf-q8w3zd"}],}'
NO_MODEL = {"messages": [{"role": "user", "content": "cf-q8w3zd"}]}
NO_MESSAGES = {"model": "alias-1", "temperature": 0.5}
FAILED, REFUSED = wire(DOWN, status=500), wire(error("Bad."), status=400)

EXAMPLES: Examples = {
    "error.rate-limit.status": Example(
        (*under(LIMIT, 429, 503, 413), *under(LIMIT, 400, upstream=wire(LIMIT, status=400))),
        (*under(LIMIT, 500, 400, 403), *under(LIMIT, 400, upstream=wire(LIMIT, status=429))),
    ),
    "error.invalid-key.status": Example(
        (
            *under(KEY, 401, 503),
            *under(KEY, 403, upstream=wire(KEY, status=403)),
            *under(KEY, 502, upstream=wire(KEY, status=401)),
        ),
        (*under(KEY, 500, 400, 404, 403), *under(KEY, 500, upstream=wire(KEY, status=401))),
    ),
    "error.invalid-request.status": Example(
        (
            *under(BAD, 400, 422, 404),
            *under(BAD, 500, upstream=wire(BAD, status=500)),
            *under(BAD, 502, upstream=wire(BAD, status=403)),
            *under(BAD, 501, 502, 503),  # not implemented; or members that are not seen
        ),
        (*under(BAD, 500), *under(BAD, 500, upstream=wire(BAD, status=400))),
    ),
    "error.type.status": Example(
        (
            *under(DOWN, 500, 502, 429),
            *typed("overloaded_error", 529, 503),
            *typed("authentication_error", 401, 403, 502),
            *typed("not_found_error", 404),
            *under(FILTER, 400, upstream=wire(FILTER, status=400)),
            *under(FILTER, 500, upstream=wire(FILTER, status=500)),
        ),
        (
            *under(DOWN, 400, 401),
            *under(FILTER, 500),
            *typed("overloaded_error", 400),
            *typed("timeout_error", 400),
            *typed("permission_error", 500),
        ),
    ),
    "error.request.status": Example(
        (
            told(capture(ask(), wire(BAD, status=400)), request_valid=False),
            told(capture(ask(), wire(error("Bad."), status=422)), request_valid=False),
            sent(CUT, REFUSED),
            sent(["x"], wire(error("Bad."), status=422)),
            sent(NO_MESSAGES, REFUSED),
            # Before a request is read, its key or its rate may be refused.
            sent(CUT, wire(error("No."), status=401)),
            sent(CUT, wire(LIMIT, status=429)),
        ),
        (
            told(capture(ask(), wire(BAD, status=500)), request_valid=False),
            told(capture(ask(), OK), request_valid=False),
            sent(CUT, FAILED),
            sent(CUT, OK),
            sent(CUT, wire(DOWN, status=502), ()),
            sent(COMMA, FAILED),
            sent(["x"], FAILED),
            sent("a text", OK),
            sent(NO_MESSAGES, FAILED),
            sent(NO_MESSAGES, OK),
            sent(NO_MODEL, FAILED),
            sent({"model": "alias-1"}, FAILED, None, "embeddings"),
            sent({"model": "alias-1", "instructions": "x"}, FAILED, None, "responses"),
        ),
    ),
}
