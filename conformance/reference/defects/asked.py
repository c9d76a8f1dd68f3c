"""Defects of what a request asks of its answer: the tools that may be called, and how; the format of the text."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from conformance.reference.behaviour import Behaviour
from conformance.reference.call import Call, Operation
from conformance.reference.config import Member
from conformance.reference.defects.entry import defect
from conformance.reference.defects.hooks import Doc, each_choice


def _without(name: str) -> Behaviour:
    """A gateway whose members are asked without a parameter."""

    def hook(body: bytes, member: Member, call: Call) -> bytes:
        doc = json.loads(body)
        doc.pop(name, None)
        return json.dumps(doc).encode()

    return Behaviour(request_body=hook)


def _any_json(body: bytes, member: Member, call: Call) -> bytes:
    """The member is asked for JSON of any shape where the client gave a schema."""
    doc = json.loads(body)
    told = doc.get("response_format")
    if isinstance(told, dict) and told.get("type") == "json_schema":
        doc["response_format"] = {"type": "json_object"}
    return json.dumps(doc).encode()


def _answers(edit: Callable[[Doc, Doc], None]) -> Callable[[Any, Call], Any]:
    """`edit` on each choice of a chat answer, beside the request's document."""

    def hook(doc: Any, call: Call) -> Any:
        if call.operation is Operation.CHAT and isinstance(doc, dict):
            for choice in doc.get("choices", ()):
                edit(choice, call.doc)
        return doc

    return hook


def _fenced(choice: Doc, asked: Doc) -> None:
    told = asked.get("response_format")
    if isinstance(told, dict) and told.get("type") == "json_object":
        choice["message"]["content"] = f"```json\n{choice['message']['content']}\n```"


def _functions(choice: Doc) -> list[Doc]:
    """The calls of functions in a choice."""
    return [call for call in choice["message"].get("tool_calls") or () if "function" in call]


def _counted_ids(choice: Doc) -> None:
    for number, call in enumerate(_functions(choice), 1):
        call["id"] = f"call_{number}"


def _encoded_again(choice: Doc) -> None:
    for call in _functions(choice):
        call["function"]["arguments"] = json.dumps(call["function"]["arguments"])


def _prefixed(choice: Doc) -> None:
    for call in _functions(choice):
        call["function"]["name"] = f"functions.{call['function']['name']}"


def _emptied(choice: Doc, asked: Doc) -> None:
    strict = any(tool.get("function", {}).get("strict") is True for tool in asked.get("tools", ()))
    for call in _functions(choice) if strict else ():
        call["function"]["arguments"] = "{}"


def _written_out(choice: Doc) -> None:
    calls = _functions(choice) if choice["finish_reason"] == "tool_calls" else []
    if calls:
        told = [
            {"name": call["function"]["name"], "arguments": json.loads(call["function"]["arguments"])} for call in calls
        ]
        del choice["message"]["tool_calls"]
        choice["message"]["content"] = "".join(f"<tool_call>\n{json.dumps(one)}\n</tool_call>" for one in told)
        choice["finish_reason"] = "stop"


def _as_tool_call(choice: Doc) -> None:
    called = choice["message"].pop("function_call", None)
    if called:
        choice["message"]["tool_calls"] = [{"id": "call_1", "type": "function", "function": called}]
        choice["finish_reason"] = "tool_calls"


TABLE = (
    # vllm-project/vllm#30867, #44216
    defect(
        "tool-choice-not-forwarded",
        "The choice of tools does not reach the member",
        "tool.choice.kept relay.request.fields",
        _without("tool_choice"),
        "asked.no-tool",
    ),
    # sgl-project/sglang#9696
    defect(
        "parallel-tool-calls-not-forwarded",
        "That tools are called one at a time does not reach the member",
        "tool.parallel.kept relay.request.fields",
        _without("parallel_tool_calls"),
        "asked.one-at-a-time",
    ),
    # getzep/graphiti#1291
    defect(
        "json-in-a-fence",
        "JSON that was asked for comes in a code fence",
        "format.json.kept relay.text.equal",
        Behaviour(doc=_answers(_fenced)),
        "baseline.json-object",
    ),
    # jundot/omlx#1241
    defect(
        "schema-asked-as-any-json",
        "Where the client gave a schema, the member is asked for JSON of any shape",
        "format.schema.kept format.schema.followed relay.request.fields",
        Behaviour(request_body=_any_json),
        "asked.schema asked.schema-loose",
    ),
    # NVIDIA-NeMo/Switchyard#502
    defect(
        "tool-call-ids-counted",
        "The ids of tool calls count from 1 in each turn",
        "tool.id.fresh relay.tool-calls.equal",
        Behaviour(doc=each_choice(_counted_ids)),
        "asked.second-call",
    ),
    # vllm-project/vllm#54964
    defect(
        "tool-arguments-encoded-twice",
        "A tool call's arguments are JSON in a JSON text",
        "tool.arguments.object relay.tool-calls.equal tool.arguments.strict",
        Behaviour(doc=each_choice(_encoded_again)),
        "asked.strict-function",
    ),
    defect(
        "strict-arguments-emptied",
        "A call of a strict function comes without its arguments",
        "tool.arguments.strict relay.tool-calls.equal",
        Behaviour(doc=_answers(_emptied)),
        "asked.strict-function",
    ),
    # vllm-project/vllm#32587
    defect(
        "tool-names-prefixed",
        "A tool is called by its name with a prefix",
        "tool.name.declared tool.name.characters relay.tool-calls.equal",
        Behaviour(doc=each_choice(_prefixed)),
    ),
    # vllm-project/vllm#40911, #44522
    defect(
        "tool-call-written-out",
        "A tool call is written into the text, as the model wrote it",
        "tool.markup.parsed relay.tool-calls.equal relay.text.equal relay.reason.kept",
        Behaviour(doc=each_choice(_written_out)),
    ),
    # Continuum-AI-Corp/OrcaRouter-Lite#131
    defect(
        "function-call-as-tool-call",
        "A function that was declared by functions is called by tool_calls",
        "tool.legacy.form",
        Behaviour(doc=each_choice(_as_tool_call)),
        "asked.legacy-function",
    ),
)
