"""The parts that JSON answers and chunks share, each brought into the API's shape: reason, content, usage, logprobs,
members.

Pure functions from a member's value to ours. What cannot be brought into shape without inventing an answer is a
failure.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import Any

from conformance.reference.call import Call
from conformance.reference.classify import from_error
from conformance.reference.failure import Kind, UpstreamFailed, own_failure
from conformance.reference.reason import reason_of
from conformance.reference.steps import Step

Doc = dict[str, Any]

REASONS = {
    "stop": "stop", "eos": "stop", "eos_token": "stop", "end_turn": "stop", "stop_sequence": "stop",
    "completed": "stop", "complete": "stop", "end": "stop", "done": "stop",
    "length": "length", "max_tokens": "length", "max_output_tokens": "length",
    "model_context_window_exceeded": "length", "model_length": "length", "function_calls": "tool_calls",
    "tool_calls": "tool_calls", "tool_call": "tool_calls", "tool_use": "tool_calls", "function_call": "function_call",
    "content_filter": "content_filter", "sensitive": "content_filter", "safety": "content_filter",
    "refusal": "content_filter", "recitation": "content_filter", "blocklist": "content_filter",
    "prohibited_content": "content_filter",
}  # fmt: skip
#: Native reasons that some members hide behind a clean `stop` with nothing in it.
FAILED_NATIVELY = frozenset({"network_error", "error", "upstream_error", "timeout", "malformed_function_call", "other"})
SERVICE_TIERS = frozenset({"auto", "default", "flex", "scale", "priority"})
MESSAGE_MEMBERS = frozenset(
    {"role", "content", "refusal", "tool_calls", "function_call", "annotations", "audio", "reasoning_content"}
)
USAGE_DETAILS = ("prompt_tokens_details", "completion_tokens_details")

_FINGERPRINT = re.compile(r"fp_[0-9a-f]{6,40}")


def finish_reason(value: Any) -> str:
    """The API's word for a member's finish reason. Raises UpstreamFailed for one that is no ending."""
    known = REASONS.get(value.lower()) if isinstance(value, str) else None
    if known is None:
        raise UpstreamFailed(own_failure(Kind.EMPTY, "The upstream's answer ended with an error."))
    return known


def hides_failure(choice: Mapping[str, Any]) -> bool:
    """Whether a choice says `stop` while its native reason tells of a failure."""
    native = choice.get("native_finish_reason")
    return isinstance(native, str) and native.lower() in FAILED_NATIVELY


def error_of(doc: Mapping[str, Any], call: Call) -> UpstreamFailed | None:
    """The failure that an `error` inside a successful document is, if there is one."""
    error = doc.get("error")
    if error is None and doc.get("type") == "error":
        error = doc
    if error is None and doc.get("object") == "error":
        error = doc
    if error is None and not call.does(Step.GO_ON_AFTER_WARNING):
        error = doc.get("warning")
    if error is None and call.does(Step.REFUSE_ERROR_IN_CHOICE):
        error = _error_in_choice(doc)
    return UpstreamFailed(from_error(reason_of(error), call.names)) if error else None


def _error_in_choice(doc: Mapping[str, Any]) -> Any:
    """The error that stands beside a choice, in its message or in its delta."""
    choices = doc.get("choices")
    for choice in choices if isinstance(choices, list) else []:
        parts = (choice, choice.get("message"), choice.get("delta")) if isinstance(choice, dict) else ()
        for part in parts:
            if isinstance(part, dict) and part.get("error"):
                return part["error"]
    return None


def native_reason(choice: Mapping[str, Any], call: Call) -> dict[str, Any]:
    """The member a provider gives its own reason in: nothing, by right."""
    shown = "native_finish_reason" in choice and not call.does(Step.HIDE_NATIVE_REASON)
    return {"native_finish_reason": choice["native_finish_reason"]} if shown else {}


def split_content(content: Any) -> tuple[str | None, str]:
    """A content of any shape as (text, reasoning); None where it is absent or null."""
    if content is None or isinstance(content, str):
        return content, ""
    parts = content if isinstance(content, list) else [content]
    text, thoughts = [], []
    for part in parts:
        if isinstance(part, str):
            text.append(part)
        elif isinstance(part, dict) and part.get("type") in ("thinking", "reasoning"):
            thoughts.append(_joined(part.get("thinking", part.get("text"))))
        elif isinstance(part, dict):
            text.append(_joined(part.get("text")))
    return "".join(text), "".join(thoughts)


def _joined(value: Any) -> str:
    text, _ = split_content(value)
    return text or ""


def usage_of(value: Any, counters: tuple[str, ...] = ("prompt_tokens", "completion_tokens")) -> Doc | None:
    """A usage object with the API's counters alone, as the member counted; None when one cannot be known.

    A total that is missing is the sum of `counters`; one other that is missing is what the total leaves.
    """
    if not isinstance(value, dict):
        return None
    given = _counters(value)
    missing = [key for key in counters if key not in given]
    rest = given.get("total_tokens", -1) - sum(given.get(key, 0) for key in counters)
    if missing and (rest < 0 or (len(missing) > 1 and rest > 0)):
        return None
    usage = {key: given.get(key, rest) for key in counters}
    usage["total_tokens"] = given.get("total_tokens", sum(usage.values()))
    for key in USAGE_DETAILS:
        if isinstance(value.get(key), dict) and (details := _counters(value[key])):
            usage[key] = details
    return usage


def _counters(value: Mapping[str, Any]) -> Doc:
    return {key: int(count) for key, count in value.items() if key.endswith("_tokens") and _is_count(count)}


def _is_count(value: Any) -> bool:
    if isinstance(value, float):
        return value.is_integer() and value >= 0
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def logprobs_of(value: Any) -> Any:
    """Chat log probabilities in the `content` form, also from the legacy one; None when there are none."""
    if not isinstance(value, dict):
        return None
    tokens, numbers = value.get("tokens"), value.get("token_logprobs")
    if "content" in value or not isinstance(tokens, list) or not isinstance(numbers, list):
        return value
    tops = value.get("top_logprobs")
    tops = tops if isinstance(tops, list) else []
    content = []
    for position, (token, number) in enumerate(zip(tokens, numbers, strict=False)):
        top = tops[position] if position < len(tops) and isinstance(tops[position], dict) else {}
        content.append(_logprob(token, number) | {"top_logprobs": [_logprob(*item) for item in top.items()]})
    return {"content": content, "refusal": None}


def _logprob(token: Any, number: Any) -> Doc:
    text = str(token)
    value = number if isinstance(number, (int, float)) else -9999.0
    return {"token": text, "logprob": value, "bytes": list(text.encode("utf-8", "surrogatepass"))}


def created_of(value: Any) -> int:
    """A creation time in whole seconds: the member's where it is a number, else now."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < 2**53
    return int(value) if number else int(time.time())


def common_members(doc: Mapping[str, Any]) -> Doc:
    """The optional members at the top of an answer that may be passed on."""
    tier, fingerprint = doc.get("service_tier"), doc.get("system_fingerprint")
    members: Doc = {}
    if isinstance(tier, str) and tier in SERVICE_TIERS:
        members["service_tier"] = tier
    if isinstance(fingerprint, str) and _FINGERPRINT.fullmatch(fingerprint):
        members["system_fingerprint"] = fingerprint
    return members
