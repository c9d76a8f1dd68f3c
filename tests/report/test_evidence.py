"""From an exchange and its verdicts to a case of the report."""

from __future__ import annotations

from dataclasses import replace

from conformance.contract.clause import Basis, Clause, Level, Outcome, Verdict
from conformance.contract.sources import SOURCES
from conformance.exchange.answer import Answer
from conformance.exchange.model import Attempt, ClientView, Endpoint, Exchange, Reply, Request, Terms
from conformance.report.evidence import LEG_BYTES, case_of, leg_of, requirement_of
from conformance.report.model import Arrival, AttemptLine, ClientLine, Leg
from conformance.wire.facts import Span
from conformance.wire.http1 import Framing, Head, Message
from conformance.wire.transcript import Arrivals, End, Segment, Transcript

HEAD = Head(start_line=b"", headers=(), span=Span(0, 0))
REQUEST = Request(endpoint=Endpoint.CHAT, method="POST", target="/v1/chat/completions", head=HEAD, body=b"{}", doc=None)
RECEIVED = (Segment(4.0, b"HTTP/1.1 200 OK\r\n\r\n"), Segment(6.0, b"{}"))


def reply(status: int) -> Reply:
    """A reply with a status and nothing else."""
    message = Message(
        version="HTTP/1.1", head=HEAD, framing=Framing.NONE, body=b"", complete=True, faults=(), status=status
    )
    arrivals = Arrivals(RECEIVED)
    return Reply(
        message=message,
        content=b"",
        end=End.COMPLETE,
        ended_at=6.0,
        arrivals=arrivals,
        answer=Answer(),
        media_type="application/json",
    )


ATTEMPTS = (
    Attempt(member="m0", at=1.5, request=REQUEST, reply=reply(404), end=End.COMPLETE, ended_at=2.0),
    Attempt(member="m1", at=2.5, request=REQUEST, reply=None, end=End.HANGUP, ended_at=3.0, peer_closed="before-head"),
)
EXCHANGE = Exchange(
    name="chat.hello",
    request=REQUEST,
    reply=reply(200),
    transcript=Transcript(sent=(Segment(0.0, b"POST"),), received=RECEIVED, end=End.COMPLETE, ended_at=6.5),
    attempts=ATTEMPTS,
    terms=Terms(),
    driver="openai-python",
    nonce="cf-abc123",
    client=ClientView(name="openai-python", version="3", exception="APIError"),
)
HELD = Verdict(clause="a.b", outcome=Outcome.HELD)
VIOLATED = Verdict(clause="a.c", outcome=Outcome.VIOLATED)


def test_case_tells_both_legs() -> None:
    """A case has what the client saw and every attempt; a case in which all held carries no bytes."""
    case = case_of(EXCHANGE, [HELD], scenario="chat.hello", title="Hello", exercises=("a.b",))
    assert (case.id, case.scenario, case.driver) == ("chat.hello[openai-python]", "chat.hello", "openai-python")
    assert case.client == ClientLine(
        status=200, end="complete", ended_at=6.5, media_type="application/json", exception="APIError"
    )
    assert case.attempts == (
        AttemptLine(member="m0", at=1.5, status=404, end="complete"),
        AttemptLine(member="m1", at=2.5, status=0, end="hangup", peer_closed="before-head"),
    )
    assert (case.verdicts, case.exercises, case.evidence) == ((HELD,), ("a.b",), ())


def test_bytes_are_kept_where_not_all_held() -> None:
    """A violated, inconclusive or faulty clause, or a harness error, keeps the bytes of all legs."""
    upstream = ((Segment(2.0, b"HTTP/1.1 404 X\r\n\r\n"),), ())
    case = case_of(EXCHANGE, [HELD, VIOLATED], scenario="chat.hello", upstream=upstream)
    assert [leg.name for leg in case.evidence] == [
        "request",
        "client",
        "dispatch:0",
        "upstream:0",
        "dispatch:1",
        "upstream:1",
    ]
    assert case.leg("client") == Leg(
        name="client", data=b"HTTP/1.1 200 OK\r\n\r\n{}", arrivals=(Arrival(4.0, 19), Arrival(6.0, 2))
    )
    assert case_of(EXCHANGE, [], scenario="x", error="the driver fell over").evidence


def test_unknown_legs_stay_unknown() -> None:
    """Without a reply the client saw no status; attempts that are not known are not an empty list."""
    case = case_of(replace(EXCHANGE, reply=None, client=None, attempts=None), [], scenario="x", case="x[wire]#2")
    assert case.id == "x[wire]#2"
    assert case.client == ClientLine(status=0, end="complete", ended_at=6.5)
    assert case.attempts is None


def test_a_leg_is_bounded() -> None:
    """Past the bound bytes are counted, not kept."""
    leg = leg_of("client", [Segment(1.0, b"abc"), Segment(2.0, b"def"), Segment(3.0, b"ghi")], limit=5)
    assert leg == Leg(name="client", data=b"abcde", arrivals=(Arrival(1.0, 3), Arrival(2.0, 2)), cut=4)
    assert len(leg_of("client", [Segment(1.0, bytes(LEG_BYTES + 1))]).data) == LEG_BYTES


def test_requirement_has_the_sources_address() -> None:
    """A clause becomes a requirement with the address of its source."""
    key = next(iter(SOURCES))
    clause = Clause(
        id="pool.x",
        level=Level.SHOULD,
        basis=Basis.POLICY,
        title="A title",
        rationale="A reason",
        source=key,
        applies=lambda exchange: True,
        check=lambda exchange: iter(()),
        capabilities=frozenset({"retries", "failover"}),
    )
    need = requirement_of(clause)
    assert (need.id, need.link, need.gates) == ("pool.x", SOURCES[key].url, True)
    assert need.capabilities == ("failover", "retries")
