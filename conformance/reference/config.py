"""The gateway's configuration: a JSON document becomes frozen lanes, members, timeouts and limits.

Knows nothing of HTTP. Times are seconds, sizes bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from conformance.errors import TargetError
from conformance.reference.rules import CacheRule, CooldownRule, QuarantineRule, RetryRule, WaitRule

MIB = 1024 * 1024
_Record = TypeVar("_Record")


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Seconds to wait: for a member's connection, for its first output (or its response head, without a stream),
    between two of its events, and for a client that does not read."""

    connect: float = 2.0
    first_token: float = 30.0
    idle: float = 30.0
    write: float = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds in bytes: a client's body, a member's whole reply, one server-sent event."""

    body: int = 16 * MIB
    reply: int = 64 * MIB
    event: int = 16 * MIB


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One upstream of a lane. `base_url` is the API root with its path ("http://127.0.0.1:9000/v1")."""

    name: str
    base_url: str
    api_key: str
    model: str

    @property
    def host(self) -> str:
        """Host and port, as the Host field wants it."""
        return urlsplit(self.base_url).netloc


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """One alias that clients may ask for, and the members that can serve it, in order."""

    alias: str
    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """All that the gateway is told. With `rotate`, each request of a lane starts one member further; with
    `name_deployment`, a response names the deployment that served. What it is to remember is off where it is None.
    """

    api_key: str
    lanes: Mapping[str, Lane]
    timeouts: Timeouts = field(default_factory=Timeouts)
    limits: Limits = field(default_factory=Limits)
    rotate: bool = True
    name_deployment: bool = False
    cooldown: CooldownRule | None = None
    quarantine: QuarantineRule | None = None
    retry_after: WaitRule | None = None
    retries: RetryRule | None = None
    cache: CacheRule | None = None


#: The rules of what is remembered, each a section of its own that switches it on.
RULES: dict[str, type[Any]] = {
    "cooldown": CooldownRule,
    "quarantine": QuarantineRule,
    "retry_after": WaitRule,
    "retries": RetryRule,
    "cache": CacheRule,
}


def decode_config(data: object, *, where: str = "configuration") -> Config:
    """The configuration in a parsed JSON document. Raises TargetError."""
    table = _table(data, where)
    _known(table, {"api_key", "lanes", "timeouts", "limits", "rotate", "name_deployment", *RULES}, where)
    lanes = [_lane(item, f"{where}: lanes[{number}]") for number, item in enumerate(_list(table, "lanes", where))]
    return Config(
        api_key=_text(table, "api_key", where),
        lanes={lane.alias: lane for lane in lanes},
        timeouts=_numbers(Timeouts, table.get("timeouts", {}), f"{where}: timeouts"),
        limits=_numbers(Limits, table.get("limits", {}), f"{where}: limits"),
        rotate=bool(table.get("rotate", True)),
        name_deployment=bool(table.get("name_deployment", False)),
        **{key: _numbers(kind, table[key], f"{where}: {key}") for key, kind in RULES.items() if key in table},
    )


def load_config(path: Path) -> Config:
    """The configuration in a JSON file. Raises TargetError."""
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise TargetError(f"the gateway's configuration cannot be read: {error}", where=str(path)) from error
    return decode_config(data, where=str(path))


def _lane(data: object, where: str) -> Lane:
    table = _table(data, where)
    _known(table, {"alias", "members"}, where)
    members = tuple(
        _member(item, f"{where}: members[{number}]") for number, item in enumerate(_list(table, "members", where))
    )
    return Lane(alias=_text(table, "alias", where), members=members)


def _member(data: object, where: str) -> Member:
    table = _table(data, where)
    _known(table, {"name", "base_url", "api_key", "model"}, where)
    url = _text(table, "base_url", where).rstrip("/")
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc:
        raise TargetError(f"base_url is not an http URL: {url!r}", where=where)
    return Member(
        name=_text(table, "name", where),
        base_url=url,
        api_key=_text(table, "api_key", where),
        model=_text(table, "model", where),
    )


def _numbers(kind: type[_Record], data: object, where: str) -> _Record:
    table = _table(data, where)
    _known(table, {item.name for item in fields(kind)}, where)  # type: ignore[arg-type]  # a dataclass, by its callers
    for item in fields(kind):  # type: ignore[arg-type]
        if item.default is MISSING and item.name not in table:
            raise TargetError(f"{item.name} is missing", where=where)
    for key, value in table.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
            raise TargetError(f"{key} is not a positive number: {value!r}", where=where)
    return kind(**table)


def _table(data: object, where: str) -> Mapping[str, Any]:
    if not isinstance(data, dict):
        raise TargetError("not a JSON object", where=where)
    return data


def _known(table: Mapping[str, Any], names: set[str], where: str) -> None:
    for key in table.keys() - names:
        raise TargetError(f"unknown key {key!r}", where=where, hint=f"known: {', '.join(sorted(names))}")


def _list(table: Mapping[str, Any], key: str, where: str) -> list[object]:
    value = table.get(key)
    if not isinstance(value, list) or not value:
        raise TargetError(f"{key} is not a list with entries", where=where)
    return value


def _text(table: Mapping[str, Any], key: str, where: str) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value:
        raise TargetError(f"{key} is not a text", where=where)
    return value
