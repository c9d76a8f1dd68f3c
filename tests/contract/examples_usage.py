"""Examples of the clauses on usage."""

from __future__ import annotations

from typing import Any

from tests.contract.captures import (
    USAGE,
    Capture,
    ask,
    capture,
    chat,
    chunk,
    embeddings,
    stream,
    usage_chunk,
    wire,
    words,
)
from tests.contract.example import Example, Examples
from tests.contract.responding import response, said, told

STREAM = ask(stream=True)
METERED = ask(stream=True, stream_options={"include_usage": True})
HELLO = words("Hello", ".")


def events(*items: Any, asked: Any = METERED, upstream: Any = None) -> Capture:
    """A stream of those chunks, then [DONE]."""
    return capture(asked, wire(stream(*items)), upstream)


def used(usage: Any, asked: Any = None) -> Capture:
    """A chat completion with that usage."""
    return capture(asked or ask(), wire({**chat(), "usage": usage}))


def numbers(prompt: Any, completion: Any, total: Any) -> dict[str, Any]:
    """A usage object."""
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": total}


def embedded(usage: Any) -> Capture:
    """An embeddings reply with that usage."""
    return capture(ask("embeddings"), wire(embeddings([0.5], usage=usage)))


METERED_WHOLE = events(*HELLO, usage_chunk())
NULLED = events(*({**item, "usage": None} for item in HELLO), usage_chunk())
IN_THE_LAST = events(*HELLO[:-1], {**HELLO[-1], "usage": dict(USAGE)})
ON_EACH = events(*({**item, "usage": numbers(9, count, 9 + count)} for count, item in enumerate(HELLO)), asked=STREAM)
SYNTHETIC = events(*HELLO, {**chunk(), "usage": dict(USAGE)})

ABOVE = {**USAGE, "prompt_tokens_details": {"cached_tokens": 2000}}
COUNTED = {"input_tokens": 9, "output_tokens": 2, "total_tokens": 50}

EXAMPLES: Examples = {
    "usage.stream.present": Example((METERED_WHOLE, NULLED), (events(*HELLO),)),
    "usage.stream.own-chunk": Example((METERED_WHOLE, NULLED), (IN_THE_LAST, SYNTHETIC)),
    "usage.stream.last": Example(
        (METERED_WHOLE, NULLED),
        (events(HELLO[0], usage_chunk(), *HELLO[1:]), events(*HELLO, usage_chunk(), {**chunk(), "choices": []})),
    ),
    "usage.stream.once": Example(
        (METERED_WHOLE, NULLED, events(*HELLO, asked=STREAM)), (ON_EACH, events(*HELLO, usage_chunk(), usage_chunk()))
    ),
    "usage.stream.unrequested": Example(
        (events(*HELLO, asked=STREAM), events(*HELLO[:-1], {**HELLO[-1], "usage": dict(USAGE)}, asked=STREAM)),
        (events(*HELLO, usage_chunk(), asked=STREAM),),
    ),
    "usage.counters": Example(
        (
            used(USAGE),
            METERED_WHOLE,
            embedded({"prompt_tokens": 4, "total_tokens": 4}),
            used({**USAGE, "prompt_tokens_details": {"cached_tokens": 0}}),
            used({**USAGE, "prompt_tokens_details": None, "completion_tokens_details": {"reasoning_tokens": None}}),
        ),
        (
            used({**USAGE, "prompt_tokens_details": {"cached_tokens": "3"}}),
            used({**USAGE, "completion_tokens_details": {"reasoning_tokens": 1.5}}),
            used(numbers(None, None, 0)),
            used(numbers("9", 2, 11)),
            used(numbers(9.5, 2, 11.5)),
            used(numbers(-1, 2, 1)),
            used({"input_tokens": 9}),
            used([]),
            embedded({"prompt_tokens": None, "total_tokens": 4}),
        ),
    ),
    "usage.parts": Example(
        (
            used({**USAGE, "prompt_tokens_details": {"cached_tokens": 9}}),
            events(*HELLO, usage_chunk({**USAGE, "completion_tokens_details": {"reasoning_tokens": 0}})),
            capture(ask(), wire(chat(usage=ABOVE)), wire(chat(usage=ABOVE))),
        ),
        (
            used(ABOVE),
            used({**numbers(21, 0, 21), "completion_tokens_details": {"reasoning_tokens": 60}}),
            events(*HELLO, usage_chunk(ABOVE)),
            capture(
                ask("responses"),
                wire(response(usage={**COUNTED, "total_tokens": 11, "input_tokens_details": {"cached_tokens": 10}})),
            ),
        ),
    ),
    "usage.total": Example(
        (
            used(USAGE),
            METERED_WHOLE,
            embedded({"prompt_tokens": 4, "total_tokens": 4}),
            capture(ask("responses"), wire(response())),
            capture(ask("responses", stream=True), wire(stream(*said("Hi"), done=False))),
        ),
        (
            used(numbers(9, 2, 0)),
            used(numbers(9, 2, 9)),
            events(*HELLO, usage_chunk(numbers(9, 2, 12))),
            capture(ask("responses"), wire(response(usage=COUNTED))),
            capture(
                ask("responses", stream=True), wire(stream(*said("Hi")[:-1], *told("Hi", usage=COUNTED), done=False))
            ),
        ),
    ),
}
