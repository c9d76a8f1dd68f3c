"""How an exchange came out for its caller: the readings, and their tables."""

from __future__ import annotations

import gzip
from dataclasses import replace

import pytest

from conformance.exchange.model import HangUp
from conformance.report import junit, markdown, terminal, views
from conformance.report.caller import reading_of
from conformance.report.model import Report
from conformance.report.reading import Reading
from conformance.wire.transcript import End
from tests.contract.captures import Ask, ask, capture, chat, chunk, error, exchange, opening, stream, wire, words
from tests.contract.sequences import ANSWERS, turn
from tests.report import sample


@pytest.mark.parametrize(
    ("tried", "got", "reading"),
    [
        (("m0:ok",), "ok", Reading.ANSWERED),
        (("m0:stream",), "stream", Reading.ANSWERED),
        (("m0:500", "m1:ok"), "ok", Reading.RESCUED),
        (("m0:reset", "m1:stream"), "stream", Reading.RESCUED),
        (("m0:429",), "429", Reading.CLEAN_ERROR),
        ((), "busy", Reading.CLEAN_ERROR),
        (("m0:cut",), "stream", Reading.TRUNCATED),
        (("m0:empty",), "empty", Reading.TRUNCATED),
        (("m0:ok",), "cut", Reading.BROKEN),
        (("m0:500",), "404", Reading.BROKEN),
    ],
)
def test_readings(tried: tuple[str, ...], got: str, reading: Reading) -> None:
    """What the client had, read beside what its members gave."""
    assert reading_of(turn(0, *tried, got=ANSWERS[got]).exchange) is reading


def test_an_error_told_in_a_stream_is_clean() -> None:
    """A stream that broke and says so tells its caller; one that only ends does not."""
    told = wire(stream(opening(), chunk("Hel"), error("The upstream broke."), done=False))
    assert reading_of(exchange(capture(turn_request(), told, [ANSWERS["cut"]]))) is Reading.CLEAN_ERROR
    quiet = wire(stream(opening(), chunk("Hel"), done=False))
    assert reading_of(exchange(capture(turn_request(), quiet, [ANSWERS["cut"]]))) is Reading.TRUNCATED
    laundered = wire(stream(*words("Hel")))
    assert reading_of(exchange(capture(turn_request(), laundered, [ANSWERS["cut"]]))) is Reading.TRUNCATED


def test_an_answer_that_was_told_whole_is_no_truncated_one() -> None:
    """A member that told its finish reason and then fell silent, or cut the connection, said all."""
    whole = wire(stream(*words("Hel")))
    for end in ("stall", "reset"):
        told = wire(stream(*words("Hel"), done=False), end=end)
        assert reading_of(exchange(capture(turn_request(), whole, [told]))) is Reading.ANSWERED


def test_an_answer_that_the_gateway_mended_is_no_truncated_one() -> None:
    """A member's malformed reply that holds the whole answer, and reaches the client well formed, was not cut."""
    whole = stream(*words("Hello", "."))
    answer = wire(whole)
    labelled = wire(b"".join(data for _, data in whole), media="application/json")
    pinged = wire(stream(b"data:\n\n", *words("Hello", ".")))
    for member in (labelled, pinged):
        assert reading_of(exchange(capture(turn_request(), answer, member))) is Reading.ANSWERED
        rescued = exchange(capture(turn_request(), answer, [ANSWERS["500"], member]))
        assert reading_of(rescued) is Reading.RESCUED


def test_an_answer_made_of_none_is_a_truncated_one() -> None:
    """An error, a page, silence, a torn text or a failing end under a success is never an answer."""
    answer = wire(stream(*words("Hello", ".")))
    page = wire(b"<html>Bad gateway</html>", media="text/html")
    torn = wire(stream(opening(), b'data: {"choices":[{"index":0,"delta":{"content":"lost"}\n\n', *words("Hello", ".")))
    failing = wire(stream(opening(), chunk("Hello."), chunk(reason="network_error")))
    told = wire(stream(opening(), chunk("Hello"), error("The upstream broke."), done=False))
    silent = wire(stream(opening(), chunk("Hello."), done=False), end="stall")
    for member in (page, torn, failing, told, silent, wire(b""), wire(status=0, end="reset"), ANSWERS["500"]):
        assert reading_of(exchange(capture(turn_request(), answer, member))) is Reading.TRUNCATED


def test_bytes_that_are_no_text_are_broken() -> None:
    """Compressed events without their coding's name look like nothing, and not like an answer."""
    packed = gzip.compress(b"".join(data for _, data in stream(*words("Hello", "."))), mtime=0)
    named = wire(((0.0, packed),), headers=("Content-Encoding: gzip",))
    assert reading_of(exchange(capture(turn_request(), wire(((0.0, packed),)), named))) is Reading.BROKEN
    assert reading_of(exchange(capture(turn_request(), named, named))) is Reading.ANSWERED


def turn_request() -> Ask:
    """A request for a stream."""
    return ask(stream=True)


def test_silence_is_a_hang_and_a_hang_up_none() -> None:
    """The client's own deadline makes it a hang; a client that went away has no reading."""
    seen = turn(0, "m0:ok").exchange
    waited = replace(seen, transcript=replace(seen.transcript, end=End.STALL, deadline="idle"))
    assert reading_of(waited) is Reading.HANG
    assert reading_of(replace(seen, hangup=HangUp(after="head", at=5.0))) is None


def test_a_capture_of_the_client_leg_alone_is_read() -> None:
    """Without the upstream leg a whole answer is an answer."""
    assert reading_of(exchange(capture(turn_request(), wire(chat())))) is Reading.ANSWERED


@pytest.mark.parametrize(("method", "reading"), [("OPTIONS", Reading.ANSWERED), ("POST", Reading.TRUNCATED)])
def test_nothing_is_whole_where_nothing_was_asked_for(method: str, reading: Reading) -> None:
    """204 answers a preflight, and is no answer of the API."""
    preflight = Ask(value={"model": "m", "messages": []} if method == "POST" else None, method=method)
    assert reading_of(exchange(capture(preflight, wire(status=204, media="", framing="none")))) is reading


def report() -> Report:
    """The sample report with readings."""
    made = sample.EVERYTHING
    kinds = [Reading.ANSWERED, Reading.TRUNCATED]
    cases = tuple(replace(case, reading=kinds[number % 2]) for number, case in enumerate(made.cases))
    return replace(made, cases=cases)


def test_tables_of_readings() -> None:
    """A row for each scenario and for each area; what misleads a caller is marked."""
    rows = views.readings(report())
    assert sum(sum(row.counts.values()) for row in rows) == len(sample.EVERYTHING.cases)
    assert any(row.bad for row in rows)
    assert {row.name for row in views.readings(report(), by_area=True)} == {case.area for case in report().cases}
    assert views.readings(sample.EVERYTHING) == ()


def test_renderings_show_them() -> None:
    """Markdown has the table of scenarios, JUnit a property, the terminal a row for each area."""
    from io import StringIO

    from rich.console import Console

    text = markdown.render(report())
    assert "truncated success" in text
    assert "came out" in text
    assert "came out" not in markdown.render(sample.EVERYTHING)
    assert '<property name="reading" value="truncated success" />' in junit.render(report())
    console = Console(file=StringIO(), width=160)
    with console.capture() as shown:
        console.print(terminal.render(report()))
    assert "truncated success" in shown.get()
