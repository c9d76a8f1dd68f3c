"""Whose bytes a finding shows: the gateway's own, or a member's that it passed on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.contract.clause import Finding, Outcome
from conformance.report import views
from conformance.report.model import AttemptLine, Case, ClientLine, Leg
from conformance.report.origin import origin, passed_on, sender
from conformance.wire.facts import Span

from . import sample

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
EVENT = b'data: {"choices":[]}\n\n'
CLAUSE = "stream.utf8"
PASSED = "passed on: the member of attempt 1 (m1) sent these bytes"


def case(upstream: bytes, finding: Finding) -> Case:
    """A case with two attempts; the second's member sent `upstream`."""
    return replace(
        sample.VIOLATED,
        client=ClientLine(status=200, end="complete", ended_at=9.0),
        attempts=(
            AttemptLine(member="m0", at=1.0, status=404, end="complete"),
            AttemptLine(member="m1", at=2.0, status=200, end="complete"),
        ),
        verdicts=(sample.verdict("stream.utf8", Outcome.VIOLATED, finding),),
        evidence=(
            Leg(name="client", data=HEAD + EVENT),
            Leg(name="upstream:0", data=b"HTTP/1.1 404 Not Found\r\n\r\n"),
            Leg(name="upstream:1", data=upstream),
        ),
    )


def found(**changes: object) -> Finding:
    """A finding with an excerpt."""
    return Finding(**({"expected": "a", "actual": "b", "excerpt": EVENT} | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "upstream", [HEAD + EVENT, b"15\r\n" + EVENT + b"\r\n", b"8\r\n" + EVENT[:8] + b"\r\n0D\r\n" + EVENT[8:] + b"\r\n"]
)
def test_the_members_bytes_are_told_however_they_were_cut(upstream: bytes) -> None:
    """Borders of chunks do not count."""
    assert sender(CLAUSE, case(upstream, found()), found()) == "attempt 1 (m1)"
    assert origin(CLAUSE, case(upstream, found()), found()) == PASSED


def test_a_fields_name_may_be_spelled_anew() -> None:
    """Letters' case does not count, and a finding's span will do where it has no excerpt."""
    spelled = HEAD.replace(b"Content-Type", b"content-type")
    assert origin(CLAUSE, case(spelled, found()), found(excerpt=b"Content-Type: text/html")) == PASSED
    span = Span(HEAD.index(b"Content"), len(HEAD) - 4)
    assert origin(CLAUSE, case(spelled, found()), found(excerpt=b"", span=span)) == PASSED


def test_other_bytes_are_the_gateways() -> None:
    """What no member sent is in no member's reply; a few bytes, another leg and missing evidence prove nothing."""
    other = case(HEAD, found())
    assert origin(CLAUSE, other, found()) == "in no member's reply"
    assert origin("relay.text.equal", other, found()) == ""
    assert origin(CLAUSE, other, found(excerpt=b" {} \n")) == ""
    assert origin(CLAUSE, other, found(leg="upstream:1")) == ""
    assert origin(CLAUSE, replace(other, evidence=other.evidence[:1]), found()) == ""
    assert origin(CLAUSE, replace(other, evidence=()), found()) == ""


def test_what_comes_more_often_than_it_was_sent_is_not_just_passed_on() -> None:
    """A second [DONE] is the gateway's, though its bytes are a member's."""
    once = case(HEAD + EVENT, found())
    twice = replace(once, evidence=(Leg(name="client", data=HEAD + EVENT * 2), *once.evidence[1:]))
    assert origin(CLAUSE, twice, found()) == "a member sent these bytes, but not so often, or not as its end"
    assert sender(CLAUSE, twice, found()) == ""


def test_an_end_that_the_member_did_not_make_is_not_passed_on() -> None:
    """The member was cut there, or went on; the gateway told it as the end."""
    ended = case(HEAD + EVENT, found())
    cut = replace(ended, attempts=tuple(replace(one, end="close") for one in ended.attempts or ()))
    assert sender(CLAUSE, cut, found()) == ""
    assert sender(CLAUSE, case(HEAD + EVENT + b"data: [DONE]\n\n", found()), found()) == ""
    # What stands before the end is not about the end.
    assert sender(CLAUSE, cut, found(excerpt=b"Content-Type: text/html")) == "attempt 1 (m1)"


def test_a_short_proof_is_looked_at_with_what_stands_around_it() -> None:
    """A number alone proves nothing; the member it is the value of does."""
    body = b'{"error":{"message":"No such model","code":404,"param":null}}'
    number = Span(len(HEAD) + body.index(b"404"), len(HEAD) + body.index(b"404") + 3)
    short = found(excerpt=b"404", span=number)
    told = replace(
        case(HEAD + body, short),
        evidence=(Leg(name="client", data=HEAD + body), *case(HEAD + body, short).evidence[1:]),
    )
    assert origin(CLAUSE, told, short) == PASSED
    own = replace(told, evidence=(told.evidence[0], Leg(name="upstream:1", data=HEAD + body.replace(b"404", b'"x"'))))
    assert origin(CLAUSE, own, short) == "in no member's reply"


def test_violations_are_counted_by_whose_bytes_they_show() -> None:
    """A row for each violated clause; what fails no run is summed in a sentence."""
    cases = (case(HEAD + EVENT, found()), replace(case(HEAD, found()), id="other[wire]"))
    assert passed_on(cases) == {"stream.utf8": 1}
    (row,) = views.violated_rows(sample.report(*cases))
    assert (row.requirement.id, row.cases, row.passed_on) == ("stream.utf8", 2, 1)
    assert views.beside(sample.report(*cases)) == "beside that 1 clause that is a SHOULD, 2 times"
    assert views.beside(sample.report(sample.HELD)) == ""
