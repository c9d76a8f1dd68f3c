"""conformance.cassette.pieces: the text of a growing file is the text of the whole."""

from __future__ import annotations

from hypothesis import given, settings

from conformance.cassette import dialect
from conformance.cassette.codec import decode, encode
from conformance.cassette.model import Cassette, Envelope, Frame, Interaction, RecordedRequest
from conformance.cassette.pieces import joined, piece
from conformance.cassette.store import Library

from .strategies import cassettes

quick = settings(max_examples=150, derandomize=True, deadline=None, database=None)


def whole(cassette: Cassette) -> str:
    """Dumped at once, without the mark that ends some documents."""
    text = dialect.dump(encode(cassette))
    return text[:-4] if text.endswith("\n...\n") else text


def text(cassette: Cassette) -> str:
    """Put together of pieces."""
    return joined(cassette, [piece(one) for one in cassette.interactions])


@given(cassette=cassettes)
@quick
def test_pieces_make_the_whole(cassette: Cassette) -> None:
    """Whatever a cassette holds."""
    if cassette.interactions:
        assert text(cassette) == whole(cassette)


def test_the_shipped_cassettes_in_one() -> None:
    """All their interactions in one file, and with nothing said about it."""
    library = Library()
    interactions = tuple(one for name in library.names() for one in library.get(name).interactions)
    for cassette in (Cassette(name="x", interactions=interactions), library.get(library.names()[0])):
        assert text(cassette) == whole(cassette)


def test_a_text_that_ends_in_dots() -> None:
    """It is no end of a document."""
    request = RecordedRequest(method="POST", uri="http://a.test/")
    for body in (b"one\n...", b"one\n...\n", b"...\n", b"...", b"a...\n\n", b"--- a\n...\n"):
        envelope = Envelope(head=("HTTP/1.1 200 OK",), body=body, frames=(Frame(0.0, len(body)),))
        cassette = Cassette(name="x", interactions=(Interaction(request=request, envelope=envelope),) * 2)
        assert text(cassette) == whole(cassette)
        assert decode(dialect.parse(text(cassette).encode()), name="x") == cassette
