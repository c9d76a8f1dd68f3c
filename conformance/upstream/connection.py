"""One accepted connection of a member: raw requests in, scripts out, on a non-blocking socket and nothing between.

Plays each step at its deadline from the moment the request was read, byte for byte; says what the kernel took and when
the peer went. Which script answers a request is not its matter: `begin` says that. A peer that shuts its sending side
counts as gone, as gateways do not half-close.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import socket
import struct
import sys
from collections.abc import Callable
from time import monotonic

from conformance.upstream.ledger import Attempt
from conformance.upstream.script import Action, Step
from conformance.wire.framing import skim_framing
from conformance.wire.head import MAX_HEAD
from conformance.wire.http1 import RequestReader
from conformance.wire.transcript import End

READ_SIZE = 262_144
RESET_WAIT = 1.0

#: One for all connections: what is read is copied out before anything else can read.
_BUFFER = memoryview(bytearray(READ_SIZE))
_LINGER_NONE = struct.pack("ii", 1, 0)
_SIOCOUTQNSD = 0x894B

Begin = Callable[["Connection", bytes, float, float], Attempt]


class Connection:
    """Serves requests one after the other, on `port` of `member`.

    `number` is its id, `served` how many requests it has begun to answer.

    `begin(connection, request, head_at, now)` gives the attempt to play; `gone(connection)` is called once at the end.
    """

    __slots__ = (
        "_attempt",
        "_begin",
        "_gone",
        "_head",
        "_head_at",
        "_held",
        "_index",
        "_invited",
        "_last",
        "_loop",
        "_reader",
        "_rest",
        "_size",
        "_socket",
        "_steps",
        "_timer",
        "member",
        "number",
        "port",
        "retiring",
        "served",
    )

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        accepted: socket.socket,
        member: str,
        port: int,
        number: int,
        begin: Begin,
        gone: Callable[[Connection], None],
    ) -> None:
        self._loop, self._socket, self._begin, self._gone = loop, accepted, begin, gone
        self.member, self.port, self.number = member, port, number
        self.served, self.retiring = 0, False
        self._reader = RequestReader()
        self._attempt: Attempt | None = None
        self._last: Attempt | None = None
        self._head_at: float | None = None
        self._head, self._size = b"", 0  # of the last request that was known at a glance
        self._held = 0  # bytes that the reader has and has not given
        self._invited = False
        self._steps: tuple[Step, ...] = ()
        self._index = 0
        self._rest: memoryview | None = None
        self._timer: asyncio.TimerHandle | None = None
        loop.add_reader(accepted, self._read)

    def retire(self) -> None:
        """Close now when idle, else as soon as the response being played is over."""
        self.retiring = True
        if self._attempt is None:
            self.close()

    def close(self) -> None:
        """End the connection with a FIN; what was not read is read first, for a close over unread bytes is a reset."""
        if self._socket.fileno() < 0:
            return
        with contextlib.suppress(OSError):
            for _ in range(64):
                if not self._socket.recv(READ_SIZE):
                    break
        self._drop()

    def _read(self) -> None:
        try:
            size = self._socket.recv_into(_BUFFER)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            size = 0
        if not size:
            self._peer_gone()
            return
        data = _BUFFER[:size].tobytes()
        if self._attempt is None and not self._held and self._is_one_request(data):
            now = monotonic()
            self._play(self._begin(self, data, now, now))
            return
        reader = self._reader
        reader.feed(data)
        self._held += len(data)
        if self._head_at is None and reader.head_seen:
            self._head_at = monotonic()
        if self._attempt is None:
            self._serve()

    def _is_one_request(self, data: bytes) -> bool:
        """See head_of_one; a gateway often sends the same head again, and then its length is known."""
        if self._head and data.startswith(self._head):
            return len(data) == self._size
        head = head_of_one(data)
        if not head:
            return False
        self._head, self._size = head, len(data)
        return True

    def _serve(self) -> None:
        """Answer whole requests in order, until one takes time or none is left."""
        while self._held and self._attempt is None and self._socket.fileno() >= 0:
            request = self._reader.take()
            if request is None:
                self._invite()
                return
            self._held -= len(request)
            self._invited = False
            self.retiring = self.retiring or self._reader.broken
            now = monotonic()
            attempt = self._begin(self, request, now if self._head_at is None else self._head_at, now)
            self._head_at = now if self._reader.head_seen else None
            self._play(attempt)

    def _play(self, attempt: Attempt) -> None:
        self.served += 1
        self._attempt = self._last = attempt
        self._steps, self._index = attempt.script.steps, 0
        self._advance()

    def _invite(self) -> None:
        """RFC 9110 section 10.1.1: 100 (Continue) to a client that waits for it, once."""
        if self._reader.expect_continue and not self._invited:
            self._invited = True
            with contextlib.suppress(OSError):
                self._socket.send(b"HTTP/1.1 100 Continue\r\n\r\n")

    def _advance(self) -> None:
        """Do every step that is due; come back at the next one's deadline, or when the kernel takes bytes again."""
        self._timer = None
        attempt, loop = self._attempt, self._loop
        assert attempt is not None
        while True:
            step = self._steps[self._index]
            if step.at:
                due = attempt.read_at + step.at / 1000.0
                if due > monotonic():
                    self._timer = loop.call_at(due, self._resume)
                    return
            if step.action is not Action.SEND:
                self._finish(attempt, step.action)
                return
            self._index += 1
            if not self._send(attempt, step.data):
                return

    def _resume(self) -> None:
        self._advance()
        self._serve()

    def _send(self, attempt: Attempt, data: bytes | memoryview) -> bool:
        """Hand bytes to the kernel; False when it did not take them all (the rest follows) or the peer is gone."""
        try:
            size = self._socket.send(data)
        except (BlockingIOError, InterruptedError):
            size = 0
        except OSError:
            self._peer_gone()
            return False
        if size:
            attempt.wrote(monotonic(), size)
        if size == len(data):
            return True
        if self._rest is None:
            self._loop.add_writer(self._socket, self._write_rest)
        self._rest = memoryview(data)[size:]
        return False

    def _write_rest(self) -> None:
        assert self._rest is not None
        assert self._attempt is not None
        if self._send(self._attempt, self._rest):
            self._loop.remove_writer(self._socket)
            self._rest = None
            self._resume()

    def _finish(self, attempt: Attempt, action: Action) -> None:
        """The script's last step."""
        now = monotonic()
        if action is Action.STALL:
            attempt.ended(now, End.STALL, settled=False)
        elif action is Action.HALF_CLOSE:
            attempt.ended(now, End.CLOSE, settled=False)
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_WR)
        elif action is Action.RESET:
            self._reset(attempt, now + RESET_WAIT)
        else:
            self._attempt = None
            if action is Action.CLOSE or self.retiring:
                self.close()
            attempt.ended(now, End.COMPLETE if attempt.script.whole else End.CLOSE)

    def _reset(self, attempt: Attempt, until: float) -> None:
        """RST, once the bytes before it have left the kernel: a reset discards what is still queued there."""
        now = monotonic()
        if now < until and unsent_bytes(self._socket):
            self._timer = self._loop.call_later(0.001, self._reset, attempt, until)
            return
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_NONE)
        self._attempt = None
        self._drop()
        attempt.ended(now, End.RESET)

    def _peer_gone(self) -> None:
        now = monotonic()
        self._attempt = None
        self._drop()
        if self._last is not None:
            self._last.peer_gone(now)

    def _drop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._loop.remove_reader(self._socket)
        self._loop.remove_writer(self._socket)
        self._socket.close()
        self._gone(self)


def head_of_one(data: bytes) -> bytes:
    """The head, when `data` is for sure one whole ordinary request and nothing else; b"" sends it the reader's way."""
    end = data.find(b"\n\r\n") + 3
    head = data[:end]
    if end < 3 or end > MAX_HEAD or data[0] in b"\r\n" or b"\n\n" in head:
        return b""
    skimmed = skim_framing(head)
    if skimmed is None:
        return b""
    length, chunked, _, expects = skimmed
    return head if not chunked and not expects and end + max(length, 0) == len(data) else b""


def unsent_bytes(peer: socket.socket) -> int:
    """How many written bytes wait in the kernel unsent; 0 where that cannot be asked."""
    if sys.platform != "linux":
        return 0
    with contextlib.suppress(OSError):
        return int(struct.unpack("i", fcntl.ioctl(peer, _SIOCOUTQNSD, bytes(4)))[0])
    return 0
