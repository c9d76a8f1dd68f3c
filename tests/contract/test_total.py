"""The judge is total: whatever bytes and values a capture holds, no clause ends in an exception of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.capture import exchanges
from conformance.cassette.model import Cassette, Envelope, EnvelopeEnd, Frame, Interaction
from conformance.contract.catalog import CATALOG
from conformance.contract.clause import Outcome, Scope
from conformance.contract.judge import judge_sequence
from conformance.exchange.sequence import Sequence, Turn
from tests.contract import reports_providers
from tests.contract.adversarial_asked import ANSWERED, BOUNDED, TRANSLATED
from tests.contract.adversarial_relayed import PUT_RIGHT
from tests.contract.adversarial_tools import CHOSEN
from tests.contract.captures import (
    Ask,
    Capture,
    Try,
    ask,
    capture,
    cassettes,
    chat,
    chunk,
    completion,
    embeddings,
    error,
    opening,
    stream,
    verdicts,
    wire,
    words,
)
from tests.contract.report import right_trials, wrong_trials
from tests.contract.reports_asked_answers import HELD
from tests.contract.reports_asked_errors import ASKED_ERRORS
from tests.contract.reports_asked_tools import ASKED_FOR
from tests.contract.reports_forwarded import FORWARDED
from tests.contract.reports_further import FURTHER
from tests.contract.reports_further_legs import LEGS
from tests.contract.reports_further_right import PASSING
from tests.contract.reports_further_usage import USED
from tests.contract.reports_gateways import GATEWAYS
from tests.contract.reports_relayed_e import RELAYED_DOWN
from tests.contract.reports_relayed_f import RELAYED
from tests.contract.sequences import PROMISES, WINDOWS
from tests.contract.situation import cases, wrong_capture

WRONG, RIGHT = cases(
    (*GATEWAYS, *FURTHER, *LEGS, *USED, *PASSING, *HELD, *ASKED_FOR, *ASKED_ERRORS, *FORWARDED, *RELAYED, *RELAYED_DOWN)
)
SEEDS = [
    *(trial.capture for trial in (*wrong_trials(reports_providers.REPORTS), *right_trials(reports_providers.REPORTS))),
    *(wrong_capture(item) for _, item in WRONG),
    *(item for _, item in RIGHT),
    *(one for table in (ANSWERED, BOUNDED, TRANSLATED, CHOSEN, PUT_RIGHT) for one in table.values()),
]
#: Parameters that clauses read of a request.
PARAMETERS = (
    *("stop", "max_tokens", "n", "tools", "tool_choice", "messages", "input", "prompt", "echo", "logprobs"),
    *("response_format", "text", "functions", "function_call", "parallel_tool_calls"),
)
NAMES = (
    "choices",
    "delta",
    "message",
    "tool_calls",
    "function",
    "index",
    "id",
    "usage",
    "error",
    "data",
    "output",
    "item",
    "type",
    "code",
)
CAPABILITIES = frozenset({"failover", "retries", "provider-blind", "idle-timeout", "first-token-timeout", "streaming"})

leaves = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from([10**30, 1e308, -0.5]), st.text(max_size=6),
    st.sampled_from(["stop", "tool_calls", "assistant", "[DONE]", "\ud800", "length", "response.completed", "error"]),
)  # fmt: skip
values = st.recursive(
    leaves,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)),
    max_leaves=6,
)
bounded = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def faulty(item: Capture) -> dict[str, str]:
    """The clauses that ended in an exception, and where."""
    return {name: one.reason for name, one in verdicts(item).items() if one.outcome is Outcome.FAULTY}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value inside `value`, its own first."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield from places(item, (*path, key))


def put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """The value with another one at `path`."""
    if not path:
        return new
    if isinstance(value, dict):
        return {**value, path[0]: put(value.get(path[0]), path[1:], new)}
    return [put(item, path[1:], new) if at == path[0] else item for at, item in enumerate(value)]


def enveloped(plain: Envelope, body: bytes, end: EnvelopeEnd | None = None) -> Envelope:
    """The envelope with another body, its length told anew."""
    head = tuple(f"Content-Length: {len(body)}" if line.startswith("Content-Length") else line for line in plain.head)
    return replace(plain, head=head, body=body, frames=(Frame(0.0, len(body)),) if body else (), end=end or plain.end)


@st.composite
def spoilt_value(draw: st.DrawFn, plain: Envelope) -> Envelope:
    """The envelope with one value of one of its JSON texts replaced."""
    pieces = plain.body.split(b"\n")
    readable = []
    for number, piece in enumerate(pieces):
        try:
            readable.append((number, json.loads(piece.removeprefix(b"data: "))))
        except ValueError:
            continue
    if not readable:
        return plain
    number, value = draw(st.sampled_from(readable))
    path = draw(st.sampled_from(list(islice(places(value), 200))))
    text = json.dumps(put(value, path, draw(values))).encode()
    pieces[number] = (b"data: " if pieces[number].startswith(b"data: ") else b"") + text
    return enveloped(plain, b"\n".join(pieces))


@st.composite
def spoilt_bytes(draw: st.DrawFn, plain: Envelope) -> Envelope:
    """The envelope with a few bytes of its body, a line of its head or its end changed."""
    body = bytearray(plain.body)
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(body)))
        body[at : at + draw(st.integers(0, 40))] = draw(st.binary(max_size=12))
    head = list(plain.head)
    if head and draw(st.booleans()):
        at = draw(st.integers(0, len(head) - 1))
        head[at] = draw(
            st.sampled_from(["HTTP/1.1 000", "HTTP/1.1 999 X", "nothing", "Content-Length: -1", "Transfer-Encoding: x"])
        )
    end = draw(st.sampled_from(list(EnvelopeEnd)))
    return replace(enveloped(plain, bytes(body), end), head=tuple(head))


def _legs(item: Capture) -> tuple[Try, ...]:
    return item.attempts if item.attempts is not None else (Try(item.reply),)


@st.composite
def spoilt_ask(draw: st.DrawFn, plain: Ask) -> Ask:
    """The request with one value replaced, or a parameter set."""
    if not isinstance(plain.value, dict) or not draw(st.booleans()):
        return plain
    paths = st.sampled_from(list(places(plain.value)))
    path = draw(st.one_of(paths, st.sampled_from(PARAMETERS).map(lambda name: (name,))))
    return replace(plain, value=json.dumps(put(plain.value, path, draw(values))).encode())


@bounded
@given(st.data())
def test_a_value_of_any_type_anywhere_is_judged(data: st.DataObject) -> None:
    """Any JSON value in any place of either leg, or of a request on it, gives verdicts."""
    item = data.draw(st.sampled_from(SEEDS))
    asked = data.draw(spoilt_ask(item.request))
    reply = data.draw(spoilt_value(item.reply))
    first, rest = (_legs(item) or (Try(item.reply),))[0], _legs(item)[1:]
    sent = data.draw(spoilt_ask(first.request)) if first.request is not None else None
    upstream = (replace(first, envelope=data.draw(spoilt_value(first.envelope)), request=sent), *rest)
    assert faulty(capture(asked, reply, data.draw(st.sampled_from([None, upstream])), *CAPABILITIES)) == {}


@bounded
@given(st.data())
def test_any_bytes_are_judged(data: st.DataObject) -> None:
    """Any bytes on either leg, however they end, give verdicts."""
    item = data.draw(st.sampled_from(SEEDS))
    reply = data.draw(spoilt_bytes(item.reply))
    first = (_legs(item) or (Try(item.reply),))[0]
    upstream = (replace(first, envelope=data.draw(spoilt_bytes(first.envelope))),)
    assert faulty(capture(item.request, reply, data.draw(st.sampled_from([None, upstream])), *CAPABILITIES)) == {}


SEQUENCES = [item for item in CATALOG.values() if item.scope is Scope.SEQUENCE]
SENT = (*PARAMETERS, "user", "metadata", "api_key", "model")


@bounded
@given(st.data())
def test_a_sequence_of_any_values_is_judged(data: st.DataObject) -> None:
    """Requests with any value anywhere, shared out by what they ask for and were answered, give verdicts."""
    item = data.draw(
        st.sampled_from([seed for seed in SEEDS if seed.attempts and isinstance(seed.request.value, dict)])
    )
    legs: list[tuple[Interaction, ...]] = [(), ()]
    for _ in range(3):
        asked = item.request
        if data.draw(st.booleans()):
            name = data.draw(st.sampled_from(SENT))
            asked = replace(asked, value=json.dumps({**asked.value, name: data.draw(values)}).encode())
        upstream = (replace(item.attempts[0], request=data.draw(st.sampled_from([asked, item.attempts[0].request]))),)
        reply = data.draw(spoilt_value(item.reply))
        client, up = cassettes(capture(asked, reply, data.draw(st.sampled_from([upstream, ()]))))
        legs[0] += client.interactions
        legs[1] += up.interactions if up is not None else ()
    seen = exchanges(Cassette(name="c", interactions=legs[0]), Cassette(name="u", interactions=legs[1]), PROMISES)
    turns = tuple(Turn(exchange=one, began=100.0 * number, step=number + 1) for number, one in enumerate(seen))
    told = Sequence(name="any", turns=turns, windows=WINDOWS, capabilities=PROMISES)
    assert [one for one in judge_sequence(told, SEQUENCES) if one.outcome is Outcome.FAULTY] == []


def test_numbers_without_a_text_tell_no_request_from_another() -> None:
    """An input, or a prompt, that holds a number of five thousand digits is as good as none."""
    for endpoint, value in (("embeddings", b'{"input":[' + HUGE + b"]}"), ("completions", b'{"prompt":' + HUGE + b"}")):
        asked = Ask(endpoint, value)
        legs = cassettes(capture(asked, wire(chat()), Try(wire(chat()), request=asked)))
        client, up = (replace(leg, interactions=leg.interactions * 2) for leg in legs if leg is not None)
        turns = tuple(Turn(exchange=one, began=0.0, step=1) for one in exchanges(client, up, PROMISES))
        told = Sequence(name="any", turns=turns, windows=WINDOWS, capabilities=PROMISES)
        assert [one for one in judge_sequence(told, SEQUENCES) if one.outcome is Outcome.FAULTY] == []
        assert faulty(capture(asked, wire(chat()), Try(wire(chat()), request=asked), "cache")) == {}


HUGE = b"9" * 5000
SPOILT = {
    "a stop text that is a number": capture(
        ask(stop=5), wire(chat()), Try(wire(chat()), request=Ask("messages", {"messages": [], "stop_sequences": True}))
    ),
    "a part whose type is a list": capture(
        ask(messages=[{"role": "user", "content": [{"type": ["x"]}]}]), wire(chat()), Try(wire(chat()), request=ask())
    ),
    "choices that are numbers": capture(
        ask(), wire({**chat(), "choices": [7]}), wire({**chat(), "choices": [7, None]})
    ),
    "half a pair in a broken chunk": capture(
        ask(stream=True),
        wire(stream(*words("Hi"))),
        wire(stream(opening(), b'data: {"choices":[{"delta":{"content":"\\ud800x"}\n\n', chunk(reason="stop"))),
    ),
    "an index below zero": capture(
        ask("completions", prompt=["a", "b"], echo=True), wire(completion("c", choice={"index": -9}))
    ),
    "a count of five thousand digits": capture(
        ask("responses"),
        wire(b'{"usage":{"input_tokens":1,"output_tokens":' + HUGE + b'},"status":"completed","output":[]}'),
        Try(wire(b'{"usage":{"prompt_tokens":' + HUGE + b"}}"), request=ask()),
    ),
    "a wait of five thousand digits": capture(
        ask(),
        wire(error("Busy."), status=429, headers=(f"Retry-After: {HUGE.decode()}",)),
        wire(error("Busy."), status=429, headers=("Retry-After: 2",)),
    ),
    "a type that is a list": capture(ask("responses", stream=True), wire(stream({"type": ["x"]}, done=False))),
    "data that is a number": capture(ask("embeddings"), wire(embeddings([0.5])), wire({"data": 7})),
    "a code that is a list": capture(
        ask(), wire(error(code=["x"]), status=400), wire(error(code="rate_limit_exceeded"), status=429)
    ),
    "a model of half a pair": capture(
        Ask(value=b'{"model":"\\ud800"}'), wire(b"no", status=502), wire(b"no", status=502), "provider-blind"
    ),
}


@pytest.mark.parametrize("item", [pytest.param(item, id=name) for name, item in SPOILT.items()])
def test_a_value_of_the_wrong_kind_is_borne(item: Capture) -> None:
    """What once ended a clause in an exception is judged."""
    assert faulty(item) == {}
