"""A target profile: how a gateway is reached or launched, what it declares, which deadlines hold. Data from TOML.

Turns a table into a validated Profile. Knows nothing of processes.
"""

from __future__ import annotations

from dataclasses import dataclass

from conformance.driver.model import Deadlines

#: The closed set of promises that a target can declare; each makes the policy clauses that name it applicable.
CAPABILITIES: dict[str, str] = {
    "retries": "a retryable failure is tried again",
    "failover": "a failing member's request is answered by another member of the pool",
    "cooldown": "a failing member is left alone for a while, then probed",
    "quarantine": "a model that a member rejects by name twice is skipped for a while",
    "honours-retry-after": "a member's Retry-After is waited out",
    "idle-timeout": "a silent stream is ended by the gateway after the declared time",
    "first-token-timeout": "a member that sends no first token in the declared time is given up",
    "cache": "equal requests may be answered from a cache",
    "provider-blind": "no member's model name, host, provider name or response shape shows; `model` is the alias",
    "reports-serving-model": "the response names the deployment that served",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One target.

    `kind` is "url" (already running), "reference" or "command". `capabilities` are the declared promises. `models` maps a
    lane's alias to the target's own spelling by prefix ("openai:" + alias). `path_prefix` is the API root's path ("/v1").
    `lane_headers` are headers that each client request of a lane carries; "{members}" style placeholders are filled by
    `lanes`. `fault_isolation` says what resets a gateway's memory of failures: "lane", "restart" or "none".
    """

    name: str
    kind: str
    title: str = ""
    capabilities: frozenset[str] = frozenset()
    path_prefix: str = "/v1"
    model_prefix: str = ""
    api_key: str = "sk-test-client"
    command: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    config: str = ""
    ready_path: str = "/health"
    ready_seconds: float = 60.0
    version_command: tuple[str, ...] = ()
    lane_headers: tuple[tuple[str, str], ...] = ()
    members_per_lane: int = 4
    upstream_prefix: str = "/v1"
    fault_isolation: str = "lane"
    settle_ms: float = 0.0
    first_token_timeout_ms: float | None = None
    idle_timeout_ms: float | None = None
    deadlines: Deadlines = Deadlines()
