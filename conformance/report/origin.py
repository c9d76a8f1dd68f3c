"""Whose bytes a finding is about: the gateway's own, or a member's that the gateway passed on.

From a case's evidence to one line. The fault stands either way, since the client talks to the gateway; what its
maintainer wants to know first is who made it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from conformance.contract.clause import Finding, Outcome
from conformance.report.model import Case

#: Fewer bytes than these prove nothing of where they come from; so many on either side are looked at with them.
_LEAST, _AROUND = 8, 12
#: The areas of clauses about what becomes of a member's reply: whose bytes they show says nothing of whose fault it is.
_OF_BOTH = frozenset({"relay", "pool", "isolation", "cache", "timeout", "serving-model"})
_CHUNK_BORDER = re.compile(rb"\r\n[0-9A-Fa-f]{1,8}\r\n")


def sender(clause: str, case: Case, finding: Finding) -> str:
    """Which member sent the very bytes that the finding shows of the client's leg, as "attempt 0 (m0)"; "" for none.

    Case of letters does not count, since a field's name may be spelled anew, nor does how the bytes were cut in chunks.
    What reached the client more often than the member sent it was not just passed on, nor was an end that the member
    did not make.
    """
    proof, client = _shown(clause, case, finding), case.leg("client")
    if len(proof) < _LEAST or client is None:
        return ""
    received = _joined(client.data)
    last, seen = received.rstrip().endswith(proof), received.count(proof)
    for number, attempt in enumerate(case.attempts or ()):
        leg = case.leg(f"upstream:{number}")
        sent = _joined(leg.data) if leg is not None else b""
        ended = sent.rstrip().endswith(proof) and case.client is not None and attempt.end == case.client.end
        if sent.count(proof) >= max(1, seen) and (ended or not last):
            return f"attempt {number} ({attempt.member})"
    return ""


def origin(clause: str, case: Case, finding: Finding) -> str:
    """One line on whose bytes these are; "" where nobody can tell."""
    if who := sender(clause, case, finding):
        return f"passed on: the member of {who} sent these bytes"
    proof = _shown(clause, case, finding)
    sent = [_joined(leg.data) for leg in case.evidence if leg.name.startswith("upstream:") and leg.data]
    if not sent or len(proof) < _LEAST:
        return ""
    also = any(proof in data for data in sent)
    return "a member sent these bytes, but not so often, or not as its end" if also else "in no member's reply"


def passed_on(cases: Iterable[Case]) -> Counter[str]:
    """In how many cases the first finding of each violated clause shows a member's own bytes."""
    violated = ((case, verdict) for case in cases for verdict in case.of(Outcome.VIOLATED) if verdict.findings)
    return Counter(v.clause for case, v in violated if sender(v.clause, case, v.findings[0]))


def _shown(clause: str, case: Case, finding: Finding) -> bytes:
    """The bytes that the finding shows of the response to the client, where the clause is about that alone."""
    leg = case.leg("client")
    if finding.leg != "client" or leg is None or clause.partition(".")[0] in _OF_BOTH:
        return b""
    shown = (finding.excerpt or (finding.span.of(leg.data) if finding.span is not None else b"")).strip()
    if len(shown) < _LEAST and finding.span is not None:  # a number, a null: with what stands around it
        shown = leg.data[max(0, finding.span.start - _AROUND) : finding.span.end + _AROUND].strip()
    return shown.lower()


@lru_cache(maxsize=32)
def _joined(data: bytes) -> bytes:
    """The bytes of a leg in lower case, without the borders of chunks, which are each sender's own."""
    return _CHUNK_BORDER.sub(b"", data).lower()
