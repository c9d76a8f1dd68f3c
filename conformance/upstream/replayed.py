"""What a journal entry's member was playing, worked out again from the entry alone, so that bytes need not travel."""

from __future__ import annotations

from conformance.errors import UpstreamError
from conformance.scenario.model import PlayItem
from conformance.upstream.healthy import healthy, unknown_nonce, unplanned
from conformance.upstream.items import Scripts
from conformance.upstream.journal import Entry
from conformance.upstream.script import Script


def script_of(entry: Entry, scripts: Scripts) -> Script:
    """The script that `entry`'s member played.

    Raises UpstreamError for an inline envelope, whose bytes only its sender has.
    """
    played = entry.played
    if played.cassette == "@default":
        return healthy(entry.request)
    if played.cassette == "@unknown":
        return unknown_nonce(entry.nonce)
    if played.cassette == "@unplanned":
        return unplanned(entry.nonce, entry.member)
    if not played.cassette:
        raise UpstreamError("an inline envelope's script is its sender's alone", where=f"attempt of {entry.nonce}")
    item = PlayItem(cassette=played.cassette, interaction=played.interaction, transforms=played.transforms)
    return scripts.plan(item, entry.nonce).script
