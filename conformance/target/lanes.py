"""Lanes: one alias of the gateway each, with its own members, so that its memory of one cannot touch another.

Plans aliases and members, and renders them for a gateway's configuration. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One upstream of a lane: its name in the play ("m0"), port on loopback, key and upstream model name."""

    name: str
    port: int
    api_key: str
    model: str

    @property
    def base_url(self) -> str:
        """The API root that the gateway is told, without path."""
        return f"http://127.0.0.1:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """One alias and its members."""

    alias: str
    members: tuple[Member, ...]


def plan_lanes(
    sizes: Sequence[int], *, ports: Sequence[int], shared: Mapping[int, int] | None = None
) -> tuple[Lane, ...]:
    """One lane for each size, with that many members; the lanes' names count from lane-000.

    Ports are dealt in order and again from the start when they run out: within a lane they always differ; with
    `sum(sizes)` ports no two members share one, which a play that closes a port needs when lanes run side by side.
    A lane in `shared` has the ports of the earlier lane of the same size named there, and takes none of its own.
    Keys and upstream model names are distinct and recognisable, so that a leak names its member. Raises ValueError
    when a lane needs more ports than there are.
    """
    if not ports or min(sizes, default=1) < 1 or max(sizes, default=1) > len(ports):
        raise ValueError(f"lanes of {sorted(set(sizes))} members cannot be served from {len(ports)} ports")
    lanes: list[Lane] = []
    dealt = 0
    for number, size in enumerate(sizes):
        like = (shared or {}).get(number)
        if like is None:
            own = [ports[(dealt + index) % len(ports)] for index in range(size)]
            dealt += size
        else:
            own = [member.port for member in lanes[like].members]
        members = tuple(_plan_member(number, index, port) for index, port in enumerate(own))
        lanes.append(Lane(alias=f"lane-{number:03d}", members=members))
    return tuple(lanes)


def _plan_member(lane: int, index: int, port: int) -> Member:
    return Member(
        name=f"m{index}",
        port=port,
        api_key=f"sk-up-lane-{lane:03d}-{index}",
        model=f"up-model-l{lane:03d}-m{index}",
    )
