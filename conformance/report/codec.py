"""report.jsonl: a header line, a line for each case, a footer line; strict in reading, since others check it.

Between a Report and bytes. A report without its footer, or whose footer does not match its cases, is refused. Opens no
file: the writer is handed a function that takes the bytes of one line.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from conformance import __version__
from conformance.contract.clause import Outcome
from conformance.errors import ReportError
from conformance.report.caseline import fold, in_order, unfold
from conformance.report.deviations import excuse
from conformance.report.gate import exit_code, summarise
from conformance.report.model import FORMAT, Case, Part, Report, RunFooter, RunHeader
from conformance.report.plain import Misfit, from_plain, to_plain

KINDS: dict[str, type[Any]] = {"header": RunHeader, "case": Case, "footer": RunFooter}


def encode_line(part: Part) -> bytes:
    """One line of report.jsonl, its line feed included."""
    kind = next(name for name, kind in KINDS.items() if isinstance(part, kind))
    plain = {"kind": kind, **(fold(part) if isinstance(part, Case) else to_plain(part))}
    return _text(plain).encode() + b"\n"


def encode(report: Report) -> bytes:
    """The whole report.jsonl."""
    parts: list[Part] = [report.header, *report.cases, *([report.footer] if report.footer else [])]
    return b"".join(map(encode_line, parts))


def decode(data: bytes, *, name: str = "report.jsonl") -> Report:
    """The report in `data`.

    Raises ReportError, with `name` and the line's number, for anything that is not whole and valid.
    """
    lines = data.split(b"\n")
    if lines.pop() != b"":
        raise _refusal("the last line is cut off: the run did not come to its end", name, len(lines) + 1)
    parts = [_decode_line(line, name, number) for number, line in enumerate(lines, 1)]
    if not parts or not isinstance(parts[0], RunHeader):
        raise _refusal("the report does not start with a header", name, 1)
    if not isinstance(parts[-1], RunFooter):
        raise _refusal("the report has no footer: the run did not come to its end", name, len(parts))
    cases = []
    for number, part in enumerate(parts[1:-1], 2):
        if not isinstance(part, Case):
            raise _refusal("a header or a footer stands between the cases", name, number)
        cases.append(part)
    report = Report(header=parts[0], cases=tuple(cases), footer=parts[-1])
    _check(report, name)
    return replace(report, cases=in_order(cases, report.header.requirements))


def decode_case(line: bytes) -> Case:
    """The case of one line. Raises ReportError for a line that is no case."""
    part = _decode_line(line, "a case", 1)
    if not isinstance(part, Case):
        raise _refusal("the line is no case", "a case", 1)
    return part


def document(report: Report) -> dict[str, Any]:
    """The report as one JSON value: its parts, before them the result and every violated clause."""
    index, footer = report.header.index(), report.footer
    violated = [
        {
            **to_plain(index[verdict.clause]),
            "case": case.id,
            "gates": index[verdict.clause].gates,
            "deviation": to_plain(known) if (known := excuse(report.header, case, verdict)) else None,
            "findings": to_plain(verdict.findings),
        }
        for case in report.cases
        for verdict in case.of(Outcome.VIOLATED)
    ]
    return {
        "exit_code": exit_code(summarise(report)),
        "violated": violated,
        "header": to_plain(report.header),
        "cases": list(map(fold, report.cases)),
        "footer": to_plain(footer) if footer else None,
    }


class ReportWriter:
    """Writes a run line by line, as it happens. `write` takes one whole line and must see that it is on disk.

    The header comes first, the footer last; nothing may follow it.
    """

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self._write = write
        self._expected: tuple[type[Any], ...] = (RunHeader,)

    def add(self, part: Part) -> None:
        """Write one part. Raises ValueError for a part that cannot come now."""
        if not isinstance(part, self._expected):
            raise ValueError(f"a report's {type(part).__name__} cannot come here")
        self._write(encode_line(part))
        self._expected = () if isinstance(part, RunFooter) else (Case, RunFooter)


def _text(plain: Any) -> str:
    """One line of JSON. Lone surrogates, which UTF-8 cannot hold, stay as the escapes that JSON has for them."""
    text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text if text.isascii() or _encodable(text) else json.dumps(plain, separators=(",", ":"), allow_nan=False)


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _decode_line(line: bytes, name: str, number: int) -> Part:
    try:
        plain = json.loads(line)
    except (ValueError, RecursionError):
        raise _refusal("the line is not JSON", name, number) from None
    kind = plain.pop("kind", None) if isinstance(plain, dict) else None
    if not isinstance(kind, str) or kind not in KINDS:
        raise _refusal("the line is not an object whose kind is header, case or footer", name, number)
    if kind == "header" and plain.get("format") != FORMAT:
        raise _other_format(plain, name, number)
    try:
        part: Part = unfold(plain) if kind == "case" else from_plain(KINDS[kind], plain)
    except Misfit as misfit:
        raise _refusal(str(misfit), name, number) from None
    return part


def _check(report: Report, name: str) -> None:
    """Refuse a footer that does not follow from the cases."""
    last = len(report.cases) + 2
    known = report.header.index()
    for number, case in enumerate(report.cases, 2):
        for verdict in case.verdicts:
            if verdict.clause not in known:
                raise _refusal(f"the clause {verdict.clause} is not among the header's requirements", name, number)
    summary = summarise(report)
    if report.footer is None or summary != report.footer.summary or exit_code(summary) != report.footer.exit_code:
        raise _refusal("the footer does not match the cases: lines are missing or were changed", name, last)


def _other_format(header: dict[str, Any], name: str, line: int) -> ReportError:
    """The refusal of a report that another version of the suite wrote."""
    told, suite = header.get("format"), header.get("suite_version")
    what = f"the report has format {told!r}, this suite reads format {FORMAT}"
    other = isinstance(suite, str) and suite != __version__
    hint = (
        f"suite {suite} wrote it: read it with that version, or run it again with this one" if other else "run it again"
    )
    return ReportError(what, where=f"{name}:{line}", hint=hint)


def _refusal(what: str, name: str, line: int) -> ReportError:
    return ReportError(what, where=f"{name}:{line}", hint="run it again; an invalid report counts for nothing")
