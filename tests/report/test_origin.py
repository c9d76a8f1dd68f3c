"""Whose bytes a finding shows: the gateway's own, or a member's that it passed on."""

from __future__ import annotations

import gzip
from dataclasses import replace

import pytest

from conformance.contract.clause import Finding, Outcome
from conformance.report import views
from conformance.report.model import AttemptLine, Case, ClientLine, Leg
from conformance.report.origin import origin, passed_on, sender
from conformance.wire.facts import Span

from . import sample

SECOND = "a member sent these bytes, but not so often, or not as its end"
OTHER = "in no member's reply"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
CHUNKED = HEAD.replace(b"\r\n\r\n", b"\r\nTransfer-Encoding: chunked\r\n\r\n")
EVENT = b'data: {"choices":[]}\n\n'
CLAUSE = "stream.utf8"
PASSED = "passed on: the member of attempt 1 (m1) sent these bytes"


def case(upstream: bytes, finding: Finding, client: bytes = HEAD + EVENT, clause: str = CLAUSE) -> Case:
    """A case with two attempts; the second's member sent `upstream`, the client got `client`."""
    return replace(
        sample.VIOLATED,
        client=ClientLine(status=200, end="complete", ended_at=9.0),
        attempts=(
            AttemptLine(member="m0", at=1.0, status=404, end="complete"),
            AttemptLine(member="m1", at=2.0, status=200, end="complete"),
        ),
        verdicts=(sample.verdict(clause, Outcome.VIOLATED, finding),),
        evidence=(
            Leg(name="client", data=client),
            Leg(name="upstream:0", data=b"HTTP/1.1 404 Not Found\r\n\r\n"),
            Leg(name="upstream:1", data=upstream),
        ),
    )


def found(**changes: object) -> Finding:
    """A finding with an excerpt."""
    return Finding(**({"expected": "a", "actual": "b", "excerpt": EVENT} | changes))  # type: ignore[arg-type]


def told(upstream: bytes, client: bytes, shown: bytes, clause: str = CLAUSE) -> str:
    """The line on a finding that shows a piece of the client's leg where it stands there."""
    finding = found(excerpt=shown, span=Span(client.index(shown), client.index(shown) + len(shown)))
    return origin(clause, case(upstream, finding, client, clause), finding)


def zipped(body: bytes) -> bytes:
    """A reply whose body is coded."""
    return HEAD.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n") + gzip.compress(body, mtime=0)


def headed(*fields: str, status: str = "200 OK") -> bytes:
    """A head with these field lines."""
    return "\r\n".join((f"HTTP/1.1 {status}", *fields, "\r\n")).encode()


@pytest.mark.parametrize(
    "upstream",
    [
        HEAD + EVENT,
        CHUNKED + b"%x\r\n" % len(EVENT) + EVENT + b"\r\n0\r\n\r\n",
        CHUNKED + b"8\r\n" + EVENT[:8] + b"\r\n0%x\r\n" % (len(EVENT) - 8) + EVENT[8:] + b"\r\n0\r\n\r\n",
        zipped(EVENT),
    ],
)
def test_the_members_bytes_are_told_however_they_were_cut(upstream: bytes) -> None:
    """Neither borders of chunks count nor codings; where no head can be read, all the bytes are looked at."""
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
    assert origin(CLAUSE, other, found()) == OTHER
    assert origin("relay.text.equal", other, found()) == ""
    assert origin(CLAUSE, other, found(excerpt=b" {} \n")) == ""
    assert origin(CLAUSE, other, found(leg="upstream:1")) == ""
    assert origin(CLAUSE, replace(other, evidence=other.evidence[:1]), found()) == ""
    assert origin(CLAUSE, replace(other, evidence=()), found()) == ""


def test_what_comes_more_often_than_it_was_sent_is_not_just_passed_on() -> None:
    """A second [DONE] is the gateway's, though its bytes are a member's."""
    once = case(HEAD + EVENT, found())
    twice = replace(once, evidence=(Leg(name="client", data=HEAD + EVENT * 2), *once.evidence[1:]))
    assert origin(CLAUSE, twice, found()) == SECOND
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
    own = replace(told, evidence=(*told.evidence[:2], Leg(name="upstream:1", data=HEAD + body.replace(b"404", b'"x"'))))
    assert origin(CLAUSE, own, short) == OTHER


def test_an_absence_is_not_proved_by_a_status_line() -> None:
    """Who left a field or a body out is not told by a line that both have; whose the status is, is told."""
    bare, member = headed(), headed("Retry-After: 3")
    assert told(member, bare, b"HTTP/1.1 200 OK", "http.content-type.json") == ""
    assert told(HEAD + b"{}", HEAD, b"HTTP/1.1 200 OK", "reply.mode.json") == ""
    moved = headed(status="302 Found")
    assert told(moved, moved, b"HTTP/1.1 302 Found", "http.status.final") == PASSED
    assert told(moved, headed(status="302 "), b"HTTP/1.1 302 ", "http.status.final") == PASSED
    assert told(HEAD, moved, b"HTTP/1.1 302 Found", "http.status.final") == OTHER
    assert told(headed(status="302 Moved"), moved, b"HTTP/1.1 302 Found", "http.status.final") == ""


