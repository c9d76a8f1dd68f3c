"""Cassettes on disk: loading, saving, the index, the library."""

from __future__ import annotations

import gc
import hashlib
import os
from pathlib import Path

import pytest

from conformance.cassette import store
from conformance.cassette.model import Cassette, Envelope, Frame, Interaction, RecordedRequest
from conformance.cassette.store import Library, digest, load, save
from conformance.data import data_root
from conformance.errors import CassetteError

DATA = Path(__file__).parent / "data"


def cassette(body: bytes = b"{}", *, key: str = "Bearer sk-test", count: int = 1) -> Cassette:
    """A cassette whose interactions all have `body`."""
    request = RecordedRequest(method="POST", uri="http://m0.test/v1/embeddings", headers=(("authorization", key),))
    envelope = Envelope(head=("HTTP/1.1 200 OK",), body=body, frames=(Frame(0.0, len(body)),))
    return Cassette(
        name="x", interactions=(Interaction(request=request, envelope=envelope),) * count, origin="recorded"
    )


def test_save_and_load(tmp_path: Path) -> None:
    """A saved cassette loads equal, as YAML and as JSON; folders are made on the way."""
    for name in ("x.yaml", "x.json"):
        path = tmp_path / "deep" / name
        assert save(cassette(), path) == cassette()
        assert load(path) == cassette()
        assert [entry.name for entry in path.parent.iterdir() if entry.name.startswith(".")] == []


def test_written_cassettes_hold_no_secret(tmp_path: Path) -> None:
    """Saving redacts, unless it is told to keep secrets."""
    secret = cassette(key="Bearer abcdefghijklmnop1234")
    written = save(secret, tmp_path / "x.yaml")
    assert "abcdefghijklmnop" not in (tmp_path / "x.yaml").read_text()
    assert load(tmp_path / "x.yaml") == written
    assert save(secret, tmp_path / "y.yaml", keep_secrets=True) == secret


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the rename fails, the old content stays and nothing lies about."""
    path = tmp_path / "x.yaml"
    save(cassette(), path)
    before = path.read_bytes()

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(CassetteError, match="No space left"):
        save(cassette(b"other"), path)
    assert [entry.read_bytes() for entry in tmp_path.iterdir()] == [before]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.yaml", b"- 1", "top level"),
        ("a.yaml", b"a: [", "not YAML"),
        ("a.yaml", b"", "top level"),
        ("a.yaml", b"version: 1", "not a cassette"),
        ("a.json", b"{", "Expecting"),
        ("a.json", b"[" * 100_000, "recursion|depth"),
    ],
)
def test_unreadable_files(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    """What is not a cassette is a CassetteError that names the file."""
    (tmp_path / name).write_bytes(content)
    with pytest.raises(CassetteError, match=message) as raised:
        load(tmp_path / name)
    assert "a" in raised.value.where


def test_missing_and_oversized_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is not there, a folder and a file past the bound are told apart."""
    with pytest.raises(CassetteError, match="no such file"):
        load(tmp_path / "none.yaml")
    with pytest.raises(CassetteError, match="a folder"):
        load(tmp_path)
    save(cassette(), tmp_path / "x.yaml")
    monkeypatch.setattr(store, "MAX_BYTES", 10)
    with pytest.raises(CassetteError, match="larger than 10"):
        load(tmp_path / "x.yaml")


def test_garbage_collection_is_as_before(tmp_path: Path) -> None:
    """The collector is on again after a load, and stays off where it was off."""
    save(cassette(), tmp_path / "x.yaml")
    load(tmp_path / "x.yaml")
    assert gc.isenabled()
    gc.disable()
    try:
        load(tmp_path / "x.yaml")
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_large_file_is_parsed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second load of a large file comes from its index, which a changed file outdates."""
    monkeypatch.setattr(store, "INDEX_FROM", 100)
    path = tmp_path / "x.yaml"
    save(cassette(count=5), path)
    assert load(path) == cassette(count=5)
    assert path.with_name("x.yaml.idx").is_file()
    with monkeypatch.context() as patch:
        patch.setattr(store, "_parsed", None)
        assert load(path) == cassette(count=5)
    save(cassette(b"[1]", count=5), path)
    assert load(path) == cassette(b"[1]", count=5)


@pytest.mark.parametrize("damage", [b"", b"nonsense", b"conformance-cassette-index 2 x 0 2\n[]"])
def test_a_damaged_index_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: bytes) -> None:
    """An index that does not fit its source is as good as none, and is written anew."""
    monkeypatch.setattr(store, "INDEX_FROM", 100)
    path = tmp_path / "x.yaml"
    save(cassette(), path)
    load(path)
    beside = path.with_name("x.yaml.idx")
    good = beside.read_bytes()
    beside.write_bytes(damage or good[:-1])
    assert load(path) == cassette()
    assert beside.read_bytes() == good


def test_no_index_where_nothing_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that refuses the index still gives its cassettes."""
    monkeypatch.setattr(store, "INDEX_FROM", 100)
    save(cassette(), tmp_path / "x.yaml")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(store, "replace", refuse)
    assert load(tmp_path / "x.yaml") == cassette()


def test_digest(tmp_path: Path) -> None:
    """The digest is the file's sha256."""
    (tmp_path / "x.yaml").write_bytes(b"abc")
    assert digest(tmp_path / "x.yaml") == hashlib.sha256(b"abc").hexdigest()


def test_library(tmp_path: Path) -> None:
    """Names are paths under the roots without suffix; the first root wins; a cassette is loaded once."""
    one, two = tmp_path / "one", tmp_path / "two"
    save(cassette(), one / "authored" / "kind" / "a.yaml")
    save(cassette(b"[]"), two / "authored" / "kind" / "a.yaml")
    save(cassette(), two / "b.v1.json")
    library = Library([one, two])
    assert library.names() == ("authored/kind/a", "b.v1")
    assert library.get("authored/kind/a").interactions[0].envelope.body == b"{}"
    assert library.get("authored/kind/a").name == "authored/kind/a"
    assert library.get("b.v1") is library.get("b.v1")
    assert library.digest("b.v1") == digest(two / "b.v1.json")


@pytest.mark.parametrize("name", ["authored/kind/b", "../one/a", "/etc/passwd", "", "a\0b", "a//b", "./a"])
def test_names_that_are_not_there(tmp_path: Path, name: str) -> None:
    """A name that is not in the library, or leads out of it, is refused; a near one is suggested."""
    save(cassette(), tmp_path / "one" / "authored" / "kind" / "a.yaml")
    with pytest.raises(CassetteError, match="no cassette") as raised:
        Library([tmp_path / "one"]).get(name)
    assert raised.value.hint


def test_the_default_library_is_the_shipped_one() -> None:
    """Without roots the library holds the shipped cassettes."""
    assert Library().roots == (data_root("cassettes"),)


def test_examples_load() -> None:
    """The captured examples load from disk."""
    assert len(Library([DATA]).names()) == 5
    for name in Library([DATA]).names():
        assert Library([DATA]).get(name).interactions
