"""Defects of a response's items, and of what it tells besides them: its tokens, its texts, why it stopped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.reference.behaviour import Behaviour
from conformance.reference.call import Operation
from conformance.reference.defects.entry import defect
from conformance.reference.defects.hooks import Doc, each_chunk, each_reply


def _done(**members: Any) -> Behaviour:
    """A gateway that lays members over each item that is done."""

    def edit(event: Doc) -> None:
        if event["type"] == "response.output_item.done":
            event["item"] = event["item"] | members

    return Behaviour(chunks=each_chunk(edit, Operation.RESPONSES))


def _empty(event: Doc) -> None:
    """A message that is done holds nothing."""
    if event["type"] == "response.output_item.done" and event["item"].get("type") == "message":
        event["item"] = event["item"] | {"content": []}


def _reply(edit: Callable[[Doc], None]) -> Behaviour:
    return Behaviour(doc=each_reply(edit, Operation.RESPONSES))


def _undetailed(doc: Doc) -> None:
    if doc.get("usage"):
        doc["usage"] = {name: value for name, value in doc["usage"].items() if not name.endswith("_details")}


def _bare_texts(doc: Doc) -> None:
    doc["output"] = [
        item | {"content": [_bare(part) for part in item["content"]]} if item.get("type") == "message" else item
        for item in doc["output"]
    ]


def _bare(part: Doc) -> Doc:
    return {name: value for name, value in part.items() if name != "annotations"}


def _unexplained(doc: Doc) -> None:
    if doc.get("status") == "incomplete":
        doc["incomplete_details"] = None


def _terse(doc: Doc) -> None:
    for name in ("tools", "tool_choice", "parallel_tool_calls"):
        doc.pop(name, None)


def _messages_alone(doc: Doc) -> None:
    doc["output"] = [item for item in doc["output"] if item.get("type") == "message"]


TABLE = (
    defect(
        "response-items-dropped",
        "Of a response's output only the messages are left",
        "relay.items.kept",
        _reply(_messages_alone),
        "responses.searched",
    ),
    # vllm-project/vllm#47916, anomalyco/opencode#46084
    defect(
        "response-item-renamed",
        "An output item that is done has another id than it was added with",
        "responses.item.same",
        _done(id="msg_of_the_gateway"),
    ),
    # anomalyco/opencode#44893
    defect(
        "response-item-done-empty",
        "A message whose text was streamed is done without it",
        "responses.item.whole",
        Behaviour(chunks=each_chunk(_empty, Operation.RESPONSES)),
    ),
    # openai/openai-python#3321
    defect(
        "response-item-done-in-progress",
        "An output item that is done says that it is in progress",
        "responses.item.closed",
        _done(status="in_progress"),
    ),
    # openai/codex#37141
    defect(
        "response-usage-undetailed",
        "The usage of a response tells the sums alone",
        "responses.usage.details",
        _reply(_undetailed),
        "responses.hello",
    ),
    # lmstudio-ai/lmstudio-bug-tracker#1089
    defect(
        "response-text-without-annotations",
        "The texts of a response have no annotations",
        "responses.text.annotations",
        _reply(_bare_texts),
        "responses.hello",
    ),
    # braintrustdata/lingua#400
    defect(
        "response-incomplete-unexplained",
        "A response that is incomplete does not say why",
        "responses.incomplete.reason",
        _reply(_unexplained),
        "responses.incomplete",
    ),
    # 0xPlaygrounds/rig#1021
    defect(
        "response-without-tools",
        "A response does not tell the tools that it was asked with",
        "responses.members",
        _reply(_terse),
        "responses.hello",
    ),
)
