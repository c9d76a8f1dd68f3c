"""The models list and its entries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.evidence import at_path, show
from conformance.contract.shape import problems
from conformance.contract.when import json_of, the_reply
from conformance.exchange.model import Endpoint, Exchange

_models = json_of(Endpoint.MODELS)
_model = json_of(Endpoint.MODEL)


def _value(x: Exchange) -> dict[str, Any]:
    doc = the_reply(x).doc
    assert doc is not None and isinstance(doc.value, dict)
    return doc.value


def _entries(x: Exchange) -> list[Any]:
    data = _value(x).get("data")
    return data if isinstance(data, list) else []


@clause(
    id="models.shape",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The models list is a list object with an array data",
    rationale="SDKs page over `data`; another wrapper shows no model at all.",
    source="openai-api/models",
    applies=_models,
)
def shape(x: Exchange) -> Iterator[Finding]:
    for problem in problems("model-list", _value(x)):
        if len(problem.path) < 2:
            where = ".".join(map(str, problem.path)) or "the list"
            yield at_path(the_reply(x), problem.path, f"{where}: {problem.expected}", problem.actual)


@clause(
    id="models.entries",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="Every entry of the models list has id, object, created and owned_by",
    rationale="Typed clients fail the whole list on one entry that lacks a member.",
    source="openai-api/models",
    applies=lambda x: _models(x) and bool(_entries(x)),
)
def entries(x: Exchange) -> Iterator[Finding]:
    for problem in problems("model-list", _value(x)):
        if len(problem.path) >= 2 and problem.path[0] == "data":
            where = ".".join(map(str, problem.path))
            yield at_path(the_reply(x), problem.path, f"{where}: {problem.expected}", problem.actual)


@clause(
    id="models.unique",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="No model is listed twice",
    rationale="Pickers and caches key on the id; a pool's members listed one by one show the pool.",
    source="openai-api/models",
    applies=lambda x: _models(x) and bool(_entries(x)),
)
def unique(x: Exchange) -> Iterator[Finding]:
    seen: set[str] = set()
    for position, entry in enumerate(_entries(x)):
        name = entry.get("id") if isinstance(entry, dict) else None
        if isinstance(name, str) and name in seen:
            yield at_path(the_reply(x), ("data", position), "each id once", f"{show(name)} again")
        elif isinstance(name, str):
            seen.add(name)


@clause(
    id="models.listed",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The models list names every model that the target serves",
    rationale="Clients offer what is listed: a model that works and is not listed cannot be chosen.",
    source="openai-api/models",
    applies=lambda x: _models(x) and bool(x.terms.known_models),
)
def listed(x: Exchange) -> Iterator[Finding]:
    names = {entry["id"] for entry in _entries(x) if isinstance(entry, dict) and isinstance(entry.get("id"), str)}
    missing = sorted((x.terms.known_models or frozenset()) - names)
    if missing:
        yield at_path(
            the_reply(x), ("data",), f"an entry for {show(missing[0])}", f"{len(missing)} served models are not listed"
        )


@clause(
    id="models.retrieve",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A retrieved model is a model object with the asked-for id",
    rationale="Clients probe a model by its id before use; another id or shape reads as absent.",
    source="openai-api/models",
    applies=_model,
)
def retrieve(x: Exchange) -> Iterator[Finding]:
    for problem in problems("model", _value(x)):
        where = ".".join(map(str, problem.path)) or "the model"
        yield at_path(the_reply(x), problem.path, f"{where}: {problem.expected}", problem.actual)
    asked = x.request.target.split("?", 1)[0].split("/models/", 1)[-1]
    if isinstance(_value(x).get("id"), str) and _value(x)["id"] != asked and "%" not in asked:
        yield at_path(the_reply(x), ("id",), show(asked), show(_value(x)["id"]))
