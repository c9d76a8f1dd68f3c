"""Whether two JSON values of a request say the same to the API: what a gateway may spell otherwise, and what not.

Knows values alone, no exchange and no clause.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Hashable
from typing import Any

from conformance.exchange.members import list_in, object_in, text_in
from conformance.wire.jsondoc import parse


def same(left: Any, right: Any) -> bool:
    """JSON equality: 1 and 1.0 are one number, true is not 1, a null member is none, a lone text is a list of it."""
    if isinstance(left, bool) != isinstance(right, bool):
        return False
    if isinstance(left, dict) and isinstance(right, dict):
        names = [{name for name, value in side.items() if value is not None} for side in (left, right)]
        return names[0] == names[1] and all(same(left[name], right[name]) for name in names[0])
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(same(a, b) for a, b in zip(left, right, strict=True))
    if isinstance(left, str) and isinstance(right, list):
        return right == [left]
    if isinstance(left, list) and isinstance(right, str):
        return left == [right]
    return bool(left == right)


def contained(left: Any, right: Any) -> bool:
    """Whether every member of `left` stands in `right`, which may have more of them."""
    if isinstance(left, dict) and isinstance(right, dict):
        return all(contained(value, right.get(name)) for name, value in left.items() if value is not None)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) <= len(right) and all(contained(a, b) for a, b in zip(left, right, strict=False))
    return same(left, right)


def _joined(content: Any) -> Any:
    """A content of text parts alone as one text, "" for none; any other as it is."""
    if content is None:
        return ""
    if not isinstance(content, list) or not all(
        isinstance(part, dict) and part.get("type") == "text" for part in content
    ):
        return content
    return "".join(str(part.get("text") or "") for part in content)


def _part(part: Any) -> Any:
    """A part of a content without what says nothing: an image's detail that is the default."""
    if isinstance(part, dict) and "cache_control" in part:  # Anthropic's, which others do not know
        part = {name: value for name, value in part.items() if name != "cache_control"}
    image = object_in(part, "image_url")
    if image.get("detail") != "auto":
        return part
    return {**part, "image_url": {name: value for name, value in image.items() if name != "detail"}}


def _same_part(left: Any, right: Any) -> bool:
    """Whether two parts are the same; an image that is named by its address may come as its bytes."""
    left, right = _part(left), _part(right)
    inlined = text_in(object_in(right, "image_url"), "url").startswith("data:")
    if inlined and text_in(object_in(left, "image_url"), "url").startswith(("http://", "https://")):
        return True
    return same(left, right)


def _same_content(left: Any, right: Any) -> bool:
    if same(left, right):
        return True
    if isinstance(left, list) and isinstance(right, list):
        pairs = zip(left, right, strict=False)
        if len(left) == len(right) and all(_same_part(a, b) for a, b in pairs):
            return True
    texts = _joined(left), _joined(right)
    if isinstance(left, str) and isinstance(right, str):
        return False
    # Joining parts to one text needs a divider, which no norm names: white space does not count.
    return all(isinstance(text, str) for text in texts) and "".join(texts[0].split()) == "".join(texts[1].split())


def same_calls(left: Any, right: Any) -> bool:
    """Whether two lists of tool calls are the same, by what the API knows of a call, their arguments as JSON."""
    if not (isinstance(left, list) and isinstance(right, list) and len(left) == len(right)):
        return same(left, right)
    return all(same(_parsed(a), _parsed(b)) for a, b in zip(left, right, strict=True))


def _parsed(call: Any) -> Any:
    """A call as the API defines it, without what clients copy from an answer besides: an index, parsed arguments."""
    if not isinstance(call, dict):
        return call
    function = object_in(call, "function")
    if not function:
        return {"id": bool(call.get("id")), "type": call.get("type"), "custom": call.get("custom")}
    told = function.get("arguments")
    text = "{}" if told == "" else told  # what is called with nothing
    doc = parse(text.encode("utf-8", "surrogatepass")) if isinstance(text, str) else None
    arguments = {"json": doc.value} if doc is not None and doc.ok else told
    # Some members take ids of their own form alone: who gives new ones has to give them to the results as well.
    identified = bool(call.get("id"))
    return {"id": identified, "type": call.get("type"), "name": function.get("name"), "arguments": arguments}


