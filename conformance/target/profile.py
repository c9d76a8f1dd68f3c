"""A target profile: how a gateway is reached or launched, what it declares, which deadlines hold. Data from TOML.

Turns a table into a validated Profile. Knows nothing of processes, and of files only the schema that it is checked
against.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from math import isfinite
from typing import Any
from urllib.parse import urlsplit

from conformance.driver.model import Deadlines
from conformance.errors import TargetError
from conformance.target.lanes import Lane, Member
from conformance.target.schema import closest, validate
from conformance.target.template import COMMAND_WORDS, LANE_WORDS, unknown_word

#: The closed set of promises that a target can declare; each makes the policy clauses that name it applicable.
CAPABILITIES: dict[str, str] = {
    "retries": "a retryable failure is tried again",
    "failover": "a failing member's request is answered by another member of the pool",
    "failover:404-model": "a member that answers 404 and names the model is passed over",
    "failover:404-router": "a member whose own router has nobody left (any other 404) is passed over",
    "failover:400-model": "a member that answers 400 and says that there is no such model is passed over",
    "failover:429": "a member that answers 429 is passed over",
    "failover:5xx": "a member that answers 500, 502, 503 or 504 is passed over",
    "failover:other-status": "a member that answers any other 5xx (529: overloaded), 409 or 425 is passed over",
    "failover:401-403": "a member that refuses the gateway's own key or account is passed over",
    "failover:connection": "a member whose connection is refused, reset or closed before its answer is passed over",
    "failover:timeout": "a member that does not answer in time, or answers 408, is passed over",
    "failover:broken-answer": "a success that ends before any output is passed over",
    "cooldown": "a failing member is left alone for the declared time",
    "probe": "past the middle of a cooldown one request at a time tries the member",
    "breaker-outages-only": "only server errors and transport failures open a cooldown",
    "quarantine": "a model that a member rejects by name twice in a row is skipped for the declared time",
    "honours-retry-after": "a member's Retry-After is waited out",
    "idle-timeout": "a silent stream is ended by the gateway after the declared time",
    "first-token-timeout": "a member that sends no first token in the declared time is given up",
    "cache": "equal requests may be answered from a cache",
    "provider-blind": "no member's model name, host, provider name or response shape shows; `model` is the alias",
    "reports-serving-model": "the response names the deployment that served",
    "spread": "requests are spread over all healthy members",
    "cancel": "a client's hang-up closes the upstream connection in the declared time",
}

#: Capabilities that are a time limit, and the key that says how long it is.
_TIME_LIMITS = {
    "idle-timeout": "idle_timeout_ms",
    "first-token-timeout": "first_token_timeout_ms",
    "cooldown": "cooldown_ms",
    "quarantine": "quarantine_ms",
    "cancel": "cancel_ms",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One target.

    `kind` is "url" (already running), "reference" or "command". `capabilities` are the declared promises. `models`
    maps a lane's alias to the target's own spelling by prefix ("openai:" + alias). `path_prefix` is the API root's
    path ("/v1"). `lane_headers` are headers that each client request of a lane carries; "{members}" style
    placeholders are filled by `lanes`. `fault_isolation` says what resets a gateway's memory of failures: "lane",
    "restart" or "none".

    `program` is the executable or folder that `command` refers to as {program}; the environment variable
    `program_variable` replaces it; `install` tells how to get it. `folder` is where the profile's file stands.
    `ready_status` is the status that means ready (0: any answer); with `ready_models` the gateway's list of models has
    to name every lane as well. `max_lanes` bounds the lanes of one process (0: no bound). With `one_lane_a_member` the
    gateway takes an upstream's address once only, so that no two lanes can share members; with `sequences_alone` its
    lanes share one bounded memory, so that sequences are played one at a time. For kind "url": `base_url` is the API
    root; `upstream_control` and `upstream_token_variable` reach a replay upstream that already stands behind
    the target, and `lanes` are the aliases that the target serves from
    it.
    """

    name: str
    kind: str
    title: str = ""
    capabilities: frozenset[str] = frozenset()
    path_prefix: str = "/v1"
    model_prefix: str = ""
    api_key: str = field(default="sk-test-client", repr=False)
    command: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    config: str = ""
    ready_path: str = "/health"
    ready_seconds: float = 60.0
    version_command: tuple[str, ...] = ()
    lane_headers: tuple[tuple[str, str], ...] = ()
    upstream_prefix: str = "/v1"
    fault_isolation: str = "lane"
    settle_ms: float = 0.0
    first_token_timeout_ms: float | None = None
    idle_timeout_ms: float | None = None
    cooldown_ms: float | None = None
    cooldown_after: int = 1
    quarantine_ms: float | None = None
    retry_after_max_ms: float | None = None
    cancel_ms: float | None = None
    max_attempts: int | None = None
    deadlines: Deadlines = field(default_factory=Deadlines)
    program: str = ""
    program_variable: str = ""
    install: str = ""
    folder: str = ""
    ready_status: int = 200
    ready_models: bool = False
    max_lanes: int = 0
    one_lane_a_member: bool = False
    sequences_alone: bool = False
    base_url: str = ""
    api_key_variable: str = ""
    upstream_control: str = ""
    upstream_token_variable: str = ""
    lanes: tuple[Lane, ...] = ()

    @property
    def secret(self) -> str:
        """The client's key where it is a real one (it came from a variable), which no report may hold; else ""."""
        return self.api_key if self.api_key_variable else ""


