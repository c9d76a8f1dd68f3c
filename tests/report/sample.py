"""A report with every outcome, level, basis and kind of fault in it, for the tests of codec and renderings."""

from __future__ import annotations

from dataclasses import replace

from conformance.contract.clause import Basis, Finding, Level, Outcome, Verdict
from conformance.report.gate import close
from conformance.report.model import (
    Arrival,
    AttemptLine,
    Case,
    ClientLine,
    InFlight,
    Leg,
    LoadCell,
    LoadRow,
    Report,
    Requirement,
    RunHeader,
)
from conformance.wire.facts import Span

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
FIRST = b'data: {"choices":[{"index":0,"delta":{"content":"Caf\xc3\xa9 \xe2\x80\xae"}}]}\n\n'
DONE = b"data: [DONE]\n\n"
NOISE = b"data: \x1b[31m\x00\xff\n\n"
WIRE = HEAD + FIRST + DONE + NOISE + DONE
CLIENT = Leg(
    name="client",
    data=WIRE,
    arrivals=(
        Arrival(12.1, len(HEAD)),
        Arrival(20.0, len(FIRST)),
        Arrival(38.0, len(DONE + NOISE)),
        Arrival(41.5, len(DONE)),
    ),
    cut=1200,
)
SECOND_DONE = Span(len(WIRE) - len(DONE), len(WIRE) - 2)

REQUIREMENTS = (
    Requirement(
        id="stream.done.once",
        level=Level.MUST,
        basis=Basis.CONTRACT,
        title="A stream carries exactly one [DONE], as its last event",
        rationale="Clients stop reading at [DONE]; a second one breaks strict parsers.",
        source="openai-api/chat-streaming",
        link="https://example.org/chat-streaming",
    ),
    Requirement(
        id="stream.utf8",
        level=Level.SHOULD,
        basis=Basis.PROTOCOL,
        title="A stream is UTF-8",
        rationale="The standard decodes with replacement.",
        source="whatwg/sse",
    ),
    Requirement(id="chat.id.present", level=Level.MAY, basis=Basis.CONTRACT, title="An id is there", source="k"),
    Requirement(
        id="pool.failover.answers",
        level=Level.SHOULD,
        basis=Basis.POLICY,
        title="A failing member's request is answered by another <member> & more",
        rationale="That is what `failover` | means.",
        source="policy/failover",
        link="https://example.org/failover",
        capabilities=("failover",),
    ),
    Requirement(
        id="cache.key.whole",
        level=Level.MUST,
        basis=Basis.POLICY,
        title="Another request is never answered from the cache",
        capabilities=("cache",),
    ),
)

HEADER = RunHeader(
    target="sample",
    target_version="1.2.3",
    target_kind="command",
    suite_version="0.1.0",
    started_at="2026-11-29T12:00:00Z",
    requirements=REQUIREMENTS,
    capabilities=("failover", "retries"),
    cassettes="3f" * 32,
    seed=7,
    defaults={"deadline.connect": "5 s", "deadline.head": "15 s"},
    drivers=("wire 0.1.0", "openai-python 3.0"),
    environment={"python": "3.11.7"},
    command="conformance run --target sample",
    planned=6,
)

TWICE = Finding(
    expected="one [DONE]",
    actual="2, the second at byte 180\x07",
    leg="client",
    span=SECOND_DONE,
    at=41.5,
    excerpt=b"data: [DONE]",
)
NOT_KEPT = Finding(
    expected="a healthy member's answer",
    actual='404 {"error": "\ud800"}',
    leg="upstream:0",
    span=None,
    at=None,
    excerpt=b'{"error":\x00}',
)


def verdict(clause: str, outcome: Outcome, *findings: Finding, reason: str = "") -> Verdict:
    """A verdict, its parts by position."""
    return Verdict(clause=clause, outcome=outcome, findings=findings, reason=reason)


