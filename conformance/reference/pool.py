"""The ladder: the members of a lane are asked one after another, each at most once, until one answers.

A failure that is the client's own ends it at once; when all have failed, the most telling failure is what the client
is told.
"""

from __future__ import annotations

from collections.abc import Sequence

from conformance.reference.accept import Accepted
from conformance.reference.attempt import attempt
from conformance.reference.call import Call
from conformance.reference.config import Lane, Member
from conformance.reference.errors import Refused, failed
from conformance.reference.failure import Failure, Kind, UpstreamFailed
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


async def answer(call: Call, lane: Lane) -> Accepted:
    """The first usable answer of the lane's members. Raises Refused."""
    failures: list[Failure] = []
    for member in call.behaviour.members(members_in_turn(call, lane), call):
        try:
            accepted = await attempt(call, member)
        except UpstreamFailed as error:
            failure = call.behaviour.failure(error.failure, call)
            failures.append(failure)
            if not failure.moves_on:
                break
        else:
            await call.behaviour.accepted(call)
            return accepted
    raise Refused(failed(call.behaviour.conclusion(most_telling(failures), failures, call)))


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
