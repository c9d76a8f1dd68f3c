"""The cassette that the recorder writes: exchanges are entered one by one, and the file is replaced as a whole.

Refuses what a cassette cannot give back, and a file that is not the recorder's. The one part of the recorder that
touches files.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path

from conformance.cassette.codec import decode, encode
from conformance.cassette.model import Cassette, Interaction
from conformance.cassette.pieces import Piece, piece
from conformance.cassette.redact import redact
from conformance.cassette.store import SUFFIXES, load, save, save_pieces
from conformance.errors import CassetteError, UsageError

#: No more is entered in one file, in bytes of requests and responses: what is written has to be read again.
MAX_FILE = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What the file says of itself. Where one is added to, an empty title, provider or source leaves what it says."""

    title: str
    provider: str
    source: str
    date: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One interaction; `place` orders them, `owner` is the client's exchange that it belongs to (None: it is one)."""

    place: tuple[float, ...]
    interaction: Interaction
    owner: int | None = None
    piece: Piece = field(init=False)

    def __post_init__(self) -> None:
        """A piece is made once, and of what is redacted."""
        object.__setattr__(self, "piece", _piece(self.interaction))


def _piece(interaction: Interaction) -> Piece:
    return piece(redact(Cassette(name="", interactions=(interaction,))).interactions[0])


class RecordFile:
    """Entries that came since the start, behind those that the file held."""

    def __init__(self, path: Path, blank: Cassette) -> None:
        self.path = path
        self._blank = blank
        self._stamp = _stamp(path)
        self._size = sum(map(_size, blank.interactions))
        self._notes = dict.fromkeys(blank.redactions)
        self._pieces = [_piece(interaction) for interaction in blank.interactions]

    @property
    def before(self) -> tuple[Interaction, ...]:
        """The interactions that it held from the start."""
        return self._blank.interactions

    def unfit(self, interaction: Interaction) -> str:
        """Why an interaction cannot be entered, "" when it can: then it counts as entered."""
        alone = replace(self._blank, interactions=(interaction,), redactions=())
        try:
            again = decode(encode(alone), name=alone.name)
        except CassetteError as error:
            return f"a cassette cannot hold it: {error.what}"
        if again.interactions != alone.interactions:
            return "a cassette cannot hold it: it would not be read again as it was"
        if self._size + _size(interaction) > MAX_FILE:
            return f"the file holds {self._size} bytes already, and takes no more than {MAX_FILE}"
        self._size += _size(interaction)
        return ""

    def note(self, notes: tuple[tuple[str, str], ...]) -> None:
        """Where something was taken out, and of which kind."""
        self._notes |= dict.fromkeys(notes)

    def write(self, entries: list[Entry]) -> None:
        """Replace the file: what it held, then `entries` in order. Raises CassetteError."""
        if _stamp(self.path) != self._stamp:
            hint = "record into another file"
            raise CassetteError("another program has written this file", where=str(self.path), hint=hint)
        fresh = sorted(entries, key=lambda entry: entry.place)
        blank = replace(self._blank, redactions=tuple(self._notes))
        if self.path.suffix == ".json" or not (self._pieces or fresh):
            added = tuple(entry.interaction for entry in fresh)
            save(replace(blank, interactions=blank.interactions + added), self.path)
        else:
            save_pieces(blank, [*self._pieces, *(entry.piece for entry in fresh)], self.path)
        self._stamp = _stamp(self.path)


def open_file(path: Path, about: About, *, append: bool) -> RecordFile:
    """The file at `path`, new, or one of the recorder's own to add to. Raises UsageError; writes nothing yet."""
    if path.suffix not in SUFFIXES:
        raise UsageError("a cassette's name ends in .yaml, .yml or .json", where=str(path), hint="--out names one")
    if path.exists() or path.is_symlink():
        if not append:
            raise UsageError("this file exists", where=str(path), hint="name another one, or add to it with --append")
        return RecordFile(path, _continued(path, about))
    _require_writable(path)
    title = about.title or f"Recorded from {about.provider}"
    blank = Cassette(name=path.stem, interactions=(), title=title, origin="recorded", date=about.date)
    return RecordFile(path, replace(blank, provider=about.provider, source=about.source))


def _continued(path: Path, about: About) -> Cassette:
    cassette = load(path)
    if cassette.origin != "recorded":
        hint = "recorded and other material do not share a file"
        raise UsageError("this cassette is not one of the recorder's", where=str(path), hint=hint)
    title, source = about.title or cassette.title, cassette.source or about.source
    return replace(cassette, title=title, source=source, provider=cassette.provider or about.provider, date=about.date)


def _require_writable(path: Path) -> None:
    """Raise where the folder cannot be made or written, before anything is recorded for nothing."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        writable = os.access(path.parent, os.W_OK | os.X_OK)
    except OSError as error:
        raise UsageError(f"the folder cannot be made: {error.strerror}", where=str(path.parent)) from error
    if not writable:
        raise UsageError("the folder cannot be written", where=str(path.parent), hint="--out names a file elsewhere")


def _stamp(path: Path) -> tuple[int, int, int] | None:
    """What changes when somebody writes the file; None while there is none to be seen."""
    try:
        told = path.stat()
    except OSError:
        return None
    return told.st_ino, told.st_mtime_ns, told.st_size


def _size(interaction: Interaction) -> int:
    return len(interaction.request.body) + len(interaction.envelope.body)
