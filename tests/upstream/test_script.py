"""conformance.upstream.script: envelopes become timed steps."""

from __future__ import annotations

import pytest

from conformance.cassette.model import Envelope, EnvelopeEnd, Frame
from conformance.errors import ScenarioError
from conformance.upstream.script import TRANSFORMS, Action, Script, has_placeholder, script

JSON_HEAD = ("HTTP/1.1 200 OK", "content-TYPE: application/json", "Content-Length: 2")
SSE_HEAD = ("HTTP/1.1 200 OK", "Content-Type: text/event-stream", "Transfer-Encoding: chunked")
A, B, DONE = b'data: {"a":1}\n\n', b'data: {"b":2}\n\n', b"data: [DONE]\n\n"
STREAM = A + B + DONE
END_ACTIONS = {
    EnvelopeEnd.CLOSE: Action.CLOSE,
    EnvelopeEnd.RESET: Action.RESET,
    EnvelopeEnd.STALL: Action.STALL,
    EnvelopeEnd.HALF_CLOSE: Action.HALF_CLOSE,
}


def plain(end: EnvelopeEnd = EnvelopeEnd.COMPLETE) -> Envelope:
    return Envelope(head=JSON_HEAD, body=b"{}", frames=(Frame(0.0, 2),), end=end)


def stream(*times: float, end: EnvelopeEnd = EnvelopeEnd.COMPLETE, head: tuple[str, ...] = SSE_HEAD) -> Envelope:
    sizes = (len(A), len(B), len(DONE))
    frames = tuple(Frame(at, size) for at, size in zip(times or (0.0, 10.0, 20.0), sizes, strict=True))
    return Envelope(head=head, body=STREAM, frames=frames, end=end)


def chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def head_bytes(head: tuple[str, ...]) -> bytes:
    return "\r\n".join(head).encode() + b"\r\n\r\n"


def sent(played: Script) -> bytes:
    return b"".join(step.data for step in played.steps)


def test_the_head_keeps_order_and_case_and_goes_out_with_the_first_frame() -> None:
    """A frame at 0 is one write with the head, and a framed response keeps the connection."""
    played = script(plain())
    assert [(step.at, step.action) for step in played.steps] == [(0.0, Action.SEND), (0.0, Action.KEEP)]
    assert played.steps[0].data == head_bytes(JSON_HEAD) + b"{}"
    assert played.whole


def test_each_frame_of_a_chunked_head_is_one_chunk_and_the_last_chunk_joins_the_last_write() -> None:
    """Frames are HTTP chunks; the terminator is written with the last of them."""
    steps = script(stream()).steps
    assert [step.at for step in steps] == [0.0, 10.0, 20.0, 20.0]
    assert [step.data for step in steps] == [head_bytes(SSE_HEAD) + chunk(A), chunk(B), chunk(DONE) + b"0\r\n\r\n", b""]
    assert steps[-1].action is Action.KEEP


def test_a_first_frame_after_zero_leaves_the_head_alone() -> None:
    """The head is a write of its own when the first frame comes later."""
    steps = script(stream(5.0, 5.0, 5.0)).steps
    assert [(step.at, step.data) for step in steps[:2]] == [(0.0, head_bytes(SSE_HEAD)), (5.0, chunk(A))]


def test_an_empty_last_frame_times_the_end() -> None:
    """A frame of no bytes sends none (it would be the last chunk) and says when the end comes."""
    late = Envelope(head=SSE_HEAD, body=A, frames=(Frame(0.0, len(A)), Frame(50.0, 0)))
    steps = script(late).steps
    assert [(step.at, step.data) for step in steps[1:]] == [(50.0, b"0\r\n\r\n"), (50.0, b"")]


@pytest.mark.parametrize("end", list(END_ACTIONS))
def test_an_end_without_completion_has_no_terminator(end: EnvelopeEnd) -> None:
    """Close, reset, stall and half-close follow the last frame at its time, without a last chunk."""
    played = script(stream(end=end))
    assert (played.steps[-1].at, played.steps[-1].action) == (20.0, END_ACTIONS[end])
    assert not sent(played).endswith(b"0\r\n\r\n")
    assert not played.whole


