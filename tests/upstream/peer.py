"""A gateway's side of a connection, as raw as it gets: what a member sends is kept byte for byte, and how it ended."""

from __future__ import annotations

import itertools
import json
import socket
import time
from collections.abc import Callable

from conformance.cassette.model import Envelope, EnvelopeEnd, Frame

DEADLINE = 10.0
_NUMBERS = itertools.count()


def fresh_nonce() -> str:
    """A nonce that no other test uses."""
    return f"cf-test{next(_NUMBERS):06d}"


def post(body: bytes, *, path: str = "/v1/chat/completions", headers: str = "") -> bytes:
    """A raw POST."""
    return f"POST {path} HTTP/1.1\r\nHost: m\r\n{headers}Content-Length: {len(body)}\r\n\r\n".encode() + body


def chat(nonce: str) -> bytes:
    """A raw chat request with the nonce in its prompt."""
    return post(json.dumps({"model": "m", "messages": [{"role": "user", "content": f"Say hello. {nonce}"}]}).encode())


def document(body: bytes = b'{"ok":true}', *, end: EnvelopeEnd = EnvelopeEnd.COMPLETE) -> Envelope:
    """A JSON envelope."""
    head = ("HTTP/1.1 200 OK", "content-type: application/json", f"Content-Length: {len(body)}")
    return Envelope(head=head, body=body, frames=(Frame(0.0, len(body)),), end=end)


def events(count: int = 3, *, ms: float = 0.0, end: EnvelopeEnd = EnvelopeEnd.COMPLETE) -> Envelope:
    """A chunked stream of so many events, `ms` apart, and `[DONE]`."""
    texts = [*(f'data: {{"n":{number}}}\n\n'.encode() for number in range(count)), b"data: [DONE]\n\n"]
    frames = tuple(Frame(ms * index, len(text)) for index, text in enumerate(texts))
    head = ("HTTP/1.1 200 OK", "Content-Type: text/event-stream", "Transfer-Encoding: chunked")
    return Envelope(head=head, body=b"".join(texts), frames=frames, end=end)


class Peer:
    """One connection to a member."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=DEADLINE)
        self.received = bytearray()

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        """Write all of it."""
        self.socket.sendall(data)

    def read_until(self, done: Callable[[bytearray], bool]) -> bytes:
        """All bytes received so far, once `done` says so of them."""
        while not done(self.received):
            piece = self.socket.recv(262_144)
            assert piece, f"the member closed after {self.received[-200:]!r}"
            self.received += piece
        return bytes(self.received)

    def read_size(self, size: int) -> bytes:
        """Exactly so many bytes; more would be an error."""
        received = self.read_until(lambda data: len(data) >= size)
        self.received.clear()
        assert len(received) == size, f"{len(received)} bytes instead of {size}: {received[-200:]!r}"
        return received

    def read_to_end(self) -> tuple[bytes, str]:
        """All bytes until the member ends, and how: "fin" or "rst"."""
        while True:
            try:
                piece = self.socket.recv(262_144)
            except ConnectionResetError:
                return bytes(self.received), "rst"
            if not piece:
                return bytes(self.received), "fin"
            self.received += piece

    def is_silent(self, seconds: float) -> bool:
        """Whether nothing comes, no end either, for so long."""
        self.socket.settimeout(seconds)
        try:
            piece = self.socket.recv(1)
        except TimeoutError:
            return True
        finally:
            self.socket.settimeout(DEADLINE)
        self.received += piece
        return False


def eventually(condition: Callable[[], bool], *, seconds: float = DEADLINE) -> bool:
    """Whether the condition comes true within a deadline."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.005)
    return True
