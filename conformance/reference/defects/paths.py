"""Defects at the edge of the API: paths that are not served, and the questions that browsers ask before a call."""

from __future__ import annotations

from conformance.reference.behaviour import Behaviour, Fields
from conformance.reference.call import Call
from conformance.reference.defects.entry import defect
from conformance.reference.steps import Step


def _page_of_nothing(body: bytes, status: int, call: Call) -> bytes:
    """A page in the place of what says that there is no such path."""
    return b"<html><body>404</body></html>" if status == 404 and b'"unknown_url"' in body else body


def _every_field(fields: Fields, status: int, call: Call) -> Fields:
    return tuple((name, "*" if name == "access-control-allow-headers" else value) for name, value in fields)


TABLE = (
    # mudler/LocalAI#710, lm-sys/RouteLLM#43
    defect(
        "preflight-refused",
        "A browser's preflight is refused as a method that is not allowed",
        "http.preflight.allowed",
        Behaviour(skip=frozenset({Step.PREFLIGHT})),
        "http.preflight",
    ),
    # ollama/ollama#4001, dphnAI/sonar#434
    defect(
        "preflight-without-authorization",
        "A preflight's answer allows every field but the one that carries the key",
        "http.preflight.allowed",
        Behaviour(headers=_every_field),
        "http.preflight",
    ),
    # diegosouzapw/OmniRoute#6405
    defect(
        "unserved-path-as-page",
        "A path that is not served is answered with a page",
        "error.unserved.envelope",
        Behaviour(body=_page_of_nothing),
        "http.unserved-path",
    ),
)
