"""Tools of two kinds: functions, whose arguments are JSON, and custom tools, whose input is any text.

Which kind each call of a reply is of, beside the kind that the request declared its tool as.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.evidence import at_event, at_path, show
from conformance.contract.when import ok, stayed, the_reply
from conformance.exchange.members import list_in
from conformance.exchange.model import Endpoint, Exchange, StreamEvent

_ITEMS = {"function_call": "function", "custom_tool_call": "custom"}


def _named(value: Any, kind: str) -> str | None:
    """The name in a tool or a call of `kind`: beside the type (Responses), or in an object of its own (chat)."""
    inner = value.get(kind)
    name = inner.get("name") if isinstance(inner, dict) else value.get("name")
    return name if isinstance(name, str) and name else None


def tools_of(x: Exchange) -> Iterator[Any]:
    """Every tool of the request, those in a namespace and those that an item of the input adds too."""
    body = x.request.doc.value if x.request.doc is not None and x.request.doc.ok else None
    rest = [*list_in(body, "tools"), *(tool for item in list_in(body, "input") for tool in list_in(item, "tools"))]
    while rest:
        tool = rest.pop()
        yield tool
        rest += list_in(tool, "tools")


def _declared(x: Exchange) -> dict[str, str]:
    """The kind of each tool of the request, by its name; none for a name that stands for both kinds."""
    kinds: dict[str, set[str]] = {}
    for tool in tools_of(x):
        kind = tool.get("type") if isinstance(tool, dict) else None
        if kind in ("function", "custom") and (name := _named(tool, kind)) is not None:
            kinds.setdefault(name, set()).add(kind)
    return {name: min(found) for name, found in kinds.items() if len(found) == 1}


def _called(value: Any) -> Iterator[tuple[str, str]]:
    """The name and the kind of each call in a JSON value of a reply: a whole one, a chunk, an event."""
    for choice in list_in(value, "choices"):
        for part in ("message", "delta"):
            for call in list_in(choice.get(part) if isinstance(choice, dict) else None, "tool_calls"):
                kind = call.get("type") if isinstance(call, dict) else None
                if kind in ("function", "custom") and (name := _named(call, kind)) is not None:
                    yield name, kind
    item = value.get("item") if isinstance(value, dict) else None
    for one in [*list_in(value, "output"), item]:
        kind = _ITEMS.get(str(one.get("type"))) if isinstance(one, dict) else None
        if kind is not None and (name := _named(one, kind)) is not None:
            yield name, kind


def _values(x: Exchange) -> Iterator[tuple[StreamEvent | None, Any]]:
    reply = the_reply(x)
    if reply.doc is not None and reply.doc.ok and not reply.events:
        yield None, reply.doc.value
    for event in reply.events:
        if event.doc is not None and event.doc.ok:
            yield event, event.doc.value


def _calls(x: Exchange) -> Iterator[tuple[StreamEvent | None, str, str]]:
    for event, value in _values(x):
        yield from ((event, name, kind) for name, kind in _called(value))


def _calls_declared(x: Exchange) -> bool:
    if x.request.endpoint not in (Endpoint.CHAT, Endpoint.RESPONSES) or not (stayed(x) and ok(x)):
        return False
    known = _declared(x)
    return bool(known) and any(name in known for _, name, _ in _calls(x))


@clause(
    id="tool.kind.declared",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A call is of the kind that its tool was declared as",
    rationale="Agents refuse a custom tool's text that comes as JSON arguments of a function, and the other way about: the call is lost.",
    source="openai-api/function-calling",
    applies=_calls_declared,
)
def kind_declared(x: Exchange) -> Iterator[Finding]:
    known = _declared(x)
    for event, name, kind in _calls(x):
        if known.get(name, kind) != kind:
            wanted, got = f"a {known[name]} call of {show(name)}", f"a {kind} call"
            if event is None:
                yield at_path(the_reply(x), (), wanted, got)
            else:
                yield at_event(the_reply(x), event, wanted, got)