@pytest.mark.parametrize("end", list(END_ACTIONS))
def test_an_empty_head_sends_nothing(end: EnvelopeEnd) -> None:
    """Without a head there is only the end."""
    steps = script(Envelope(head=(), body=b"", frames=(), end=end)).steps
    assert [step.action for step in steps] == [END_ACTIONS[end]]


@pytest.mark.parametrize(
    ("head", "action", "whole"),
    [
        (("HTTP/1.1 200 OK", "Content-Length: 0"), Action.KEEP, True),
        (("HTTP/1.1 204 No Content",), Action.KEEP, True),
        (("HTTP/1.1 304 Not Modified",), Action.KEEP, True),
        (("HTTP/1.1 200 OK",), Action.CLOSE, False),
        (("HTTP/1.1 200 OK", "Content-Length: 0", "Connection: Close"), Action.CLOSE, True),
        (("HTTP/1.0 200 OK", "Content-Length: 0"), Action.CLOSE, True),
        (("HTTP/1.0 200 OK", "Content-Length: 0", "Connection: keep-alive"), Action.KEEP, True),
        ((), Action.CLOSE, False),
    ],
)
def test_a_complete_end_closes_where_the_head_asks_for_it(head: tuple[str, ...], action: Action, whole: bool) -> None:
    """The connection is kept only when the response frames itself and is persistent."""
    played = script(Envelope(head=head, body=b"", frames=()))
    assert (played.steps[-1].action, played.whole) == (action, whole)


def test_the_nonce_fills_head_and_body_and_moves_frames_and_length() -> None:
    """{{nonce}} is replaced wherever it stands; frame sizes and the content length follow."""
    body = b'{"a":"{{nonce}}","b":"{{nonce}}"}'
    head = ("HTTP/1.1 200 OK", "X-Id: {{nonce}}", f"Content-Length: {len(body)}")
    envelope = Envelope(head=head, body=body, frames=(Frame(0.0, 16), Frame(5.0, len(body) - 16)))
    steps = script(envelope, nonce="cf-abcdef").steps
    filled = body.replace(b"{{nonce}}", b"cf-abcdef")
    assert sent(script(envelope, nonce="cf-abcdef")).endswith(b"\r\n\r\n" + filled)
    assert b"X-Id: cf-abcdef\r\nContent-Length: %d\r\n" % len(filled) in steps[0].data
    assert steps[1].data == filled[16:]
    assert has_placeholder(envelope)


def test_without_a_nonce_the_placeholder_stays() -> None:
    """A recorded body that happens to hold the placeholder is played as it is."""
    envelope = Envelope(head=JSON_HEAD, body=b"{{nonce}}", frames=(Frame(0.0, 9),))
    assert sent(script(envelope)).endswith(b"{{nonce}}")
    assert not has_placeholder(plain())


def test_transforms_apply_in_order() -> None:
    """The second transform sees what the first one made."""
    played = script(stream(), transforms=("truncate-after-event:1", "rechunk:20"))
    assert [step.action for step in played.steps] == [Action.SEND, Action.CLOSE]
    assert sent(played) == head_bytes(SSE_HEAD) + chunk(A)


def test_times_never_decrease() -> None:
    """A frame earlier than the one before it goes out right after that one."""
    assert [step.at for step in script(stream(10.0, 5.0, 20.0)).steps] == [0.0, 10.0, 10.0, 20.0, 20.0]


def test_a_head_outside_latin_1_is_refused() -> None:
    """A header character that no byte stands for is the author's mistake."""
    with pytest.raises(ScenarioError, match="latin-1"):
        script(Envelope(head=("HTTP/1.1 200 \u2713",), body=b"", frames=()))


def test_frames_that_do_not_sum_to_the_body_are_refused() -> None:
    """Every body byte belongs to one frame."""
    with pytest.raises(ScenarioError, match="sum to 3"):
        script(Envelope(head=JSON_HEAD, body=b"{}", frames=(Frame(0.0, 3),)))
    with pytest.raises(ScenarioError, match="negative"):
        script(Envelope(head=JSON_HEAD, body=b"{}", frames=(Frame(-1.0, 2),)))


def test_the_table_of_transforms_is_reachable_here() -> None:
    """The closed set is public beside script()."""
    assert "drop-done" in TRANSFORMS
