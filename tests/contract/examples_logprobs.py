"""Examples of the clause on log probabilities that were asked for."""

from __future__ import annotations

from tests.contract.captures import ask, call, capture, chat, chunk, completion, opening, stream, wire, words
from tests.contract.example import Example, Examples

ASKED = ask(logprobs=True)
STREAM = ask(stream=True, logprobs=True)
LEGACY = ask("completions", logprobs=2)
TOKENS = {"content": [{"token": "Hello.", "logprob": -0.1, "bytes": None, "top_logprobs": []}], "refusal": None}
LISTS = {"tokens": ["Hello."], "token_logprobs": [-0.1], "top_logprobs": None, "text_offset": [0]}
GIVEN = wire(chat(choice={"logprobs": TOKENS}))
STREAMED = wire(stream(opening(), chunk("Hello.", choice={"logprobs": TOKENS}), chunk(reason="stop")))
CALLED = {"tool_calls": [call(None, id="call_1", name="f", arguments="{}")]}
TWO = [{**chat(choice={"logprobs": TOKENS})["choices"][0]}, {**chat()["choices"][0], "index": 1}]

EXAMPLES: Examples = {
    "logprobs.present": Example(
        (
            capture(ASKED, GIVEN),
            capture(ASKED, GIVEN, GIVEN),
            capture(STREAM, STREAMED),
            capture(LEGACY, wire(completion(choice={"logprobs": LISTS}))),
        ),
        (
            capture(ASKED, wire(chat())),
            capture(ASKED, wire(chat(choice={"logprobs": {}}))),
            capture(ASKED, wire(chat()), GIVEN),
            capture(STREAM, wire(stream(*words("Hello.")))),
            capture(LEGACY, wire(completion())),
            capture(ask(logprobs=True, n=2), wire({**chat(), "choices": TWO})),
        ),
    ),
}

#: What asks for none, or cannot be owed any.
FREE = (
    capture(ask(logprobs=False), wire(chat())),
    capture(ask("completions", logprobs=0), wire(completion())),
    capture(ASKED, wire(chat(None, "tool_calls", message=CALLED))),
    capture(ASKED, wire(chat(None, message={"refusal": "No."}))),
    capture(ASKED, wire(chat()), wire(chat())),
)
