"""What a target was told and what it declared, for one case: the terms on which its exchange is judged."""

from __future__ import annotations

from functools import lru_cache

from conformance.exchange.assemble import read_attempt
from conformance.exchange.model import Attempt, Terms
from conformance.run.stage import Seat
from conformance.scenario.model import PlayItem, Scenario
from conformance.scenario.request import prepare
from conformance.target.lanes import Lane
from conformance.upstream.items import REFUSE, Scripts
from conformance.upstream.script import Action
from conformance.wire.transcript import End, Segment

#: A scenario that exercises this clause says that its request is one that the API does not accept.
_INVALID = "error.request.status"
#: One that exercises this one says that its request is within the API's bounds.
_VALID = "relay.request.accepted"

_ENDS = {Action.KEEP: End.COMPLETE, Action.CLOSE: End.CLOSE, Action.RESET: End.RESET, Action.STALL: End.STALL}


def terms_of(scenario: Scenario, lane: Lane, seat: Seat, scripts: Scripts) -> Terms:
    """The terms of one exchange of `scenario` in `lane`."""
    profile = seat.profile
    healthy = {
        member.name
        for member in lane.members
        if (items := scenario.play.members.get(member.name, scenario.play.default))
        and answers(scenario, items[0], scripts)
    }
    closed = {name for name, items in scenario.play.members.items() if items and items[0].cassette == REFUSE}
    return Terms(
        capabilities=profile.capabilities,
        secrets=tuple(member.api_key.encode() for member in lane.members),
        identities=tuple(
            name.encode() for member in lane.members for name in (member.model, f"127.0.0.1:{member.port}")
        ),
        members=tuple(member.name for member in lane.members),
        assigned=tuple((member.name, member.api_key, member.model) for member in lane.members),
        healthy=frozenset(healthy),
        closed=frozenset(closed),
        known_models=seat.known_models,
        key_valid=scenario.request.api_key is None,
        request_valid=False if _INVALID in scenario.exercises else _VALID in scenario.exercises or None,
        first_token_timeout_ms=profile.first_token_timeout_ms,
        idle_timeout_ms=profile.idle_timeout_ms,
        cancel_ms=profile.cancel_ms,
        max_attempts=profile.max_attempts,
    )


def answers(scenario: Scenario, item: PlayItem, scripts: Scripts) -> bool:
    """Whether a member that plays `item` answers the scenario's request well: whole, finished, without an error."""
    return played(scenario, item, scripts).succeeded


def played(scenario: Scenario, item: PlayItem, scripts: Scripts) -> Attempt:
    """What the scenario's request would get from a member that plays `item`, if nobody gave it up before its end."""
    method, path, _, body = prepare(scenario.request, alias="alias", nonce="cf-000000")
    head = f"{method} /v1{path} HTTP/1.1\r\nHost: m\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    return _answered(head + body, item, scripts)


@lru_cache(maxsize=4096)
def _answered(request: bytes, item: PlayItem, scripts: Scripts) -> Attempt:
    steps = scripts.plan(item, "cf-000000").script.steps
    segments = tuple(Segment(step.at, step.data) for step in steps if step.action is Action.SEND and step.data)
    end = _ENDS.get(steps[-1].action, End.CLOSE) if steps else End.CLOSE
    return read_attempt(
        member="", at=0.0, request=request, segments=segments, end=end, ended_at=steps[-1].at if steps else 0.0
    )
