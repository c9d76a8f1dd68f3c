"""Defects of routing: a wait that is not kept, members that get no share, and who is named to have served."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from conformance.reference.behaviour import Behaviour, Fields
from conformance.reference.call import Call
from conformance.reference.config import Config, Member
from conformance.reference.defects.entry import defect
from conformance.reference.defects.hooks import told_otherwise
from conformance.reference.failure import Failure, Kind
from conformance.reference.health import Health, Permit
from conformance.reference.rules import WaitRule
from conformance.reference.serving import serving_fields


def _two(members: Sequence[Member], call: Call) -> Sequence[Member]:
    """The first two members take turns; the others are asked when these have failed."""
    by_name = sorted(members, key=lambda member: member.name)
    first = members.index(by_name[0]) % 2
    return by_name if first == 0 else (*by_name[1:2], *by_name[:1], *by_name[2:])


class _Minutes(Health):
    """Seconds are taken for minutes."""

    def failed(self, permit: Permit, failure: Failure) -> None:
        longer = failure.wait * 60 if failure.wait is not None else None
        super().failed(permit, dataclasses.replace(failure, wait=longer))


class _NoneUnread(Health):
    """No time is taken for no word about it."""

    def failed(self, permit: Permit, failure: Failure) -> None:
        unread = failure.kind is Kind.RATE_LIMIT and not failure.wait
        super().failed(permit, dataclasses.replace(failure, wait=60.0) if unread else failure)


class _DatesUnread(Health):
    """A wait that is told by a date is no wait."""

    def failed(self, permit: Permit, failure: Failure) -> None:
        dated = any(name == "retry-after" and not value.isdigit() for name, value in failure.headers)
        super().failed(permit, dataclasses.replace(failure, wait=None) if dated else failure)


def _note_first(body: bytes, member: Member, call: Call) -> bytes:
    call.memo.setdefault("first", member)
    return body


def _first_named(fields: Fields, status: int, call: Call) -> Fields:
    """The deployment that was chosen first is named, whoever served."""
    first = call.memo.get("first")
    named = dict(serving_fields(call, first, 1)) if first is not None else {}
    return tuple((name, named.get(name, value)) for name, value in fields)


def _short_waits(config: Config) -> Config:
    return dataclasses.replace(config, retry_after=WaitRule(longest=0.3))


def _unnamed_streams(fields: Fields, status: int, call: Call) -> Fields:
    return tuple(field for field in fields if not (call.stream and field[0] == "x-deployment-id"))


TABLE = (
    # BerriAI/litellm#38020
    defect(
        "retry-after-ignored",
        "A member that said how long to wait is asked in its next turn",
        "retry-after.waits",
        Behaviour(health=told_otherwise(lambda config: dataclasses.replace(config, retry_after=None))),
        "retry-after.pool",
    ),
    defect(
        "retry-after-cut-short",
        "A member is left alone for at most 0.3 s, whatever it said",
        "retry-after.waits",
        Behaviour(health=told_otherwise(_short_waits)),
        "retry-after.pool",
    ),
    defect(
        "retry-after-date-unread",
        "A member that said by a date until when to wait is asked in its next turn",
        "retry-after.waits",
        Behaviour(health=_DatesUnread),
        "retry-after.date",
    ),
    defect(
        "retry-after-in-minutes",
        "A member that said how many seconds to wait is left alone for as many minutes",
        "breaker.counts",
        Behaviour(health=_Minutes),
        "retry-after.over",
    ),
    defect(
        "retry-after-zero-unread",
        "A member that said to wait no time is left alone for a minute",
        "breaker.counts",
        Behaviour(health=_NoneUnread),
        "retry-after.zero",
    ),
    defect(
        "load-on-two-members",
        "Two members take turns, and the others are spares",
        "pool.spread",
        Behaviour(members=_two),
        "lifecycle.spread-four",
    ),
    # incident F: the response names the deployment that really served
    defect(
        "deployment-unnamed",
        "No response says which deployment served",
        "serving-model.reported",
        Behaviour(headers=lambda fields, status, call: tuple(f for f in fields if f[0] != "x-deployment-id")),
        "lifecycle.serving-model",
    ),
    defect(
        "first-choice-named",
        "After a failover the deployment that was asked first is named",
        "serving-model.reported",
        Behaviour(request_body=_note_first, headers=_first_named),
        "lifecycle.serving-model-failover",
    ),
    defect(
        "deployment-unnamed-in-streams",
        "No stream says which deployment served",
        "serving-model.reported",
        Behaviour(headers=_unnamed_streams),
        "lifecycle.serving-model-stream",
    ),
)
