"""Examples of the clauses on the chunks of a chat or legacy completion stream."""

from __future__ import annotations

from typing import Any

from tests.contract.captures import Capture, ask, capture, chunk, completion, opening, stream, usage_chunk, wire, words
from tests.contract.example import Example, Examples

STREAM = ask(stream=True)
TWO = ask(stream=True, n=2)
LEGACY = ask("completions", stream=True)
HELLO = words("Hello", ".")


def events(*items: Any, asked: Any = STREAM) -> Capture:
    """A stream of those chunks, then [DONE]."""
    return capture(asked, wire(stream(*items)))


def laid(**members: Any) -> Capture:
    """The Hello stream with members laid over each chunk."""
    return events(*({**item, **members} for item in HELLO))


def lacking(name: str) -> Capture:
    """The Hello stream without a member."""
    return events(*({key: value for key, value in item.items() if key != name} for item in HELLO))


def varying(name: str, first: Any, rest: Any) -> Capture:
    """The Hello stream in which a member changes after the first chunk."""
    return events({**HELLO[0], name: first}, *({**item, name: rest} for item in HELLO[1:]))


def first(**delta: Any) -> Capture:
    """The Hello stream with another first delta."""
    return events(chunk(delta=delta), *HELLO[1:])


def _legacy(text: str, reason: str | None = None) -> dict[str, Any]:
    return {name: value for name, value in completion(text, reason).items() if name != "usage"}


def _twins(second: int) -> Capture:
    items = [
        chunk(text, reason, choice={"index": index}, delta={"role": "assistant"})
        for text, reason in (("Hi", None), (None, "stop"))
        for index in (0, second)
    ]
    return events(*(items if second else [items[0], items[1], items[2]]), asked=TWO)


WHOLE = events(*HELLO)
LEGACY_WHOLE = events(_legacy("Hello"), _legacy("", "stop"), asked=LEGACY)
SCORES = {"content": [{"token": "Hello", "logprob": -0.1, "bytes": None, "top_logprobs": []}]}

EXAMPLES: Examples = {
    "chunk.service-tier": Example(
        (WHOLE, laid(service_tier="default"), laid(service_tier=None)),
        (laid(service_tier="standard"), laid(service_tier="on_demand"), laid(service_tier=["auto"])),
    ),
    "chunk.shape": Example(
        (
            WHOLE,
            LEGACY_WHOLE,
            laid(service_tier="default", system_fingerprint=None, extra={"a": 1}),
            events(opening(), chunk("Hello", choice={"logprobs": SCORES}), HELLO[-1]),
        ),
        (
            laid(system_fingerprint=7),
            events(opening(), chunk(choice={"delta": None}), HELLO[-1]),
            events(
                opening(),
                chunk("Hello", choice={"logprobs": {"tokens": ["Hello"], "token_logprobs": [-0.1]}}),
                HELLO[-1],
            ),
        ),
    ),
    "chunk.object": Example(
        (WHOLE, LEGACY_WHOLE),
        (laid(object="chat.completion"), lacking("object"), laid(object=""), events(*HELLO, asked=LEGACY)),
    ),
    "chunk.id": Example((WHOLE,), (laid(id=""), laid(id=None), laid(id=7), lacking("id"))),
    "chunk.id.stable": Example((WHOLE,), (varying("id", "a", "b"),)),
    "chunk.created": Example(
        (WHOLE, laid(created=0)),
        (
            laid(created=1.5),
            laid(created="1785402847"),
            laid(created=None),
            lacking("created"),
            laid(created=True),
            laid(created=1785402847123),
        ),
    ),
    "chunk.created.stable": Example((WHOLE,), (varying("created", 1785402847, 1785402848),)),
    "chunk.model": Example((WHOLE,), (laid(model=""), laid(model=None), lacking("model"))),
    "chunk.model.stable": Example((WHOLE,), (varying("model", "a", "b"),)),
    "chunk.choices": Example(
        (WHOLE, events(*HELLO, usage_chunk())),
        (lacking("choices"), laid(choices=None), laid(choices=[None]), laid(choices={})),
    ),
    "chunk.choice.index": Example(
        (WHOLE, _twins(1)),
        (
            events(chunk("Hi", "stop", choice={"index": 1})),
            events(chunk("Hi", "stop", choice={"index": None})),
            events(chunk("Hi", "stop", choice={"index": -1})),
        ),
    ),
    "chunk.choice.count": Example(
        (WHOLE, _twins(1)), (_twins(0), events(*HELLO, asked=TWO), events(*HELLO, asked=ask(stream=True, n=10**12)))
    ),
    "chunk.finish-reason.enum": Example(
        (
            WHOLE,
            *(
                events(*words("Hi", reason=reason))
                for reason in ("length", "tool_calls", "content_filter", "function_call")
            ),
        ),
        tuple(
            events(*words("Hi", reason=reason))
            for reason in ("", "eos", "STOP", "error", "network_error", 1, True, ["stop"])
        ),
    ),
    "chunk.role.valid": Example(
        (WHOLE, first(content="Hi"), events(*(chunk("Hi", delta={"role": "assistant"}) for _ in "ab"), HELLO[-1])),
        (first(role=""), first(role=None), first(role="model"), first(role="user")),
    ),
    "chunk.role.first": Example((WHOLE, first(role="assistant", content="Hi")), (first(content="Hi"),)),
    "chunk.delta.content-type": Example(
        (WHOLE, first(role="assistant", content=None)),
        (
            first(role="assistant", content=[]),
            first(role="assistant", content={"text": "Hi"}),
            first(role="assistant", content=7),
        ),
    ),
    "chunk.delta.not-null": Example(
        (WHOLE, first(role="assistant", tool_calls=[]), first(role="assistant", function_call=None)),
        (first(role="assistant", tool_calls=None), first(role="assistant", function_call="f")),
    ),
}
