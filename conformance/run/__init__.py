"""The pipeline on one screen: options in, a report out. With its own modules the only part that knows every stage.

plan      scenarios × drivers -> cases, each with a lane of its own
stage     replay upstream and gateway up (or found), with those lanes
play      arm -> send -> take the journal -> assemble -> judge -> a case of the report
load      each scenario alone and at rising concurrency, against a control straight at the upstream
    live      the same against a deployed gateway whose upstream is not ours, under a cap
captured  cassettes of both legs -> the same verdicts, without running anything
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from conformance.cassette.store import load as load_cassette
from conformance.contract.catalog import CATALOG
from conformance.contract.catalog import select as select_clauses
from conformance.contract.clause import Clause
from conformance.errors import HarnessError, UsageError
from conformance.nearest import near_glob
from conformance.options import JudgeOptions, Observe, RunOptions
from conformance.report.gate import close
from conformance.report.model import Case, Report, RunEnd
from conformance.run import captured, live, loaded
from conformance.run.choice import chosen_scenarios, roots_of
from conformance.run.header import deviations_of, header_of, now
from conformance.run.plan import drivers_of, plan_cases
from conformance.run.play import Player
from conformance.run.stage import open_stage
from conformance.target.load import load_profile


def _ignore(_: object) -> None:
    pass


def run(options: RunOptions, observe: Observe = _ignore) -> Report:
    """Run the suite against a target and judge every exchange. Raises UsageError and HarnessError before it starts."""
    check(options)
    profile = load_profile(options.target)
    clauses = chosen_clauses(options.clauses)
    scenarios = chosen_scenarios(options)
    if options.live:
        return live.run(options, profile, scenarios, clauses, observe)
    if options.load is not None:
        return loaded.run(options, options.load, profile, scenarios, clauses, observe)
    cases = plan_cases(scenarios, options.drivers, profile)
    with (
        TemporaryDirectory(prefix="conformance-") as scratch,
        open_stage(profile, cases, Path(scratch), cassettes=roots_of(options)) as stage,
    ):
        header = header_of(options, profile, clauses, cases, version=stage.version)
        observe(header)
        done: list[Case] = []

        def keep(case: Case) -> None:
            done.append(case)
            observe(case)

        end = RunEnd.COMPLETE
        errors: tuple[str, ...] = ()
        try:
            player = Player(stage, clauses, seed=options.seed, drivers=drivers_of(cases))
            asyncio.run(player.play_all(cases, workers=options.workers, keep=keep))
        except HarnessError as error:
            end, errors = RunEnd.FAILED, (str(error),)
        except KeyboardInterrupt:
            end, errors = RunEnd.INTERRUPTED, ("interrupted by the caller",)
        report = close(header, done, ended_at=now(), end=end, errors=errors)
        assert report.footer is not None
        observe(report.footer)
        return report


def check(options: RunOptions) -> None:
    """Raise UsageError for options that say nothing together (a cap that nobody keeps is worse than none), and for
    deviations that are not valid."""
    if options.live and options.load is not None:
        raise UsageError("a live run is no load run", where="--live, --load", hint="drop one of them")
    of_live = {
        "--api-key-env": options.api_key_env or None,
        "--model": options.model or None,
        "--max-requests": options.max_requests,
        "--max-tokens": options.max_tokens,
    }
    given = [name for name, value in of_live.items() if value is not None]
    if given and not options.live:
        hint = "replaying costs nothing; a target's key and models stand in its profile"
        raise UsageError("this belongs to a live run alone: add --live", where=", ".join(given), hint=hint)
    deviations_of(options)


def judge_files(options: JudgeOptions) -> Report:
    """Judge a captured client leg (and upstream leg) from cassette files. Raises UsageError."""
    clauses = chosen_clauses(options.clauses)
    client = load_cassette(options.client)
    upstream = load_cassette(options.upstream) if options.upstream is not None else None
    return captured.judge(options, client, upstream, clauses)


def chosen_clauses(globs: tuple[str, ...]) -> tuple[Clause, ...]:
    """The clauses that these globs name (all for none). Raises UsageError for a glob that names none."""
    for glob in globs:
        if not select_clauses((glob,)):
            hint = near_glob(glob, CATALOG, otherwise="`conformance clauses` lists them")
            raise UsageError(f"no clause matches {glob!r}", where="--clauses", hint=hint)
    return select_clauses(globs)


__all__ = ["judge_files", "run"]
