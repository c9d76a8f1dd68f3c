"""A conversation in the order of its turns, in one form for each API that a gateway may speak to a member.

From the JSON body of a request to who said what, and to what each tool gave for which call. The body's API is not
asked for: each has names of its own for the same things. No opinion on what has to arrive stands here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from conformance.exchange.members import list_in, object_in, text_in

_ROLES = {"developer": "system", "model": "assistant"}


@dataclass(frozen=True, slots=True)
class Turn:
    """Something that was said: by `system`, `user` or `assistant`."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Given:
    """What a tool gave: for which call of the conversation, counted from 0 (-1: not told), of what name ("": not told);
    the texts of it."""

    call: int
    name: str
    texts: tuple[str, ...]


def _items(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The messages of a body, or its items."""
    for name in ("messages", "input", "contents"):
        yield from (item for item in list_in(body, name) if isinstance(item, dict))


def _parts(item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The parts of a message."""
    for part in [*list_in(item, "content"), *list_in(item, "parts")]:
        if isinstance(part, dict):
            yield part


def spoken(content: Any) -> Iterator[str]:
    """The texts of a content: itself, or those of its parts that are texts, without what was thought."""
    if isinstance(content, str):
        yield content
    for part in content if isinstance(content, list) else ():
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict) and isinstance(part.get("text"), str) and "thought" not in part:
            yield part["text"]


def _texts(item: dict[str, Any]) -> Iterator[str]:
    """The texts that a message says itself."""
    yield from spoken(item.get("content"))
    yield from spoken(list_in(item, "parts"))


def turns(body: dict[str, Any]) -> Iterator[Turn]:
    """What was said, in order; a prompt of its own place is the system's and comes first."""
    for name in ("instructions", "system", "systemInstruction", "system_instruction"):
        told = body.get(name)
        for text in [told] if isinstance(told, str) else _texts({"content": told, **object_in(body, name)}):
            yield Turn("system", text)
    for name in ("input", "prompt"):
        if isinstance(body.get(name), str):
            yield Turn("user", body[name])
    for item in _items(body):
        if item.get("role") not in ("tool", "function") and item.get("type", "message") == "message":
            role = text_in(item, "role") or "user"
            yield from (Turn(_ROLES.get(role, role), text) for text in _texts(item))


def _called(item: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The id and the name of each call in a message, or of an item that is one; "" for what is not told."""
    if item.get("type") in ("function_call", "custom_tool_call"):
        yield text_in(item, "call_id"), text_in(item, "name")
    for call in list_in(item, "tool_calls"):
        inner = object_in(call, "function") or object_in(call, "custom")
        yield text_in(call, "id"), text_in(inner, "name")
    for part in _parts(item):
        for name, key in (("functionCall", "id"), ("function_call", "id"), ("toolUse", "toolUseId")):
            if found := object_in(part, name):
                yield text_in(found, key), text_in(found, "name")
        if part.get("type") == "tool_use":
            yield text_in(part, "id"), text_in(part, "name")


def _results(item: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """The id of its call, the name and the value of each result in a message, or of an item that is one."""
    if item.get("role") in ("tool", "function"):
        yield text_in(item, "tool_call_id"), text_in(item, "name") or text_in(item, "tool_name"), item.get("content")
    elif item.get("type") in ("function_call_output", "custom_tool_call_output"):
        yield text_in(item, "call_id"), "", item.get("output")
    for part in _parts(item):
        if part.get("type") == "tool_result":
            yield text_in(part, "tool_use_id"), "", part.get("content")
        for name in ("functionResponse", "function_response"):
            if found := object_in(part, name):
                yield text_in(found, "id"), text_in(found, "name"), found.get("response")
        if found := object_in(part, "toolResult"):
            yield text_in(found, "toolUseId"), "", found.get("content")


def given(body: dict[str, Any]) -> Iterator[Given]:
    """What the tools gave, in order, each with the last call before it that has its id."""
    calls: dict[str, tuple[int, str]] = {}
    number = 0
    for item in _items(body):
        for key, name in _called(item):
            if key:
                calls[key] = number, name
            number += 1
        for key, name, value in _results(item):
            call, called = calls.get(key, (-1, name))
            yield Given(call, called or name, tuple(leaves(value)))


def leaves(value: Any) -> Iterator[str]:
    """Every text in a JSON value but the names of members."""
    rest = [value]
    while rest:
        found = rest.pop()
        if isinstance(found, str):
            yield found
        elif isinstance(found, dict | list):
            rest += list(found.values() if isinstance(found, dict) else found)[::-1]
