"""A case of a report without the caller's key: what the client sent holds it, and a gateway may send it back. Pure."""

from __future__ import annotations

from dataclasses import replace

from conformance.contract.clause import Finding
from conformance.report.model import Case

#: What is shorter is no secret, and would be found in ordinary words.
LEAST = 6


def masked(case: Case, secret: str) -> Case:
    """`case` with every occurrence of `secret` in evidence, findings and texts replaced by as many asterisks."""
    if len(secret) < LEAST or not (case.evidence or case.error):
        return case
    stars = "*" * len(secret)
    hidden, mark = secret.encode(), stars.encode()

    def finding(found: Finding) -> Finding:
        return replace(
            found,
            expected=found.expected.replace(secret, stars),
            actual=found.actual.replace(secret, stars),
            excerpt=found.excerpt.replace(hidden, mark),
        )

    return replace(
        case,
        evidence=tuple(replace(leg, data=leg.data.replace(hidden, mark)) for leg in case.evidence),
        verdicts=tuple(
            replace(
                verdict,
                findings=tuple(map(finding, verdict.findings)),
                reason=verdict.reason.replace(secret, stars),
            )
            for verdict in case.verdicts
        ),
        error=case.error.replace(secret, stars),
    )
