"""Defects of the models list and of a single model: what the gateway says of itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from conformance.reference.behaviour import Behaviour, ErrorReply
from conformance.reference.call import Call
from conformance.reference.defects.entry import defect
from conformance.reference.defects.hooks import Doc


def _list(edit: Callable[[Doc], Doc]) -> Behaviour:
    """A gateway that does `edit` to the models list."""

    def hook(doc: Any, call: Call) -> Any:
        return edit(doc) if call.path.endswith("/models") else doc

    return Behaviour(doc=hook)


def _without(name: str) -> Callable[[Doc], Doc]:
    def edit(doc: Doc) -> Doc:
        return doc | {"data": [{key: value for key, value in item.items() if key != name} for item in doc["data"]]}

    return edit


def _any_model(error: ErrorReply, call: Call) -> ErrorReply:
    """A model object for whatever name stands in the path."""
    name = call.path.partition("/models/")[2]
    if not name:
        return error
    doc = {"id": name, "object": "model", "created": 1785402847, "owned_by": "gateway"}
    return dataclasses.replace(error, status=200, doc=doc)


def _other_model(doc: Any, call: Call) -> Any:
    return doc | {"id": f"models/{doc['id']}"} if "/models/" in call.path else doc


TABLE = (
    # the native list of a member's own API, in place of ours
    defect(
        "models-under-another-name",
        "The models list stands under `models` in place of `data`",
        "models.shape models.listed",
        _list(lambda doc: {"object": "list", "models": doc["data"]}),
    ),
    defect(
        "models-without-owner",
        "The entries of the models list have no owned_by",
        "models.entries",
        _list(_without("owned_by")),
    ),
    defect(
        "models-listed-by-member",
        "A model is listed once for each of its members",
        "models.unique",
        _list(lambda doc: doc | {"data": [item for item in doc["data"] for _ in range(2)]}),
    ),
    defect(
        "models-list-cut",
        "The models list ends after its first entry",
        "models.listed",
        _list(lambda doc: doc | {"data": doc["data"][:1]}),
    ),
    defect(
        "any-model-retrieved",
        "Any name can be retrieved as a model",
        "error.unknown-model.status",
        Behaviour(error=_any_model),
        shown_by="models.retrieve-unknown",
    ),
    # Gemini's resource names in an OpenAI model object
    defect(
        "model-id-prefixed",
        "A retrieved model has another id than the one that was asked for",
        "models.retrieve",
        Behaviour(doc=_other_model),
        shown_by="models.retrieve",
    ),
)
