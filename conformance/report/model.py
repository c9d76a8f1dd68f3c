"""A run's report in memory: header, one case for each exchange, footer. Every other form is rendered from it.

A report explains itself: the requirements that were judged stand in its header, so that it reads without the
catalogue of the suite that wrote it. Data only; the rules over it (summary, gate) are in `gate`, its lines in `codec`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from conformance.contract.clause import Basis, Level, Outcome, Verdict
from conformance.report.reading import Reading

#: The version of the format of report.jsonl; it grows when a reader of the older one would misread the newer one.
FORMAT = 2


class RunEnd(StrEnum):
    """How a run came to its end."""

    COMPLETE = "complete"  # every planned case was run
    CAPPED = "capped"  # a cap on requests or tokens stopped it before the cap was passed
    INTERRUPTED = "interrupted"  # the caller stopped it
    FAILED = "failed"  # the harness, the upstream or the gateway's process did not survive


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """A clause as the report tells it. `source` is its key in the contract's sources, `link` the address of that.

    `capabilities` are the promises of which a target has to declare one before the clause says anything about it.
    """

    id: str
    level: Level
    basis: Basis
    title: str
    rationale: str = ""
    source: str = ""
    link: str = ""
    capabilities: tuple[str, ...] = ()

    @property
    def area(self) -> str:
        """The first word of the id: "stream" for "stream.done.once"."""
        return self.id.partition(".")[0]

    @property
    def gates(self) -> bool:
        """Whether a violation fails the run: a MUST, or a policy that the target declared itself."""
        return self.level is Level.MUST or self.basis is Basis.POLICY


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """A known violation of the target: of one clause, in the scenarios whose ids match a glob (all of them for none).

    `link` is where it is followed up, `expires` the last day (ISO 8601) on which it excuses anything. A `flaky` one
    need not show in each run. `whole` tells whether the run plays all the scenarios that it names.
    """

    clause: str
    reason: str
    link: str
    expires: str
    scenarios: tuple[str, ...] = ()
    flaky: bool = False
    whole: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHeader:
    """What was run against what. `started_at` is an ISO 8601 time; `command` the command line without secrets.

    `cassettes` is one digest over all the cassettes used. `defaults` are the values that the harness chose (deadlines,
    settle times, driver options), each printed. `mode` is "replay", "live" or "judge". `planned` counts the cases.
    `deviations` are the known violations, which do not fail the run.
    """

    target: str
    suite_version: str
    started_at: str
    requirements: tuple[Requirement, ...]
    target_version: str = ""
    target_kind: str = ""
    capabilities: tuple[str, ...] = ()
    cassettes: str = ""
    seed: int = 0
    defaults: dict[str, str] = field(default_factory=dict)
    drivers: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    command: str = ""
    mode: str = "replay"
    planned: int = 0
    deviations: tuple[Deviation, ...] = ()
    format: int = FORMAT

    def index(self) -> dict[str, Requirement]:
        """The requirements by id."""
        return {requirement.id: requirement for requirement in self.requirements}


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptLine:
    """One dispatch to a member: when its request head was there (ms), the status it sent (0: none), how it ended."""

    member: str
    at: float
    status: int
    end: str
    peer_closed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientLine:
    """What the client saw: status (0: no response head), media type, how and when (ms) its leg ended.

    `exception` is the class name of what an SDK raised ("" for none).
    """

    status: int
    end: str
    ended_at: float
    media_type: str = ""
    exception: str = ""


@dataclass(frozen=True, slots=True)
class Arrival:
    """`size` bytes that came (or went) `at` ms after the client's request was sent."""

    at: float
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Leg:
    """The raw bytes of one leg: "client", "request", "dispatch:<k>" (what attempt k's member was sent), "upstream:<k>"
    (what it sent), or "timeline"; `cut` counts those after `data` not kept."""

    name: str
    data: bytes
    arrivals: tuple[Arrival, ...] = ()
    cut: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class InFlight:
    """One request of a load cell on the cell's clock (ms): when it was sent and over, and who was asked for it when."""

    nonce: str
    start: float
    end: float
    attempts: tuple[tuple[float, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadCell:
    """One measurement of a load run. `leg` is "gateway", or "control": the same load straight at the upstream.

    `lag_ms` is how late the harness's event loop was (99th percentile), `client_cpu` its share of one core,
    `upstream_cpu` and `gateway_cpu` theirs (0.0 where it is not known), `failed` how many clauses failed at least once.
    """

    scenario: str
    driver: str
    leg: str
    shape: str
    concurrency: int
    requests: int
    seconds: float
    lag_ms: float
    client_cpu: float
    failed: int = 0
    upstream_cpu: float = 0.0
    gateway_cpu: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadRow:
    """One clause in one scenario, alone against in parallel; counts are (failed, decided).

    `result` is a load.compare.LoadResult; `load` maps a concurrency to its counts; `low` and `high` bound the loaded
    failure rate (95 %); `p` is Fisher's, corrected; `threshold` the lowest failing concurrency; `case` the
    evidence's id.
    """

    scenario: str
    clause: str
    result: str
    alone: tuple[int, int]
    load: dict[str, tuple[int, int]]
    low: float = 0.0
    high: float = 0.0
    p: float = 1.0
    threshold: int | None = None
    reason: str = ""
    case: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One exchange and its verdicts. `id` is "scenario[driver]", with a repetition's number where there is one.

    `exercises` are the clauses that this case is held to exercise. `skipped` says why it was not run, `error` what in
    the harness went wrong ("" for neither). `reading` is how it came out for the caller: None for a sequence as a
    whole, and where the caller went away. `evidence` is there only where something was not simply held, `beside` what
    was in flight at that moment only in a load run.
    """

    id: str
    scenario: str
    title: str = ""
    driver: str = ""
    nonce: str = ""
    duration_ms: float = 0.0
    client: ClientLine | None = None
    attempts: tuple[AttemptLine, ...] | None = None
    verdicts: tuple[Verdict, ...] = ()
    exercises: tuple[str, ...] = ()
    evidence: tuple[Leg, ...] = ()
    skipped: str = ""
    error: str = ""
    reading: Reading | None = None
    beside: tuple[InFlight, ...] = ()

    @property
    def area(self) -> str:
        """The first word of the scenario's id."""
        return self.scenario.partition(".")[0]

    def of(self, *outcomes: Outcome) -> tuple[Verdict, ...]:
        """The verdicts with one of these outcomes, in order."""
        return tuple(verdict for verdict in self.verdicts if verdict.outcome in outcomes)

    def leg(self, name: str) -> Leg | None:
        """The evidence of one leg, or None."""
        return next((leg for leg in self.evidence if leg.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A run in numbers.

    `counts` has a number for every outcome and level. `checks` are the verdicts that decided something (held or
    violated), `gate` the violated ones that fail a run, `known` those that a deviation excuses from that, `stale` the
    deviations that are none any more, `unexercised` the clauses that a case was held to exercise and did not, `errors`
    the harness's own. `end` is None while there is no footer.
    """

    cases: int
    skipped: int
    checks: int
    gate: int
    unexercised: int
    errors: int
    counts: dict[Outcome, dict[Level, int]]
    known: int = 0
    stale: int = 0
    end: RunEnd | None = None

    def count(self, outcome: Outcome) -> int:
        """How many verdicts of any level have this outcome."""
        return sum(self.counts[outcome].values())


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFooter:
    """The last line of a report. `errors` are the harness's faults outside of any case, `spent` a live run's cost,
    `load` and `cells` what a load run came to."""

    summary: Summary
    exit_code: int
    ended_at: str
    end: RunEnd = RunEnd.COMPLETE
    errors: tuple[str, ...] = ()
    spent: dict[str, int] = field(default_factory=dict)
    load: tuple[LoadRow, ...] = ()
    cells: tuple[LoadCell, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A whole run. Without a footer it is not valid: the run did not come to its end."""

    header: RunHeader
    cases: tuple[Case, ...] = ()
    footer: RunFooter | None = None


#: What one line of a written report holds; a run hands them on one by one, as they come to be.
Part = RunHeader | Case | RunFooter
