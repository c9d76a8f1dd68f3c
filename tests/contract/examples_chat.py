"""Examples of the clauses on chat completions that are not streamed."""

from __future__ import annotations

from typing import Any

from tests.contract.captures import Capture, ask, call, capture, chat, wire
from tests.contract.example import Example, Examples

CHAT = ask()
TWO = ask(n=2)
CALL = call(None, id="call_1", name="read", arguments="{}")


def said(content: Any = "Hello.", reason: Any = "stop", asked: Any = CHAT, **more: Any) -> Capture:
    """A chat completion."""
    return capture(asked, wire(chat(content, reason, **more)))


def lacking(name: str) -> Capture:
    """A chat completion without a member."""
    return capture(CHAT, wire({key: value for key, value in chat().items() if key != name}))


def choices(*items: Any, asked: Any = CHAT) -> Capture:
    """A chat completion of those choices."""
    return said(asked=asked, choices=list(items))


def choice(index: Any = 0, **message: Any) -> dict[str, Any]:
    """One choice, with those members of the message and no others."""
    return {"index": index, "message": message or {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}


SAID = said()
CALLED = said(None, "tool_calls", message={"tool_calls": [CALL]})
SCORES = {"content": [{"token": "Hello", "logprob": -0.1, "bytes": [72], "top_logprobs": []}], "refusal": None}
LEGACY_SCORES = {"text_offset": [0], "token_logprobs": [-0.1], "tokens": ["Hello"], "top_logprobs": None}

EXAMPLES: Examples = {
    "chat.shape": Example(
        (
            SAID,
            CALLED,
            said(service_tier="flex", system_fingerprint="fp", citations=["x"]),
            said(message={"annotations": [], "reasoning_content": "Hm"}),
        ),
        (
            said(system_fingerprint=7),
            said(system_fingerprint=7, service_tier="standard"),
            said(choices=["Hello"]),
            said(choice={"message": "Hello"}),
            said(message={"refusal": False}),
        ),
    ),
    "chat.service-tier": Example(
        (SAID, said(service_tier="flex"), said(service_tier=None)),
        (said(service_tier="standard"), said(service_tier="on_demand"), said(service_tier=7)),
    ),
    "chat.object": Example((SAID,), (said(object="chat.completion.chunk"), lacking("object"), said(object=""))),
    "chat.id": Example((SAID,), (said(id=""), said(id=None), said(id=7), lacking("id"))),
    "chat.created": Example(
        (SAID,),
        (said(created=1.5), said(created="now"), said(created=1785402847123), said(created=None), lacking("created")),
    ),
    "chat.model": Example((SAID,), (said(model=""), said(model=None), lacking("model"))),
    "chat.choices.present": Example((SAID,), (said(choices=[]), said(choices=None), lacking("choices"))),
    "chat.choices.index": Example(
        (SAID, choices(choice(0), choice(1), asked=TWO), choices(choice(1), choice(0), asked=TWO)),
        (choices(choice(1)), choices(choice(None)), choices(choice(0), choice(0), asked=TWO), choices(choice("0"))),
    ),
    "chat.choices.count": Example(
        (SAID, choices(choice(0), choice(1), asked=TWO)), (choices(choice(0), choice(1)), said(asked=TWO))
    ),
    "chat.message.role": Example(
        (SAID,), (said(message={"role": ""}), said(message={"role": "model"}), choices(choice(content="Hi")))
    ),
    "chat.message.content-present": Example(
        (SAID, CALLED, said(None)),
        (choices(choice(role="assistant")), choices(choice(role="assistant", tool_calls=[CALL]))),
    ),
    "chat.message.content-string": Example(
        (
            SAID,
            CALLED,
            said(""),
            said(None, message={"refusal": "No."}),
            said(None, message={"audio": {"id": "a"}}),
            said(None, "function_call", message={"function_call": {"name": "f", "arguments": "{}"}}),
        ),
        (
            said(None),
            said(None, "length"),
            said([{"type": "text", "text": "Hi"}]),
            said({"text": "Hi"}),
            said(7),
            said(None, message={"tool_calls": []}),
        ),
    ),
    "chat.message.answer-in-content": Example(
        (SAID, CALLED, said("", "length", message={"reasoning_content": "Hm"}), said(message={"reasoning": "Hm"})),
        (said("", message={"reasoning_content": "42"}), said("", message={"reasoning": "42"})),
    ),
    "chat.message.optional-not-null": Example(
        (SAID, CALLED, said(message={"function_call": None})), (said(message={"tool_calls": None}),)
    ),
    "chat.finish-reason.enum": Example(
        (SAID, CALLED, said("Hi", "length"), said("", "content_filter")),
        tuple(said("Hi", reason) for reason in (None, "", "eos", "STOP", "MAX_TOKENS", "error", 1, ["stop"])),
    ),
    "chat.logprobs.shape": Example(
        (said(choice={"logprobs": SCORES}),),
        (said(choice={"logprobs": LEGACY_SCORES}), said(choice={"logprobs": {"content": [{"token": 7}]}})),
    ),
}
