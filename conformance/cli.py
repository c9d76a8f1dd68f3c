"""The command line: words in, one exit code out. With the pytest plugin the only place that prints or exits.

0 conforms, 1 violations, 2 usage or configuration, 3 the harness itself failed. The bodies stand in `commands`.
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Callable, Sequence

from rich.console import Console

from conformance import __version__
from conformance.arguments import build_parser
from conformance.commands.shown import Shown
from conformance.errors import ConformanceError, HarnessError, UsageError
from conformance.interrupt import ended_in_order
from conformance.options import shown_command
from conformance.report.gate import HARNESS, USAGE

ISSUES = "the project's issue tracker, with the command line and the output of --debug"


def entry() -> None:
    """The console script."""
    sys.exit(main())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. Nothing but this function decides it."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    debug = "--debug" in given
    try:
        parsed = build_parser(__version__).parse_args(given)
        parsed.shown_command = shown_command("conformance", given)
        return _print(_perform(parsed))
    except SystemExit as left:  # argparse printed its help, its version or what is wrong
        return left.code if isinstance(left.code, int) else USAGE
    except ConformanceError as error:
        _complain("error", error.what, error.where, error.hint, debug)
        return USAGE if isinstance(error, UsageError) else HARNESS
    except KeyboardInterrupt:
        _complain("interrupted", "the run did not come to its end", "", "", debug)
        return HARNESS
    except Exception as error:
        _complain("harness fault", f"{type(error).__name__}: {error}", "", f"report it at {ISSUES}", debug)
        return HARNESS


def _perform(parsed: argparse.Namespace) -> Shown:
    """The command's body, imported only when it is asked for."""
    from conformance.commands import explain, judging, listing, reports, serving
    from conformance.commands.progress import Progress

    if parsed.command == "run":
        with ended_in_order(), Progress(Console(stderr=True)) as progress:
            return judging.run(parsed, progress.observe)
    bodies: dict[str, Callable[[argparse.Namespace], Shown]] = {
        "judge": judging.judge,
        "explain": explain.show,
        "report": reports.show,
        "upstream": lambda given: serving.upstream(given, _say),
        "record": _record,
        "stage": lambda given: serving.stage(given, _say),
        **dict.fromkeys(listing.LISTS, listing.show),
    }
    return bodies[parsed.command](parsed)


def _record(parsed: argparse.Namespace) -> Shown:
    from conformance.commands import recording

    return recording.show(parsed, _say)


def _print(shown: Shown) -> int:
    """Write to standard output; a reader that went away, or was never there, changes nothing about the result."""
    if sys.stdout is None:
        return shown.code
    try:
        if shown.text:
            sys.stdout.write(shown.text)
        console = Console()
        if shown.piped and not console.is_terminal:
            sys.stdout.write(shown.piped)
        elif shown.view is not None:
            console.print(shown.view, crop=False)
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise HarnessError(f"the result cannot be shown: {error.strerror}", where="standard output") from error
    return shown.code


def _say(line: str) -> None:
    print(line, flush=True)


def _complain(kind: str, what: str, where: str, hint: str, debug: bool) -> None:
    """One fault, on standard error: what, where, and what to do next."""
    if debug:
        traceback.print_exc()
    lines = [f"conformance: {kind}: {what}"]
    lines += [f"  {name}: {text}" for name, text in (("where", where), ("hint", hint)) if text]
    if sys.stderr is not None:
        print("\n".join(lines), file=sys.stderr)
