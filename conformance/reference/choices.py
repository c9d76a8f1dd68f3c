"""One choice of a stream: a member's deltas become the client's, and its reason becomes the API's, once.

Pure. The role comes first and once, text is text, calls are whole, and nothing follows the finish reason.
"""

from __future__ import annotations

from typing import Any

from conformance.reference.call import Call, Operation
from conformance.reference.failure import Kind, UpstreamFailed, own_failure
from conformance.reference.shape import finish_reason, hides_failure, logprobs_of, native_reason, split_content
from conformance.reference.steps import Step
from conformance.reference.toolcalls import ToolCallDeltas

Doc = dict[str, Any]
OUTPUT = ("content", "reasoning_content", "refusal", "tool_calls", "function_call", "text")


class ChoiceStream:
    """What one choice has come to. `output` is whether anything usable came, `reason` its finish reason, or None."""

    def __init__(self, call: Call) -> None:
        self.output = False
        self.reason: str | None = None
        self._call = call
        self._started = False
        self._calls = ToolCallDeltas()

    def feed(self, item: Doc) -> Doc | None:
        """Our choice, without its index, for one of the member's; None when nothing is left to say."""
        if self.reason is not None and self._call.does(Step.REASON_ONCE):
            return None
        chat = self._call.operation is Operation.CHAT
        part = self._delta(item) if chat else self._text(item)
        self.output = self.output or any(part.get("delta", part).get(key) for key in OUTPUT)
        self.reason = self._reason(item)
        if self.reason is None and part in ({"delta": {}}, {"text": ""}) and not item.get("logprobs"):
            return None
        logprobs = item.get("logprobs")
        logprobs = logprobs_of(logprobs) if chat and self._call.does(Step.LOGPROBS) else logprobs
        return {**part, "logprobs": logprobs, "finish_reason": self.reason, **native_reason(item, self._call)}

    def _delta(self, item: Doc) -> Doc:
        given: Doc = next((part for key in ("delta", "message") if isinstance(part := item.get(key), dict)), {})
        delta: Doc = {} if self._call.does(Step.KNOWN_MEMBERS) else dict(given)
        if not self._started and self._call.does(Step.ROLE):
            delta["role"] = "assistant"
        elif not self._call.does(Step.ROLE_ONCE) and given.get("role"):
            delta["role"] = given["role"]
        delta |= self._content(given) | self._called(given)
        if not self._started and "role" in delta and "tool_calls" not in delta:
            delta.setdefault("content", "")
        self._started = True
        return {"delta": delta}

    def _content(self, given: Doc) -> Doc:
        if not self._call.does(Step.CONTENT_STRING):
            return {key: given[key] for key in ("content", "reasoning_content", "refusal") if key in given}
        text, thoughts = split_content(given.get("content"))
        thoughts = next(
            (value for key in ("reasoning_content", "reasoning") if isinstance(value := given.get(key), str) and value),
            thoughts,
        )
        found = {"content": text, "reasoning_content": thoughts, "refusal": given.get("refusal")}
        said: Doc = {key: value for key, value in found.items() if isinstance(value, str) and value}
        cited, audio = given.get("annotations"), given.get("audio")
        said |= {"annotations": cited} if isinstance(cited, list) and cited else {}
        return said | ({"audio": audio} if isinstance(audio, dict) and audio else {})

    def _called(self, given: Doc) -> Doc:
        calls = given.get("tool_calls")
        calls = self._calls.feed(calls) if self._call.does(Step.TOOL_CALLS) else calls
        found: Doc = {"tool_calls": calls} if calls else {}
        function = given.get("function_call")
        if isinstance(function, dict) and (function.get("name") or function.get("arguments")):
            found["function_call"] = {key: value for key, value in function.items() if isinstance(value, str) and value}
        return found

    def _text(self, item: Doc) -> Doc:
        text = item.get("text")
        return {"text": text if isinstance(text, str) or not self._call.does(Step.CONTENT_STRING) else ""}

    def _reason(self, item: Doc) -> str | None:
        value = item.get("finish_reason")
        if value is None or value == "":
            return None
        if not self._call.does(Step.REASON_TABLE):
            return str(value)
        try:
            known = finish_reason(value)
            if hides_failure(item) and not self.output:
                raise UpstreamFailed(own_failure(Kind.EMPTY, "The upstream's answer ended with an error."))
        except UpstreamFailed:
            if self._call.does(Step.REFUSE_BAD_REASON):
                raise
            known = "stop"
        tools = known == "stop" and self._calls.any and self._call.does(Step.REASON_TOOL_CALLS)
        return "tool_calls" if tools else known
