"""`run` and `judge`: arguments become options, the pipeline makes a report of them, which becomes what is shown."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from pathlib import Path

from conformance.commands.shown import Shown, as_json
from conformance.errors import UsageError
from conformance.load.plan import LoadOptions, Shape
from conformance.options import JudgeOptions, Observe, RunOptions, capabilities, words
from conformance.report import terminal
from conformance.report.codec import document
from conformance.report.gate import exit_code, numbers
from conformance.report.model import Part, Report
from conformance.reportfile import ReportFile


def run(arguments: Namespace, observe: Observe) -> Shown:
    """Run the suite; `observe` sees each part of the report as it comes to be."""
    from conformance.run import run as pipeline

    options = run_options(arguments)
    with ReportFile(Path(arguments.report)) as file:

        def seen(part: Part) -> None:
            file.add(part)
            observe(part)

        report = pipeline(options, seen)
        file.finish(report)
    return _shown(report, arguments.format)


def judge(arguments: Namespace) -> Shown:
    """Judge an exchange that was captured elsewhere; the report is written where a folder is named for it."""
    from conformance.run import judge_files

    options = JudgeOptions(
        client=Path(arguments.client),
        upstream=Path(arguments.upstream) if arguments.upstream else None,
        capabilities=capabilities(arguments.capabilities),
        clauses=words(arguments.clauses),
        command=arguments.shown_command,
    )
    if not arguments.report:
        return _shown(judge_files(options), arguments.format)
    with ReportFile(Path(arguments.report)) as file:
        report = judge_files(options)
        assert report.footer is not None
        parts: tuple[Part, ...] = (report.header, *report.cases, report.footer)
        for part in parts:
            file.add(part)
        file.finish(report)
    return _shown(report, arguments.format)


def run_options(arguments: Namespace) -> RunOptions:
    """The options that the arguments of `run` stand for."""
    return RunOptions(
        target=arguments.target,
        select=words(arguments.select),
        clauses=words(arguments.clauses),
        drivers=words(arguments.driver),
        scenarios=tuple(arguments.scenarios),
        cassettes=tuple(arguments.cassettes),
        workers=arguments.workers,
        live=arguments.live,
        api_key_env=arguments.api_key_env,
        model=arguments.model,
        max_requests=arguments.max_requests,
        max_tokens=arguments.max_tokens,
        seed=arguments.seed,
        load=_load(arguments),
        deviations=arguments.deviations,
        command=arguments.shown_command,
    )


def _load(arguments: Namespace) -> LoadOptions | None:
    """The options of a load run; None for another. Raises UsageError where one of them is given without --load."""
    told = {"alone": arguments.load_alone, "most": arguments.load_max, "rounds": arguments.load_rounds}
    given = {name: value for name, value in told.items() if value is not None}
    if arguments.load:
        shapes = tuple(map(Shape, arguments.load_shape)) or LoadOptions().shapes
        return replace(LoadOptions(shapes=shapes, seed=arguments.seed), **given)
    if given or arguments.load_shape:
        names = {"alone": "--load-alone", "most": "--load-max", "rounds": "--load-rounds"}
        where = ", ".join([names[name] for name in given] or ["--load-shape"])
        raise UsageError("this belongs to a load run alone: add --load", where=where)
    return None


def _shown(report: Report, form: str) -> Shown:
    code = exit_code(numbers(report))
    return as_json(document(report), code) if form == "json" else Shown(view=terminal.render(report), code=code)