HELD = Case(
    id="chat.hello[wire]",
    scenario="chat.hello",
    title="A greeting is answered",
    driver="wire",
    nonce="cf-abc123",
    duration_ms=50.25,
    client=ClientLine(status=200, end="complete", ended_at=50.25, media_type="application/json"),
    attempts=(AttemptLine(member="m0", at=3.0, status=200, end="complete"),),
    verdicts=(
        verdict("stream.done.once", Outcome.NOT_APPLICABLE, reason="no stream"),
        verdict("chat.id.present", Outcome.HELD),
    ),
    exercises=("chat.id.present", "cache.key.whole", "clause.not-selected"),
)
VIOLATED = Case(
    id="stream.twice[wire]",
    scenario="stream.twice",
    title="The upstream says [DONE] twice",
    driver="wire",
    nonce="cf-abc124",
    duration_ms=54.0,
    client=ClientLine(status=200, end="close", ended_at=54.0, media_type="text/event-stream", exception="APIError"),
    attempts=(
        AttemptLine(member="m0", at=5.0, status=404, end="complete"),
        AttemptLine(member="m1", at=9.2, status=0, end="hangup", peer_closed="before-head"),
    ),
    verdicts=(
        verdict("stream.done.once", Outcome.VIOLATED, *(TWICE,) * 4),
        verdict("stream.utf8", Outcome.VIOLATED, TWICE),
        verdict("chat.id.present", Outcome.INCONCLUSIVE, reason="the stream was cut"),
        verdict("pool.failover.answers", Outcome.VIOLATED, NOT_KEPT),
    ),
    exercises=("stream.done.once",),
    evidence=(CLIENT, Leg(name="request", data=b"POST / HTTP/1.1\r\n\r\n", arrivals=(Arrival(0.0, 19),))),
)
REPEATED = tuple(
    Case(
        id=f"stream.twice[wire]#{number}",
        scenario="stream.twice",
        driver="wire",
        client=ClientLine(status=0, end="stall", ended_at=9.0),
        attempts=(),
        verdicts=(verdict("stream.done.once", Outcome.VIOLATED, TWICE),),
    )
    for number in range(2, 13)
)
FAULTY = Case(
    id="models.list[openai-python]",
    scenario="models.list",
    driver="openai-python",
    client=ClientLine(status=200, end="complete", ended_at=9.0),
    verdicts=(verdict("chat.id.present", Outcome.FAULTY, reason="KeyError: 'id'"),),
)
UNREACHED = Case(
    id="stream.plain[wire]",
    scenario="stream.plain",
    driver="wire",
    attempts=(),
    verdicts=(verdict("stream.done.once", Outcome.NOT_APPLICABLE, reason="no stream came"),),
    exercises=("stream.done.once",),
)
BROKEN = Case(id="stream.broken[wire]", scenario="stream.broken", driver="wire", error="the driver fell over")
SKIPPED = Case(id="cache.two[wire]", scenario="cache.two", skipped="the target does not declare cache")
NOTHING = Case(
    id="chat.nothing[wire]",
    scenario="chat.nothing",
    verdicts=(verdict("stream.done.once", Outcome.NOT_APPLICABLE, reason="no stream"),),
)


def report(*cases: Case, errors: tuple[str, ...] = ()) -> Report:
    """A finished report over `cases`."""
    return close(HEADER, cases, ended_at="2026-11-29T12:01:00Z", errors=errors)


EVERYTHING = close(
    HEADER,
    (HELD, VIOLATED, *REPEATED, FAULTY, UNREACHED, BROKEN, SKIPPED, NOTHING),
    ended_at="2026-11-29T12:01:00Z",
    errors=("the upstream's journal overflowed",),
    spent={"requests": 17, "tokens": 1200},
)

CROWDED = replace(
    REPEATED[0],
    id="stream.twice[wire]@load:cf-abc125",
    nonce="cf-abc125",
    beside=(
        InFlight(nonce="cf-abc125", start=1.0, end=9.0, attempts=((2.5, "u1"), (4.0, "u2"))),
        InFlight(nonce="cf-abc126", start=2.0, end=20.0),
    ),
)
LOADED = close(
    HEADER,
    (CROWDED,),
    ended_at="2026-11-29T12:01:00Z",
    load=(
        LoadRow(
            scenario="stream.twice",
            clause="stream.done.once",
            result="load-shaped",
            alone=(0, 20),
            load={"4": (0, 12), "8": (3, 24)},
            low=0.03,
            high=0.2,
            p=0.001,
            threshold=8,
            case=CROWDED.id,
        ),
        LoadRow(scenario="stream.twice", clause="stream.utf8", result="holds", alone=(0, 20), load={"4": (0, 12)}),
    ),
    cells=(
        LoadCell(
            scenario="stream.twice", driver="wire", leg="control", shape="burst", concurrency=8, requests=24,
            seconds=1.5, lag_ms=2.0, client_cpu=0.25,
        ),
    ),
)  # fmt: skip
