"""The format that a request asks for: an answer that is JSON, and of the schema that was given.

Judged on answers that came to their own end: one that was cut, refused, or calls a tool owes no JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.clauses.asked import answered, cut, refuses, told_by_member
from conformance.contract.clauses.calling import calls_of, output_of
from conformance.contract.evidence import at_end, show
from conformance.contract.given import misfit
from conformance.contract.when import serving, the_reply
from conformance.exchange.members import list_in, object_in, text_in
from conformance.exchange.model import Endpoint, Exchange, Reply, Request
from conformance.wire.jsondoc import parse

_JSON = ("json_object", "json_schema")
_NAMES = ("response_format", "text", "format", "json_schema")


def _format(request: Request) -> dict[str, Any]:
    """The format that a request asks for; {} for none."""
    body = request.doc.value if request.doc is not None and request.doc.ok else None
    if request.endpoint is Endpoint.CHAT:
        return object_in(body, "response_format")
    return object_in(object_in(body, "text"), "format") if request.endpoint is Endpoint.RESPONSES else {}


def _schema(request: Request) -> dict[str, Any]:
    """The schema that it is to have, with its name and its strictness; {} for none."""
    told = _format(request)
    if told.get("type") != "json_schema":
        return {}
    found = object_in(told, "json_schema") or told
    return found if isinstance(found.get("schema"), dict) else {}


def _texts(reply: Reply, endpoint: Endpoint) -> list[str]:
    """The final text of each choice that came to its own end and calls nothing; of several messages the last one."""
    called = {call.choice for call in calls_of(reply, endpoint) if call.kind in ("function", "custom", "legacy")}
    whole = [
        choice
        for choice in reply.answer.choices
        if choice.index not in called and choice.plain and not cut(choice) and not refuses(choice, reply)
    ]
    said = [choice.text for choice in whole]
    if endpoint is Endpoint.RESPONSES and whole:
        messages = [item for item in output_of(reply) if text_in(item, "type") == "message"]
        parts = list_in(messages[-1], "content") if messages else []
        said = ["".join(text_in(part, "text") for part in parts if text_in(part, "type") == "output_text")]
    return [text for text in said if text.strip()]


def _prefilled(request: Request) -> bool:
    """Whether the conversation ends with the beginning of the answer."""
    body = request.doc.value if request.doc is not None and request.doc.ok else None
    last = next(reversed(list_in(body, "messages") or list_in(body, "input")), None)
    return isinstance(last, dict) and last.get("role") == "assistant"


def _no_json(text: str) -> str:
    """What a text is, if it is no JSON; "" where it is, or nests deeper than is read."""
    doc = parse(text.encode("utf-8", "surrogatepass"))
    deep = any(fault.code == "json.too-deep" for fault in doc.faults)
    return "" if doc.ok or deep else f"no JSON: {show(text)}"


def _unfit(schema: dict[str, Any], text: str) -> str:
    """Why the JSON that a text is has not the shape; "" where it has, or is no JSON."""
    doc = parse(text.encode("utf-8", "surrogatepass"))
    why = misfit(schema.get("schema"), doc.value) if doc.ok else ""
    return f"{why}: {show(text)}" if why else ""


def _judge(
    x: Exchange, expected: str, wrong: Callable[[str], str], kept: Callable[[Request], bool]
) -> Iterator[Finding]:
    """The texts that are `wrong`, unless the member that was asked for the same gave such a one itself."""
    if x.request.get("stop") or _prefilled(x.request):
        return  # what the client's own stop text took away, or its own beginning holds
    found = [why for text in _texts(the_reply(x), x.request.endpoint) if (why := wrong(text))]
    member, attempt = (told_by_member(x, kept, *_NAMES), serving(x)) if found else (None, None)
    if member is not None and attempt is not None and any(map(wrong, _texts(member, attempt.request.endpoint))):
        return
    for why in found:
        yield at_end(the_reply(x), expected, why)


def _spoke(x: Exchange) -> bool:
    return answered(x) and bool(_texts(the_reply(x), x.request.endpoint))


@clause(
    id="format.json.kept",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="An answer that was asked for as JSON is JSON, and nothing beside it",
    rationale="The client parses the text as it comes: a fence, a greeting before it or a missing end fails every time.",
    source="openai-api/chat-create",
    applies=lambda x: _format(x.request).get("type") in _JSON and _spoke(x),
)
def json_kept(x: Exchange) -> Iterator[Finding]:
    yield from _judge(x, "one JSON text", _no_json, lambda sent: _format(sent).get("type") in _JSON)


def _asked_again(schema: dict[str, Any], sent: Request) -> bool:
    """Whether a dispatch asks for a schema as strictly."""
    other = _schema(sent)
    return bool(other) and (other.get("strict") is True or schema.get("strict") is not True)


def _schema_judged(x: Exchange) -> Iterator[Finding]:
    schema = _schema(x.request)
    yield from _judge(
        x,
        f"JSON of the schema {show(schema.get('name'), 60)}",
        lambda text: _unfit(schema, text),
        lambda sent: _asked_again(schema, sent),
    )


@clause(
    id="format.schema.kept",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="JSON that was asked for by a strict schema fits the schema",
    rationale="Strict is a guarantee: typed clients build their object from the text and fail on a member that is missing or of another type.",
    source="openai-api/chat-create",
    applies=lambda x: _schema(x.request).get("strict") is True and _spoke(x),
)
def schema_kept(x: Exchange) -> Iterator[Finding]:
    yield from _schema_judged(x)


@clause(
    id="format.schema.followed",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="JSON that was asked for by a schema without strict fits the schema",
    rationale="Clients parse by the schema that they sent. Only strict is a guarantee: a SHOULD.",
    source="openai-api/chat-create",
    applies=lambda x: bool(_schema(x.request)) and _schema(x.request).get("strict") is not True and _spoke(x),
)
def schema_followed(x: Exchange) -> Iterator[Finding]:
    yield from _schema_judged(x)
