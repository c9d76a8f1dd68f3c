"""Defects of the pool: failures that do not move on, dispatches too many, too late, or never, and endless patience."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, cast

from conformance.reference.attempt import attempt
from conformance.reference.behaviour import Behaviour, Moment
from conformance.reference.call import Call, Operation
from conformance.reference.config import Member
from conformance.reference.defects.entry import defect
from conformance.reference.errors import refuse
from conformance.reference.failure import Failure, Kind, UpstreamFailed
from conformance.reference.health import Health
from conformance.reference.jsontext import encode_json
from conformance.reference.media import now
from conformance.reference.relay import stream_bytes
from conformance.reference.sse import encode_event
from conformance.reference.steps import Step

When = Callable[[Failure, Call], bool]


def _ends_at(when: When) -> Behaviour:
    """A gateway for which some failures are the end of the ladder."""

    def hook(failure: Failure, call: Call) -> Failure:
        return dataclasses.replace(failure, moves_on=False) if when(failure, call) else failure

    return Behaviour(failure=hook)


def _status(*statuses: int) -> When:
    return lambda failure, call: call.answered is not None and call.answered.status in statuses


def _cancelled(failure: Failure, call: Call) -> bool:
    return "cancel" in failure.message.lower()


def _unreachable(failure: Failure, call: Call) -> Failure:
    """Without a connection nothing goes on, and the gateway is at fault."""
    fatal = failure.kind is Kind.CONNECT
    return dataclasses.replace(failure, status=500, moves_on=False) if fatal else failure


def _turns(members: Sequence[Member], call: Call, times: int, again: Callable[[int], bool]) -> Sequence[Member]:
    """The members, each up to `times` times while its last status is one to ask it again for."""

    def one_by_one() -> Iterator[Member]:
        for member in members:
            for _ in range(times):
                call.answered = None
                yield member
                if call.answered is None or not again(call.answered.status):
                    break

    return cast("Sequence[Member]", one_by_one())


class _Unforeseeing(Health):
    """An outage is nothing to remember."""

    def is_outage(self, failure: Failure) -> bool:
        return False


def _hammered(members: Sequence[Member], call: Call) -> Sequence[Member]:
    return _turns(members, call, 12, lambda status: status >= 500)


def _asked_twice(members: Sequence[Member], call: Call) -> Sequence[Member]:
    return _turns(members, call, 2, lambda status: status in (400, 413, 422))


def _may_be_asked_again(failure: Failure, call: Call) -> Failure:
    """A rejected request goes on to its second try, and no further."""
    call.memo["tries"] = call.memo.get("tries", 0) + (failure.kind is Kind.REQUEST)
    return dataclasses.replace(failure, moves_on=call.memo["tries"] < 2) if failure.kind is Kind.REQUEST else failure


@asynccontextmanager
async def _beside(call: Call) -> AsyncIterator[None]:
    """The lane's first member is asked for the same as well, and what it says is read and forgotten."""
    if call.lane is not None and not call.stream:
        call.shared.setdefault("beside", set()).add(asyncio.create_task(_forgotten(call, call.lane.members[0])))
    yield


async def _forgotten(call: Call, member: Member) -> None:
    with suppress(UpstreamFailed):
        await attempt(dataclasses.replace(call), member)


async def _answered_again(call: Call) -> None:
    """A success is asked for once more, from the lane's last member."""
    if call.lane is None or call.stream:
        return
    answered = call.answered
    with suppress(UpstreamFailed):
        (await attempt(call, call.lane.members[-1])).reply.close()
    call.answered = answered


def _note_end(frames: list[bytes], moment: Moment, call: Call) -> list[bytes]:
    """The error event stays away while another member is left to go on with."""
    call.memo["broke"] = moment is Moment.ERROR
    left = call.lane.members[call.memo.get("gone_on", 0) + 1 :] if call.lane else ()
    return [] if moment is Moment.ERROR and left else frames


async def _gone_on(parts: AsyncIterator[bytes], call: Call) -> AsyncIterator[bytes]:
    """A stream that broke goes on with the answer of the next member."""
    async for part in parts:
        yield part
    gone_on = call.memo.get("gone_on", 0) + 1
    if not call.memo.get("broke") or call.lane is None or gone_on >= len(call.lane.members):
        return
    call.memo["gone_on"] = gone_on
    accepted = await attempt(call, call.lane.members[gone_on])
    async for part in stream_bytes(call, accepted):
        yield part
    accepted.reply.close()


@asynccontextmanager
async def _parts_crash(call: Call) -> AsyncIterator[None]:
    """A message in parts is counted as if it were a text."""
    messages = call.doc.get("messages", ())
    if any(isinstance(message.get("content"), list) for message in messages):
        raise refuse(500, "The tokens of the prompt could not be counted.", code="internal_error")
    yield


