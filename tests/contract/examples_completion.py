"""Examples of the clauses on legacy completions."""

from __future__ import annotations

from typing import Any

from tests.contract.captures import Capture, ask, capture, chat, completion, wire
from tests.contract.example import Example, Examples

LEGACY = ask("completions")
TWO = ask("completions", n=2)
BATCH = ask("completions", prompt=["a", "b"])


def said(text: Any = "Hello.", reason: Any = "stop", asked: Any = LEGACY, **more: Any) -> Capture:
    """A legacy completion."""
    return capture(asked, wire(completion(text, reason, **more)))


def twice(asked: Any) -> Capture:
    """A legacy completion of two choices."""
    one = completion()["choices"][0]
    return said(asked=asked, choices=[one, {**one, "index": 1}])


SAID = said()
EXAMPLES: Examples = {
    "completion.shape": Example(
        (SAID, said(system_fingerprint="fp")),
        (
            said(id=""),
            said(created="now"),
            said(choice={"index": "0"}),
            said(choice={"logprobs": {"tokens": [7]}}),
            said(model=None),
        ),
    ),
    "completion.object": Example((SAID,), (said(object="chat.completion"), said(object=None))),
    "completion.choices": Example(
        (SAID, twice(TWO), twice(BATCH)),
        (twice(LEGACY), said(asked=TWO), said(asked=BATCH), said(choices=[]), said(choices=None)),
    ),
    "completion.text": Example((SAID, said("")), (said(None), said(7), capture(LEGACY, wire(chat())))),
    "completion.finish-reason": Example(
        (SAID, said("Hi", "length")), (said("Hi", None), said("Hi", "eos"), said("Hi", ""), said("Hi", "tool_calls"))
    ),
}
