"""Defects of cooldowns and of the breaker: which failures open a window, who may try its member, and what ends it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable

from conformance.reference.behaviour import Behaviour
from conformance.reference.config import Config, Lane, Member
from conformance.reference.cooldown import Standing
from conformance.reference.defects.entry import defect
from conformance.reference.defects.hooks import told_otherwise
from conformance.reference.failure import Failure, Kind
from conformance.reference.health import Health, Permit
from conformance.reference.rules import CooldownRule


def _rule(**changes: float) -> Callable[[Config], Config]:
    """A change of the cooldown's rule."""

    def change(config: Config) -> Config:
        rule: CooldownRule | None = config.cooldown
        return dataclasses.replace(config, cooldown=dataclasses.replace(rule, **changes) if rule is not None else None)

    return change


class _Unmoved(Health):
    """A probe that fails leaves the window as it was."""

    def outage(self, permit: Permit) -> None:
        if permit.probe is None:
            super().outage(permit)


class _Crowd(Health):
    """Every request past the middle is a probe."""

    def permit(self, lane: Lane, member: Member) -> Permit:
        return Permit(health=self, lane=lane, member=member, asked=self.clock())


class _Lossy(Health):
    """The permit of a probe whose client hangs up does not come back."""

    def abandoned(self, permit: Permit) -> None:
        super().abandoned(permit)
        if permit.probe is not None and self.cooldowns is not None:
            self.cooldowns.take(self.place(permit.lane, permit.member))


class _LossyWhenRejected(Health):
    """The permit of a probe whose request was rejected does not come back."""

    def failed(self, permit: Permit, failure: Failure) -> None:
        super().failed(permit, failure)
        if permit.probe is not None and failure.kind is Kind.REQUEST and self.cooldowns is not None:
            self.cooldowns.take(self.place(permit.lane, permit.member))


class _Eager(Health):
    """A member that may be probed is in its turn like the others."""

    def standing(self, lane: Lane, member: Member) -> Standing:
        standing = super().standing(lane, member)
        return Standing.READY if standing is Standing.PROBE else standing

    def permit(self, lane: Lane, member: Member) -> Permit:
        probe = None
        if self.cooldowns is not None and super().standing(lane, member) is Standing.PROBE:
            probe = self.cooldowns.take(self.place(lane, member))
        return Permit(health=self, lane=lane, member=member, asked=self.clock(), probe=probe)


class _Unforgiving(Health):
    """A probe opens the next window, whatever came of it."""

    def succeeded(self, permit: Permit) -> None:
        if permit.probe is not None:
            self.outage(permit)
        else:
            super().succeeded(permit)


class _ByName(Health):
    """Windows are kept by the member's name, whatever lane it is in."""

    def place(self, lane: Lane, member: Member) -> Hashable:
        return member.name


class _WholePool(Health):
    """What one member did closes the others of its lane as well."""

    def outage(self, permit: Permit) -> None:
        super().outage(permit)
        if self.cooldowns is None or self.cooldown is None:
            return
        if self.standing(permit.lane, permit.member) is not Standing.READY:
            for member in permit.lane.members:
                self.cooldowns.shut(self.place(permit.lane, member), self.cooldown.window)


class _Unreset(Health):
    """A success leaves the count of failures as it was."""

    def succeeded(self, permit: Permit) -> None:
        if permit.probe is not None:
            super().succeeded(permit)


class _OutOfOrder(Health):
    """A probe that succeeds leaves the window open."""

    def succeeded(self, permit: Permit) -> None:
        if permit.probe is None:
            super().succeeded(permit)


class _ShutWhenRetired(Health):
    """A 404 that names the model opens a window at once."""

    def failed(self, permit: Permit, failure: Failure) -> None:
        super().failed(permit, failure)
        if failure.kind is Kind.RETIRED and self.cooldowns is not None and self.cooldown is not None:
            self.cooldowns.shut(self.place(permit.lane, permit.member), self.cooldown.window)


class _StatusesAlone(Health):
    """What is no status counts for nothing: resets, silence, streams that break."""

    def is_outage(self, failure: Failure) -> bool:
        return failure.outage and failure.kind is Kind.UNAVAILABLE


class _HangupsCount(Health):
    """A client that goes away counts like a member that broke."""

    def abandoned(self, permit: Permit) -> None:
        self.outage(permit)


def _counting(*kinds: Kind) -> type[Health]:
    """A memory for which failures of these kinds count like outages."""

    class Counting(Health):
        def is_outage(self, failure: Failure) -> bool:
            return failure.outage or failure.kind in kinds

    return Counting


