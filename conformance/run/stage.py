"""The stage of a run: the replay upstream and the gateway, up and wired together, with a lane for each case.

One of each for a run, however many workers play on it; what a worker needs to join is plain data (`Seat`).
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from conformance.errors import TargetError, UpstreamError
from conformance.run.plan import PlannedCase
from conformance.target.command import program_values
from conformance.target.lanes import Lane, plan_lanes
from conformance.target.launch import RunningTarget, launch
from conformance.target.profile import Profile
from conformance.upstream.client import Address, SyncControlClient
from conformance.upstream.process import UpstreamProcess, start_upstream

#: How long a connection to a target that already runs may take.
CONNECT_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """How to play on a stage from anywhere on this machine: the upstream's address, the gateway's, and the lanes.

    `cassettes` are the folders in which the upstream looks them up (none: the shipped one), `known_models` the model
    names that the gateway serves, as a client writes them.
    """

    upstream: Address
    base_url: str
    version: str
    lanes: tuple[Lane, ...]
    profile: Profile
    cassettes: tuple[Path, ...] = ()
    known_models: frozenset[str] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        names = frozenset(self.profile.model_prefix + lane.alias for lane in self.lanes)
        object.__setattr__(self, "known_models", names)

    def encode(self) -> dict[str, Any]:
        """The part that another process cannot work out for itself, as plain data."""
        return {
            "control_port": self.upstream.control_port,
            "token": self.upstream.token,
            "ports": list(self.upstream.ports),
            "base_url": self.base_url,
            "version": self.version,
            "cassettes": list(map(str, self.cassettes)),
        }

    @classmethod
    def decode(cls, told: dict[str, Any], profile: Profile, cases: Sequence[PlannedCase]) -> Seat:
        """The seat from its plain data, in a process that planned the same cases for the same profile."""
        address = Address(control_port=told["control_port"], token=told["token"], ports=tuple(told["ports"]))
        lanes = lanes_for(cases, profile, address.ports)
        return cls(
            upstream=address,
            base_url=told["base_url"],
            version=told["version"],
            lanes=lanes,
            profile=profile,
            cassettes=tuple(map(Path, told["cassettes"])),
        )


class Stage:
    """A running stage: a seat, and the processes behind it."""

    def __init__(self, seat: Seat, upstream: UpstreamProcess | None, target: RunningTarget) -> None:
        self.seat = seat
        self.upstream = upstream
        self.target = target

    @property
    def version(self) -> str:
        """The gateway's version, as far as it is known."""
        return self.seat.version

    def ensure_alive(self) -> None:
        """Raise UpstreamError or TargetDied when a process that we started is gone."""
        if self.upstream is not None and not self.upstream.alive:
            code = self.upstream.returncode
            raise UpstreamError(f"the replay upstream ended during the run, with {code}", hint=self.upstream.log_tail())
        self.target.ensure_alive()


def lane_sizes(cases: Sequence[PlannedCase]) -> list[int]:
    """How many members the lanes of each case that is played have, in order of lane."""
    return [case.members for case in cases for _ in case.lanes]


def _shared(cases: Sequence[PlannedCase]) -> dict[int, int]:
    """The lanes that have the ports of another."""
    return {lane: like for case in cases for lane, like in case.shared.items()}


def lanes_for(cases: Sequence[PlannedCase], profile: Profile, ports: Sequence[int]) -> tuple[Lane, ...]:
    """The lanes of a run: planned ones, or those that an already running target says it has."""
    sizes = lane_sizes(cases)
    if profile.kind != "url":
        return plan_lanes(sizes, ports=ports, shared=_shared(cases)) if sizes else ()
    given: list[Lane] = []
    for number, size in enumerate(sizes):
        fitting = [lane for lane in profile.lanes if len(lane.members) >= size]
        if not fitting:
            raise TargetError(f"no lane of the target has {size} members", where=profile.name, hint="add it to `lanes`")
        given.append(fitting[number % len(fitting)])
    return tuple(given)


@contextmanager
def open_stage(
    profile: Profile, cases: Sequence[PlannedCase], scratch: Path, *, cassettes: Sequence[Path] = ()
) -> Iterator[Stage]:
    """Bring upstream and gateway up, and down again whatever happens; `cassettes` as a seat has them.

    Raises UpstreamError, LaunchError, TargetError. A target that already runs is used with the upstream that stands
    behind it; without one it can only be run live.
    """
    if profile.kind == "url":
        yield _found(profile, cases, tuple(cassettes))
        return
    program_values(profile)  # a program that is missing is told before anything is started
    sizes = lane_sizes(cases)
    with start_upstream(max(1, sum(sizes)), cassettes=cassettes) as upstream:
        lanes = lanes_for(cases, profile, upstream.ports)
        with launch(profile, lanes, scratch=scratch) as target:
            seat = Seat(
                upstream=upstream.address,
                base_url=target.base_url,
                version=target.version,
                lanes=lanes,
                profile=profile,
                cassettes=tuple(cassettes),
            )
            yield Stage(seat, upstream, target)


def _found(profile: Profile, cases: Sequence[PlannedCase], cassettes: tuple[Path, ...]) -> Stage:
    lanes = lanes_for(cases, profile, ()) if profile.upstream_control else ()
    seat = replace(seat_found(profile, lanes), cassettes=cassettes)
    return Stage(seat, None, RunningTarget(profile, base_url=profile.base_url))


def seat_found(profile: Profile, lanes: tuple[Lane, ...]) -> Seat:
    """How to play on a target that already runs, with the upstream that stands behind it.

    Raises TargetError where the profile and what runs do not fit, UpstreamError where no upstream answers.
    """
    if not profile.upstream_control:
        raise TargetError(
            "nothing is known of the upstream behind this target",
            where=profile.base_url,
            hint="run it with --live, or name its replay upstream in a profile: [upstream] control, and [[lanes]]",
        )
    token = os.environ.get(profile.upstream_token_variable, "")
    if not token:
        variable = profile.upstream_token_variable or "upstream_token_variable"
        raise TargetError(f"{variable} is not set", where=profile.name, hint="it holds the upstream's control token")
    ensure_listening(profile.base_url)
    address = Address(control_port=urlsplit(profile.upstream_control).port or 80, token=token, ports=())
    # The upstream's own order: by it the members are called u0, u1, ..., whatever numbers their ports have.
    ports = tuple(member["port"] for member in SyncControlClient(address).health()["members"].values())
    unknown = sorted({member.port for lane in profile.lanes for member in lane.members} - set(ports))
    if unknown:
        what = f"the replay upstream has no member at port {', '.join(map(str, unknown))}"
        raise TargetError(what, where=f"{profile.name}: lanes", hint=f"it has {', '.join(map(str, ports))}")
    address = replace(address, ports=ports)
    return Seat(upstream=address, base_url=profile.base_url, version="", lanes=lanes, profile=profile)


def ensure_listening(base_url: str) -> None:
    """Make sure that somebody listens there. Raises TargetError: nothing is spent on a dead address."""
    parts = urlsplit(base_url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname or "", port), timeout=CONNECT_SECONDS).close()
    except OSError as error:
        where = f"{parts.hostname}:{port}"
        raise TargetError(
            f"nothing answers there: {error.strerror or error}",
            where=where,
            hint="is it up, and is the URL that of its API root?",
        ) from error
