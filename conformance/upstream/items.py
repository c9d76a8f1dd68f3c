"""Items of a play, between Python, JSON and scripts: a cassette's interaction, an inline envelope, or a word.

Item <-> JSON; item -> Planned (what is played, and its script). The library of cassettes is handed in as a function.
Knows no socket and no clock.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from conformance.cassette.model import Cassette, Envelope, EnvelopeEnd, Frame
from conformance.errors import ScenarioError
from conformance.scenario.model import PlayItem
from conformance.upstream.journal import Played
from conformance.upstream.script import Action, Script, Step, has_placeholder, script
from conformance.upstream.transforms import dated

#: What a member can do without an envelope, as the words of a play. On a connection that is open, "@refuse" resets.
WORDS: dict[str, Script] = {
    "@close": Script((Step(0.0, Action.CLOSE),)),
    "@reset": Script((Step(0.0, Action.RESET),)),
    "@hang": Script((Step(0.0, Action.STALL),)),
    "@refuse": Script((Step(0.0, Action.RESET),)),
}
REFUSE = "@refuse"

#: Scripts are kept up to this many bytes in all; past it they are made anew each time.
KEPT_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Inline:
    """An envelope given as it is, and the transforms applied to it."""

    envelope: Envelope
    transforms: tuple[str, ...] = ()


Item = PlayItem | Inline | Envelope


@dataclass(frozen=True, slots=True)
class Planned:
    """An item ready to be played."""

    played: Played
    script: Script


class Scripts:
    """Makes the script of an item; those that do not depend on the nonce are made once.

    `cassette` gives a cassette by name and raises CassetteError when there is none.
    """

    def __init__(self, cassette: Callable[[str], Cassette]) -> None:
        self._cassette = cassette
        self._kept: dict[Played, Planned] = {}
        self._bytes = 0

    def plan(self, item: Item, nonce: str) -> Planned:
        """What `item` plays for `nonce`. Raises CassetteError or ScenarioError."""
        if isinstance(item, PlayItem):
            if item.cassette.startswith("@"):
                return _word(item)
            played = Played(cassette=item.cassette, interaction=item.interaction, transforms=item.transforms)
            return self._kept.get(played) or self._planned(played, self._envelope(item), nonce)
        inline = item if isinstance(item, Inline) else Inline(envelope=item)
        played = Played(digest=digest_of(inline.envelope), transforms=inline.transforms)
        return self._kept.get(played) or self._planned(played, inline.envelope, nonce)

    def _envelope(self, item: PlayItem) -> Envelope:
        interactions = self._cassette(item.cassette).interactions
        if not 0 <= item.interaction < len(interactions):
            raise ScenarioError(
                f"there is no interaction {item.interaction}",
                where=item.cassette,
                hint=f"it has {len(interactions)}, counted from 0",
            )
        return interactions[item.interaction].envelope

    def _planned(self, played: Played, envelope: Envelope, nonce: str) -> Planned:
        planned = Planned(played, script(envelope, transforms=played.transforms, nonce=nonce))
        size = sum(len(step.data) for step in planned.script.steps)
        if not has_placeholder(envelope) and self._bytes + size <= KEPT_BYTES:
            self._kept[played] = planned
            self._bytes += size
        return planned


def armed(item: Item, now: str) -> Item:
    """The item as it is played when it is armed at `now`, a date of RFC 9110's form."""
    if isinstance(item, Envelope):
        return item
    return replace(item, transforms=tuple(dated(text, now) for text in item.transforms))


def digest_of(envelope: Envelope) -> str:
    """A short digest that tells inline envelopes apart: the first 16 hex digits of a sha256."""
    text = json.dumps(encode_envelope(envelope), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def encode_envelope(envelope: Envelope) -> dict[str, Any]:
    """The JSON form of an envelope; the body is base64."""
    return {
        "head": list(envelope.head),
        "body": b64encode(envelope.body).decode("ascii"),
        "frames": [[frame.at, frame.size] for frame in envelope.frames],
        "end": envelope.end.value,
    }


def encode_item(item: Item) -> dict[str, Any]:
    """The JSON form of an item."""
    if isinstance(item, PlayItem):
        if item.cassette.startswith("@"):
            return {"special": item.cassette, "transforms": list(item.transforms)}
        return {"cassette": item.cassette, "interaction": item.interaction, "transforms": list(item.transforms)}
    inline = item if isinstance(item, Inline) else Inline(envelope=item)
    return {"envelope": encode_envelope(inline.envelope), "transforms": list(inline.transforms)}


def decode_item(data: Any) -> Item:
    """The item of a JSON form. Raises ScenarioError when it is none."""
    if not isinstance(data, Mapping) or len({"special", "cassette", "envelope"} & data.keys()) != 1:
        raise ScenarioError("an item has exactly one of special, cassette, envelope", where=f"item {data!r:.200}")
    try:
        transforms = tuple(_text(name) for name in data.get("transforms", ()))
        if "special" in data:
            return PlayItem(cassette=_text(data["special"]), transforms=transforms)
        if "cassette" in data:
            return PlayItem(
                cassette=_text(data["cassette"]), interaction=int(data.get("interaction", 0)), transforms=transforms
            )
        return Inline(envelope=_decode_envelope(data["envelope"]), transforms=transforms)
    except (KeyError, TypeError, ValueError) as error:
        raise ScenarioError(f"the item cannot be read: {error}", where=f"item {data!r:.200}") from error


def _decode_envelope(data: Mapping[str, Any]) -> Envelope:
    body = b64decode(data["body"], validate=True)
    frames = data.get("frames")
    if frames is None:
        frames = [[0.0, len(body)]] if body else []
    return Envelope(
        head=tuple(_text(line) for line in data["head"]),
        body=body,
        frames=tuple(Frame(float(at), int(size)) for at, size in frames),
        end=EnvelopeEnd(data.get("end", "complete")),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.50} is not text")
    return value


def _word(item: PlayItem) -> Planned:
    known = WORDS.get(item.cassette)
    if known is None:
        raise ScenarioError(f"there is no word {item.cassette!r}", where="play", hint=f"known: {', '.join(WORDS)}")
    if item.transforms:
        raise ScenarioError("a word has no bytes to transform", where=item.cassette)
    return Planned(Played(cassette=item.cassette), known)