TABLE = (
    defect(
        "cooldown-none",
        "A member that failed stays in turn, as if nothing had been",
        "cooldown.silent cooldown.probe-once",
        Behaviour(health=told_otherwise(lambda config: dataclasses.replace(config, cooldown=None))),
        "cooldown.silent-half cooldown.probe-alone",
    ),
    defect(
        "cooldown-without-silence",
        "A lone member that failed is tried again at once",
        "cooldown.silent",
        Behaviour(health=told_otherwise(_rule(silent=1e-9))),
        "cooldown.silent-alone",
    ),
    defect(
        "probe-too-early",
        "A member is tried again after a quarter of its window",
        "cooldown.silent",
        Behaviour(health=told_otherwise(_rule(silent=0.25))),
        "cooldown.silent-alone",
    ),
    defect(
        "cooldown-cut-short",
        "A window is over after three tenths of its length",
        "cooldown.silent",
        Behaviour(health=told_otherwise(_rule(window=0.18))),
        "cooldown.silent-on",
    ),
    # incident D: a failed probe opens the next window
    defect(
        "failed-probe-forgotten",
        "A probe that fails leaves the window as it was",
        "cooldown.silent",
        Behaviour(health=_Unmoved),
        "cooldown.probe-fails",
    ),
    # incident D: exactly one request past the midpoint
    defect(
        "probes-without-bound",
        "Past the middle of a window every request tries the member",
        "cooldown.probe-once",
        Behaviour(health=_Crowd),
        "cooldown.probe-alone",
    ),
    # incident D: a permit is returned on every exit
    defect(
        "probe-permit-lost",
        "A probe whose client hangs up keeps the place of the next",
        "cooldown.probe-returned",
        Behaviour(health=_Lossy),
        "cooldown.probe-given-up",
    ),
    defect(
        "probe-permit-lost-to-a-rejection",
        "A probe whose request is rejected keeps the place of the next",
        "cooldown.probe-returned",
        Behaviour(health=_LossyWhenRejected),
        "cooldown.probe-rejected",
    ),
    # incident D: probes come last
    defect(
        "probe-in-turn",
        "Past the middle of its window a member is probed before those that are well",
        "cooldown.probe-last",
        Behaviour(health=_Eager),
        "cooldown.probe-last",
    ),
    defect(
        "probe-success-counts-as-failure",
        "A probe opens the next window, whatever came of it",
        "cooldown.recovers",
        Behaviour(health=_Unforgiving),
        "cooldown.success-clears",
    ),
    defect(
        "probe-success-leaves-window",
        "A probe that succeeds leaves the window open until its end",
        "cooldown.recovers",
        Behaviour(health=_OutOfOrder),
        "cooldown.success-clears",
    ),
    defect(
        "cooldown-at-the-first-failure",
        "One failure opens a cooldown, where two in a row were declared",
        "cooldown.threshold",
        Behaviour(health=told_otherwise(_rule(after=1))),
        "cooldown.threshold-alone",
    ),
    defect(
        "failures-counted-over-successes",
        "No success resets the count of failures",
        "cooldown.threshold",
        Behaviour(health=_Unreset),
        "cooldown.threshold-alone",
    ),
    defect(
        "cooldown-of-the-whole-pool",
        "A member's cooldown closes all members of its pool",
        "pool.bystander.serves pool.failover.answers",
        Behaviour(health=_WholePool),
        "cooldown.bystanders",
    ),
    # incident D: a slot that is pushed out for good
    defect(
        "cooldown-without-end",
        "A member that failed is never asked again",
        "cooldown.recovers quarantine.never-for",
        Behaviour(health=told_otherwise(_rule(window=1e6, longest=1e6))),
        "cooldown.recovers",
    ),
    defect(
        "cooldown-by-member-name",
        "A window is kept by the member's name, so that it closes the member of every lane",
        "cooldown.scope pool.spread",
        Behaviour(health=_ByName),
        "cooldown.scope",
        crossing=True,
    ),
    # incident F: transport errors count, too
    defect(
        "statuses-alone-count",
        "A member that resets, or whose stream breaks, stays in turn: statuses alone count",
        "cooldown.silent",
        Behaviour(health=_StatusesAlone),
        "cooldown.silent-after-reset cooldown.silent-after-cut-in-text cooldown.silent-after-silence",
    ),
    # incident D: quota and 429 are not faults
    defect(
        "rate-limit-counts",
        "A rate limit counts like an outage",
        "breaker.counts quarantine.never-for",
        Behaviour(health=_counting(Kind.RATE_LIMIT)),
        "breaker.rate-limit",
    ),
    defect(
        "quota-counts",
        "A quota that is used up counts like an outage",
        "breaker.counts quarantine.never-for",
        Behaviour(health=_counting(Kind.QUOTA)),
        "breaker.quota",
    ),
    # incident F: only 5xx, 529 and transport errors count
    defect(
        "bad-request-counts",
        "A request that the member rejects counts like an outage",
        "breaker.counts quarantine.never-for",
        Behaviour(health=_counting(Kind.REQUEST)),
        "breaker.bad-request",
    ),
    defect(
        "refused-key-counts",
        "401 and 403 count like outages",
        "breaker.counts quarantine.never-for",
        Behaviour(health=_counting(Kind.AUTH)),
        "breaker.unauthorized",
    ),
    # incident A: a 404 opened a cooldown at once
    defect(
        "model-rejection-counts",
        "A 404 that names the model counts like an outage",
        "breaker.counts quarantine.lone",
        Behaviour(health=_ShutWhenRetired),
        "breaker.model-rejected",
    ),
    # incident F: the caller's cancellation does not count
    defect(
        "hangup-counts",
        "A client that hangs up counts like an outage of the member",
        "breaker.counts alive.after quarantine.never-for",
        Behaviour(health=_HangupsCount),
        "breaker.hang-ups",
    ),
)
