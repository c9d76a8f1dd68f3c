"""Facts about a gateway that remembers, on the wire: whom it asks, and what it tells, on a clock that stands."""

from __future__ import annotations

import asyncio
from typing import Any

from conformance.reference.config import Member
from conformance.reference.serving import deployment_id
from tests.reference.clock import HandClock
from tests.reference.stage import (
    ALIAS,
    GOOD,
    HELLO,
    Client,
    Peer,
    Script,
    chat_request,
    completion,
    hang,
    play,
    reply,
    staged,
    stream,
)

DOWN = reply({"error": {"message": "The server had an error."}}, status=500)
LIMITED = reply({"error": {"message": "slow down"}}, status=429, fields=["Retry-After: 20"])
GONE = reply({"error": {"message": "ghost/ghost-9 is not a valid model ID"}}, status=400)
COOLDOWN: dict[str, Any] = {"cooldown": {"window": 5.0}}


def in_turn(*scripts: Script) -> Script:
    """A script that plays another one for each request, the last one again and again."""
    left = list(scripts)

    async def next_one(peer: Peer) -> None:
        await (left.pop(0) if len(left) > 1 else left[0])(peer)

    return next_one


async def statuses(client: Client, count: int, **members: Any) -> list[int]:
    return [(await client.chat(**members)).status for _ in range(count)]


def test_a_lone_member_in_cooldown_is_left_alone_then_probed() -> None:
    """Ten requests in the silent half make no call, one past the middle one, and the next three are served."""

    async def work() -> None:
        clock = HandClock()
        async with staged(in_turn(DOWN, GOOD), clock=clock, **COOLDOWN) as client:
            assert await statuses(client, 11) == [500] + [503] * 10
            answer = await client.chat()
            assert (answer.error["code"], answer.fields["retry-after"]) == ("no_member_available", "3")
            assert client.attempts == [1]
            clock.pass_by(2.6)
            assert await statuses(client, 1) == [200]
            assert client.attempts == [2]
            assert await statuses(client, 3) == [200] * 3

    play(work)


def test_one_request_is_the_probe_and_the_others_are_told() -> None:
    """Of four at once one goes to the member; a probe that fails closes it again."""

    async def work() -> None:
        clock, asked, told = HandClock(), asyncio.Event(), asyncio.Event()

        async def slow(peer: Peer) -> None:
            asked.set()
            await told.wait()
            await DOWN(peer)

        async with staged(in_turn(DOWN, slow), clock=clock, **COOLDOWN) as client:
            await client.chat()
            clock.pass_by(2.6)
            probe = asyncio.ensure_future(client.chat())
            await asked.wait()
            assert await statuses(client, 3) == [503] * 3
            told.set()
            assert (await probe).status == 500
            clock.pass_by(2.6)
            assert await statuses(client, 1) == [503]
            assert client.attempts == [2]

    play(work)


def test_a_probe_whose_client_hangs_up_makes_room() -> None:
    """The member's connection is closed, and the next request is a probe."""

    async def work() -> None:
        clock, asked = HandClock(), asyncio.Event()

        async def silent(peer: Peer) -> None:
            asked.set()
            await hang(peer)

        async with staged(in_turn(DOWN, silent, GOOD), clock=clock, **COOLDOWN) as client:
            await client.chat()
            clock.pass_by(2.6)
            _, writer = await client.open(chat_request())
            await asked.wait()
            writer.close()
            await client.members[0].peers[1].gone.wait()
            while (answer := await client.chat()).status == 503:
                pass
            assert (answer.status, client.attempts) == (200, [3])

    play(work)


def test_a_member_in_cooldown_is_passed_over_and_probed_last() -> None:
    """A pool goes on without it; past the middle it is asked when the others have failed; after the end in its turn."""

    async def work() -> None:
        clock = HandClock()
        async with staged(
            in_turn(DOWN, GOOD), in_turn(GOOD, GOOD, GOOD, DOWN, GOOD), clock=clock, **COOLDOWN
        ) as client:
            assert await statuses(client, 3) == [200] * 3
            assert client.attempts == [1, 3]
            clock.pass_by(2.6)
            assert await statuses(client, 1) == [200]
            assert client.attempts == [2, 4]
            clock.pass_by(5.0)
            assert await statuses(client, 2) == [200] * 2
            assert client.attempts == [3, 5]

    play(work)


def test_a_stream_that_breaks_after_output_counts() -> None:
    """Its member is in cooldown for the next request; one that ends whole is not."""

    async def work() -> None:
        broken = stream(HELLO[0], HELLO[1], done=False, end="reset")
        async with staged(in_turn(stream(*HELLO), broken), clock=HandClock(), **COOLDOWN) as client:
            assert await statuses(client, 3, stream=True) == [200, 200, 503]

    play(work)


