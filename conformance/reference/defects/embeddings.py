"""Defects of embeddings: the list, its order, its encoding and its numbers."""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable
from typing import Any

from conformance.reference.behaviour import Behaviour
from conformance.reference.call import Operation
from conformance.reference.defects.entry import defect
from conformance.reference.defects.hooks import Doc, each_reply
from conformance.reference.steps import Step


def _list(edit: Callable[[Doc], None]) -> Behaviour:
    """A gateway that does `edit` to every embeddings list."""
    return Behaviour(doc=each_reply(edit, Operation.EMBEDDINGS))


def _no_object(reply: Doc) -> None:
    del reply["object"]


def _lose_last(reply: Doc) -> None:
    if len(reply["data"]) > 1:
        reply["data"].pop()


def _index_zero(reply: Doc) -> None:
    for item in reply["data"]:
        item["index"] = 0


def _numbers(edit: Callable[[list[float]], list[Any]], first: int = 0) -> Behaviour:
    """A gateway that does `edit` to the numbers of every embedding from the `first` on; base64 stays as it is."""

    def each(reply: Doc) -> None:
        for item in reply["data"][first:]:
            if isinstance(item["embedding"], list):
                item["embedding"] = edit(item["embedding"])

    return _list(each)


def _as_doubles(reply: Doc) -> None:
    """Base64 holds double floats."""
    for item in reply["data"]:
        if isinstance(item["embedding"], str):
            raw = base64.b64decode(item["embedding"])
            numbers = struct.unpack(f"<{len(raw) // 4}f", raw)
            item["embedding"] = base64.b64encode(struct.pack(f"<{len(numbers)}d", *numbers)).decode()


TABLE = (
    # wrong wrapper of a list that is otherwise right
    defect(
        "embeddings-without-object",
        "The embeddings list does not name its object type",
        "embeddings.shape",
        _list(_no_object),
    ),
    # mem0ai/mem0#4057: an empty data array under 200
    defect(
        "embeddings-empty-kept",
        "A member's list without any embedding is passed on as a success",
        "embeddings.count relay.empty.not-success pool.exhausted.told",
        Behaviour(skip=frozenset({Step.REFUSE_EMPTY_EMBEDDINGS})),
        shown_by="embeddings.empty-data",
    ),
    defect(
        "embeddings-last-lost",
        "The last embedding of a batch is lost",
        "embeddings.count relay.embedding.equal",
        _list(_lose_last),
        shown_by="embeddings.batch",
    ),
    defect(
        "embeddings-order-of-arrival",
        "Embeddings go out in the order in which the member sent them",
        "embeddings.index",
        Behaviour(skip=frozenset({Step.DATA_ORDER})),
        shown_by="embeddings.unordered",
    ),
    defect(
        "embeddings-index-zero",
        "Every embedding has the index 0",
        "embeddings.index",
        _list(_index_zero),
        shown_by="embeddings.batch",
    ),
    # garrytan/gbrain#220: base64 asked for, an array relayed
    defect(
        "embeddings-encoding-relayed",
        "The member's encoding is passed on, whatever the client asked for",
        "embeddings.encoding",
        Behaviour(skip=frozenset({Step.ENCODING})),
        shown_by="embeddings.float-for-base64",
    ),
    defect(
        "embeddings-numbers-as-texts",
        "The numbers of an embedding are written as texts",
        "embeddings.values relay.embedding.equal",
        _numbers(lambda numbers: [str(number) for number in numbers]),
    ),
    defect(
        "embeddings-last-number-lost",
        "All embeddings of a batch but the first lose their last number",
        "embeddings.dimensions relay.embedding.equal",
        _numbers(lambda numbers: numbers[:-1], first=1),
        shown_by="embeddings.batch",
    ),
    defect(
        "embeddings-rounded",
        "The numbers of an embedding are rounded to two places",
        "relay.embedding.equal",
        _numbers(lambda numbers: [round(number, 2) for number in numbers]),
    ),
    # arabold/docs-mcp-server#469, ollama/ollama#12611
    defect(
        "embeddings-all-zeros",
        "Every number of an embedding is 0",
        "embeddings.direction relay.embedding.equal",
        _numbers(lambda numbers: [0.0 for _ in numbers]),
    ),
    # langchain4j/langchain4j#5638
    defect(
        "embeddings-as-doubles",
        "A base64 embedding holds double floats",
        "embeddings.float32 relay.embedding.equal",
        _list(_as_doubles),
    ),
)