def spelt_out(declared: Iterable[str]) -> frozenset[str]:
    """The declared capabilities, with `failover` beside the failures that it is declared for."""
    names = frozenset(declared)
    return names | {name.partition(":")[0] for name in names}


def lacking(needs: Iterable[str], declared: Set[str]) -> list[str]:
    """What of `needs` is not declared; `failover` alone promises failover for each kind of failure."""
    return sorted(need for need in needs if not promises(need, declared))


def promises(need: str, declared: Set[str]) -> bool:
    """Whether a target that declares this promises `need`."""
    whole, _, part = need.partition(":")
    if part and not any(name.startswith(f"{whole}:") for name in declared):
        return whole in declared
    return need in declared


def decode(table: Mapping[str, Any], *, name: str) -> Profile:
    """The profile that a TOML table describes. `name` is the profile's name and stands in errors as the place.

    Raises TargetError: an unknown key, capability or placeholder (with the closest known one), a value of a wrong type,
    or keys that do not go together.
    """
    validate(table, where=name)
    _check_values(table, name)
    _check_capabilities(table, name)
    _check_kind(table, name)
    _check_templates(table, name)
    values: dict[str, Any] = dict(table)
    upstream = values.pop("upstream", {})
    for key in ("command", "version_command"):
        values[key] = tuple(values.get(key, ()))
    for key in ("environment", "lane_headers"):
        values[key] = tuple(values.get(key, {}).items())
    values["capabilities"] = spelt_out(values.get("capabilities", ()))
    values["deadlines"] = Deadlines(**values.get("deadlines", {}))
    values["lanes"] = tuple(_decode_lane(lane) for lane in values.get("lanes", ()))
    values["upstream_control"] = upstream.get("control", "")
    values["upstream_token_variable"] = upstream.get("token_variable", "")
    return Profile(**{"name": name} | values)


def at_url(url: str, *, name: str = "url") -> Profile:
    """The profile of a gateway that already runs at `url` (the API root, as an SDK takes it); it declares nothing."""
    if not url.startswith(("http://", "https://")):
        raise TargetError(f"{url!r} is no http or https URL", where=name, hint="give the API root: http://host:port/v1")
    _check_url(url, name)
    return Profile(name=name, kind="url", title=url, base_url=url.rstrip("/"), fault_isolation="none")


