"""conformance.upstream.client: the control port from Python, with asyncio and without."""

from __future__ import annotations

import asyncio
import pickle
import socket

import pytest

from conformance.errors import ScenarioError, UpstreamError
from conformance.upstream.client import Address, ControlClient, SyncControlClient
from conformance.upstream.process import UpstreamProcess
from tests.upstream.peer import Peer, chat, document, fresh_nonce


def test_both_clients_see_the_same(upstream: UpstreamProcess, control: SyncControlClient) -> None:
    """What one arms the other can take; entries are equal."""
    nonce = fresh_nonce()

    async def main() -> None:
        client = ControlClient(upstream.address)
        await client.arm(nonce, {"u0": [document()]})
        with Peer(upstream.ports[0]) as peer:
            peer.send(chat(nonce))
            peer.read_until(lambda data: data.endswith(b"}"))
        (seen,) = (entry for entry in await client.journal() if entry.nonce == nonce)
        assert (await client.health())["armed"] >= 1
        assert await client.stray() == control.stray()
        (taken,) = await client.take(nonce, wait_ms=1000)
        assert (taken.request, taken.writes, taken.end) == (seen.request, seen.writes, seen.end)
        await client.aclose()

    asyncio.run(main())


def test_connections_are_kept_and_shared(upstream: UpstreamProcess) -> None:
    """A second call uses the connection of the first; parallel calls open as many as they need."""

    async def main() -> None:
        client = ControlClient(upstream.address)
        await client.health()
        first = client._idle[0]
        await client.health()
        assert client._idle == [first]
        await asyncio.gather(*(client.health() for _ in range(5)))
        assert len(client._idle) == 5
        await client.aclose()
        assert client._idle == []

    asyncio.run(main())


def test_an_error_of_the_control_port_is_raised_as_what_it_is(upstream: UpstreamProcess) -> None:
    """The caller's mistake comes back as its own kind, with what, where and hint."""

    async def main() -> None:
        client = ControlClient(upstream.address)
        with pytest.raises(ScenarioError) as caught:
            await client.arm("cf-x", {})
        assert caught.value.hint
        await client.aclose()

    asyncio.run(main())


def test_a_wrong_token_is_an_upstream_error(upstream: UpstreamProcess) -> None:
    """It cannot be the scenario's mistake."""
    wrong = Address(control_port=upstream.address.control_port, token="wrong", ports=upstream.ports)
    with pytest.raises(UpstreamError, match="token"):
        SyncControlClient(wrong).health()


def test_an_upstream_that_is_gone_is_an_upstream_error() -> None:
    """Both clients say where they looked and what to check."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        gone = Address(control_port=free.getsockname()[1], token="t", ports=())

        async def main() -> None:
            await ControlClient(gone).health()

        with pytest.raises(UpstreamError, match="does not answer") as caught:
            asyncio.run(main())
        assert str(gone.control_port) in caught.value.where
        with pytest.raises(UpstreamError, match="does not answer"):
            SyncControlClient(gone).health()


def test_a_connection_that_is_cut_is_an_upstream_error() -> None:
    """A control port that closes without an answer is told, and the connection is not used again."""

    served = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.close()
        await writer.wait_closed()
        served.set()

    async def main() -> None:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        client = ControlClient(Address(control_port=server.sockets[0].getsockname()[1], token="t", ports=()))
        with pytest.raises(UpstreamError, match="closed"):
            await client.health()
        assert client._idle == []
        await asyncio.wait_for(served.wait(), 10)
        server.close()
        await server.wait_closed()

    asyncio.run(main())


def test_an_address_names_members_and_travels() -> None:
    """It can be handed to another process."""
    address = Address(control_port=1, token="t", ports=(2, 3))
    assert address.members == ("u0", "u1")
    assert pickle.loads(pickle.dumps(address)) == address