def test_a_client_that_leaves_a_stream_counts_for_nothing() -> None:
    """The member serves on."""

    async def work() -> None:
        endless = stream(HELLO[0], HELLO[1], done=False, end="stall")
        async with staged(in_turn(endless, stream(*HELLO)), clock=HandClock(), **COOLDOWN) as client:
            reader, writer = await client.open(chat_request(stream=True))
            await reader.readuntil(b"Hel")
            writer.close()
            await client.members[0].peers[0].gone.wait()
            assert (await client.chat(stream=True)).text == "Hello"

    play(work)


def test_a_dead_model_is_asked_twice_in_four_calls() -> None:
    """Two rejections that name it, then it is skipped for ten minutes; then asked again, twice."""

    async def work() -> None:
        clock = HandClock()
        async with staged(GONE, GOOD, rotate=False, clock=clock, quarantine={"window": 600.0}) as client:
            assert await statuses(client, 4) == [200] * 4
            assert client.attempts == [2, 4]
            clock.pass_by(600.0)
            assert await statuses(client, 4) == [200] * 4
            assert client.attempts == [4, 8]

    play(work)


def test_a_wait_is_honoured_and_passed_on() -> None:
    """The limited member is left alone while another serves; when all are limited the client is told how long."""

    async def work() -> None:
        clock = HandClock()
        async with staged(LIMITED, in_turn(GOOD, GOOD, LIMITED), rotate=False, clock=clock, retry_after={}) as client:
            assert await statuses(client, 3) == [200, 200, 429]
            assert client.attempts == [1, 3]
            clock.pass_by(12.0)
            answer = await client.chat()
            assert (answer.status, answer.fields["retry-after"]) == (429, "8")
            assert client.attempts == [1, 3]
            clock.pass_by(8.0)
            await client.chat()
            assert client.attempts == [2, 4]

    play(work)


def test_retries_are_bounded_and_leave_out_what_cannot_pass() -> None:
    """A failure that may pass is tried again after a pause; a retired member is not."""

    async def work() -> None:
        retries: dict[str, Any] = {"retries": {"pause": 0.01, "rounds": 2}}
        async with staged(GONE, in_turn(DOWN, DOWN, GOOD), rotate=False, **retries) as client:
            assert (await client.chat()).status == 200
            assert client.attempts == [1, 3]
        async with staged(DOWN, DOWN, DOWN, DOWN, retries={"pause": 0.01, "rounds": 9}) as client:
            assert (await client.chat()).status == 500
            assert sum(client.attempts) == 10
        async with staged(GONE, **retries) as client:
            assert (await client.chat()).status == 404
            assert client.attempts == [1]

    play(work)


def test_the_deployment_is_named_without_naming_it() -> None:
    """One opaque id for each member, of the one that served; not on errors, and not unless it is wanted."""

    async def work() -> None:
        async with staged(DOWN, GOOD, rotate=False, name_deployment=True) as client:
            told = await client.chat()
            second = Member(name="m1", base_url="", api_key="", model="")
            assert told.fields["x-deployment-id"] == deployment_id(ALIAS, second)
            assert told.fields["x-attempts"] == "2"
        async with staged(GOOD) as client:
            assert "x-deployment-id" not in (await client.chat()).fields

    play(work)


def test_equal_requests_are_answered_from_memory() -> None:
    """Once asked, once told again; any other field, and the other form, is another request."""

    async def work() -> None:
        clock = HandClock()
        async with staged(in_turn(GOOD, reply(completion("Again")), stream(*HELLO)), clock=clock, cache={}) as client:
            first, second = await client.chat(), await client.chat()
            assert (second.body, second.fields["x-cache"]) == (first.body, "hit")
            assert client.attempts == [1]
            assert "x-cache" not in (await client.chat(seed=1)).fields
            streams = [await client.chat(stream=True) for _ in range(2)]
            assert [answer.text for answer in streams] == ["Hello", "Hello"]
            assert streams[1].fields["content-type"].startswith("text/event-stream")
            assert client.attempts == [3]
            clock.pass_by(60.0)
            await client.chat()
            assert client.attempts == [4]

    play(work)


def test_no_error_is_an_answer_from_memory() -> None:
    """An error, a stream that broke and one that its client left are asked for again."""

    async def work() -> None:
        broken = stream(HELLO[0], HELLO[1], done=False, end="reset")
        endless = stream(HELLO[0], HELLO[1], done=False, end="stall")
        async with staged(in_turn(DOWN, GOOD), cache={}) as client:
            assert await statuses(client, 2) == [500, 200]
        async with staged(in_turn(broken, endless, stream(*HELLO)), cache={}) as client:
            assert "error" in (await client.chat(stream=True)).events[-1]
            reader, writer = await client.open(chat_request(stream=True))
            await reader.readuntil(b"Hel")
            writer.close()
            await client.members[0].peers[1].gone.wait()
            assert (await client.chat(stream=True)).text == "Hello"
            assert client.attempts == [3]

    play(work)
