"""Examples of the clauses on the bounds that a request sets to its answer."""

from __future__ import annotations

from typing import Any

from tests.contract.captures import Ask, Capture, Try, ask, capture, chat, completion, stream, wire, words
from tests.contract.example import Example, Examples
from tests.contract.responding import response

STOPPED = ask(stop=["END", "\n\n"])
ONE = ask(stop="END")
ECHO = ask("completions", prompt="Once cf-q8w3zd upon", echo=True)
TWO = ask("completions", prompt=["a cf-q8w3zd", "b"], echo=True)


def said(asked: Ask, text: str, upstream: Any = None, **more: Any) -> Capture:
    """A chat completion that says `text`."""
    return capture(asked, wire(chat(text, **more)), upstream)


def spent(asked: Ask, tokens: int, upstream: Any = None) -> Capture:
    """A chat completion that tells so many tokens."""
    return capture(asked, wire(chat(usage=_usage(tokens))), upstream)


def _usage(tokens: int) -> dict[str, int]:
    return {"prompt_tokens": 9, "completion_tokens": tokens, "total_tokens": 9 + tokens}


def echoed(asked: Ask, *texts: str, upstream: Any = None) -> Capture:
    """A legacy completion of those texts."""
    one = completion()["choices"][0]
    choices = [{**one, "text": text, "index": number} for number, text in enumerate(texts)]
    return capture(asked, wire(completion(choices=choices)), upstream)


MEMBER = Try(wire(chat("Hello END")), request=STOPPED.with_(model="up-model"))
UNASKED = Try(wire(chat("Hello END")), request=ask(model="up-model"))
SPENDER = Try(wire(chat(usage=_usage(90))), request=ask(model="up-model", max_tokens=20))

EXAMPLES: Examples = {
    "bounds.stop.left-out": Example(
        (
            said(STOPPED, "Hello."),
            said(STOPPED, "Hello END", MEMBER),
            said(ONE, "the end"),
            capture(ask("completions", stop="END"), wire(completion())),
            # As the API itself answered in 2023: "..." is one token, and not the stop text.
            capture(ask("completions", stop="."), wire(completion("Well ... A page"))),
        ),
        (
            capture(ask("completions", stop="."), wire(completion("Well. A page"))),
            said(STOPPED, "Hello END"),
            said(ONE, "Hello END of it", UNASKED),
            capture(ask(stream=True, stop="END"), wire(stream(*words("Hello E", "ND.")))),
            capture(ask("completions", stop="END"), wire(completion("x END"))),
        ),
    ),
    "bounds.cap.kept": Example(
        (
            spent(ask(max_tokens=20), 20),
            spent(ask(max_completion_tokens=20, max_tokens=1), 21),
            spent(ask(max_tokens=20, n=2), 40),
            spent(ask(max_tokens=20), 90, SPENDER),
        ),
        (
            spent(ask(max_tokens=20), 90),
            spent(ask(max_tokens=20), 90, Try(wire(chat(usage=_usage(90))), request=ask(model="up-model"))),
            capture(
                ask("responses", max_output_tokens=16),
                wire(response(usage={"input_tokens": 9, "output_tokens": 900, "total_tokens": 909})),
            ),
        ),
    ),
    "bounds.echo.first": Example(
        (
            echoed(ECHO, "Once cf-q8w3zd upon a time"),
            echoed(TWO, "a cf-q8w3zd 1", "b 2"),
            echoed(ECHO, " a time", upstream=Try(wire(completion(" a time")), request=ECHO.with_(model="up-model"))),
        ),
        (
            echoed(ECHO, " a time"),
            echoed(TWO, "b 1", "a cf-q8w3zd 2"),
            echoed(
                ECHO,
                " a time",
                upstream=Try(wire(completion(" a time")), request=ECHO.with_(model="up-model", echo=None)),
            ),
        ),
    ),
}
