"""conformance.recorder.file: what the recorder's file takes and refuses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from conformance.cassette.model import Envelope, Frame, Interaction, RecordedRequest
from conformance.cassette.store import load, save
from conformance.errors import CassetteError, UsageError
from conformance.recorder.file import Entry, open_file
from tests.recorder.peers import ABOUT


def interaction(body: bytes = b"{}", *head: str) -> Interaction:
    """An interaction with this response."""
    request = RecordedRequest(method="POST", uri="https://api.test/v1/x", headers=(("B", "1"), ("A", "2"), ("B", "3")))
    envelope = Envelope(head=("HTTP/1.1 200 OK", *head), body=body, frames=(Frame(0.0, len(body)),))
    return Interaction(request=request, envelope=envelope)


def test_entries_are_in_order(tmp_path: Path) -> None:
    """By their place, whenever they came; the file says what it is of, and is read as what was entered."""
    file = open_file(tmp_path / "new" / "a.yaml", ABOUT, append=False)
    entries = [Entry(place=(float(number),), interaction=interaction(b"%d" % number)) for number in (2, 0, 1)]
    assert [file.unfit(entry.interaction) for entry in entries] == ["", "", ""]
    file.note((("response body", "key"),))
    file.write(entries)
    cassette = load(file.path)
    assert [one.envelope.body for one in cassette.interactions] == [b"0", b"1", b"2"]
    assert cassette.interactions[0] == interaction(b"0")
    assert (cassette.origin, cassette.provider, cassette.source, cassette.date) == (
        "recorded",
        "test",
        "a test",
        "2026-01-02",
    )
    assert cassette.title == "Recorded from test"
    assert cassette.redactions == (("response body", "key"),)


def test_what_cannot_be_read_again_is_not_entered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The placeholder of authored cassettes, a head that a cassette has no form for, more than it may hold."""
    file = open_file(tmp_path / "a.yaml", ABOUT, append=False)
    assert "placeholder" in file.unfit(interaction(b"a model said {{nonce}}"))
    assert "cannot hold" in file.unfit(interaction(b"", "A: b\n"))
    odd = replace(interaction(), request=replace(interaction().request, method="a b"))
    assert "cannot hold" in file.unfit(odd)
    monkeypatch.setattr("conformance.recorder.file.MAX_FILE", 10)
    assert file.unfit(interaction(b"x" * 9)) == ""
    assert "holds 9 bytes already" in file.unfit(interaction(b"xx"))


def test_another_program_wrote_it(tmp_path: Path) -> None:
    """What somebody else wrote meanwhile is not overwritten."""
    file = open_file(tmp_path / "a.yaml", ABOUT, append=False)
    entry = Entry(place=(0.0,), interaction=interaction())
    file.write([entry])
    file.write([entry, entry])
    file.path.write_text("mine", encoding="utf-8")
    with pytest.raises(CassetteError, match="another program"):
        file.write([entry])
    assert file.path.read_text(encoding="utf-8") == "mine"


def test_adding(tmp_path: Path) -> None:
    """What it says of itself stays, unless something else is said; its date is the last one."""
    path = tmp_path / "a.yaml"
    first = open_file(path, replace(ABOUT, title="A title"), append=True)
    first.write([Entry(place=(0.0,), interaction=interaction(b"0"))])
    more = open_file(path, replace(ABOUT, source="elsewhere", date="2026-01-03"), append=True)
    assert len(more.before) == 1
    more.write([Entry(place=(0.0,), interaction=interaction(b"1"))])
    cassette = load(path)
    assert [one.envelope.body for one in cassette.interactions] == [b"0", b"1"]
    assert (cassette.title, cassette.source, cassette.date) == ("A title", "a test", "2026-01-03")
    again = open_file(path, replace(ABOUT, title="Another", date="2026-01-04"), append=True)
    again.write([])
    assert (load(path).title, load(path).date) == ("Another", "2026-01-04")


def test_what_is_not_the_recorders_is_refused(tmp_path: Path) -> None:
    """An authored cassette, a file that is none, a name that is none, a file that is there."""
    path = tmp_path / "a.yaml"
    file = open_file(path, ABOUT, append=False)
    file.write([Entry(place=(0.0,), interaction=interaction())])
    save(replace(load(path), origin="authored"), path)
    for append, name, words in (
        (True, "a.yaml", "not one of the recorder's"),
        (False, "a.yaml", "this file exists"),
        (False, "a.txt", "ends in .yaml"),
    ):
        with pytest.raises(UsageError, match=words):
            open_file(tmp_path / name, ABOUT, append=append)
