"""conformance.upstream.items: items to scripts and to JSON."""

from __future__ import annotations

import json

import pytest

from conformance.cassette.model import Cassette, Envelope, EnvelopeEnd, Frame, Interaction, RecordedRequest
from conformance.errors import CassetteError, ScenarioError
from conformance.scenario.model import PlayItem
from conformance.upstream.items import WORDS, Inline, Item, Scripts, decode_item, digest_of, encode_item
from conformance.upstream.journal import Played
from conformance.upstream.script import script
from tests.upstream.peer import document, events

NONCE = "cf-abcdef"


def library(name: str) -> Cassette:
    if name != "here":
        raise CassetteError("there is no such cassette", where=name)
    request = RecordedRequest(method="POST", uri="http://m0.test/")
    replies = (document(), document(b'{"id":"{{nonce}}"}'), events())
    return Cassette(name=name, interactions=tuple(Interaction(request=request, envelope=reply) for reply in replies))


ITEMS: list[Item] = [
    PlayItem(cassette="here"),
    PlayItem(cassette="here", interaction=2, transforms=("drop-done", "rechunk:7")),
    PlayItem(cassette="@reset"),
    Inline(envelope=document(b"\xff\x00", end=EnvelopeEnd.RESET)),
    Inline(envelope=events(2, ms=2.5), transforms=("gzip",)),
]


@pytest.mark.parametrize("item", ITEMS)
def test_an_item_survives_its_json(item: Item) -> None:
    """Encoded, dumped, loaded, decoded: the same item."""
    assert decode_item(json.loads(json.dumps(encode_item(item)))) == item


def test_a_bare_envelope_is_an_inline_one() -> None:
    """On both ways."""
    assert decode_item(encode_item(document())) == Inline(envelope=document())
    scripts = Scripts(library)
    assert scripts.plan(document(), NONCE) == scripts.plan(Inline(envelope=document()), NONCE)


def test_frames_may_be_left_out_of_json() -> None:
    """Then the body is one frame, with the head."""
    item = decode_item({"envelope": {"head": ["HTTP/1.1 200 OK"], "body": "e30="}})
    assert item == Inline(envelope=Envelope(head=("HTTP/1.1 200 OK",), body=b"{}", frames=(Frame(0.0, 2),)))
    empty = decode_item({"envelope": {"head": [], "body": "", "end": "close"}})
    assert isinstance(empty, Inline)
    assert empty.envelope.frames == ()


def test_a_cassettes_interaction_is_planned_once() -> None:
    """The script is the pure function's, and the same object the next time."""
    scripts = Scripts(library)
    item = PlayItem(cassette="here", interaction=2, transforms=("drop-done",))
    planned = scripts.plan(item, NONCE)
    assert planned.script == script(events(), transforms=("drop-done",))
    assert planned.played == Played(cassette="here", interaction=2, transforms=("drop-done",))
    assert scripts.plan(item, "cf-other1") is planned


def test_a_placeholder_is_filled_for_each_nonce() -> None:
    """What depends on the nonce is not kept."""
    scripts = Scripts(library)
    item = PlayItem(cassette="here", interaction=1)
    for nonce in (NONCE, "cf-other1"):
        assert nonce.encode() in scripts.plan(item, nonce).script.steps[0].data


def test_inline_envelopes_are_told_apart_by_digest() -> None:
    """Equal ones share it, and the played item names it."""
    planned = Scripts(library).plan(Inline(envelope=document()), NONCE)
    assert planned.played == Played(digest=digest_of(document()))
    assert digest_of(document()) != digest_of(document(b"{}"))
    assert len(digest_of(document())) == 16


def test_words_have_one_step() -> None:
    """And nothing to send."""
    for word, expected in WORDS.items():
        planned = Scripts(library).plan(PlayItem(cassette=word), NONCE)
        assert (planned.script, planned.played.cassette) == (expected, word)
        assert len(expected.steps) == 1


def test_what_cannot_be_planned_says_why() -> None:
    """No such cassette, no such interaction (negative ones neither)."""
    scripts = Scripts(library)
    with pytest.raises(CassetteError):
        scripts.plan(PlayItem(cassette="nowhere"), NONCE)
    for index in (3, -1):
        with pytest.raises(ScenarioError, match="no interaction"):
            scripts.plan(PlayItem(cassette="here", interaction=index), NONCE)


def test_large_scripts_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Past the bound they are made anew each time."""
    monkeypatch.setattr("conformance.upstream.items.KEPT_BYTES", 10)
    scripts = Scripts(library)
    first = scripts.plan(PlayItem(cassette="here"), NONCE)
    assert scripts.plan(PlayItem(cassette="here"), NONCE) is not first
