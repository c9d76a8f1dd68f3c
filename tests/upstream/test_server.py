"""conformance.upstream.server: plays meet requests, alone and many at once, and nothing is lost silently."""

from __future__ import annotations

import asyncio
import json
import time
from concurrent.futures import ThreadPoolExecutor
from email.utils import parsedate_to_datetime
from pathlib import Path

import pytest

from conformance.errors import ScenarioError, UpstreamError
from conformance.scenario.model import PlayItem
from conformance.upstream.client import ControlClient, SyncControlClient
from conformance.upstream.items import Inline
from conformance.upstream.journal import Entry
from conformance.upstream.process import UpstreamProcess, start_upstream
from conformance.upstream.script import script
from conformance.upstream.server import Bounds
from conformance.wire.transcript import End
from tests.upstream.peer import Peer, chat, document, events, fresh_nonce, post

WAIT = 5000.0


def ask(port: int, request: bytes) -> bytes:
    """The response to a request on a connection of its own."""
    with Peer(port) as peer:
        peer.send(request.replace(b"Host: m\r\n", b"Host: m\r\nConnection: close\r\n"))
        data = peer.read_until(lambda data: b"\r\n\r\n" in data)
        length = int(data.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        end = data.index(b"\r\n\r\n") + 4 + length
        return peer.read_until(lambda data: len(data) >= end)


def test_a_list_is_played_in_order_and_its_last_item_repeats(
    upstream: UpstreamProcess, control: SyncControlClient
) -> None:
    """Attempt k at a member gets item k; each member counts for itself; the default serves the others."""
    nonce = fresh_nonce()
    first, last, other = (document(text) for text in (b'"first"', b'"last"', b'"other"'))
    control.arm(nonce, {"u0": [first, last]}, [other])
    bodies = [ask(upstream.ports[index], chat(nonce)).rpartition(b"\r\n")[2] for index in (0, 1, 0, 0, 1)]
    assert bodies == [b'"first"', b'"other"', b'"last"', b'"last"', b'"other"']
    entries = control.take(nonce, wait_ms=WAIT)
    assert [(entry.member, entry.number) for entry in entries] == [
        ("u0", 0),
        ("u1", 0),
        ("u0", 1),
        ("u0", 2),
        ("u1", 1),
    ]
    assert [entry.port for entry in entries[:2]] == list(upstream.ports[:2])


def test_a_member_that_the_play_has_nothing_for_answers_599(
    upstream: UpstreamProcess, control: SyncControlClient
) -> None:
    """The attempt belongs to the nonce and is told as unplanned."""
    nonce = fresh_nonce()
    control.arm(nonce, {"u0": [document()]})
    assert ask(upstream.ports[1], chat(nonce)).startswith(b"HTTP/1.1 599 Unplanned Member\r\n")
    (entry,) = control.take(nonce, wait_ms=WAIT)
    assert (entry.member, entry.played.cassette) == ("u1", "@unplanned")


def test_a_date_is_that_of_the_arming(upstream: UpstreamProcess, control: SyncControlClient) -> None:
    """The journal names the date, so that who reads it makes the same bytes."""
    nonce = fresh_nonce()
    before = time.time()
    control.arm(nonce, {}, [PlayItem(cassette="vcrpy-chat", transforms=("retry-date:30",))])
    head = ask(upstream.ports[0], chat(nonce)).partition(b"\r\n\r\n")[0].decode()
    (entry,) = control.take(nonce, wait_ms=WAIT)
    (text,) = entry.played.transforms
    made = text.removeprefix("retry-date-from:30:")
    assert f"\r\nDate: {made}\r\nRetry-After: " in head
    assert int(before) <= parsedate_to_datetime(made).timestamp() <= time.time()
    wait = parsedate_to_datetime(head.rpartition("Retry-After: ")[2]) - parsedate_to_datetime(made)
    assert wait.total_seconds() == 30


def test_an_unknown_nonce_answers_599_and_is_stray(upstream: UpstreamProcess, control: SyncControlClient) -> None:
    """The body says which nonce it was; a nonce that was taken is unknown from then on."""
    nonce = fresh_nonce()
    control.arm(nonce, {"u0": [document()]})
    control.take(nonce)
    reply = ask(upstream.ports[0], chat(nonce))
    assert reply.startswith(b"HTTP/1.1 599 Unknown Nonce\r\n")
    assert nonce in json.loads(reply.partition(b"\r\n\r\n")[2])["error"]["message"]
    assert [entry.played.cassette for entry in control.stray() if entry.nonce == nonce] == ["@unknown"]


def test_a_request_without_a_nonce_gets_the_healthy_default_and_is_stray(
    upstream: UpstreamProcess, control: SyncControlClient
) -> None:
    """A health probe is answered well and journalled apart."""
    before = len(control.stray())
    assert b'{"status":"ok"}' in ask(upstream.ports[2], b"GET /health HTTP/1.1\r\nHost: m\r\n\r\n")
    probe = control.stray()[before]
    assert (probe.nonce, probe.member, probe.played.cassette) == ("", "u2", "@default")
    assert probe.request.startswith(b"GET /health ")


BODIES = {
    "chat": {"messages": [{"role": "user", "content": "Say it. NONCE"}]},
    "chat parts": {"messages": [{"role": "user", "content": [{"type": "text", "text": "NONCE."}]}]},
    "completions": {"prompt": ["NONCE"]},
    "responses": {"input": "Hello NONCE"},
    "embeddings": {"input": ["one", "NONCE"]},
    "anthropic": {"system": "x", "messages": [{"role": "user", "content": [{"type": "text", "text": "(NONCE)"}]}]},
    "gemini": {"contents": [{"role": "user", "parts": [{"text": "Say.\nNONCE"}]}]},
    "bedrock": {"inputText": "User: NONCE\n\nBot:"},
}


@pytest.mark.parametrize("shape", BODIES)
def test_the_nonce_is_found_in_every_translation(
    upstream: UpstreamProcess, control: SyncControlClient, shape: str
) -> None:
    """Wherever the prompt's text went, in whatever provider's format, the play is found."""
    nonce = fresh_nonce()
    control.arm(nonce, {}, [document()])
    body = json.dumps(BODIES[shape]).replace("NONCE", nonce).encode()
    assert ask(upstream.ports[0], post(body, path="/v1beta/models/m:generateContent")).endswith(b'{"ok":true}')
    assert len(control.take(nonce, wait_ms=WAIT)) == 1


def test_two_hundred_parallel_requests_get_their_own_plays(upstream: UpstreamProcess) -> None:
    """No answer and no attempt is mixed up, over four members at once."""

    async def one(client: ControlClient, number: int) -> None:
        nonce, member = fresh_nonce(), number % 4
        reply = document(f'{{"id":"{{{{nonce}}}}","n":{number}}}'.encode())
        transforms = ("rechunk:3", f"delay-head:{number % 7}")
        await client.arm(nonce, {f"u{member}": [Inline(envelope=reply, transforms=transforms)]})
        reader, writer = await asyncio.open_connection("127.0.0.1", upstream.ports[member])
        writer.write(chat(nonce))
        wire = b"".join(step.data for step in script(reply, transforms=transforms, nonce=nonce).steps)
        assert await asyncio.wait_for(reader.readexactly(len(wire)), 20) == wire
        writer.close()
        (entry,) = await client.take(nonce, wait_ms=WAIT)
        assert (entry.nonce, entry.member, entry.request) == (nonce, f"u{member}", chat(nonce))

    async def main() -> None:
        client = ControlClient(upstream.address)
        await asyncio.gather(*(one(client, number) for number in range(200)))
        await client.aclose()

    asyncio.run(main())


def test_take_waits_for_attempts_that_still_go_on(upstream: UpstreamProcess, control: SyncControlClient) -> None:
    """It returns when the last attempt has ended, well before its wait passes."""
    nonce = fresh_nonce()
    control.arm(nonce, {"u0": [events(3, ms=20)]})
    with Peer(upstream.ports[0]) as peer:
        peer.send(chat(nonce))
        peer.read_until(lambda data: b'{"n":0}' in data)
        (entry,) = control.take(nonce, wait_ms=60_000)
    assert (entry.end, entry.open) == (End.COMPLETE, False)


def test_take_settles_for_attempts_that_come_late(upstream: UpstreamProcess, control: SyncControlClient) -> None:
    """With a settling time, an attempt that begins during the wait is still taken."""
    nonce = fresh_nonce()
    control.arm(nonce, {}, [document()])
    with ThreadPoolExecutor(1) as pool, Peer(upstream.ports[0]) as peer:
        taking = pool.submit(control.take, nonce, wait_ms=10_000, settle_ms=400)
        peer.send(chat(nonce))
        peer.read_until(lambda data: data.endswith(b"}"))
        taken: tuple[Entry, ...] = taking.result(20)
    assert len(taken) == 1


def test_an_unknown_take_and_a_double_arm_are_the_callers_mistakes(control: SyncControlClient) -> None:
    """Each says what was wrong."""
    nonce = fresh_nonce()
    with pytest.raises(ScenarioError, match="not armed"):
        control.take(nonce)
    control.arm(nonce, {}, [document()])
    with pytest.raises(ScenarioError, match="armed already") as caught:
        control.arm(nonce, {}, [document()])
    assert "--seed" in caught.value.hint
    control.take(nonce)


@pytest.mark.parametrize(
    ("members", "default", "what"),
    [
        ({"u9": [document()]}, [], "no member 'u9'"),
        ({"u0": [PlayItem(cassette="@nope")]}, [], "no word '@nope'"),
        ({"u0": [PlayItem(cassette="@reset", transforms=("drop-done",))]}, [], "no bytes to transform"),
        ({"u0": [PlayItem(cassette="@refuse"), document()]}, [], "stands alone"),
        ({}, [PlayItem(cassette="@refuse")], "@refuse is no default"),
        ({}, [PlayItem(cassette="nowhere/at-all")], "nowhere/at-all"),
        ({}, [PlayItem(cassette="vcrpy-chat", interaction=7)], "no interaction 7"),
        ({}, [Inline(envelope=document(), transforms=("drop-done",))], "no \\[DONE\\]"),
    ],
)
def test_a_play_that_cannot_be_played_is_refused_when_it_is_armed(
    control: SyncControlClient, members: dict[str, list[object]], default: list[object], what: str
) -> None:
    """Not at the first request, and without leaving anything armed."""
    nonce = fresh_nonce()
    with pytest.raises(Exception, match=what) as caught:
        control.arm(nonce, members, default)  # type: ignore[arg-type]
    assert not isinstance(caught.value, UpstreamError)
    with pytest.raises(ScenarioError, match="not armed"):
        control.take(nonce)


def test_a_cassette_that_vcrpy_recorded_is_played(upstream: UpstreamProcess, control: SyncControlClient) -> None:
    """A plain vcrpy file, without anything of ours in it, answers through the upstream."""
    nonce = fresh_nonce()
    control.arm(nonce, {"u0": [PlayItem(cassette="vcrpy-chat")]})
    reply = ask(upstream.ports[0], chat(nonce))
    assert reply.startswith(b"HTTP/1.1 200 OK\r\n")
    assert json.loads(reply.partition(b"\r\n\r\n")[2])["choices"][0]["message"]["content"] == "Hello from the recorder."
    (entry,) = control.take(nonce, wait_ms=WAIT)
    assert entry.played.cassette == "vcrpy-chat"


def test_a_full_journal_is_loud(tmp_path: Path) -> None:
    """Attempts past the bound are answered and counted, and taking or reading raises."""
    with start_upstream(1, cassettes=tmp_path, bounds=Bounds(entries=2)) as small:
        control = small.client()
        kept, lost = fresh_nonce(), fresh_nonce()
        for nonce in (kept, lost):
            control.arm(nonce, {}, [document()])
        for nonce in (kept, kept, lost):
            assert ask(small.ports[0], chat(nonce)).endswith(b'{"ok":true}')
        assert control.health()["lost"] == 1
        with pytest.raises(UpstreamError, match="1 attempts are lost"):
            control.take(lost)
        with pytest.raises(UpstreamError, match="lost"):
            control.journal()
        assert len(control.take(kept, wait_ms=WAIT)) == 2
        assert control.stray() == ()
        ask(small.ports[0], chat(lost))
        assert [entry.nonce for entry in control.stray()] == [lost]