@pytest.mark.parametrize(
    ("sent", "got", "line"),
    [
        (("content-type:text/html",), ("Content-Type: text/html",), PASSED),
        (("Content-Type: text/html; charset=utf-8",), ("Content-Type: text/html",), ""),
        (("Content-Type: text/html",), ("Content-Type: text/html", "Content-Type: text/plain"), ""),
        (("Content-Type: text/html",), ("Content-Type: text/html",) * 2, SECOND),
        (("Content-Type: text/html",) * 2, ("Content-Type: text/html",) * 2, PASSED),
        (("Content-Type: application/json", "X-Was: text/html"), ("Content-Type: text/html",), OTHER),
    ],
)
def test_a_field_is_passed_on_with_all_its_lines(sent: tuple[str, ...], got: tuple[str, ...], line: str) -> None:
    """The same values of the same field, however they are spaced; a part of a value is not the value."""
    assert told(headed(*sent), headed(*got), b"Content-Type: text/html") == line


def test_a_field_about_a_content_that_was_changed_is_not_passed_on() -> None:
    """A coding that is told of a body which has it no more is the gateway's; so is a stream's type on a JSON body."""
    stale = zipped(b"{}")[: -len(gzip.compress(b"{}", mtime=0))] + b"{}"
    assert told(zipped(b"{}"), stale, b"Content-Encoding: gzip") == ""
    assert told(stale, stale, b"Content-Encoding: gzip") == PASSED
    assert told(HEAD + EVENT, HEAD + b"{}", b"Content-Type: text/html") == ""


def test_coded_legs_are_compared_by_their_content() -> None:
    """What the client got twice in a coded body is counted there; what cannot be decoded tells nothing."""
    once, twice = zipped(EVENT), zipped(EVENT * 2)
    assert origin(CLAUSE, case(once, found(), once), found()) == PASSED
    assert origin(CLAUSE, case(HEAD + EVENT, found(), twice), found()) == SECOND
    assert origin(CLAUSE, case(once, found(), twice), found()) == SECOND
    assert origin(CLAUSE, case(zipped(b"{}"), found(), once), found()) == OTHER
    assert origin(CLAUSE, case(once[:-4], found(), HEAD + EVENT), found()) == ""
    assert origin(CLAUSE, case(HEAD + EVENT, found(), once[:-4]), found()) == ""
    # Where a long piece of it ends is not told.
    long = b'data: {"choices":["%s"]}\n\n' % (b"x" * 300)
    cut = found(excerpt=long[:240])
    assert origin(CLAUSE, case(HEAD + long, cut, zipped(long)), cut) == PASSED
    assert origin(CLAUSE, case(HEAD + long.replace(b"]", b",1]"), cut, zipped(long)), cut) == ""


@pytest.mark.parametrize(
    ("sent", "got"),
    [
        (b'data: {"choices": [ ]}\n\n', EVENT),
        (b'data:{"choices":[]}\r\n\r\n', EVENT),
        (b'{\n  "text": "caf\\u00e9 a\\/b"\n}', '{"text":"café a/b"}'.encode()),
    ],
)
def test_what_was_spaced_or_escaped_anew_is_not_told_to_be_the_gateways(sent: bytes, got: bytes) -> None:
    """The bytes are not the member's, and what they say is."""
    assert told(HEAD + sent, HEAD + got, got) == ""


def test_a_long_piece_is_compared_whole() -> None:
    """A finding shows the start of it alone: a member that sent more in it sent something else."""
    mine = b'{"id":"%s","choices":[]}' % (b"x" * 300)
    body = mine[:-1] + b',"usage":{}}'
    finding = found(excerpt=mine[:240], span=Span(len(HEAD), len(HEAD + mine)))
    assert origin(CLAUSE, case(HEAD + body, finding, HEAD + mine), finding) == ""
    assert origin(CLAUSE, case(HEAD + mine, finding, HEAD + mine), finding) == PASSED


def test_what_is_not_held_tells_nothing() -> None:
    """Bytes that were not kept, of either leg, and a body whose framing is broken, may hold it or not."""
    whole = case(HEAD + b"data: {}\n\n", found())
    first, *rest = whole.evidence
    assert origin(CLAUSE, whole, found()) == OTHER
    assert origin(CLAUSE, replace(whole, evidence=(first, rest[0], replace(rest[1], cut=9))), found()) == ""
    assert origin(CLAUSE, replace(whole, evidence=(first, rest[1])), found()) == ""
    assert origin(CLAUSE, case(CHUNKED + b"zz\r\n" + EVENT, found()), found()) == ""
    assert origin(CLAUSE, case(CHUNKED + b"5\r\ndata:", found()), found()) == OTHER
    past = found(span=Span(len(HEAD + EVENT), len(HEAD + EVENT) * 2))
    assert origin(CLAUSE, case(HEAD + EVENT, past), past) == ""


def test_violations_are_counted_by_whose_bytes_they_show() -> None:
    """A row for each violated clause; what fails no run is summed in a sentence."""
    cases = (case(HEAD + EVENT, found()), replace(case(HEAD, found()), id="other[wire]"))
    assert passed_on(cases) == {"stream.utf8": 1}
    (row,) = views.violated_rows(sample.report(*cases))
    assert (row.requirement.id, row.cases, row.passed_on) == ("stream.utf8", 2, 1)
    assert views.beside(sample.report(*cases)) == "beside that 1 clause that is a SHOULD, 2 times"
    assert views.beside(sample.report(sample.HELD)) == ""
