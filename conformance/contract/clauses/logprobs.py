"""Log probabilities: whoever asks for them gets them (their form is judged with the reply's)."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.evidence import at_end, show
from conformance.contract.when import good_stream, json_of, serving, the_reply
from conformance.exchange.answer import Choice
from conformance.exchange.model import Endpoint, Exchange, Reply

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
