"""Which framing the fields of a head call for, and what contradicts it."""

from __future__ import annotations

import pytest

from conformance.wire.facts import FaultLog
from conformance.wire.framing import keeps_alive, plan_response, skim_framing
from conformance.wire.head import read_head
from conformance.wire.http1 import Framing
from tests.wire.feeding import codes, request, response

CHUNKED = b"0\r\n\r\n"


@pytest.mark.parametrize(
    ("fields", "framing", "complete", "faults"),
    [
        (b"Content-Length: 5\r\n", Framing.LENGTH, True, []),
        (b"Content-Length: 005\r\n", Framing.LENGTH, True, []),
        (b"Content-Length: 5\r\nContent-Length: 5\r\n", Framing.LENGTH, True, ["content-length.duplicate"]),
        (b"Content-Length: 5, 5\r\n", Framing.LENGTH, True, ["content-length.duplicate"]),
        (b"Content-Length: 5\r\nContent-Length: 6\r\n", Framing.CLOSE, False, ["content-length.conflict"]),
        (b"Content-Length: 5, 6\r\n", Framing.CLOSE, False, ["content-length.conflict"]),
        (b"Content-Length: -5\r\n", Framing.CLOSE, False, ["content-length.invalid"]),
        (b"Content-Length: +5\r\n", Framing.CLOSE, False, ["content-length.invalid"]),
        (b"Content-Length: 5.0\r\n", Framing.CLOSE, False, ["content-length.invalid"]),
        (b"Content-Length: \r\n", Framing.CLOSE, False, ["content-length.invalid"]),
        (b"Content-Length: \xb2\r\n", Framing.CLOSE, False, ["content-length.invalid"]),
        (b"Content-Length: 99999999999999999999\r\n", Framing.CLOSE, False, ["content-length.invalid"]),
        (b"Content-Length : 5\r\n", Framing.LENGTH, True, ["header.space-before-colon"]),
        (b"Content-Length:\r\n 5\r\n", Framing.LENGTH, True, ["header.folded"]),
        (b"Transfer-Encoding: chunked\r\n", Framing.CHUNKED, True, []),
        (b"Transfer-Encoding: , Chunked ,\r\n", Framing.CHUNKED, True, []),
        (b"Transfer-Encoding: chunked\r\nContent-Length: 9\r\n", Framing.CHUNKED, True, ["length-and-chunked"]),
        (b"Transfer-Encoding: gzip, chunked\r\n", Framing.CHUNKED, True, ["transfer-encoding.unknown"]),
        (b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", Framing.CHUNKED, True,
         ["transfer-encoding.unknown"]),
        (b"Transfer-Encoding: chunked, gzip\r\n", Framing.CLOSE, True, ["transfer-encoding.unknown"] * 2),
        (b"Transfer-Encoding: identity\r\n", Framing.CLOSE, True, ["transfer-encoding.unknown"]),
        (b"Transfer-Encoding: \r\nContent-Length: 5\r\n", Framing.LENGTH, True, ["transfer-encoding.unknown"]),
        (b"", Framing.CLOSE, True, []),
    ],
)  # fmt: skip
def test_response(fields: bytes, framing: Framing, complete: bool, faults: list[str]) -> None:
    """A response's framing follows RFC 9112 section 6.3; contradictions are faults."""
    message = response(b"HTTP/1.1 200 OK\r\n" + fields + b"\r\n" + CHUNKED)
    assert (message.framing, message.complete, codes(message)) == (framing, complete, faults)


def test_http10_chunked() -> None:
    """A transfer coding in HTTP/1.0 is removed, with a fault."""
    message = response(b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + CHUNKED)
    assert (message.complete, codes(message)) == (True, ["transfer-encoding.version"])


def test_request_with_both() -> None:
    """In a request, too, the transfer coding wins over the length."""
    message = request(b"POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n" + CHUNKED)
    assert (message.framing, message.complete, codes(message)) == (Framing.CHUNKED, True, ["length-and-chunked"])


@pytest.mark.parametrize(
    ("fields", "skimmed"),
    [
        (b"", (-1, False, True, False)),
        (b"content-LENGTH:7\r\nExpect: 100-Continue\r\n", (7, False, True, True)),
        (b"Transfer-Encoding: chunked\r\nConnection: close\r\n", (-1, True, False, False)),
        (b"Connection: Keep-Alive\r\n", (-1, False, True, False)),
        (b"Connection: close\r\nConnection: keep-alive\r\n", (-1, False, False, False)),
        (b"X-Content-Length: 7\r\n", (-1, False, True, False)),
        (b"Connection: upgrade\r\n", None),
        (b"Content-Length: 7 \r\n", None),
        (b"Content-Length: 7\n", None),
        (b"Content-Length: 7\r\nContent-Length: 7\r\n", None),
        (b"Content-Length: 7\r\nTransfer-Encoding: chunked\r\n", None),
        (b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", None),
        (b"A: b\r\n c\r\n", None),
        (b"A: b\r\n\tc\r\n", None),
        (b"Expect: x\r\n", None),
    ],
)
def test_skim(fields: bytes, skimmed: tuple[int, bool, bool, bool] | None) -> None:
    """Ordinary heads are skimmed; whatever is not ordinary is left to the full reading."""
    raw = b"HTTP/1.1 200 OK\r\n" + fields + b"\r\n"
    assert skim_framing(raw) == skimmed
    if skimmed:
        log = FaultLog()
        head, _ = read_head(raw, 0, log)
        plan = plan_response("HTTP/1.1", 200, "POST", head, log)
        assert plan.framing is (Framing.CHUNKED if skimmed[1] else Framing.LENGTH if skimmed[0] >= 0 else Framing.CLOSE)
        assert plan.length == max(skimmed[0], 0)
        assert keeps_alive("HTTP/1.1", head, plan) == (skimmed[2] and plan.framing is not Framing.CLOSE)