def _all_move_on(failure: Failure, call: Call) -> Failure:
    return dataclasses.replace(failure, moves_on=True)


def _later(body: bytes, call: Call, edit: Callable[[dict[str, Any]], dict[str, Any]]) -> bytes:
    """The body for a member that is not the first, edited."""
    call.memo["asked"] = call.memo.get("asked", 0) + 1
    return encode_json(edit(json.loads(body))) if call.memo["asked"] > 1 else body


_PROMPT = frozenset({"model", "messages", "input", "prompt", "stream", "stream_options"})


def _prompt_alone(body: bytes, member: Member, call: Call) -> bytes:
    return _later(body, call, lambda doc: {name: value for name, value in doc.items() if name in _PROMPT})


def _last_message(body: bytes, member: Member, call: Call) -> bytes:
    return _later(body, call, lambda doc: {**doc, "messages": doc["messages"][-1:]} if "messages" in doc else doc)


@asynccontextmanager
async def _patient(call: Call) -> AsyncIterator[None]:
    """Silence is waited out for nearly three times as long as the configuration says."""
    timeouts = call.config.timeouts
    call.config = dataclasses.replace(call.config, timeouts=dataclasses.replace(timeouts, idle=timeouts.idle * 2.75))
    yield


@asynccontextmanager
async def _hasty(call: Call) -> AsyncIterator[None]:
    """A member's first output is waited for a quarter of the time that the configuration says."""
    timeouts = call.config.timeouts
    call.config = dataclasses.replace(
        call.config, timeouts=dataclasses.replace(timeouts, first_token=timeouts.first_token / 4)
    )
    yield


async def _limited(parts: AsyncIterator[bytes], call: Call) -> AsyncIterator[bytes]:
    """A stream may last a second and a half, whatever it does in it."""
    end = now() + 1.5
    async for part in parts:
        if now() > end and call.operation is not Operation.RESPONSES:
            error = {"message": "The upstream did not answer in time.", "type": "server_error", "param": None}
            yield encode_event({"error": {**error, "code": "upstream_timeout"}}, "")
            return
        yield part


def _last(failure: Failure, failures: Sequence[Failure], call: Call) -> Failure:
    return failures[-1]


FAILOVER = (
    # incident A: the router raised a 404 at once, three healthy members beside it
    defect(
        "member-404-ends-request",
        "A member's 404 is the end, whatever members are left",
        "pool.failover.answers",
        _ends_at(_status(404)),
        shown_by="pool.member-retired-404",
    ),
    # maximhq/bifrost#3261, langwatch/langwatch#7027
    defect(
        "rate-limit-ends-request",
        "A member's 429 is the end, whatever members are left",
        "pool.failover.answers",
        _ends_at(_status(429)),
        shown_by="pool.member-rate-limit",
    ),
    # BerriAI/litellm#27610
    defect(
        "refused-connection-ends-request",
        "A member that cannot be reached is the end, whatever members are left",
        "pool.failover.answers",
        Behaviour(failure=_unreachable),
        shown_by="pool.member-refused",
    ),
    # juspay/neurolink#1345
    defect(
        "account-403-ends-request",
        "A member that blocks the gateway's account is the end, whatever members are left",
        "pool.failover.answers",
        _ends_at(_status(403)),
        shown_by="pool.member-permission",
    ),
    # incident E, BerriAI/litellm#6532: an error before any output was passed on
    defect(
        "stream-committed-unseen",
        "A stream is passed on before it has any output, errors and all",
        "pool.failover.answers",
        Behaviour(skip=frozenset({Step.PEEK})),
        shown_by="pool.member-overloaded-event pool.member-network-error-chunk",
    ),
    # incident F: the words of a provider were taken for the caller's cancellation
    defect(
        "cancelled-words-end-request",
        "A member's error that speaks of cancellation is the end, whatever members are left",
        "pool.failover.answers",
        _ends_at(_cancelled),
        shown_by="pool.member-cancelled-words",
    ),
    defect(
        "last-failure-told",
        "Of a pool's failures the last one is told, whatever it tells",
        "pool.exhausted.telling",
        Behaviour(conclusion=_last),
        shown_by="pool.all-fail-rate-limit-first",
    ),
    defect(
        "bad-request-masked",
        "A request that is bad by itself goes on to the next member, and the last failure is told",
        "pool.exhausted.telling",
        Behaviour(failure=_all_move_on, conclusion=_last),
        shown_by="lifecycle.all-bad-request-then-500",
    ),
    defect(
        "second-member-asked-for-less",
        "From the second member on only the prompt is sent",
        "relay.request.fields",
        Behaviour(request_body=_prompt_alone),
        shown_by="pool.failover-keeps-request",
    ),
    defect(
        "second-member-asked-without-instructions",
        "From the second member on the last message alone is sent",
        "relay.request.messages",
        Behaviour(request_body=_last_message),
        shown_by="pool.failover-keeps-request-stream",
    ),
    defect(
        "parts-crash-before-dispatch",
        "A message in parts is a server error before any member is asked",
        "pool.healthy.asked",
        Behaviour(around=_parts_crash),
        shown_by="relay-request.image",
    ),
)

