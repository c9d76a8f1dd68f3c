"""The HTML page and the badge: everything that a report holds is told, and nothing from the wire acts."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from conformance.contract.clause import Finding, Outcome
from conformance.report import badge, html
from conformance.report.gate import close
from conformance.report.model import Deviation, Report

from . import sample

VOID = {"meta"}
HOSTILE = '"><script>alert(1)</script><img src=x onerror=y>\x1b[31m\x00\ud800'


class Page(HTMLParser):
    """The elements of a page with their attributes, its text, and whether each element that opens also closes."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.met: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self._open: list[str] = []
        self.feed(document)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element opens."""
        self.met.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """It closes, the innermost first."""
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Text."""
        self.words += data

    def values(self, tag: str, name: str) -> list[str]:
        """The values of an attribute of these elements."""
        return [value for met, attributes in self.met if met == tag and (value := attributes.get(name)) is not None]


KNOWN = Deviation(clause="stream.done.once", reason="r", link="l", expires="2999-12-31")
EXCUSED = close(
    replace(sample.HEADER, deviations=(KNOWN,)), (sample.REPEATED[0], sample.HELD), ended_at="2026-11-29T12:01:00Z"
)


@pytest.mark.parametrize(
    "report", [sample.EVERYTHING, sample.LOADED, sample.report(sample.HELD), sample.report(), EXCUSED]
)
def test_a_page_is_whole(report: Report) -> None:
    """Every element closes, every link within leads somewhere, every clause has its row, nothing is fetched."""
    page = Page(html.render(report))
    anchors = [attributes["id"] for _, attributes in page.met if "id" in attributes]
    assert len(anchors) == len(set(anchors))
    links = page.values("a", "href")
    assert {link[1:] for link in links if link.startswith("#")} <= set(anchors)
    assert all(link.startswith(("#", "https://")) for link in links)
    assert all(need.id in page.words for need in report.header.requirements)
    assert not {tag for tag, _ in page.met} & {"script", "img", "link", "iframe", "object"}
    assert all(not name.startswith("on") and name != "src" for _, attributes in page.met for name in attributes)


def test_a_violation_is_shown_with_its_bytes() -> None:
    """Requirement, norm, expected, actual, and the very bytes marked; a clause that does not gate says so."""
    page = Page(html.render(sample.EVERYTHING))
    assert page.values("div", "id") == ["stream.done.once", "pool.failover.answers", "stream.utf8"]
    assert page.words.count("does not fail the run") == 1
    for words in ("one [DONE]", "2, the second at byte 180\\x07", "+41.5 ms >", "the upstream's journal overflowed"):
        assert words in page.words
    assert "https://example.org/chat-streaming" in page.values("a", "href")
    assert ("mark", {}) in page.met
    wide = page.values("div", "class")
    assert wide.count("wide") == len([tag for tag, _ in page.met if tag == "table"])
    assert page.words.count("the whole exchange") == 3
    assert page.words.count("POST / HTTP/1.1") == 3


def test_nothing_from_the_wire_acts() -> None:
    """Whatever stands in names, titles, findings and bytes is text."""
    finding = Finding(expected=HOSTILE, actual=HOSTILE, excerpt=HOSTILE.encode("utf-8", "surrogatepass"))
    case = replace(
        sample.VIOLATED,
        id=HOSTILE,
        title=HOSTILE,
        nonce=HOSTILE,
        evidence=(),
        verdicts=(sample.verdict("stream.done.once", Outcome.VIOLATED, finding),),
    )
    needs = tuple(replace(need, link=f"https://x.example/{HOSTILE}") for need in sample.REQUIREMENTS)
    base = sample.report(case)
    hostile = replace(base, header=replace(base.header, target=HOSTILE, requirements=needs, command=HOSTILE))
    page = Page(html.render(hostile))
    assert not {tag for tag, _ in page.met} & {"script", "img"}
    assert [link for link in page.values("a", "href") if not link.startswith("#")] == []
    assert page.words.count("<script>alert(1)</script>") >= 6
    assert "\x1b" not in page.words
    html.render(hostile).encode()


@pytest.mark.parametrize(
    ("report", "words", "colour"),
    [
        (sample.report(sample.HELD), "1 clause held", "#2da44e"),
        (sample.report(*sample.REPEATED), "1 clause violated", "#cf222e"),
        (sample.EVERYTHING, "no result", "#6e7781"),
        (EXCUSED, "1 clause held, 1 known violation", "#2da44e"),
    ],
)
def test_a_badge_says_the_result(report: Report, words: str, colour: str) -> None:
    """It is well-formed, and its words and its colour follow from the exit code."""
    root = ElementTree.fromstring(badge.render(report))
    space = "{http://www.w3.org/2000/svg}"
    assert [text.text for text in root.iter(f"{space}text")] == ["gateway conformance", words]
    assert [shape.get("fill") for shape in root.iter(f"{space}rect")][1] == colour
    assert root.get("aria-label") == f"gateway conformance: {words}"
