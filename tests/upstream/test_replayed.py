"""conformance.upstream.replayed: from an entry alone to the bytes that its member sent."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.cassette.store import Library
from conformance.errors import UpstreamError
from conformance.scenario.model import PlayItem
from conformance.upstream.client import SyncControlClient
from conformance.upstream.items import WORDS, Inline, Item, Scripts
from conformance.upstream.journal import Entry, Played, sent_segments
from conformance.upstream.process import UpstreamProcess
from conformance.upstream.replayed import script_of
from tests.upstream.conftest import DATA
from tests.upstream.peer import Peer, chat, document, fresh_nonce


def attempt(upstream: UpstreamProcess, control: SyncControlClient, item: Item | None) -> tuple[Entry, bytes]:
    """One attempt at u0 and what the gateway's side got; None: the play has nothing for the member."""
    nonce = fresh_nonce()
    control.arm(nonce, {"u0": [item]} if item else {})
    with Peer(upstream.ports[0]) as peer:
        peer.send(chat(nonce))
        got = peer.read_until(lambda data: data.endswith(b"}"))
    (entry,) = control.take(nonce, wait_ms=5000)
    return entry, got


@pytest.mark.parametrize("item", [PlayItem(cassette="vcrpy-chat", transforms=("header:A=b",)), None])
def test_the_script_of_an_entry_gives_the_sent_bytes(
    upstream: UpstreamProcess, control: SyncControlClient, item: Item | None
) -> None:
    """A cassette's interaction with its transforms, and the 599 of an unplanned member."""
    entry, got = attempt(upstream, control, item)
    script = script_of(entry, Scripts(Library((DATA,)).get))
    assert b"".join(data for _, data in sent_segments(entry, script)) == got


def test_stray_entries_have_scripts_too(upstream: UpstreamProcess, control: SyncControlClient) -> None:
    """The healthy default and the 599 of an unknown nonce."""
    unknown = fresh_nonce()
    with Peer(upstream.ports[0]) as peer:
        peer.send(b"GET /v1/models HTTP/1.1\r\nHost: m\r\n\r\n" + chat(unknown))
        got = peer.read_until(lambda data: data.count(b"HTTP/1.1 ") == 2 and data.endswith(b"}}"))
    scripts = Scripts(Library((DATA,)).get)
    entries = control.stray()[-2:]
    assert [entry.played.cassette for entry in entries] == ["@default", "@unknown"]
    assert b"".join(data for entry in entries for _, data in sent_segments(entry, script_of(entry, scripts))) == got


def test_words_have_their_script_and_inline_envelopes_have_none(
    upstream: UpstreamProcess, control: SyncControlClient
) -> None:
    """Only who armed an inline envelope has its bytes."""
    entry, _ = attempt(upstream, control, Inline(envelope=document()))
    scripts = Scripts(Library((DATA,)).get)
    with pytest.raises(UpstreamError, match="inline"):
        script_of(entry, scripts)
    assert script_of(replace(entry, played=Played(cassette="@reset")), scripts) is WORDS["@reset"]
