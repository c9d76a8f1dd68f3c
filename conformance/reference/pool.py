"""The ladder: the members of a lane that may be asked are asked one after another until one answers.

A failure that is the client's own ends it at once; when all have failed, the most telling failure is what the client
is told. Each dispatch has a permit, which is settled whatever comes of it.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Container, Iterator, Sequence

from conformance.reference.accept import Accepted
from conformance.reference.attempt import attempt
from conformance.reference.call import Call
from conformance.reference.config import Lane, Member
from conformance.reference.cooldown import Standing
from conformance.reference.errors import Refused, failed, refuse
from conformance.reference.failure import Failure, Kind, UpstreamFailed
from conformance.reference.health import Permit
from conformance.reference.serving import serving_fields
from conformance.reference.steps import Step

#: Which failure tells the client most, first to last: what it can wait out, what is broken, what only we can mend.
TELLING = (
    Kind.REQUEST,
    Kind.RATE_LIMIT,
    Kind.UNAVAILABLE,
    Kind.TIMEOUT,
    Kind.BROKEN,
    Kind.EMPTY,
    Kind.CONNECT,
    Kind.QUOTA,
    Kind.AUTH,
    Kind.RETIRED,
)
#: The kinds that may pass by themselves, and allow another round.
PASSING = frozenset({Kind.RATE_LIMIT, Kind.UNAVAILABLE, Kind.TIMEOUT, Kind.BROKEN, Kind.EMPTY, Kind.CONNECT})
#: One request makes at most so many dispatches.
MOST = 10


async def answer(call: Call, lane: Lane) -> Accepted:
    """The first usable answer of the lane's members. Raises Refused."""
    failures: list[Failure] = []
    spent: set[str] = set()
    for pause in pauses(call):
        if pause:
            await asyncio.sleep(pause)
        before = len(failures)
        for permit in permits(call, lane, frozenset(spent)):
            accepted = await _asked(call, permit, failures)
            if accepted is not None:
                accepted.headers = (*accepted.headers, *serving_fields(call, permit.member, len(failures) + 1))
                return accepted
            if failures[-1].kind not in PASSING:
                spent.add(permit.member.name)
            if not failures[-1].moves_on or (len(failures) >= MOST and call.does(Step.BOUND_ATTEMPTS)):
                raise told(call, failures)
        if all(failure.kind not in PASSING for failure in failures[before:]):
            break
    raise told(call, failures) if failures else nobody(call, lane)


async def _asked(call: Call, permit: Permit, failures: list[Failure]) -> Accepted | None:
    """The answer of one member, which keeps the permit until it is whole; None when it failed, and that is noted."""
    try:
        accepted = await attempt(call, permit.member)
    except UpstreamFailed as error:
        permit.failed(error.failure)
        failures.append(call.behaviour.failure(error.failure, call))
        return None
    except BaseException:
        permit.release()
        raise
    accepted.permit = permit
    if accepted.parts is None:
        permit.succeeded()
    try:
        await call.behaviour.accepted(call)
    except BaseException:
        accepted.close()
        raise
    return accepted


def pauses(call: Call) -> Iterator[float]:
    """The seconds to wait before each round: none before the first."""
    yield 0.0
    rule = call.config.retries
    if rule is not None:
        for number in range(round(rule.rounds)):
            yield rule.pause * rule.growth**number


def permits(call: Call, lane: Lane, spent: Container[str] = ()) -> Iterator[Permit]:
    """The leaves to ask, one at a time: the members in their turn, then those that only a probe may ask. What may be
    asked is looked at when it is its turn.
    """
    members: list[Member] = []
    tried: set[str] = set()
    for member in call.behaviour.members(members_in_turn(call, lane), call):
        if member.name in spent:
            continue
        members.append(member)
        if call.health.standing(lane, member) is Standing.READY:
            tried.add(member.name)
            yield call.health.permit(lane, member)
    for member in members:
        if member.name not in tried and call.health.standing(lane, member) is not Standing.AWAY:
            tried.add(member.name)
            yield call.health.permit(lane, member)


def members_in_turn(call: Call, lane: Lane) -> Sequence[Member]:
    """The lane's members in the order for this request: each request starts one further than the last."""
    if not (call.config.rotate and call.does(Step.ROTATE)):
        return lane.members
    turns: dict[str, int] = call.shared.setdefault("turns", {})
    start = turns.get(lane.alias, 0)
    turns[lane.alias] = (start + 1) % len(lane.members)
    return (*lane.members[start:], *lane.members[:start])


def most_telling(failures: Sequence[Failure]) -> Failure:
    """The failure that the client is told of: the last one of the most telling kind."""
    return min(reversed(failures), key=lambda failure: TELLING.index(failure.kind))


def told(call: Call, failures: Sequence[Failure]) -> Refused:
    """The one error that stands for all failures."""
    return Refused(failed(call.behaviour.conclusion(most_telling(failures), failures, call)))


def nobody(call: Call, lane: Lane) -> Refused:
    """No member may be asked: a limit when all asked for a pause, else an outage; with the seconds until one may."""
    left = [(call.health.seconds_left(lane, member), member) for member in lane.members]
    seconds = str(max(1, math.ceil(min(seconds for seconds, _ in left))))
    if all(call.health.limited(lane, member) for _, member in left):
        text = f"Rate limit reached for `{lane.alias}`. Please try again in {seconds} s."
        return refuse(429, text, code="rate_limit_exceeded", headers=(("retry-after", seconds),))
    text = f"No member of `{lane.alias}` is available at present. Please try again in {seconds} s."
    return refuse(503, text, code="no_member_available", headers=(("retry-after", seconds),))
