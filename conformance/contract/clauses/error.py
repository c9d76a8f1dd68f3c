"""Errors: the one envelope that SDKs read."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.envelope import body_of, enveloped, error_of, json_failure
from conformance.contract.evidence import at_content, at_head, at_path, show
from conformance.contract.kinds import inner_status
from conformance.contract.when import api_failure, further, the_reply, whole
from conformance.exchange.answer import error_place
from conformance.exchange.model import Endpoint, Exchange
from conformance.wire.facts import Span

_PLACEHOLDERS = ("none", "undefined", "null", "nil", "nan", "[object object]")


def _start(x: Exchange) -> Span:
    return Span(0, min(240, len(the_reply(x).content)))


def _all_it_says(x: Exchange) -> bool:
    """Whether a further operation's answer holds no object: a batch, a job or a file may tell of an error of its own."""
    body = body_of(x)
    return further(x.request) and isinstance(body, dict) and not {"object", "id"} & body.keys()


@clause(
    id="error.in-success",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A success carries no error",
    rationale="SDKs raise by the status alone: an error under 200 is counted as an answer, and never retried.",
    source="openai-api/errors",
    applies=lambda x: (
        whole(x)
        and the_reply(x).ok
        and (x.request.endpoint is not Endpoint.OTHER or _all_it_says(x))
        and not the_reply(x).events
        and the_reply(x).doc is not None
    ),
)
def in_success(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    for error in reply.answer.errors:
        if (
            x.request.endpoint is Endpoint.RESPONSES
            and isinstance(body_of(x), dict)
            and body_of(x).get("status") == "failed"
        ):
            continue
        stated = inner_status(body_of(x)) or inner_status({"error": error})
        yield at_path(
            reply,
            error_place(body_of(x)) or ("error",),
            f"an error status (the error says {stated or 'no status'})",
            f"status {reply.status} with {show(error)}",
        )


@clause(
    id="error.body.json",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The body of an error is one JSON text",
    rationale="An HTML page, a plain text or nothing leaves the SDK with a status and the user without a cause.",
    source="openai-api/errors",
    applies=lambda x: api_failure(x) and not the_reply(x).sealed,
)
def body_json(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    if not reply.content:
        yield at_head(reply, "a JSON body with an error object", "an empty body")
    elif reply.doc is None or not reply.doc.ok:
        what = reply.doc.faults[0].detail if reply.doc is not None and reply.doc.faults else "no JSON"
        text = reply.content[:80].decode("utf-8", "replace")
        yield at_content(reply, _start(x), "one JSON text", f"{what}: {show(text)}")


@clause(
    id="error.envelope.object",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The body of an error is an object with an object `error`",
    rationale="SDKs look for body.error: an array, a flat object, a text or `detail` shows as a status without a body.",
    source="openai-spec/error",
    applies=json_failure,
)
def envelope_object(x: Exchange) -> Iterator[Finding]:
    body = body_of(x)
    if not isinstance(body, dict) or not isinstance(body.get("error"), dict):
        yield at_content(the_reply(x), _start(x), '{"error": {...}}', show(body))


@clause(
    id="error.message.text",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="An error has a non-empty message",
    rationale="The message is the exception's text: all that most users ever see of a failure.",
    source="openai-spec/error",
    applies=enveloped,
)
def message_text(x: Exchange) -> Iterator[Finding]:
    message = error_of(x).get("message")
    if not (isinstance(message, str) and message.strip()):
        yield at_path(
            the_reply(x),
            ("error", "message"),
            "a non-empty string `message`",
            show(message) if "message" in error_of(x) else "none",
        )


@clause(
    id="error.type.string",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="An error has a type",
    rationale="Clients tell the caller's faults from outages by the type; the schema knows no null.",
    source="openai-spec/error",
    applies=enveloped,
)
def type_string(x: Exchange) -> Iterator[Finding]:
    value = error_of(x).get("type")
    if not (isinstance(value, str) and value):
        yield at_path(
            the_reply(x),
            ("error", "type"),
            "a non-empty string `type`",
            show(value) if "type" in error_of(x) else "none",
        )


def _text_or_null(x: Exchange, name: str) -> Iterator[Finding]:
    error = error_of(x)
    if name not in error:
        yield at_path(the_reply(x), ("error",), f"a member `{name}`: a string or null", "none")
    elif not isinstance(error[name], str | None):
        yield at_path(the_reply(x), ("error", name), f"`{name}`: a string or null", show(error[name]))


@clause(
    id="error.param.valid",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="An error has a param: a text or null",
    rationale="The member is required by the schema; validating clients fail on the error instead of showing it.",
    source="openai-spec/error",
    applies=enveloped,
)
def param_valid(x: Exchange) -> Iterator[Finding]:
    yield from _text_or_null(x, "param")


@clause(
    id="error.code.valid",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="An error has a code: a text or null",
    rationale="Clients branch on codes like context_length_exceeded; a number is none of them and fails typed readers.",
    source="openai-spec/error",
    applies=enveloped,
)
def code_valid(x: Exchange) -> Iterator[Finding]:
    yield from _text_or_null(x, "code")


@clause(
    id="error.members.no-placeholder",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="No member of an error is the text of an absent value",
    rationale='"None" and "undefined" are texts: they pass for a code, and tell nobody what went wrong.',
    source="openai-spec/error",
    applies=enveloped,
)
def no_placeholder(x: Exchange) -> Iterator[Finding]:
    for name in ("message", "type", "param", "code"):
        value = error_of(x).get(name)
        if isinstance(value, str) and (
            value.strip().lower() in _PLACEHOLDERS
            or (name == "message" and value.rstrip().endswith((": undefined", ": None", ": null")))
        ):
            yield at_path(the_reply(x), ("error", name), "a real text, or null", show(value))
