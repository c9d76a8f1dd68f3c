"""report.jsonl: a header line, a line for each case, a footer line; strict in reading."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from conformance import __version__
from conformance.data import data_root
from conformance.errors import ReportError
from conformance.report.caseline import HELD, INAPPLICABLE
from conformance.report.codec import KINDS, ReportWriter, decode, document, encode, encode_line
from conformance.report.model import Report

from . import sample

WHOLE = encode(sample.EVERYTHING)
SMALL = encode(sample.report(sample.HELD, sample.VIOLATED))


def lines(data: bytes = WHOLE) -> list[Any]:
    """The JSON values of the lines."""
    return [json.loads(line) for line in data.splitlines()]


def with_line(number: int, **changes: Any) -> bytes:
    """SMALL with members of one line changed (or removed, for None)."""
    values = lines(SMALL)
    values[number] = {k: v for k, v in (values[number] | changes).items() if v is not None}
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def schema() -> Any:
    """The schema of a line."""
    return json.loads((data_root("schemas") / "report.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("report", [sample.EVERYTHING, sample.LOADED, sample.report(sample.HELD), sample.report()])
def test_round_trip(report: Report) -> None:
    """Decoding what was encoded gives the same report."""
    assert decode(encode(report)) == report


def test_every_line_fits_the_schema() -> None:
    """Every line of a report with everything in it is valid against schemas/report.json."""
    validator = Draft202012Validator(schema())
    Draft202012Validator.check_schema(schema())
    for line in (*lines(), *lines(encode(sample.LOADED))):
        assert not [error.message for error in validator.iter_errors(line)]


@pytest.mark.parametrize("kind", KINDS)
def test_schema_names_every_field(kind: str) -> None:
    """The schema and the data model have the same members."""
    folded = {HELD, INAPPLICABLE} if kind == "case" else set()
    members = {"kind", *folded, *(name for name in KINDS[kind].__dataclass_fields__)}
    assert schema()["$defs"][kind]["properties"].keys() == members


def test_truncation_never_validates() -> None:
    """A report cut off at any byte is refused."""
    for size in range(len(SMALL)):
        with pytest.raises(ReportError):
            decode(SMALL[:size])


def test_missing_footer_says_so() -> None:
    """Without its footer a report is invalid, and the message names the line."""
    cut = SMALL[: SMALL.rindex(b"\n", 0, -1) + 1]
    with pytest.raises(ReportError, match="no footer") as caught:
        decode(cut, name="old.jsonl")
    assert caught.value.where == "old.jsonl:3"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "does not start with a header"),
        (b"\n", "not JSON"),
        (SMALL + SMALL, "between the cases"),
        (SMALL.split(b"\n", 1)[1], "does not start with a header"),
        (b"".join(line + b"\n" for n, line in enumerate(SMALL.split(b"\n")[:-1]) if n != 1), "does not match"),
        (with_line(0, format=99), "has format 99, this suite reads format 2"),
        (with_line(0, format=1), "has format 1, this suite reads format 2"),
        (with_line(0, format=None), "has format None"),
        (with_line(0, requirements=[]), "not among the header's requirements"),
        (with_line(1, kind="verdict"), "kind is header, case or footer"),
        (with_line(1, kind=[]), "kind is header, case or footer"),
        (with_line(1, surprise=1), "unknown member surprise"),
        (with_line(1, scenario=None), "missing member scenario"),
        (with_line(1, duration_ms="5"), "duration_ms is not of type float"),
        (with_line(1, verdicts={}), "verdicts is not an array"),
        (with_line(1, verdicts=[{"clause": "x", "outcome": "good"}]), r"verdicts\[0\].outcome is not one of"),
        (with_line(1, held={}), "held is not an array"),
        (with_line(1, held=["chat.id.present", 5]), r"held\[1\] is not of type str"),
        (with_line(1, held=["no.such.clause"]), "no.such.clause is not among"),
        (with_line(1, held=None), "does not match"),
        (with_line(1, not_applicable=[]), "not_applicable is not an object"),
        (with_line(1, not_applicable={"no stream": "stream.done.once"}), "not_applicable.no stream is not an array"),
        (with_line(1, not_applicable=None), "does not match"),
        (with_line(1, evidence=[{"name": "client", "data": {"base64": "!"}}]), "not valid base64"),
        (with_line(1, evidence=[{"name": "client", "data": 5}]), "neither a text nor"),
        (with_line(1, client=[]), "client is not an object"),
        (with_line(0, defaults=[]), "defaults is not an object"),
        (with_line(3, exit_code=0), "does not match"),
        (SMALL.replace(b"50.25", b"NaN", 1), "not of type float"),
        (b"[" * 100_000 + b"\n", "not JSON"),
    ],
)
def test_refusals(data: bytes, message: str) -> None:
    """Whatever is not a whole and valid report is refused with what is wrong about it."""
    with pytest.raises(ReportError, match=message):
        decode(data)


def test_another_format_tells_who_reads_it() -> None:
    """A report of another format is refused for that alone, whatever else its lines hold, with who wrote it."""
    with pytest.raises(ReportError, match="format 1") as caught:
        decode(with_line(0, format=1, suite_version="0.0.9", unheard_of=True))
    with pytest.raises(ReportError, match="format 1") as same:
        decode(with_line(0, format=1, suite_version=__version__))
    assert same.value.hint == "run it again"
    assert caught.value.hint == "suite 0.0.9 wrote it: read it with that version, or run it again with this one"


def test_what_tells_nothing_takes_ids_alone() -> None:
    """Clauses that held are a list of ids, those that did not apply a list for each reason; the others are verdicts."""
    _, held, violated, _ = lines(SMALL)
    assert "verdicts" not in held
    assert (held["held"], held["not_applicable"]) == (["chat.id.present"], {"no stream": ["stream.done.once"]})
    assert [verdict["outcome"] for verdict in violated["verdicts"]] == [
        *("violated", "violated", "inconclusive", "violated")
    ]
    assert not {"held", "not_applicable"} & violated.keys()


def test_bytes_are_readable_where_that_loses_nothing() -> None:
    """Clean UTF-8 is written as text, everything else as base64."""
    evidence = lines(SMALL)[2]["evidence"]
    assert evidence[1]["data"] == "POST / HTTP/1.1\r\n\r\n"
    assert evidence[0]["data"].keys() == {"base64"}


def test_writer_keeps_the_order() -> None:
    """The header comes first and nothing follows the footer; each part is one write of one line."""
    written: list[bytes] = []
    writer = ReportWriter(written.append)
    report = sample.report(sample.HELD)
    assert report.footer is not None
    with pytest.raises(ValueError, match="Case cannot come here"):
        writer.add(sample.HELD)
    for part in (report.header, sample.HELD, report.footer):
        writer.add(part)
    with pytest.raises(ValueError, match="Case cannot come here"):
        writer.add(sample.HELD)
    assert written == [encode_line(report.header), encode_line(sample.HELD), encode_line(report.footer)]
    assert decode(b"".join(written)) == report


def test_document_leads_with_the_result() -> None:
    """The one JSON value has the exit code and every violated clause with its case and findings."""
    value = json.loads(json.dumps(document(sample.EVERYTHING)))
    assert value["exit_code"] == 3
    assert [item["id"] for item in value["violated"][:3]] == [
        "stream.done.once",
        "stream.utf8",
        "pool.failover.answers",
    ]
    assert value["violated"][0]["case"] == "stream.twice[wire]"
    assert [item["gates"] for item in value["violated"][:3]] == [True, False, True]
    assert len(value["cases"]) == 18
    assert value["footer"]["spent"] == {"requests": 17, "tokens": 1200}
