"""Defects of the quarantine: when it begins, for what, how long it lasts, and what it takes along (incident C)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable

from conformance.reference.behaviour import Behaviour
from conformance.reference.config import Config, Lane, Member
from conformance.reference.defects.entry import defect
from conformance.reference.defects.hooks import told_otherwise
from conformance.reference.failure import Failure, Kind
from conformance.reference.health import Health, Permit
from conformance.reference.quarantine import Quarantine
from conformance.reference.rules import Clock, QuarantineRule


def _kept(kind: type[Quarantine]) -> type[Health]:
    """A memory whose quarantines are of another kind."""

    class Kept(Health):
        def __init__(self, config: Config, clock: Clock) -> None:
            super().__init__(config, clock)
            self.quarantine = kind(config.quarantine, clock) if config.quarantine is not None else None

    return Kept


class _Hasty(Quarantine):
    """One rejection is enough."""

    def rejected(self, key: Hashable) -> None:
        super().rejected(key)
        super().rejected(key)


class _Stubborn(Quarantine):
    """Nothing clears the count."""

    def cleared(self, key: Hashable) -> None:
        return None


class _Ageless(Quarantine):
    """A rejection counts, however long ago the one before was."""

    def rejected(self, key: Hashable) -> None:
        if key in self.lone:
            self.lone[key] = self.clock()
        super().rejected(key)


class _Wary(Quarantine):
    """After a quarantine one rejection begins the next."""

    def rejected(self, key: Hashable) -> None:
        super().rejected(key)
        if key in self.begun:
            self.begin(key)


class _Endless(Quarantine):
    """What was quarantined stays so."""

    def seconds_left(self, key: Hashable) -> float:
        return 1.0 if key in self.begun else 0.0


class _LimitIsSecond(Health):
    """After one rejection by name a limit is the second."""

    def failed(self, permit: Permit, failure: Failure) -> None:
        lone = self.quarantine is not None and self.pair(permit.lane, permit.member) in self.quarantine.lone
        super().failed(permit, failure)
        if lone and failure.kind is Kind.RATE_LIMIT and self.quarantine is not None:
            self.quarantine.begin(self.pair(permit.lane, permit.member))


def _shorter(config: Config) -> Config:
    rule = config.quarantine
    return dataclasses.replace(config, quarantine=QuarantineRule(window=rule.window / 2) if rule is not None else None)


def _rejecting(*kinds: Kind) -> type[Health]:
    """A memory for which failures of these kinds reject the model."""

    class Rejecting(Health):
        def rejects_model(self, failure: Failure) -> bool:
            return failure.names_model or failure.kind in kinds

    return Rejecting


def _keyed(key: Callable[[Member], Hashable]) -> type[Health]:
    """A memory whose quarantines have another key."""

    class Keyed(Health):
        def pair(self, lane: Lane, member: Member) -> Hashable:
            return key(member)

    return Keyed


TABLE = (
    # incident C: four attempts in four calls, for ever
    defect(
        "dead-model-asked-for-ever",
        "A model that its member rejects by name is asked for in its every turn",
        "quarantine.skips",
        Behaviour(health=told_otherwise(lambda config: dataclasses.replace(config, quarantine=None))),
        "quarantine.skips-400",
    ),
    defect(
        "one-rejection-quarantines",
        "One rejection by name is enough for a quarantine",
        "quarantine.lone breaker.counts",
        Behaviour(health=_kept(_Hasty)),
        "quarantine.lone",
    ),
    defect(
        "limit-is-second-rejection",
        "A rejection by name and a rate limit after it begin a quarantine",
        "quarantine.lone breaker.counts",
        Behaviour(health=_LimitIsSecond),
        "quarantine.limit-is-no-second",
    ),
    defect(
        "quarantine-cut-short",
        "A quarantine is over after half its length",
        "quarantine.skips",
        Behaviour(health=told_otherwise(_shorter)),
        "quarantine.skips-on",
    ),
    defect(
        "success-keeps-the-count",
        "Two rejections with successes between them begin a quarantine",
        "quarantine.lone",
        Behaviour(health=_kept(_Stubborn)),
        "quarantine.success-clears",
    ),
    defect(
        "rejection-never-ages",
        "A rejection counts however long ago the one before was",
        "quarantine.lone",
        Behaviour(health=_kept(_Ageless)),
        "quarantine.lone-ages-out",
    ),
    defect(
        "budget-not-restored",
        "After a quarantine one rejection begins the next",
        "quarantine.lone quarantine.expires",
        Behaviour(health=_kept(_Wary)),
        "quarantine.budget-restored",
    ),
    defect(
        "any-404-quarantines",
        "A 404 counts as a rejection of the model, whatever it says",
        "quarantine.never-for breaker.counts",
        Behaviour(health=_rejecting(Kind.RETIRED)),
        "quarantine.not-for-unreadable",
    ),
    defect(
        "bad-request-quarantines",
        "A bad request counts as a rejection of the model",
        "quarantine.never-for breaker.counts",
        Behaviour(health=_rejecting(Kind.REQUEST)),
        "quarantine.not-for-bad-request breaker.bad-request",
    ),
    defect(
        "refused-key-quarantines",
        "401 and 403 count as rejections of the model",
        "quarantine.never-for breaker.counts",
        Behaviour(health=_rejecting(Kind.AUTH)),
        "quarantine.not-for-unauthorized breaker.unauthorized",
    ),
    defect(
        "quarantine-without-end",
        "A model that was quarantined is never asked for again",
        "quarantine.expires",
        Behaviour(health=_kept(_Endless)),
        "quarantine.expires",
    ),
    defect(
        "quarantine-of-the-origin",
        "A rejected model takes all models of its origin along",
        "quarantine.scope pool.spread",
        Behaviour(health=_keyed(lambda member: member.host)),
        "quarantine.scope",
    ),
    defect(
        "quarantine-by-member-name",
        "A quarantine is kept by the member's name, so that it closes the member of every lane",
        "quarantine.scope pool.spread",
        Behaviour(health=_keyed(lambda member: member.name)),
        "quarantine.scope-other",
        crossing=True,
    ),
)
