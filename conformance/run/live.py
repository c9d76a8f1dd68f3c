"""Live runs: a deployed gateway whose upstream is not ours, judged on the client leg alone, under a cap on its cost.

Scenarios that need no play are sent; the cap on requests and tokens stops the run before it would be passed.
"""

from __future__ import annotations

import asyncio
import dataclasses
import os
import secrets
from collections.abc import Callable, Sequence

from conformance.contract.clause import Clause
from conformance.contract.judge import judge
from conformance.driver.model import Call, Driver
from conformance.driver.registry import make_driver
from conformance.errors import DriverError, TargetError, UsageError
from conformance.exchange.assemble import assemble
from conformance.exchange.model import Exchange, Terms
from conformance.options import Observe, RunOptions
from conformance.report.evidence import case_of
from conformance.report.gate import CONFORMS, close, exit_code, numbers, refused_throughout
from conformance.report.model import Case, Report, RunEnd
from conformance.run.header import header_of, now
from conformance.run.mask import masked
from conformance.run.plan import PlannedCase, checked_drivers, drivers_of, fits
from conformance.run.play import nonce_for
from conformance.run.stage import ensure_listening
from conformance.scenario.model import Scenario
from conformance.scenario.request import compact, prepare
from conformance.target.profile import Profile

#: The token cap that a live request gets when its scenario sets none: enough for a sentence.
MAX_TOKENS = 64

LIVE_DRIVERS = ("openai-python", "openai-python-async", "wire")

#: Before each prompt, with a word that is new for each run (a cached answer would say nothing of the gateway as it is
#: now). It is no nonce: a replay upstream that may stand behind the gateway answers it like any other prompt.
MARK = "live-"

CAPPED = "the cap on requests or tokens would be passed"

#: Pessimistic tokens per byte of a request, for the reservation before it is sent.
_TOKENS_PER_BYTE = 0.5


@dataclasses.dataclass(slots=True)
class Budget:
    """What a live run may spend and has spent. `unreported` counts successes whose reply told no usage."""

    max_requests: int | None
    max_tokens: int | None
    requests: int = 0
    tokens: int = 0
    reserved: int = 0
    unreported: int = 0

    def allows(self, estimate: int) -> bool:
        """Whether one more request of at most `estimate` tokens stays within both caps."""
        fits_requests = self.max_requests is None or self.requests + 1 <= self.max_requests
        return fits_requests and (self.max_tokens is None or self.tokens + self.reserved + estimate <= self.max_tokens)

    def spend(self, exchange: Exchange, estimate: int) -> None:
        """Count a request that was sent: its reported tokens, or the estimate where a success reports none."""
        self.requests += 1
        usage = exchange.reply.answer.usage if exchange.reply is not None else None
        total = usage.get("total_tokens") if isinstance(usage, dict) else None
        if isinstance(total, int) and not isinstance(total, bool) and total >= 0:
            self.tokens += total
        elif exchange.reply is None or (exchange.reply.ok and estimate):
            self.unreported += 1
            self.reserved += estimate

    def told(self) -> dict[str, int]:
        """For the report: `tokens` is the exact sum that the replies reported."""
        return {"requests": self.requests, "tokens": self.tokens, "replies_without_usage": self.unreported}


def key_of(options: RunOptions, profile: Profile) -> str:
    """The client's key: from the named variable, else the profile's. Raises UsageError when the variable is not set."""
    if not options.api_key_env:
        return profile.api_key
    key = os.environ.get(options.api_key_env, "")
    if not key:
        raise UsageError(f"{options.api_key_env} is not set", where="--api-key-env", hint="it holds the client's key")
    return key


def plan_live(scenarios: Sequence[Scenario], options: RunOptions) -> tuple[PlannedCase, ...]:
    """The cases of a live run; those that need a play are skipped, with the reason. Raises UsageError for none."""
    drivers = checked_drivers(options.drivers or LIVE_DRIVERS)
    cases = []
    for scenario in scenarios:
        reason = "" if scenario.live else "it needs an upstream that plays"
        for driver in drivers:
            if fits(scenario, driver):
                cases.append(PlannedCase(scenario=scenario, driver=driver, skipped=reason))
    if all(case.skipped for case in cases):
        raise UsageError(
            "no selected scenario can be sent live", where="--select", hint="`conformance scenarios` lists them"
        )
    return tuple(cases)


def call_of(case: PlannedCase, options: RunOptions, profile: Profile, key: str, nonce: str) -> tuple[Call, int]:
    """What is sent, and a pessimistic estimate of the tokens that it can cost."""
    request = case.scenario.request
    method, path, params, body = prepare(request, alias=options.model, nonce=nonce)
    estimate = 0
    if request.endpoint in ("chat.completions", "completions") and params:
        if not {"max_tokens", "max_completion_tokens"} & params.keys():
            params["max_tokens"] = MAX_TOKENS
        if params.get("stream") is True:
            params.setdefault("stream_options", {"include_usage": True})
        body = compact(params)
        cap = params.get("max_tokens", params.get("max_completion_tokens"))
        answers = params.get("n") if isinstance(params.get("n"), int) else 1
        estimate = (cap if isinstance(cap, int) else MAX_TOKENS) * (answers or 1)
    if method == "POST":
        estimate += int(len(body) * _TOKENS_PER_BYTE)
    call = Call(
        base_url=profile.base_url,
        path=path,
        method=method,
        endpoint=request.endpoint,
        api_key=key if request.api_key is None else request.api_key,
        body=body,
        params=params,
        headers=request.headers,
        behaviour=case.scenario.behaviour,
        deadlines=profile.deadlines,
    )
    return call, estimate


