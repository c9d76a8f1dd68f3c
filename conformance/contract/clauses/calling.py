"""What a reply calls, and which tools its request lets it call: chat and Responses, whole or streamed.

The readings that the clauses on asked tools share; no clause stands here. Total: a value of another type is read as
none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from conformance.contract.clauses.tool_kinds import tools_of
from conformance.exchange.members import list_in, object_in, text_in
from conformance.exchange.model import Endpoint, Exchange, Reply
from conformance.exchange.responses import TERMINAL_EVENTS

_ITEMS = {"function_call": "function", "custom_tool_call": "custom"}
#: The kinds of calls whose tool is the client's own.
OWN = ("function", "custom", "legacy")


@dataclass(slots=True, kw_only=True)
class Call:
    """One call, deltas joined. `kind` is function, custom, legacy (a `function_call`), or the type of an output item
    of another kind, which the service runs itself. `arguments` are those of a function, or a custom tool's input."""

    choice: int
    kind: str
    id: str = ""
    name: str = ""
    namespace: str = ""
    arguments: str = ""

    def add(self, part: dict[str, Any], identity: str, body: str) -> None:
        """Join a piece: its `identity` is the first that is told, names and arguments are put together."""
        self.id = self.id or identity
        self.name = self.name or text_in(part, "name")
        self.arguments += text_in(part, body)


def values_of(reply: Reply) -> Iterator[Any]:
    """The JSON value of a whole reply, or those of its events."""
    for doc in [event.doc for event in reply.events] or [reply.doc]:
        if doc is not None and doc.ok:
            yield doc.value


def calls_of(reply: Reply, endpoint: Endpoint) -> list[Call]:
    """Every call of a reply, those of another API too, as far as its answer is read."""
    if endpoint is Endpoint.CHAT:
        return _chat(reply)
    if endpoint is Endpoint.RESPONSES:
        return [_item(item) for item in output_of(reply) if _is_call(item)]
    return [
        Call(choice=choice.index, kind="function", id=call.id, name=call.name, arguments=call.arguments)
        for choice in reply.answer.choices
        for call in choice.tool_calls
    ]


def _chat(reply: Reply) -> list[Call]:
    found: dict[tuple[int, Any], Call] = {}
    for value in values_of(reply):
        for place, choice in enumerate(list_in(value, "choices")):
            index = _number(choice, place)
            part = object_in(choice, "message") or object_in(choice, "delta")
            for position, call in enumerate(list_in(part, "tool_calls")):
                key = (index, _number(call, position) if reply.events else position)
                _join(found, key, call)
            legacy = object_in(part, "function_call")
            if legacy.get("name") or legacy.get("arguments"):
                found.setdefault((index, "legacy"), Call(choice=index, kind="legacy")).add(legacy, "", "arguments")
    return list(found.values())


def _join(found: dict[tuple[int, Any], Call], key: tuple[int, Any], call: Any) -> None:
    custom = object_in(call, "custom")
    part, identity = custom or object_in(call, "function"), text_in(call, "id")
    if key in found and _another(found[key], identity, text_in(part, "name")):
        found[key[0], f"before {len(found)}"] = found.pop(key)
    one = found.setdefault(key, Call(choice=key[0], kind="custom" if custom else "function"))
    if isinstance(call, dict):
        one.add(part, identity, "input" if custom else "arguments")


def _another(one: Call, identity: str, name: str) -> bool:
    """Whether a piece at a call's index is of another call: by its id, or by its name where either has no id."""
    if identity and one.id:
        return identity != one.id
    return bool(name and one.name and name != one.name)


def _number(value: Any, place: int) -> int:
    index = value.get("index", place) if isinstance(value, dict) else place
    return index if isinstance(index, int) else place


def by_choice(calls: Iterable[Call]) -> dict[int, list[Call]]:
    """The calls of each choice that has any."""
    found: dict[int, list[Call]] = {}
    for call in calls:
        found.setdefault(call.choice, []).append(call)
    return found


def output_of(reply: Reply) -> list[Any]:
    """The output items of a Responses reply: those of its last event, or of the events that ended them."""
    if not reply.events:
        return list_in(reply.doc.value if reply.doc is not None else None, "output")
    done: list[Any] = []
    for value in values_of(reply):
        kind = text_in(value, "type")
        if kind == "response.output_item.done":
            done.append(value.get("item"))
        elif kind in TERMINAL_EVENTS:
            return list_in(object_in(value, "response"), "output") or done
    return done


def _is_call(item: Any) -> bool:
    return text_in(item, "type").endswith("_call")


def _item(item: Any) -> Call:
    kind = _ITEMS.get(text_in(item, "type"), text_in(item, "type"))
    call = Call(choice=0, kind=kind, namespace=text_in(item, "namespace"))
    call.add(item, text_in(item, "call_id"), "input" if kind == "custom" else "arguments")
    return call


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool that the client runs itself: `parameters` are its schema, {} for none."""

    name: str
    parameters: dict[str, Any]
    strict: bool


def tools_told(x: Exchange) -> dict[str, Tool]:
    """The functions and custom tools that a request declares, legacy functions among them, by name."""
    found: dict[str, Tool] = {}
    body = x.request.doc.value if x.request.doc is not None and x.request.doc.ok else None
    for tool in [*tools_of(x), *list_in(body, "functions")]:
        inner = object_in(tool, "function") or object_in(tool, "custom") or tool
        if isinstance(inner, dict) and (name := text_in(inner, "name")) and text_in(tool, "type") != "namespace":
            found[name] = Tool(name=name, parameters=object_in(inner, "parameters"), strict=inner.get("strict") is True)
    return found


#: The kinds of tools whose calls are the client's to answer, or of which each has an output item of its own kind.
_KNOWN = frozenset(
    (
        *("", "function", "custom", "namespace", "tool_search", "mcp", "web_search", "web_search_preview"),
        *("file_search", "code_interpreter", "image_generation", "computer", "computer_use_preview"),
        *("local_shell", "shell", "apply_patch"),
    )
)


def foreign_tools(x: Exchange) -> bool:
    """Whether a request has tools of a provider's own kind, of which nobody can tell how they are called; for the chat
    API every kind but its two is such a one."""
    known = _KNOWN if x.request.endpoint is Endpoint.RESPONSES else frozenset(("", "function", "custom"))
    return any(isinstance(tool, dict) and text_in(tool, "type") not in known for tool in tools_of(x))
