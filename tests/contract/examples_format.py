"""Examples of the clauses on the format that a request asks for."""

from __future__ import annotations

from typing import Any

from tests.contract.captures import Ask, Capture, Try, ask, capture, chat, stream, wire, words
from tests.contract.example import Example, Examples
from tests.contract.examples_tool_asked import TOOLS, calling, one
from tests.contract.responding import message, response

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
JSON = ask(response_format={"type": "json_object"})
ANN = '{"name":"Ann","age":3}'
FENCED = f"```json\n{ANN}\n```"
OTHER = '{"name":"Ann","years":"three"}'


def by(schema: Any = SCHEMA, strict: Any = True, **more: Any) -> Ask:
    """A chat request for JSON of a schema."""
    told = {"name": "person", "strict": strict, "schema": schema}
    return ask(response_format={"type": "json_schema", "json_schema": told}, **more)


def shaped(**more: Any) -> Ask:
    """The same by the Responses API."""
    told = {"type": "json_schema", "name": "person", "strict": True, "schema": SCHEMA}
    return ask("responses", text={"format": told}, **more)


def said(asked: Ask, text: Any, upstream: Any = None, **more: Any) -> Capture:
    """A chat completion that says `text`."""
    return capture(asked, wire(chat(text, **more)), upstream)


def held_back(asked: Ask, text: str, **sent: Any) -> Capture:
    """The same of a gateway whose member was asked for something else."""
    return said(asked, text, Try(wire(chat(text)), request=ask(model="up-model", **sent)))


LOOSE = by(strict=None)
REMOTE = by({"$ref": "https://schemas.test/person.json"})
#: Two ways at each step down: as many ways as nobody can go.
WIDE: dict[str, Any] = {
    "$ref": "#/$defs/node",
    "$defs": {
        "node": {
            "anyOf": [
                {"properties": {"x": {"$ref": "#/$defs/node"}}, "required": ["y"]},
                {"properties": {"x": {"$ref": "#/$defs/node"}}, "required": ["z"]},
            ]
        }
    },
}
DEEP = '{"x":' * 60 + "{}" + "}" * 60

EXAMPLES: Examples = {
    "format.json.kept": Example(
        (
            said(JSON, ANN),
            said(JSON, f"\n{ANN}\n"),
            capture(JSON.with_(stream=True), wire(stream(*words('{"name"', ':"Ann"}')))),
            said(JSON, FENCED, Try(wire(chat(FENCED)))),
            said(by(), ANN),
            capture(shaped(), wire(response(ANN))),
            # A remark before the answer, as reasoning models make it.
            capture(shaped(), wire(response(output=[message("I look."), {**message(ANN), "id": "msg_2"}]))),
        ),
        (
            said(JSON, FENCED),
            said(JSON, f"Sure! Here it is: {ANN}"),
            said(JSON, '{"items":[1,2,3'),
            said(by(), "Ann is three."),
            said(JSON, FENCED, Try(wire(chat(ANN)))),
            held_back(JSON, FENCED),
            capture(JSON.with_(stream=True), wire(stream(*words("```json\n", ANN, "\n```")))),
            capture(shaped(), wire(response(FENCED))),
        ),
    ),
    "format.schema.kept": Example(
        (
            said(by(), ANN),
            said(by(), OTHER, Try(wire(chat(OTHER)))),
            said(by(), "Ann is three."),
            said(REMOTE, OTHER),
            said(by({"type": "nothing"}), OTHER),
            said(by({"type": "object", "patternProperties": {"(a+)+$": {}}, "additionalProperties": False}), OTHER),
            said(by(WIDE), DEEP),
            capture(shaped(), wire(response(ANN))),
        ),
        (
            said(by(), OTHER),
            said(by(), "[]"),
            said(by(), OTHER, Try(wire(chat(ANN)))),
            held_back(by(), OTHER, response_format={"type": "json_object"}),
            held_back(by(), OTHER, response_format=LOOSE.value["response_format"]),
            said(by({"$ref": "#/$defs/a", "$defs": {"a": {"type": "array", "items": {"type": "string"}}}}), "[1]"),
            capture(shaped(), wire(response(OTHER))),
        ),
    ),
    "format.schema.followed": Example(
        (said(LOOSE, ANN), said(LOOSE, OTHER, Try(wire(chat(OTHER))))),
        (said(LOOSE, OTHER), said(LOOSE, OTHER, Try(wire(chat(ANN))))),
    ),
}

#: Answers that owe no JSON.
FREE = (
    calling(JSON.with_(tools=TOOLS), one()),
    said(JSON, '{"items":[1,2,3', reason="length"),
    said(JSON, "I", reason="content_filter"),
    said(by(), None, message={"refusal": "I cannot."}),
    said(JSON, ""),
)
