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

#: Fewer bytes than these prove nothing of where they come from.
_LEAST = 8
#: The areas of clauses about what becomes of a member's reply: whose bytes they show says nothing of whose fault it is.
_OF_BOTH = frozenset({"relay", "pool", "isolation", "cache", "timeout", "serving-model"})
_CHUNK_BORDER = re.compile(rb"\r\n[0-9A-Fa-f]{1,8}\r\n")


def sender(clause: str, case: Case, finding: Finding) -> str:
    """Which member sent the very bytes that the finding shows of the client's leg, as "attempt 0 (m0)"; "" for none.

    Case of letters does not count, since a field's name may be spelled anew, nor does how the bytes were cut in chunks.
    What reached the client more often than the member sent it was not just passed on.
    """
    proof, client = _shown(clause, case, finding), case.leg("client")
    if len(proof) < _LEAST or client is None:
        return ""
    seen = _joined(client.data).count(proof)
    for number, attempt in enumerate(case.attempts or ()):
        leg = case.leg(f"upstream:{number}")
        if leg is not None and _joined(leg.data).count(proof) >= max(1, seen):
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
    often = any(proof in data for data in sent)
    return "a member sent these bytes, but not so often" if often else "in no member's reply"


def passed_on(cases: Iterable[Case]) -> Counter[str]:
    """In how many cases the first finding of each violated clause shows a member's own bytes."""
    violated = ((case, verdict) for case in cases for verdict in case.of(Outcome.VIOLATED) if verdict.findings)
    return Counter(v.clause for case, v in violated if sender(v.clause, case, v.findings[0]))


def _shown(clause: str, case: Case, finding: Finding) -> bytes:
    """The bytes that the finding shows of the response to the client, where the clause is about that alone."""
    leg = case.leg("client")
    if finding.leg != "client" or leg is None or clause.partition(".")[0] in _OF_BOTH:
        return b""
    shown = finding.excerpt or (finding.span.of(leg.data) if finding.span is not None else b"")
    return shown.strip().lower()


@lru_cache(maxsize=32)
def _joined(data: bytes) -> bytes:
    """The bytes of a leg in lower case, without the borders of chunks, which are each sender's own."""
    return _CHUNK_BORDER.sub(b"", data).lower()
