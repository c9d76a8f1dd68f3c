"""The output items of one Responses stream: each has an index from 0 and an id, and every event of it names both.

Pure. An event that does not say which item it belongs to belongs to the last one.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

from conformance.reference.failure import Kind, UpstreamFailed, own_failure

Doc = dict[str, Any]
PREFIXES = {"function_call": "fc_", "reasoning": "rs_"}
#: Events of an item by the beginning of their type; those with a part of the item also have a content index.
OF_ITEM = (
    "response.output_item.",
    "response.content_part.",
    "response.output_text.",
    "response.refusal.",
    "response.function_call_arguments.",
)
OF_PART = OF_ITEM[1:4]


@dataclass(frozen=True, slots=True)
class _Item:
    index: int
    id: str
    key: Any
    named: bool


class OutputItems:
    """The items that the stream has opened."""

    def __init__(self) -> None:
        self._items: list[_Item] = []

    def place(self, kind: str, doc: Doc) -> Doc:
        """`doc` with its item's index and id filled in. Raises UpstreamFailed for a delta without an item."""
        if not kind.startswith(OF_ITEM):
            return doc
        given = doc.get("item") if isinstance(doc.get("item"), dict) else None
        item = self._open(doc, given or {}) if kind == "response.output_item.added" else self._find(doc, given or {})
        if kind.startswith("response.output_item."):
            return doc | {"output_index": item.index} | ({"item": given | {"id": item.id}} if given else {})
        part = {"content_index": doc.get("content_index", 0)} if kind.startswith(OF_PART) else {}
        return doc | {"output_index": item.index, "item_id": item.id} | part

    def kept(self, response: Doc) -> Doc:
        """`response` with the items in its output under the ids that they were given here, where they came without."""
        output = response.get("output")
        if not isinstance(output, list) or len(output) != len(self._items):
            return response
        pairs = zip(self._items, output, strict=True)
        told = [
            given | {"id": item.id} if isinstance(given, dict) and not item.named else given for item, given in pairs
        ]
        return response | {"output": told}

    def _open(self, doc: Doc, given: Doc) -> _Item:
        own = given.get("id")
        item_id = (
            own
            if isinstance(own, str) and own
            else PREFIXES.get(str(given.get("type")), "msg_") + secrets.token_hex(12)
        )
        item = _Item(len(self._items), item_id, doc.get("output_index"), item_id == own)
        self._items.append(item)
        return item

    def _find(self, doc: Doc, given: Doc) -> _Item:
        named = doc.get("item_id") or given.get("id")
        key = doc.get("output_index")
        for item in reversed(self._items):
            if (named and item.id == named) or (not named and (key is None or item.key == key)):
                return item
        if not self._items:
            raise UpstreamFailed(own_failure(Kind.BROKEN, "The upstream's stream lacks an output item."))
        return self._items[-1]