def run(
    options: RunOptions,
    profile: Profile,
    scenarios: Sequence[Scenario],
    clauses: Sequence[Clause],
    observe: Observe,
) -> Report:
    """Run live. Raises UsageError and TargetError before anything is sent."""
    if profile.kind != "url":
        raise TargetError("only a gateway at a URL can be run live", where=profile.name, hint="--target http(s)://...")
    if not options.model:
        raise UsageError("a live run needs the name of a model", where="--model", hint="one that the gateway serves")
    ensure_listening(profile.base_url)
    key = key_of(options, profile)
    cases = plan_live(scenarios, options)
    header = header_of(options, profile, clauses, cases, mode="live")
    mark = mark_of(secrets.token_hex(3))
    told = {
        "max_tokens of a request": str(MAX_TOKENS),
        "stream_options": "include_usage, so that a stream tells its tokens, too",
        "mark of the prompts": f"{mark}...",
    }
    header = dataclasses.replace(header, defaults={**header.defaults, **told})
    observe(header)
    budget = Budget(options.max_requests, options.max_tokens)
    job = Job(options=options, profile=profile, clauses=clauses, key=key, budget=budget, mark=mark)
    done: list[Case] = []

    def keep(case: Case) -> None:
        done.append(case)
        observe(case)

    errors: tuple[str, ...] = ()
    try:
        end = asyncio.run(job.perform(cases, keep))
    except KeyboardInterrupt:
        end, errors = RunEnd.INTERRUPTED, ("interrupted by the caller",)
    report = close(header, done, ended_at=now(), end=end, errors=errors, spent=budget.told())
    # What another's upstream answers need not exercise a clause: live cases are held to none.
    meant = {case.id: case.scenario.exercises for case in cases}
    refused = refused_throughout((case, meant[case.id]) for case in done)
    closed = {401, 403}.issuperset(case.client.status for case in done if case.client and case.area != "models")
    if refused and (closed or exit_code(numbers(report)) == CONFORMS):
        report = close(header, done, ended_at=now(), end=end, errors=(*errors, refused), spent=budget.told())
    assert report.footer is not None
    observe(report.footer)
    return report


def mark_of(number: str) -> str:
    """What a run's prompts begin with: a replay upstream, should one stand behind the target, sees no nonce in it."""
    return f"{MARK}{number}n-"


@dataclasses.dataclass(kw_only=True)
class Job:
    """One live run: sends the cases one after the other while the budget allows it, and judges what came back."""

    options: RunOptions
    profile: Profile
    clauses: Sequence[Clause]
    key: str
    budget: Budget
    mark: str

    async def perform(self, cases: Sequence[PlannedCase], keep: Callable[[Case], None]) -> RunEnd:
        """Play the cases until the budget has no room for the next one: it and those behind it are skipped."""
        drivers = {name: make_driver(name) for name in drivers_of(cases)}
        end = RunEnd.COMPLETE
        try:
            for case in cases:
                made = _left_out(case, case.skipped or CAPPED)
                if not case.skipped and end is RunEnd.COMPLETE:
                    played = await self._play(case, drivers[case.driver])
                    made, end = (played, end) if played is not None else (made, RunEnd.CAPPED)
                keep(masked(made, self.key))
        finally:
            for driver in drivers.values():
                await driver.aclose()
        return end

    async def _play(self, case: PlannedCase, driver: Driver) -> Case | None:
        """The case of one request; None when the budget has no room for it. A fault of our own is the case's error."""
        mark = nonce_for(self.options.seed, case.id).replace("cf-", self.mark)
        call, estimate = call_of(case, self.options, self.profile, self.key, mark)
        if not self.budget.allows(estimate):
            return None
        try:
            capture = await driver.send(call)
        except DriverError as error:
            return dataclasses.replace(_left_out(case, ""), error=str(error))
        exchange = assemble(
            name=case.id,
            transcript=capture.transcript,
            attempts=None,
            terms=Terms(key_valid=case.scenario.request.api_key is None),
            driver=case.driver,
            hangup=capture.hangup,
            client=capture.client,
        )
        self.budget.spend(exchange, estimate)
        verdicts = judge(exchange, self.clauses)
        return case_of(exchange, verdicts, scenario=case.scenario.id, title=case.scenario.title, case=case.id)


def _left_out(case: PlannedCase, reason: str) -> Case:
    scenario = case.scenario
    return Case(id=case.id, scenario=scenario.id, title=scenario.title, driver=case.driver, skipped=reason)
