"""Whose bytes a finding is about: the gateway's own, or a member's that the gateway passed on.

From a case's evidence to one line. The fault stands either way, since the client talks to the gateway; what its
maintainer wants to know first is who made it. Where the bytes do not tell, nothing is said.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache

from conformance.contract.clause import Finding, Outcome
from conformance.report.model import AttemptLine, Case, Leg
from conformance.wire.facts import Span
from conformance.wire.http1 import Head, HeaderLine, Message, decode_content, read_response

#: Fewer bytes than these prove nothing of where they come from; so many on either side are looked at with them.
_LEAST, _AROUND = 8, 12
#: A finding shows so many bytes of a long piece.
_SHOWN = 240
#: More content than this is not decoded.
_MOST = 1 << 20
#: The areas of clauses about what becomes of a member's reply: whose bytes they show says nothing of whose fault it is.
_OF_BOTH = frozenset({"relay", "pool", "isolation", "cache", "timeout", "serving-model"})
#: What else than the word in a clause's id says that its findings on a status line are about the status.
_OF_STATUS = frozenset({"error.not-cancelled"})
_ODD = re.compile(rb"\\(?:u[0-9A-Fa-f]{4})?|[^!-~]+")


class _Match(Enum):
    """Whether a member's reply has what a finding shows."""

    WHOLE = auto()  # as the client got it
    PART = auto()  # the same bytes, less often, or not as its end
    UNTOLD = auto()  # alike, or the reply is not known whole
    NONE = auto()


@dataclass(frozen=True, slots=True)
class _Reply:
    """What is held of one side's reply: its head, and its content without the codings.

    `coded` is whether it had any, `read` whether they could be removed, `whole` whether that is all that was sent.
    """

    message: Message
    head: bytes
    content: bytes
    coded: bool
    read: bool
    whole: bool

    def count(self, proof: bytes) -> int:
        """How often the bytes occur; letters' case counts in the content alone, as a field's name is spelled anew."""
        return self.content.count(proof) + self.head.count(proof.lower())

    @property
    def look(self) -> tuple[bool, bool]:
        """Whether the content can be read, and whether it looks like JSON: what its fields may be wrong about."""
        return self.read, self.content.lstrip()[:1] in (b"{", b"[")

    def inner(self, span: Span) -> Span | None:
        """Where in the content the raw bytes stand; None where they do not."""
        start, end = self._offset(span.start), self._offset(span.end)
        return None if self.coded or start is None or end is None else Span(start, end)

    def _offset(self, raw: int) -> int | None:
        chunks = self.message.chunks
        if not chunks:
            start = self.message.head.span.end if self.message.status else 0
            return raw - start if start <= raw <= start + len(self.content) else None
        chunk = next((one for one in reversed(chunks) if one.span.start <= raw <= one.span.end), None)
        return None if chunk is None else chunk.offset + raw - chunk.span.start


@dataclass(frozen=True, slots=True)
class _Text:
    """Bytes of the reply to the client, those of them that are shown, how often it has them, whether they end it."""

    proof: bytes
    shown: bytes
    seen: int
    last: bool

    def match(self, theirs: _Reply, same_end: bool) -> _Match:
        found = theirs.count(self.proof)
        ended = same_end and theirs.content.rstrip().endswith(self.proof)
        if found >= self.seen and (ended or not self.last):
            return _Match.WHOLE
        if not theirs.whole:
            return _Match.UNTOLD
        if found:
            return _Match.PART
        return _Match.UNTOLD if _bare(self.shown) in _bare(theirs.head + theirs.content) else _Match.NONE


@dataclass(frozen=True, slots=True)
class _Field:
    """A field line of the reply to the client."""

    line: HeaderLine
    mine: _Reply

    def match(self, theirs: _Reply, same_end: bool) -> _Match:
        name, value = self.line.name.lower(), self.line.value.lower()
        got, sent = _values(self.mine.message.head, name), _values(theirs.message.head, name)
        if got == sent:
            apart = name.startswith(b"content-") and self.mine.look != theirs.look
            return _Match.UNTOLD if apart else _Match.WHOLE
        if value in sent:
            return _Match.PART if sent.count(value) < got.count(value) else _Match.UNTOLD
        return _Match.UNTOLD if _bare(value) in _bare(b" ".join(sent)) else _Match.NONE


@dataclass(frozen=True, slots=True)
class _Status:
    """The status line of the reply to the client."""

    message: Message

    def match(self, theirs: _Reply, same_end: bool) -> _Match:
        if theirs.message.head.start_line.startswith(self.message.head.start_line.rstrip()):  # less a reason, maybe
            return _Match.WHOLE
        return _Match.UNTOLD if theirs.message.status == self.message.status else _Match.NONE