def _decode_lane(table: Mapping[str, Any]) -> Lane:
    members = tuple(
        Member(
            name=member.get("name", f"m{index}"),
            port=member["port"],
            api_key=member.get("api_key", ""),
            model=member.get("model", ""),
        )
        for index, member in enumerate(table["members"])
    )
    return Lane(alias=table["alias"], members=members)


def _check_url(url: str, where: str) -> None:
    """Raise TargetError for a URL without a host, or with a port that there is not."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise TargetError(f"the URL cannot be used: {error}", where=where) from None
    if not host:
        raise TargetError("the URL names no host", where=where, hint="give the API root: http://host:port/v1")


def _check_values(table: Mapping[str, Any], name: str) -> None:
    """What TOML and the schema take, and no program, header or clock does."""
    for url in (table.get("base_url"), table.get("upstream", {}).get("control")):
        if url is not None:
            _check_url(url, name)
    for key, value in (*table.items(), *table.get("deadlines", {}).items()):
        if isinstance(value, float) and not isfinite(value):
            raise TargetError(f"{key} is {value}, no length of time", where=name)
    environment, headers = table.get("environment", {}), table.get("lane_headers", {})
    words = [*table.get("command", ()), *table.get("version_command", ()), *environment, *environment.values()]
    if any("\0" in word for word in words) or any("=" in variable for variable in environment):
        raise TargetError("no program takes such a word or variable", where=f"{name}: command, environment")
    lines = [table.get("ready_path", ""), table.get("api_key", ""), *headers, *headers.values()]
    if any(character in line for line in lines for character in "\0\r\n"):
        raise TargetError("a line end in a header or a path", where=f"{name}: ready_path, api_key, lane_headers")


def _check_capabilities(table: Mapping[str, Any], name: str) -> None:
    declared = table.get("capabilities", ())
    for capability in declared:
        if capability not in CAPABILITIES:
            hint = closest(capability, CAPABILITIES)
            raise TargetError(f"unknown capability {capability!r}", where=f"{name}: capabilities", hint=hint)
    for capability, key in _TIME_LIMITS.items():
        if capability in declared and key not in table:
            raise TargetError(f"{capability!r} is declared without its time", where=name, hint=f"set {key}")
    again = {word.partition(":")[0] for word in declared} & {"failover", "retries"}
    if again and table.get("max_attempts") == 1:
        hint = f"drop {' and '.join(sorted(again))}, or set it to 2 at least"
        raise TargetError("max_attempts = 1 leaves no second dispatch", where=name, hint=hint)


def _check_kind(table: Mapping[str, Any], name: str) -> None:
    kind = table["kind"]
    needed = {"url": "base_url", "reference": "command", "command": "command"}[kind]
    if needed not in table:
        raise TargetError(f"a target of kind {kind!r} needs {needed!r}", where=name)
    foreign = {"url": ("command", "config", "program"), "reference": ("base_url",), "command": ("base_url",)}[kind]
    for key in foreign:
        if key in table:
            raise TargetError(f"{key!r} has no meaning for a target of kind {kind!r}", where=name, hint=f"drop {key}")
    if kind == "url" and ("lanes" in table) != ("upstream" in table):
        raise TargetError("'lanes' and 'upstream' go together", where=name, hint="members are known only with both")


def _check_templates(table: Mapping[str, Any], name: str) -> None:
    words = [("command", text) for text in (*table.get("command", ()), *table.get("version_command", ()))]
    words += [("environment", text) for text in table.get("environment", {}).values()]
    for key, text in words:
        if word := unknown_word(text, COMMAND_WORDS):
            raise TargetError(
                f"unknown placeholder {{{word}}}", where=f"{name}: {key}", hint=closest(word, COMMAND_WORDS)
            )
    for text in table.get("lane_headers", {}).values():
        if word := unknown_word(text, LANE_WORDS):
            raise TargetError(
                f"unknown placeholder {{{word}}}", where=f"{name}: lane_headers", hint=closest(word, LANE_WORDS)
            )
