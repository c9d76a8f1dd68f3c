"""Cassettes on disk: load (safe, bounded, fast), save (redacted, atomic), and a library that finds them by name.

The one module of the room that touches files. YAML of vcrpy's dialect; JSON by suffix. Large files get a derived index.
"""

from __future__ import annotations

import dataclasses
import gc
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from conformance.cassette import dialect, index
from conformance.cassette.codec import decode, encode
from conformance.cassette.model import Cassette
from conformance.cassette.pieces import Piece, joined
from conformance.cassette.redact import redact
from conformance.data import data_root
from conformance.errors import CassetteError

#: No larger file is read, in bytes.
MAX_BYTES = 256 * 1024 * 1024

#: Files from this size on get an index beside them, in bytes.
INDEX_FROM = 1024 * 1024

SUFFIXES = (".yaml", ".yml", ".json")


def load(path: Path, *, name: str = "") -> Cassette:
    """The cassette in the file at `path`, called `name` (by default the file's stem).

    Raises CassetteError when the file cannot be read, is larger than MAX_BYTES, or is not a valid cassette.
    """
    path = Path(path)
    content = _read(path)
    name = name or path.stem
    if len(content) < INDEX_FROM:
        return decode(_parsed(path, content), name=name)
    key = hashlib.sha256(content).hexdigest()
    beside = path.with_name(path.name + ".idx")
    with _collection_paused():
        cassette = _indexed(beside, key, name)
        if cassette is None:
            cassette = decode(_parsed(path, content), name=name)
            _write_index(beside, index.pack(cassette, key=key))
    return cassette


def _indexed(path: Path, key: str, name: str) -> Cassette | None:
    try:
        return index.unpack(path.read_bytes(), key=key, name=name)
    except OSError:
        return None


def _write_index(path: Path, content: bytes) -> None:
    """A folder that cannot be written just stays without index."""
    with suppress(OSError):
        replace(path, content)


def save(cassette: Cassette, path: Path, *, keep_secrets: bool = False) -> Cassette:
    """Write `cassette` to `path` in one step and return what was written: redacted, unless `keep_secrets`.

    The file is whole or untouched at any moment. Raises CassetteError when it cannot be written.
    """
    written = cassette if keep_secrets else redact(cassette)
    path = Path(path)
    document = encode(written)
    _write(path, json.dumps(document, indent=1) if path.suffix == ".json" else dialect.dump(document))
    return written


def save_pieces(blank: Cassette, pieces: Iterable[Piece], path: Path) -> None:
    """Write YAML to `path` in one step: what `blank` says of itself, and the interactions that the pieces are of.

    Redacts `blank`; a piece is of a redacted interaction. Raises CassetteError when it cannot be written.
    """
    _write(path, joined(redact(dataclasses.replace(blank, interactions=())), pieces))


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace(path, text.encode("utf-8"))
    except OSError as error:
        raise CassetteError(f"the cassette cannot be written: {error.strerror}", where=str(path)) from error


def replace(path: Path, content: bytes) -> None:
    """Put `content` at `path` atomically: a synchronised file of a name of its own, then a rename. Raises OSError."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}.new")
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def digest(path: Path) -> str:
    """The sha256 of the file at `path`, in lower-case hex. Raises CassetteError when it cannot be read."""
    return hashlib.sha256(_read(Path(path))).hexdigest()


class Library:
    """Cassettes by name: "authored/openai/chat-hello" is authored/openai/chat-hello.yaml under one of the roots.

    Roots are searched in order; by default the shipped cassettes alone. Loaded cassettes are kept.
    """

    def __init__(self, roots: Iterable[Path] | None = None) -> None:
        self.roots = tuple(Path(root) for root in roots) if roots is not None else (data_root("cassettes"),)
        self._loaded: dict[str, Cassette] = {}

    def get(self, name: str) -> Cassette:
        """The cassette called `name`. Raises CassetteError when there is none, or it is not valid."""
        if name not in self._loaded:
            self._loaded[name] = load(self.path(name), name=name)
        return self._loaded[name]

    def path(self, name: str) -> Path:
        """The file of the cassette called `name`. Raises CassetteError when there is none."""
        parts = name.split("/")
        if all(part not in ("", ".", "..") for part in parts) and "\0" not in name and "\\" not in name:
            for root in self.roots:
                for suffix in SUFFIXES:
                    path = root.joinpath(*parts[:-1], parts[-1] + suffix)
                    if path.is_file():
                        return path
        near = get_close_matches(name, self.names(), n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"searched in {', '.join(map(str, self.roots))}"
        raise CassetteError(f"there is no cassette {name!r}", hint=hint)

    def digest(self, name: str) -> str:
        """The sha256 of the file of the cassette called `name`, in lower-case hex."""
        return digest(self.path(name))

    def names(self) -> tuple[str, ...]:
        """Every cassette's name, sorted."""
        found = {
            path.relative_to(root).with_suffix("").as_posix()
            for root in self.roots
            for path in root.rglob("*")
            if path.suffix in SUFFIXES and not path.name.startswith(".") and path.is_file()
        }
        return tuple(sorted(found))


def _read(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise CassetteError("this is a folder", where=str(path), hint="name one cassette in it")
        if not path.is_file():
            raise CassetteError("there is no such file", where=str(path), hint="a cassette is a YAML file")
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise CassetteError(f"the cassette cannot be read: {error.strerror}", where=str(path)) from error
    if len(content) > MAX_BYTES:
        raise CassetteError(f"the cassette is larger than {MAX_BYTES} bytes", where=str(path), hint="split it")
    return content


def _parsed(path: Path, content: bytes) -> Mapping[str, Any]:
    with _collection_paused():
        try:
            document = json.loads(content) if path.suffix == ".json" else dialect.parse(content)
        except (ValueError, RecursionError) as error:
            raise CassetteError(_one_line(error), where=str(path)) from None
    if not isinstance(document, Mapping):
        raise CassetteError("this is not a cassette: the top level is not a mapping", where=str(path))
    return document


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__


@contextmanager
def _collection_paused() -> Iterator[None]:
    """A big parse makes only live objects: collecting in between doubles its time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