def sender(clause: str, case: Case, finding: Finding) -> str:
    """Which member sent the very bytes that the finding shows of the client's leg, as "attempt 0 (m0)"; "" for none.

    How the bytes were cut in chunks or coded does not count. What reached the client more often than the member sent it
    was not just passed on, nor was an end that the member did not make, nor a field whose other lines differ, or whose
    content looks otherwise. A status line proves nothing where the finding is about what is not there.
    """
    found = ((number, attempt) for number, attempt, match in _matches(clause, case, finding) if match is _Match.WHOLE)
    return next((f"attempt {number} ({attempt.member})" for number, attempt in found), "")


def origin(clause: str, case: Case, finding: Finding) -> str:
    """One line on whose bytes these are; "" where nobody can tell."""
    if who := sender(clause, case, finding):
        return f"passed on: the member of {who} sent these bytes"
    matches = {match for _, _, match in _matches(clause, case, finding)}
    if _Match.PART in matches:
        return "a member sent these bytes, but not so often, or not as its end"
    return "in no member's reply" if matches == {_Match.NONE} else ""


def passed_on(cases: Iterable[Case]) -> Counter[str]:
    """In how many cases the first finding of each violated clause shows a member's own bytes."""
    violated = ((case, verdict) for case in cases for verdict in case.of(Outcome.VIOLATED) if verdict.findings)
    return Counter(v.clause for case, v in violated if sender(v.clause, case, v.findings[0]))


def _matches(clause: str, case: Case, finding: Finding) -> Iterator[tuple[int, AttemptLine, _Match]]:
    """Each attempt whose member sent anything, and whether that has what the finding shows; none where it shows
    nothing that tells."""
    proof = _shown(clause, case, finding)
    if proof is None:
        return
    for number, attempt in enumerate(case.attempts or ()):
        leg = case.leg(f"upstream:{number}")
        if leg is None:
            yield number, attempt, _Match.UNTOLD
        elif leg.data:
            same_end = case.client is not None and attempt.end == case.client.end
            yield number, attempt, proof.match(_reply(leg.data, bool(leg.cut)), same_end)


def _shown(clause: str, case: Case, finding: Finding) -> _Text | _Field | _Status | None:
    """What the finding shows of the response to the client, where the clause is about that alone."""
    leg, span = case.leg("client"), finding.span
    if finding.leg != "client" or leg is None or clause.partition(".")[0] in _OF_BOTH:
        return None
    mine = _reply(leg.data, bool(leg.cut))
    head = mine.message.head
    if span is not None and mine.message.status and head.span.start <= span.start < head.span.end:
        for line in head.headers:
            if line.span.start <= span.start < line.span.end:
                return _Field(line, mine)
        if span.start < head.span.start + len(head.start_line):
            about = "status" in clause.split(".") or clause in _OF_STATUS
            return _Status(mine.message) if about else None
    proof, shown = _bytes(mine, leg, finding)
    seen = mine.count(proof) if len(proof) >= _LEAST else 0
    last = not leg.cut and mine.content.rstrip().endswith(proof)
    return _Text(proof, shown, seen, last) if seen else None


def _bytes(mine: _Reply, leg: Leg, finding: Finding) -> tuple[bytes, bytes]:
    """The bytes that a finding is about, and as many of them as it shows; those of a number or a null with what stands
    around them. Nothing where they are not held.
    """
    shown, span = finding.excerpt, finding.span
    if span is None:  # of a coded content: where a long piece ends is not known, but for the end of all
        return (shown if len(shown) < _SHOWN else mine.content).strip(), shown.strip()
    if span.end > len(leg.data):
        return b"", b""
    inner = mine.inner(span)
    if inner is None:
        shown = (shown or span.of(leg.data)).strip()
        return shown, shown
    proof = inner.of(mine.content).strip()
    if len(proof) < _LEAST:
        proof = mine.content[max(0, inner.start - _AROUND) : inner.end + _AROUND].strip()
    return proof, proof[:_SHOWN]


def _values(head: Head, name: bytes) -> tuple[bytes, ...]:
    return tuple(line.value.lower() for line in head.headers if line.name.lower() == name.lower())


def _bare(data: bytes) -> bytes:
    """The visible ASCII of bytes without escapes: the same for a text that was only spaced or escaped anew."""
    return _ODD.sub(b"", data).lower()


@lru_cache(maxsize=32)
def _reply(data: bytes, cut: bool) -> _Reply:
    """What is held of a reply; where no head can be read, all of it is content."""
    message = read_response(data)
    start = message.head.span.end if message.status else 0
    coding = message.head.get("content-encoding")
    body = message.body if message.status else data
    content, reason = decode_content(body, coding, limit=_MOST)
    short = any(fault.code == "body.short" for fault in message.faults)  # else it is broken, and not read to its end
    return _Reply(
        message=message,
        head=data[:start].lower(),
        content=content + message.trailing,
        coded=content != body,
        read=not reason,
        whole=not cut and not reason and (message.complete or not message.status or short),
    )
