"""Lanes: one model alias of the gateway each, with its own members, so that the gateway's memory of one cannot touch another.

Plans aliases and members, and renders them for a gateway's configuration. Pure.
"""

from __future__ import annotations

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
