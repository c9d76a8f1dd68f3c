"""An answer in the other form than was asked for: a whole reply as chunks, chunks as a whole reply.

Pure. Both ends are documents that a member could have sent, so that the usual shaping follows.
"""

from __future__ import annotations

from typing import Any

from conformance.reference.call import Call, Operation
from conformance.reference.toolcalls import TEXTS

Doc = dict[str, Any]


def chunks_of(reply: Doc) -> list[Doc]:
    """The chunk documents that say what `reply` says: each choice's content, then its finish reason; the usage last."""
    common = {key: value for key, value in reply.items() if key not in ("choices", "usage", "object")}
    docs: list[Doc] = []
    for choice in reply["choices"]:
        message = choice.get("message")
        part: Doc = {"text": choice.get("text")}
        if isinstance(message, dict):
            calls = [{"index": number, **call} for number, call in enumerate(message.get("tool_calls") or [])]
            part = {"delta": message | ({"tool_calls": calls} if calls else {})}
        content = {"index": choice["index"], **part, "logprobs": choice.get("logprobs"), "finish_reason": None}
        ending = {"index": choice["index"], "delta": {}, "text": "", "finish_reason": choice.get("finish_reason")}
        docs += [common | {"choices": [content]}, common | {"choices": [ending]}]
    return [*docs, common | {"choices": [], "usage": reply.get("usage")}]


def reply_of(chunks: list[Doc], usage: Doc | None, call: Call) -> Doc:
    """The whole reply that `chunks`, in our own shape, say."""
    choices: dict[int, Doc] = {}
    for chunk in chunks:
        for item in chunk["choices"]:
            choice = choices.setdefault(
                item["index"], {"index": item["index"], "logprobs": None, "finish_reason": None}
            )
            if call.operation is Operation.CHAT:
                _add_delta(choice.setdefault("message", {"role": "assistant"}), item["delta"])
            else:
                choice["text"] = choice.get("text", "") + item["text"]
            choice["finish_reason"] = item["finish_reason"] or choice["finish_reason"]
            choice["logprobs"] = _added_logprobs(choice["logprobs"], item.get("logprobs"))
    common = (
        {key: value for key, value in chunks[0].items() if key not in ("choices", "usage", "object")} if chunks else {}
    )
    return common | {"choices": list(choices.values())} | ({"usage": usage} if usage else {})


def _add_delta(message: Doc, delta: Doc) -> None:
    for key in ("content", "reasoning_content", "refusal"):
        if isinstance(delta.get(key), str):
            message[key] = message.get(key, "") + delta[key]
    for call in delta.get("tool_calls", []):
        calls = message.setdefault("tool_calls", [])
        kind = "custom" if "custom" in call else "function"
        if call["index"] == len(calls):
            calls.append({"id": call["id"], "type": kind, kind: dict(call[kind])})
        else:
            calls[call["index"]][kind][TEXTS[kind]] += call[kind][TEXTS[kind]]
    for key, value in delta.get("function_call", {}).items():
        function = message.setdefault("function_call", {})
        function[key] = function.get(key, "") + value


def _added_logprobs(so_far: Any, more: Any) -> Any:
    if not isinstance(so_far, dict) or not isinstance(more, dict):
        return more if isinstance(more, dict) else so_far
    added = dict(so_far)
    for key, value in more.items():
        both = isinstance(value, list) and isinstance(added.get(key), list)
        added[key] = added[key] + value if both else value
    return added
