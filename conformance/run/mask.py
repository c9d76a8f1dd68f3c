"""A case of a report without the caller's key: what the client sent holds it, and a gateway may send it back. Pure.

A piece of the key counts as the key, in upper case or in lower: texts are cut, bytes come in chunks, and some words of
a message are compared in lower case. A key that a gateway codes (base64, escapes) is not known again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import AnyStr

from conformance.contract.clause import Finding
from conformance.report.model import Case

#: What is shorter is no secret, and would be found in ordinary words; so many characters of a key in a row are one.
LEAST, PIECE = 6, 8

_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def masked(case: Case, secret: str) -> Case:
    """`case` with every occurrence of `secret`, or of a piece of it, replaced by as many asterisks, in evidence,
    findings and texts."""
    if len(secret) < LEAST:
        return case
    size = min(PIECE, len(secret))
    pieces = tuple(dict.fromkeys(_lower(secret[at : at + size]) for at in range(len(secret) - size + 1)))
    text = partial(_hidden, pieces=pieces, star="*")
    data = partial(_hidden, pieces=tuple(piece.encode() for piece in pieces), star=b"*")
    return replace(
        case,
        client=case.client
        and replace(case.client, media_type=text(case.client.media_type), exception=text(case.client.exception)),
        evidence=tuple(replace(leg, data=data(leg.data)) for leg in case.evidence),
        verdicts=tuple(
            replace(
                verdict,
                findings=tuple(_finding(found, text, data) for found in verdict.findings),
                reason=text(verdict.reason),
            )
            if verdict.findings or verdict.reason
            else verdict
            for verdict in case.verdicts
        ),
        error=text(case.error),
    )


def _finding(found: Finding, text: Callable[[str], str], data: Callable[[bytes], bytes]) -> Finding:
    return replace(found, expected=text(found.expected), actual=text(found.actual), excerpt=data(found.excerpt))


def _hidden(shown: AnyStr, *, pieces: tuple[AnyStr, ...], star: AnyStr) -> AnyStr:
    """`shown` with an asterisk for each character that is part of a piece; its length stays."""
    plain = _lower(shown)
    spans = sorted((at, at + len(piece)) for piece in pieces for at in _places(plain, piece))
    made, reached = shown[:0], 0
    for start, end in spans:
        if end > reached:
            made += shown[reached : max(start, reached)] + star * (end - max(start, reached))
            reached = end
    return made + shown[reached:] if spans else shown


def _places(text: AnyStr, piece: AnyStr) -> list[int]:
    found, at = [], text.find(piece)
    while at >= 0:
        found.append(at)
        at = text.find(piece, at + 1)
    return found


def _lower(text: AnyStr) -> AnyStr:
    """In lower case, character by character, so that no place moves."""
    return text.lower() if isinstance(text, bytes) else text.translate(_LOWER)
