"""Defects of tool calls, whole and in deltas."""

from __future__ import annotations

import json
from collections.abc import Callable

from conformance.reference.behaviour import Behaviour
from conformance.reference.call import Call, Operation
from conformance.reference.defects.entry import defect
from conformance.reference.defects.hooks import Doc, Edit, arguments_of, each_choice, each_stream_choice
from conformance.reference.steps import Step


def _calls(edit: Callable[[int, Doc], None]) -> Edit:
    """`edit` on each tool call (with its position) of a choice, whole or streamed."""

    def choices(choice: Doc) -> None:
        part = choice.get("message") or choice.get("delta") or {}
        for position, call in enumerate(part.get("tool_calls") or ()):
            edit(position, call)

    return choices


def _object(position: int, call: Doc) -> None:
    if "function" in call:
        call["function"]["arguments"] = arguments_of(call)


def _one_id(position: int, call: Doc) -> None:
    call["id"] = "call_0"


def _no_index(position: int, call: Doc) -> None:
    del call["index"]


def _from_one(position: int, call: Doc) -> None:
    call["index"] += 1


def _index_0(position: int, call: Doc) -> None:
    call["index"] = 0


def _later_nameless(position: int, call: Doc) -> None:
    if call["index"] > 0:
        call.pop("id", None)
        call.get("function", {}).pop("name", None)


def _empty_id(position: int, call: Doc) -> None:
    call.setdefault("id", "")


def _null_arguments(position: int, call: Doc) -> None:
    if "function" in call and not call["function"].get("arguments"):
        call["function"]["arguments"] = None


def _repr(position: int, call: Doc) -> None:
    if "function" in call:
        call["function"]["arguments"] = repr(arguments_of(call))


def _again(chunks: list[Doc], call: Call) -> list[Doc]:
    """At the end of a choice the whole arguments come once more, as some members send a full call last."""
    told: list[Doc] = []
    for chunk in chunks:
        for choice in chunk.get("choices", ()) if call.operation is Operation.CHAT else ():
            texts: dict[int, str] = call.memo.setdefault(f"arguments of {choice['index']}", {})
            for delta in choice["delta"].get("tool_calls", ()):
                texts[delta["index"]] = texts.get(delta["index"], "") + delta.get("function", {}).get("arguments", "")
            if choice["finish_reason"] and texts:
                told.append(chunk | {"choices": [_whole(choice, texts)]})
        told.append(chunk)
    return told


def _whole(choice: Doc, texts: dict[int, str]) -> Doc:
    calls = [{"index": index, "function": {"arguments": text}} for index, text in texts.items()]
    return choice | {"delta": {"tool_calls": calls}, "finish_reason": None}


def _as_function(position: int, call: Doc) -> None:
    """The text for a custom tool is wrapped into the arguments of a function."""
    if "custom" in call:
        custom = call.pop("custom")
        call["type"] = "function"
        call["function"] = {"name": custom["name"], "arguments": json.dumps({"input": custom["input"]})}


TABLE = (
    # decolua/9router#1371
    defect(
        "custom-call-as-function",
        "A call of a custom tool comes as a function's",
        "tool.kind.declared",
        Behaviour(doc=each_choice(_calls(_as_function))),
        "tools.custom",
    ),
    # BerriAI/litellm#37792: the arguments as an object
    defect(
        "tool-arguments-as-object",
        "A tool call's arguments are an object",
        "chat.tool-calls.shape relay.tool-calls.equal tool.arguments.json tool.arguments.strict",
        Behaviour(doc=each_choice(_calls(_object))),
    ),
    defect(
        "tool-calls-share-an-id",
        "All tool calls of a message have one id",
        "chat.tool-calls.unique-ids relay.tool-calls.equal",
        Behaviour(doc=each_choice(_calls(_one_id))),
    ),
    defect(
        "tool-delta-without-index",
        "A tool call delta has no index",
        "chunk.tool.index chunk.tool.continuation chunk.tool.distinct relay.tool-calls.equal tool.arguments.json "
        "tool.arguments.once",
        Behaviour(chunks=each_stream_choice(_calls(_no_index))),
        "tools.parallel-stream",
    ),
    defect(
        "tool-index-from-1",
        "The indexes of tool calls count from 1",
        "chunk.tool.index",
        Behaviour(chunks=each_stream_choice(_calls(_from_one))),
    ),
    # BerriAI/litellm#39796
    defect(
        "later-tool-calls-nameless",
        "Of parallel tool calls only the first has an id and a name",
        "chunk.tool.opener relay.tool-calls.equal",
        Behaviour(chunks=each_stream_choice(_calls(_later_nameless))),
        "tools.parallel-stream",
    ),
    # BerriAI/litellm#21331, ai-dynamo/dynamo#4723
    defect(
        "parallel-tool-calls-at-index-0",
        "All parallel tool calls have the index 0",
        "chunk.tool.distinct chunk.tool.continuation relay.tool-calls.equal tool.arguments.json tool.arguments.once",
        Behaviour(chunks=each_stream_choice(_calls(_index_0))),
        "tools.parallel-stream",
    ),
    defect(
        "tool-delta-with-empty-id",
        "Later deltas of a tool call have an empty id",
        "chunk.tool.continuation",
        Behaviour(chunks=each_stream_choice(_calls(_empty_id))),
    ),
    defect(
        "tool-delta-arguments-null",
        "A tool call delta without arguments has them null",
        "chunk.tool.arguments",
        Behaviour(chunks=each_stream_choice(_calls(_null_arguments))),
    ),
    defect(
        "tool-arguments-twice",
        "The whole arguments of a streamed call come again at its end",
        "tool.arguments.once relay.tool-calls.equal",
        Behaviour(chunks=_again),
    ),
    defect(
        "tool-arguments-as-python",
        "A tool call's arguments are written as Python writes a dict",
        "tool.arguments.json relay.tool-calls.equal tool.arguments.strict",
        Behaviour(doc=each_choice(_calls(_repr))),
    ),
    # BerriAI/litellm#21041, diegosouzapw/OmniRoute#3980
    defect(
        "tool-calls-end-with-stop",
        "A turn that calls tools ends with stop where the member said so",
        "tool.finish-reason",
        Behaviour(skip=frozenset({Step.REASON_TOOL_CALLS})),
        "finish.stop-with-tool-calls",
    ),
)
