"""Log probabilities: whoever asks for them gets them, of the text, each with its alternatives (their form is judged with
the reply's)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.clauses.inherited import own
from conformance.contract.evidence import at_end, show
from conformance.contract.when import good_stream, json_of, serving, the_reply
from conformance.exchange.answer import Choice
from conformance.exchange.members import list_in, object_in, text_in
from conformance.exchange.model import Endpoint, Exchange, Reply

#: What a sum of small numbers may be off by.
_ROUNDING = 0.01
_json = json_of(Endpoint.CHAT, Endpoint.COMPLETIONS)


def _given(reply: Reply) -> set[int]:
    """The indexes of the choices for which a reply has log probabilities, in whatever form."""
    found: set[int] = set()
    for doc in [event.doc for event in reply.events] or [reply.doc]:
        choices = doc.get("choices") if doc is not None else None
        for position, choice in enumerate(choices if isinstance(choices, list) else []):
            if isinstance(choice, dict) and choice.get("logprobs"):
                index = choice.get("index")
                found.add(index if isinstance(index, int) else position)
    return found


def _asked(x: Exchange) -> bool:
    asked = x.request.get("logprobs")
    if x.request.endpoint is Endpoint.CHAT:
        return asked is True
    return isinstance(asked, int) and not isinstance(asked, bool) and asked > 0


def _spoken(x: Exchange) -> list[Choice]:
    """The finished choices that hold text: a tool call or a refusal need have none."""
    return [choice for choice in the_reply(x).answer.choices if choice.text.strip() and choice.finished]


def _owed(x: Exchange) -> bool:
    attempt = serving(x)
    # What the member did not give, a gateway cannot make up.
    kept_back = attempt is not None and (attempt.reply is None or not _given(attempt.reply))
    return _asked(x) and not kept_back and (_json(x) or good_stream(x)) and bool(_spoken(x))


@clause(
    id="logprobs.present",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="Log probabilities that were asked for come with the text",
    rationale="Whoever asks for them computes with them; an endpoint that has none refuses the parameter instead of ignoring it.",
    source="openai-api/chat-create",
    applies=_owed,
)
def present(x: Exchange) -> Iterator[Finding]:
    given = _given(the_reply(x))
    for choice in _spoken(x):
        if choice.index not in given:
            yield at_end(the_reply(x), f"logprobs of choice {choice.index}", f"none beside {show(choice.text, 60)}")


def _tokens(x: Exchange) -> dict[int, list[dict[str, Any]]]:
    """The tokens of the content that a chat reply gives log probabilities of, by choice."""
    found: dict[int, list[dict[str, Any]]] = {}
    for doc in [event.doc for event in the_reply(x).events] or [the_reply(x).doc]:
        for position, choice in enumerate(list_in(doc.value if doc is not None else None, "choices")):
            logprobs = object_in(choice, "logprobs")
            index = choice.get("index") if isinstance(choice, dict) else None
            if isinstance(logprobs.get("content"), list):
                place = index if isinstance(index, int) else position
                tokens = [token for token in logprobs["content"] if isinstance(token, dict)]
                found.setdefault(place, []).extend(tokens)
    return found


def _given_for_chat(x: Exchange) -> bool:
    """Whether a chat completion gives log probabilities that were asked for."""
    return x.request.endpoint is Endpoint.CHAT and _asked(x) and (_json(x) or good_stream(x)) and bool(_tokens(x))


def _spelled(tokens: list[dict[str, Any]]) -> list[str]:
    """The text of some tokens, by their names and by their bytes: a character may be of several."""
    spelled = bytearray()
    for token in tokens:
        own_bytes = list_in(token, "bytes")
        spelled += bytes(one for one in own_bytes if type(one) is int and 0 <= one < 256)
    return ["".join(text_in(token, "token") for token in tokens), spelled.decode("utf-8", "replace")]


@clause(
    id="logprobs.text",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="The log probabilities are of the whole text",
    rationale="Whoever scores a text adds up its tokens. Servers differ in what they strip from the ends of it: a SHOULD.",
    source="openai-api/chat-object",
    applies=lambda x: _given_for_chat(x) and bool(_spoken(x)),
)
@own
def of_the_text(x: Exchange) -> Iterator[Finding]:
    tokens = _tokens(x)
    for choice in _spoken(x):
        spelled = _spelled(tokens[choice.index]) if choice.index in tokens else []
        if spelled and not any(choice.text.strip() in text for text in spelled):
            yield at_end(the_reply(x), f"tokens of {show(choice.text, 60)}", show(spelled[0], 60))


def _alternatives(x: Exchange) -> int:
    """How many alternatives of each token are asked for."""
    asked = x.request.get("top_logprobs")
    return asked if isinstance(asked, int) and not isinstance(asked, bool) else 0


@clause(
    id="logprobs.top",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="Alternatives that were asked for come with the tokens",
    rationale="A classifier compares them. The API may give fewer than were asked for; none for any token is none of them: a SHOULD.",
    source="openai-api/chat-create",
    applies=lambda x: _given_for_chat(x) and _alternatives(x) > 0 and any(_tokens(x).values()),
)
@own
def top(x: Exchange) -> Iterator[Finding]:
    tokens = [token for choice in _tokens(x).values() for token in choice]
    if not any(token.get("top_logprobs") for token in tokens):
        yield at_end(the_reply(x), f"up to {_alternatives(x)} alternatives of each token", "none of any token")


@clause(
    id="logprobs.negative",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A log probability is not above zero",
    rationale="It is the logarithm of a probability: a positive one is a probability, or a score, and every sum of them is wrong.",
    source="openai-api/chat-object",
    applies=_given_for_chat,
)
@own
def negative(x: Exchange) -> Iterator[Finding]:
    for choice in _tokens(x).values():
        for token in choice:
            number = token.get("logprob")
            if isinstance(number, int | float) and not isinstance(number, bool) and number > _ROUNDING:
                yield at_end(the_reply(x), "a log probability of at most 0", show(number))
                break
