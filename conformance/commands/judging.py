"""`run` and `judge`: arguments become options, the pipeline makes a report of them, which becomes what is shown."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from conformance.commands.shown import Shown, as_json
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
    if not arguments.load:
        return None
    return LoadOptions(
        alone=arguments.load_alone,
        most=arguments.load_max,
        rounds=arguments.load_rounds,
        shapes=tuple(map(Shape, arguments.load_shape)) or LoadOptions().shapes,
        seed=arguments.seed,
    )


def _shown(report: Report, form: str) -> Shown:
    code = exit_code(numbers(report))
    return as_json(document(report), code) if form == "json" else Shown(view=terminal.render(report), code=code)
