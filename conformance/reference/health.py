"""What the gateway knows of its members' health: who may be asked now, and what each outcome changes.

Joins cooldowns, quarantines and waits under their keys. Knows failures, and nothing of requests or connections.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from conformance.reference.config import Config, Lane, Member
from conformance.reference.cooldown import Cooldowns, Standing
from conformance.reference.failure import Failure, Kind
from conformance.reference.quarantine import Quarantine
from conformance.reference.rules import Clock


@dataclass(slots=True, kw_only=True)
class Permit:
    """The leave to ask one member once, from `asked` on. The first outcome settles it; a probe's goes back then."""

    health: Health
    lane: Lane
    member: Member
    asked: float
    probe: object = None
    open: bool = True

    def succeeded(self) -> None:
        """The member answered, wholly."""
        if self._settle():
            self.health.succeeded(self)

    def failed(self, failure: Failure) -> None:
        """The member did not answer, or its answer broke."""
        if self._settle():
            self.health.failed(self, failure)

    def release(self) -> None:
        """Nothing came of it, by no fault of the member; without effect on a settled one."""
        if self._settle():
            self.health.abandoned(self)

    def _settle(self) -> bool:
        was, self.open = self.open, False
        if was and self.probe is not None:
            self.health.returned(self)
        return was


class Health:
    """The memory of all lanes. A defect overrides one of its methods."""

    def __init__(self, config: Config, clock: Clock) -> None:
        self.clock = clock
        self.cooldown = config.cooldown
        self.cooldowns = Cooldowns(config.cooldown, clock) if config.cooldown is not None else None
        self.quarantine = Quarantine(config.quarantine, clock) if config.quarantine is not None else None
        self.waits = config.retry_after
        self._waits: dict[Hashable, float] = {}

    def place(self, lane: Lane, member: Member) -> Hashable:
        """The key of cooldowns and waits: one member of one lane."""
        return lane.alias, member.name

    def pair(self, lane: Lane, member: Member) -> Hashable:
        """The key of quarantines: one model at one origin."""
        return member.host, member.model

    def standing(self, lane: Lane, member: Member) -> Standing:
        """What may be asked of a member now."""
        if self._wait_left(lane, member) > 0 or self._quarantine_left(lane, member) > 0:
            return Standing.AWAY
        return self.cooldowns.standing(self.place(lane, member)) if self.cooldowns is not None else Standing.READY

    def permit(self, lane: Lane, member: Member) -> Permit:
        """The leave to ask a member that is not away."""
        probe = None
        if self.cooldowns is not None and self.standing(lane, member) is Standing.PROBE:
            probe = self.cooldowns.take(self.place(lane, member))
        return Permit(health=self, lane=lane, member=member, asked=self.clock(), probe=probe)

    def seconds_left(self, lane: Lane, member: Member) -> float:
        """Seconds until a member that is away may be asked."""
        cooling = self.cooldowns.seconds_left(self.place(lane, member)) if self.cooldowns is not None else 0.0
        return max(cooling, self._wait_left(lane, member), self._quarantine_left(lane, member))

    def limited(self, lane: Lane, member: Member) -> bool:
        """Whether a member is away because it asked for it, and for no other reason."""
        left = self._wait_left(lane, member)
        return left > 0 and left >= self.seconds_left(lane, member)

    def succeeded(self, permit: Permit) -> None:
        """A success ends a cooldown at once, and no rejection before it counts."""
        if self.cooldowns is not None:
            self.cooldowns.succeeded(self.place(permit.lane, permit.member))
        self._cleared(permit)

    def failed(self, permit: Permit, failure: Failure) -> None:
        """A failure counts for what it is: an outage, a rejection of the model, a limit; or it counts for nothing."""
        self._note_wait(permit, failure)
        if self.rejects_model(failure):
            self._rejected(permit)
        else:
            self._cleared(permit)
        if self.cooldowns is None or self.cooldown is None:
            return
        key = self.place(permit.lane, permit.member)
        fixed = {Kind.AUTH: self.cooldown.auth, Kind.RATE_LIMIT: self.cooldown.limited}.get(failure.kind)
        if self.is_outage(failure):
            self.outage(permit)
        elif fixed is not None:
            self.cooldowns.shut(key, fixed)
        else:
            self.cooldowns.unharmed(key)

    def outage(self, permit: Permit) -> None:
        """A failure that counts opens the next window."""
        if self.cooldowns is not None:
            self.cooldowns.failed(self.place(permit.lane, permit.member), permit.asked)

    def is_outage(self, failure: Failure) -> bool:
        """Whether a failure counts against the member's health: server errors and broken connections alone do."""
        return failure.outage

    def rejects_model(self, failure: Failure) -> bool:
        """Whether a failure says that the member does not serve its model."""
        return failure.names_model

    def abandoned(self, permit: Permit) -> None:
        """The client went, or the gateway failed itself: nothing is known of the member."""
        self._cleared(permit)
        if self.cooldowns is not None:
            self.cooldowns.unharmed(self.place(permit.lane, permit.member))

    def returned(self, permit: Permit) -> None:
        """A probe is over: the next one may go."""
        if self.cooldowns is not None:
            self.cooldowns.give_back(self.place(permit.lane, permit.member), permit.probe)

    def _rejected(self, permit: Permit) -> None:
        if self.quarantine is not None:
            self.quarantine.rejected(self.pair(permit.lane, permit.member))

    def _cleared(self, permit: Permit) -> None:
        if self.quarantine is not None:
            self.quarantine.cleared(self.pair(permit.lane, permit.member))

    def _note_wait(self, permit: Permit, failure: Failure) -> None:
        if self.waits is not None and failure.wait is not None:
            until = self.clock() + min(failure.wait, self.waits.longest)
            key = self.place(permit.lane, permit.member)
            self._waits[key] = max(until, self._waits.get(key, until))

    def _wait_left(self, lane: Lane, member: Member) -> float:
        key = self.place(lane, member)
        return max(0.0, self._waits[key] - self.clock()) if key in self._waits else 0.0

    def _quarantine_left(self, lane: Lane, member: Member) -> float:
        return self.quarantine.seconds_left(self.pair(lane, member)) if self.quarantine is not None else 0.0