#: A model's system prompt is called `developer` by newer models; gateways map one to the other.
_INSTRUCTING = ("system", "developer")


def null_beside_calls(message: Any) -> bool:
    """Whether a message's content is null beside tool calls, where the API's schema lets it be left out as well."""
    if not isinstance(message, dict) or message.get("content", "") is not None:
        return False
    return bool(message.get("tool_calls") or message.get("function_call"))


def _renewed(asked: dict[str, Any], sent: dict[str, Any]) -> dict[str, Any]:
    """A deprecated turn as the one that `sent` makes of it: a function's call as a tool's, its result likewise."""
    called, calls = asked.get("function_call"), sent.get("tool_calls")
    if called and "function_call" not in sent and isinstance(calls, list) and len(calls) == 1:
        rest = {name: value for name, value in asked.items() if name != "function_call"}
        call = calls[0] if isinstance(calls[0], dict) else {}
        return {**rest, "tool_calls": [{**call, "type": "function", "function": called}]}
    if asked.get("role") == "function" and sent.get("role") == "tool":
        return {name: "tool" if name == "role" else value for name, value in asked.items() if name != "name"}
    return asked


#: What the API defines of a message besides its content and its calls. The rest of an answer that clients copy into the
#: history (sources, thoughts, an id) strict members refuse, so that gateways leave it out.
_KEPT = ("refusal", "audio", "function_call")


def same_message(asked: Any, sent: Any) -> bool:
    """Whether a message arrived whole. Members that are null or that the API does not define may be left out, others
    may be added; content stays."""
    if not isinstance(asked, dict) or not isinstance(sent, dict):
        return same(asked, sent)
    asked = _renewed(asked, sent)
    roles = asked.get("role"), sent.get("role")
    if roles[0] != roles[1] and not all(role in _INSTRUCTING for role in roles):
        return False
    if "content" in asked and "content" not in sent and not null_beside_calls(asked):
        return False
    if not _same_content(asked.get("content"), sent.get("content")):
        return False
    calls = asked.get("tool_calls"), sent.get("tool_calls")
    if any(calls) and not same_calls(*calls):
        return False
    if asked.get("tool_call_id") and not sent.get("tool_call_id"):
        return False
    # A tool's result has no name in the API.
    names = (*_KEPT, "name") if asked.get("role") != "tool" else _KEPT
    return all(same(asked[name], sent.get(name)) for name in names if asked.get(name) is not None)


def says_nothing(message: Any) -> bool:
    """Whether an assistant's turn is empty: it may be left out."""
    if not isinstance(message, dict) or message.get("role") != "assistant":
        return False
    return not any(message.get(name) for name in ("content", "tool_calls", *_KEPT))


class Messages:
    """Messages of a request, and where among them another one stands: those that cannot be it are not looked at."""

    def __init__(self, messages: list[Any]) -> None:
        self._messages = messages
        self._places: dict[Hashable, list[int]] = defaultdict(list)
        for place, message in enumerate(messages):
            for trait in (_content_of(message), _call_of(message)):
                if trait is not None:
                    self._places[trait].append(place)

    def _alike(self, message: Any) -> list[int]:
        call = _call_of(message)
        return self._places.get(_content_of(message) if call is None else call, [])

    def place(self, message: Any, start: int = 0) -> int | None:
        """The first place, from `start` on, where `message` stands, as it is or in other words; else None."""
        alike = self._alike(message)
        rest = alike[bisect_left(alike, start) :]
        return next((place for place in rest if same_message(message, self._messages[place])), None)

    def times(self, message: Any) -> int:
        """How often it stands there."""
        return sum(same_message(message, self._messages[place]) for place in self._alike(message))


def _content_of(message: Any) -> Hashable:
    """What two messages have in common that are the same: their text but for its white space."""
    content = _joined(message.get("content")) if isinstance(message, dict) else message
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], str):
        content = content[0]
    return "".join(content.split()) if isinstance(content, str) else len(content) if isinstance(content, list) else -1


def _call_of(message: Any) -> Hashable:
    """The same of their content and the name of their first tool call."""
    call = next(iter(list_in(message, "tool_calls")), None)
    name = text_in(object_in(call, "function"), "name")
    return (_content_of(message), name) if name else None