DISPATCHES = (
    # QuantumNous/new-api#2899
    defect(
        "retries-without-bound",
        "A member that fails is asked a dozen times at once before the next one",
        "pool.attempts.bounded pool.no-hammering",
        Behaviour(members=_hammered, health=_Unforeseeing, skip=frozenset({Step.BOUND_ATTEMPTS})),
    ),
    # kortix-ai/suna#5986
    defect(
        "rejected-request-asked-again",
        "A request that a member rejected is sent to it once more",
        "pool.rejection.once",
        Behaviour(members=_asked_twice, failure=_may_be_asked_again),
    ),
    # incident F: a member that was given up
    defect(
        "given-up-left-open",
        "A member whose stream never starts keeps its connection when another one is asked",
        "pool.given-up.closed",
        Behaviour(skip=frozenset({Step.LET_GO})),
        "timeouts.pool-no-first-event",
    ),
    # incident A: a success must never be dispatched again
    defect(
        "success-dispatched-again",
        "A request that was answered is dispatched once more",
        "pool.success.final",
        Behaviour(accepted=_answered_again),
    ),
    # incident D: a probe is a client's request, and none beside it
    defect(
        "member-asked-beside",
        "The first member is asked beside the one whose answer is used, and goes on to its end",
        "pool.success.alone",
        Behaviour(around=_beside),
        "pool.one-slow",
        crossing=True,
    ),
    # incident F: no failover after output
    defect(
        "failover-after-output",
        "A stream that breaks after output goes on with another member's answer",
        "pool.output.final relay.text.equal",
        Behaviour(frames=_note_end, flow=_gone_on),
    ),
    defect(
        "unknown-model-dispatched",
        "A model that the gateway does not serve goes to a member of another one",
        "pool.unknown-model.no-dispatch error.unknown-model.status",
        Behaviour(skip=frozenset({Step.KNOW_MODEL})),
    ),
    # incident F, BerriAI/litellm#37140, Nayjest/lm-proxy#88
    defect(
        "hangup-unseen",
        "A client that hangs up leaves the member's connection open, and the ladder goes on",
        "pool.hangup.closes pool.hangup.final cancel.in-time",
        Behaviour(skip=frozenset({Step.CLOSE_ON_HANGUP})),
        shown_by="hangup.mid-busy-stream hangup.pool",
    ),
)

PATIENCE = (
    # deepseek-ai/DeepSeek-V3#1608
    defect(
        "silence-without-end",
        "A stream that falls silent is waited for without end",
        "timeout.idle.told stream.end.arrives",
        Behaviour(skip=frozenset({Step.IDLE_TIMEOUT})),
    ),
    defect(
        "slow-member-passed-over",
        "A member is given up after a quarter of the declared time",
        "timeout.not-early",
        Behaviour(around=_hasty),
        shown_by="timeouts.pool-slow-first-event timeouts.slow-head",
    ),
    # a limit on the whole of an answer, as HTTP clients have it
    defect(
        "stream-cut-at-total-limit",
        "A stream is cut when it has lasted a second and a half",
        "timeout.not-early",
        Behaviour(flow=_limited),
        shown_by="timeouts.long-stream",
    ),
    defect(
        "silence-waited-out-too-long",
        "A stream that falls silent is waited for nearly three times as long as declared",
        "timeout.idle.told",
        Behaviour(around=_patient),
        shown_by="timeouts.idle-after-text",
    ),
    defect(
        "comments-as-first-output",
        "A comment counts as a member's first output",
        "timeout.first-token.told http.response.arrives pool.exhausted.told",
        Behaviour(skip=frozenset({Step.IGNORE_COMMENTS})),
        shown_by="timeouts.heartbeats-alone",
    ),
    defect(
        "first-output-waited-for-without-end",
        "A member that sends nothing is waited for without end",
        "timeout.first-token.told http.response.arrives pool.exhausted.told",
        Behaviour(skip=frozenset({Step.FIRST_TOKEN_TIMEOUT})),
    ),
)

TABLE = (*FAILOVER, *DISPATCHES, *PATIENCE)
