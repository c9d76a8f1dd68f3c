"""Examples of the clauses at the edge of the API: paths that are not served, further operations, preflights."""

from __future__ import annotations

from typing import Any

from tests.contract.captures import Ask, Capture, capture, chat, compact, error, wire
from tests.contract.example import Example, Examples

PAGE = b"<!doctype html><html></html>"
GONE = wire(error("Unknown request URL."), status=404)
ASKED = (
    ("Origin", "https://app.test"),
    ("Access-Control-Request-Method", "POST"),
    ("Access-Control-Request-Headers", "authorization,content-type"),
)


def at(path: str, reply: Any, method: str = "POST", *fields: tuple[str, str], value: Any = None) -> Capture:
    """A request of any path, and what it is answered with."""
    body = {"model": "alias-1", "input": "cf-q8w3zd"} if method == "POST" and value is None else value
    return capture(Ask(path, body, method, fields), reply)


def page(status: int = 404) -> Any:
    """A web page under that status."""
    return wire(PAGE, status=status, media="text/html")


def preflight(*lines: str, status: int = 204, asked: tuple[tuple[str, str], ...] = ASKED) -> Capture:
    """A preflight for a chat completion, and the field lines of its answer."""
    reply = wire(status=status, media="", headers=lines, framing="none")
    return capture(Ask("chat.completions", None, "OPTIONS", asked), reply)


ORIGIN = "Access-Control-Allow-Origin: *"
FIELDS = "Access-Control-Allow-Headers: Authorization, Content-Type"

EXAMPLES: Examples = {
    "error.unserved.envelope": Example(
        (
            at("/v1/nonexistent", GONE),
            at("/v1/audio/speech", wire(error("Not served."), status=501)),
            at("/api/v1/nonexistent", wire(error("Not allowed."), status=405), "DELETE"),
            at("/v1/files/file_1", wire({"id": "file_1"}), "GET"),  # one that is served, or passed on
        ),
        (
            at("/v1/nonexistent", page()),
            at("/v1/nonexistent", page(200)),
            at("/v1/nonexistent", wire({"detail": "Not Found"}, status=404)),
            at("/v1/nonexistent", wire(b"404 page not found", status=404, media="text/plain")),
            at("/v1/responses/resp_1", page(), "GET"),
            at("/v1/batches", wire(b"", status=405, media=""), "GET"),
        ),
    ),
    "http.preflight.allowed": Example(
        (
            preflight(ORIGIN, FIELDS),
            preflight("Access-Control-Allow-Origin: https://app.test", FIELDS.lower(), status=200),
            preflight(ORIGIN, "Access-Control-Allow-Headers: *, authorization"),
            preflight(ORIGIN, asked=ASKED[:2]),
        ),
        (
            preflight(status=405),
            preflight(FIELDS),
            preflight("Access-Control-Allow-Origin: https://other.test", FIELDS),
            preflight(ORIGIN),
            preflight(ORIGIN, "Access-Control-Allow-Headers: *"),
            preflight(ORIGIN, FIELDS, asked=(ASKED[0], ("Access-Control-Request-Method", "DELETE"))),
            preflight(ORIGIN, FIELDS, status=401),
        ),
    ),
}

#: Clause -> what of the API's further operations holds it, and what violates it.
FURTHER: Examples = {
    "error.body.json": Example(
        (at("/v1/audio/transcriptions", wire(error("Too large."), status=413)),),
        (
            at("/v1/audio/transcriptions", page(413)),
            at("/openai/deployments/alias-1/images/generations", page(502)),
            at("/v1/files/file-1", page(500), "DELETE"),
        ),
    ),
    "error.envelope.object": Example(
        (at("/v1/batches", wire(error("Bad."), status=400)),),
        (at("/v1/batches", wire({"detail": "Bad."}, status=400)),),
    ),
    "error.in-success": Example(
        (at("/v1/audio/transcriptions", wire({"text": "Hello."})),),
        (
            at("/v1/audio/transcriptions", wire(error("No."))),
            at("/v1/audio/speech", wire(compact(error("No.")), media="audio/mpeg")),
        ),
    ),
    "http.content-type.json": Example(
        (at("/v1/moderations", wire({"id": "modr-1", "results": []})),),
        (at("/v1/moderations", page(200)), at("/v1/audio/speech", page(200)), at("/v1/files", page(200), "GET")),
    ),
    "json.body.valid": Example(
        (at("/v1/moderations", wire({"id": "modr-1", "results": []})),),
        (at("/v1/moderations", wire(b'{"id":')), at("/v1/audio/transcriptions", wire(compact("Hello.")))),
    ),
}

_JOB = {"object": "fine_tuning.job", "id": "ftjob-1", "status": "failed", "error": {"code": "x", "message": "No."}}
#: What none of these clauses has a say about.
FREE: dict[str, Capture] = {
    "a page for a browser": at("/v1/anything", page(200), "GET", ("Accept", "text/html,*/*")),
    "the documentation": at("/v1/docs", page(200), "GET"),
    "a monitor": at("/v1/health/liveness", wire(b"ok", media="text/plain"), "GET"),
    "beside the API": at("/metrics", wire(b"x 1", media="text/plain"), "GET"),
    "a page outside": at("/nonexistent", page()),
    "another provider's API": at(
        "/v1/files", wire(b"no", status=404, media="text/plain"), "GET", ("anthropic-version", "2023-06-01")
    ),
    "another provider's error": at(
        "/v1/messages", wire({"type": "error", "error": {"type": "x", "message": "No."}}, status=400)
    ),
    "speech": at("/v1/audio/speech", wire(b"ID3\x04", media="audio/mpeg")),
    "a transcription as text": at("/v1/audio/transcriptions", wire(b"Hello.", media="text/plain")),
    "a file's own content": at("/v1/files/file-1/content", page(200), "GET"),
    "a job that tells of its error": at("/v1/fine_tuning/jobs/ftjob-1", wire(_JOB), "GET"),
    "an image as events": at("/v1/images/edits", wire(b"data: {}\n\n", media="text/event-stream")),
    "no body": at("/v1/nonexistent", wire(status=404, media=""), "HEAD"),
    "a question without an origin": capture(Ask("chat.completions", None, "OPTIONS"), wire(status=405, media="")),
    "an operation": at("/v1/chat/completions", wire(chat())),
}
