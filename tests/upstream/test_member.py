"""conformance.upstream.member: ports that listen, refuse, and listen again."""

from __future__ import annotations

import socket

import pytest

from conformance.errors import UpstreamError
from conformance.scenario.model import PlayItem
from conformance.upstream.client import SyncControlClient
from conformance.upstream.process import UpstreamProcess
from conformance.upstream.serve import Settings, serve_alone
from tests.upstream.peer import Peer, chat, document, events, eventually, fresh_nonce

REFUSE = [PlayItem(cassette="@refuse")]


def refuses(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except ConnectionRefusedError:
        return True
    return False


def test_a_refusing_member_takes_no_connection_until_its_play_is_taken(
    upstream: UpstreamProcess, control: SyncControlClient
) -> None:
    """@refuse closes the port, other members are untouched, and take opens the same port again; again and again."""
    for _ in range(20):
        nonce = fresh_nonce()
        control.arm(nonce, {"u3": REFUSE})
        assert refuses(upstream.ports[3])
        assert not refuses(upstream.ports[2])
        assert control.take(nonce) == ()
        assert not refuses(upstream.ports[3])


def test_two_plays_that_refuse_are_counted(upstream: UpstreamProcess, control: SyncControlClient) -> None:
    """The port opens when the last play that says @refuse is taken."""
    first, second = fresh_nonce(), fresh_nonce()
    control.arm(first, {"u3": REFUSE})
    control.arm(second, {"u3": REFUSE})
    control.take(first)
    assert refuses(upstream.ports[3])
    control.take(second)
    assert not refuses(upstream.ports[3])


def test_refusing_closes_idle_connections_and_lets_busy_ones_finish(
    upstream: UpstreamProcess, control: SyncControlClient
) -> None:
    """A kept connection must not get round the refusal; a response under way is not cut."""
    busy, refused = fresh_nonce(), fresh_nonce()
    control.arm(busy, {"u3": [events(3, ms=30)]})
    with Peer(upstream.ports[3]) as idle, Peer(upstream.ports[3]) as working:
        working.send(chat(busy))
        working.read_until(lambda data: b'{"n":0}' in data)
        assert eventually(lambda: control.health()["members"]["u3"]["connections"] == 2)
        control.arm(refused, {"u3": REFUSE})
        assert idle.read_to_end() == (b"", "fin")
        data, how = working.read_to_end()
        assert data.endswith(b"[DONE]\n\n\r\n0\r\n\r\n")
        assert how == "fin"
    control.take(refused)
    control.take(busy, wait_ms=5000)


def test_a_request_that_still_reaches_a_refusing_member_is_reset_and_told(
    upstream: UpstreamProcess, control: SyncControlClient
) -> None:
    """A busy connection may carry the refused request: it gets a reset, in the journal as @refuse."""
    busy, refused = fresh_nonce(), fresh_nonce()
    control.arm(busy, {"u3": [document()]})
    control.arm(refused, {"u2": [document()], "u3": REFUSE})
    control.take(refused)
    with Peer(upstream.ports[3]) as peer:
        peer.send(chat(busy)[:30])
        assert eventually(lambda: control.health()["members"]["u3"]["connections"] == 1)
        control.take(busy)
        control.arm(busy, {"u3": [events(2, ms=20)]})
        peer.send(chat(busy)[30:])
        peer.read_until(lambda data: b'{"n":0}' in data)
        control.arm(refused, {"u3": REFUSE})
        peer.send(chat(refused))
        peer.read_to_end()
    assert control.take(refused, wait_ms=1000) == ()
    (entry,) = control.take(busy, wait_ms=5000)
    assert entry.size > 0


def test_a_port_that_is_taken_is_an_upstream_error() -> None:
    """Two listeners on one port: the second is told which port it was."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(UpstreamError) as caught:
            serve_alone(Settings(members=1, port_base=port), lambda line: None)
    assert caught.value.where == f"127.0.0.1:{port}"
