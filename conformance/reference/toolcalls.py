"""Tool calls in the API's shape: whole ones of a message, and the deltas of a stream with dense indexes.

Pure. A delta that does not say clearly which call it continues is assigned by its id, then its name, then the last
call.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass, field
from typing import Any

Doc = dict[str, Any]
#: The kinds of calls, and what each calls its text.
TEXTS = {"function": "arguments", "custom": "input"}


def whole_calls(value: Any) -> list[Doc]:
    """The tool calls of a message, each with a distinct id, its type, a name and arguments as text."""
    calls: list[Doc] = []
    seen: set[str] = set()
    for item in value if isinstance(value, list) else []:
        kind, function = _body(item)
        if not _text(function.get("name")):
            continue
        call_id = _text(item.get("id"))
        if not call_id or call_id in seen:
            call_id = new_id()
        seen.add(call_id)
        text = arguments_text(function.get(TEXTS[kind]))
        text = (once(text) or "{}") if kind == "function" else text
        calls.append({"id": call_id, "type": kind, kind: {"name": function["name"], TEXTS[kind]: text}})
    return calls


def _body(item: Any) -> tuple[str, Doc]:
    """The kind of a call and the member that holds its name and text; an empty one when it has none."""
    for kind in TEXTS:
        if isinstance(item, dict) and isinstance(item.get(kind), dict):
            return kind, item[kind]
    return "function", {}


def arguments_text(value: Any) -> str:
    """Arguments as the JSON text that the API has them in."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def once(arguments: str) -> str:
    """The arguments, of which some members deliver the whole text several times in a row."""
    try:
        _, end = json.JSONDecoder().raw_decode(arguments)
    except (ValueError, RecursionError):
        return arguments
    first, rest = arguments[:end], arguments[end:]
    return first if rest and rest.replace(first, "").strip() == "" else arguments


def new_id() -> str:
    """An id for a call that came without one."""
    return f"call_{secrets.token_hex(12)}"


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


@dataclass(slots=True, kw_only=True)
class _Open:
    """One call that the stream has opened or is about to: `key` is the member's own index for it."""

    index: int
    key: Any
    kind: str
    id: str
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    announced: bool = False

    @property
    def whole(self) -> bool:
        """Whether the arguments so far are a whole JSON object."""
        try:
            return isinstance(json.loads("".join(self.arguments)), dict)
        except (ValueError, RecursionError):
            return False


class ToolCallDeltas:
    """The tool calls of one choice of one stream."""

    def __init__(self) -> None:
        self._calls: list[_Open] = []

    @property
    def any(self) -> bool:
        """Whether a call was announced to the client."""
        return any(call.announced for call in self._calls)

    def feed(self, value: Any) -> list[Doc]:
        """Our deltas for the `tool_calls` of one of the member's deltas."""
        deltas = []
        for item in value if isinstance(value, list) else []:
            if isinstance(item, dict):
                delta = self._one(item, *_body(item))
                deltas += [delta] if delta else []
        return deltas

    def _one(self, item: Doc, kind: str, body: Doc) -> Doc | None:
        call = self._find(item, kind, body)
        text = arguments_text(body.get(TEXTS[call.kind]))
        call.name = call.name or _text(body.get("name"))
        if text.startswith("{") and text == "".join(call.arguments) and call.whole:
            text = ""  # the whole text again
        if text:
            call.arguments.append(text)
        if call.announced:
            return {"index": call.index, call.kind: {TEXTS[call.kind]: text}} if text else None
        if not call.name:
            return None
        call.announced = True
        opened = {"name": call.name, TEXTS[call.kind]: "".join(call.arguments)}
        return {"index": call.index, "id": call.id, "type": call.kind, call.kind: opened}

    def _find(self, item: Doc, kind: str, body: Doc) -> _Open:
        key, call_id, name = item.get("index"), _text(item.get("id")), _text(body.get("name"))
        if call_id:
            for call in self._calls:
                if call.id == call_id:
                    return call
        last = next((call for call in reversed(self._calls) if key is None or call.key == key), None)
        opens = last is None or (bool(call_id) and last.name != "") or (bool(name) and last.name != "" and last.whole)
        return self._open(key, kind, call_id) if opens or last is None else last

    def _open(self, key: Any, kind: str, call_id: str) -> _Open:
        call = _Open(index=len(self._calls), key=key, kind=kind, id=call_id or new_id())
        self._calls.append(call)
        return call
