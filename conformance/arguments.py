"""The grammar of the command line, stable for users: commands, options, their forms. Parses, does nothing."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser, ArgumentTypeError
from collections.abc import Callable

from conformance.commands.reports import FORMS
from conformance.target.profile import CAPABILITIES

EXIT_CODES = "exit codes: 0 conforms, 1 violations, 2 usage or configuration, 3 the harness itself failed"
REPORT_EXIT_CODES = (
    "exit codes: 0 the report could be shown, whatever it says; 2 there is none, or it is not valid (cut off, changed, "
    "of another format). With --exit-code a valid report ends as its run did: 0 conforms, 1 violations, 3 no result"
)

RECORD_EXIT_CODES = "exit codes: 0 recorded, 2 usage or configuration, 3 nothing was recorded, or it cannot be written"

#: The shapes of load, as conformance.load.plan has them besides "alone".
LOAD_SHAPES = ("burst", "mixed", "closed", "open")


def build_parser(version: str) -> ArgumentParser:
    """The parser; the chosen command's name is the parsed `command`."""
    parser = ArgumentParser(
        prog="conformance",
        description="Judge an OpenAI-compatible gateway on the wire.",
        epilog=EXIT_CODES,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"gateway-conformance {version}")
    parser.add_argument("--debug", action="store_true", default=False, help="show tracebacks")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, about: str, codes: str = EXIT_CODES) -> ArgumentParser:
        made = commands.add_parser(name, help=about, description=about, epilog=codes, allow_abbrev=False)
        made.add_argument("--debug", action="store_true", default=SUPPRESS, help="show tracebacks")
        return made

    _run(command("run", "run the scenarios against a target and judge its wire"))
    _judge(command("judge", "judge an exchange that was captured elsewhere"))
    for name, about in (
        ("clauses", "list the clauses of the contract"),
        ("scenarios", "list the bundled scenarios"),
        ("targets", "list the bundled targets"),
        ("defects", "list the defects that the reference gateway can have"),
    ):
        listing = command(name, about)
        listing.add_argument("globs", metavar="GLOB", nargs="*", help="which ones, such as 'stream.*' (default: all)")
        _form(listing)
    explain = command("explain", "tell all about a clause, a scenario, a target, a defect, a capability or a norm")
    explain.add_argument("id", metavar="ID")
    _form(explain)
    _upstream(command("upstream", "run the replay upstream alone, for a gateway on another host"))
    _record(command("record", "pass requests on to a provider, and write a cassette of it", RECORD_EXIT_CODES))
    _stage(command("stage", "let upstream and gateway stand, for load engines such as Locust"))
    report = command("report", "show a written report in another form", REPORT_EXIT_CODES)
    report.add_argument(
        "path",
        metavar="FILE|DIR",
        nargs="+",
        help="a report.jsonl, or the folder that holds one; several with --format matrix",
    )
    report.add_argument(
        "--exit-code", action="store_true", help="exit with the code that the run ended with: 0, 1 or 3"
    )
    _form(report, FORMS)
    return parser


def _run(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--target",
        default="reference",
        metavar="NAME|FILE|URL",
        help="a name of `conformance targets`, a profile's .toml file, or a URL; reference:DEFECT has a defect of "
        "`conformance defects` (default: reference)",
    )
    _repeatable(
        parser, "--select", "GLOB", "ids of scenarios, such as 'pool.*'; repeatable or comma-separated (default: all)"
    )
    _repeatable(parser, "--clauses", "GLOB", "ids of clauses, such as 'stream.*', likewise (default: all)")
    _repeatable(
        parser, "--scenarios", "FILE|DIR", "scenarios of your own (.toml); without --select they alone are played"
    )
    _repeatable(parser, "--cassettes", "DIR", "cassettes of your own, looked up before the bundled ones")
    _repeatable(
        parser,
        "--driver",
        "NAME",
        "wire, httpx, openai-python, openai-python-async, openai-python-processes, openai-node; repeatable (default: "
        "wire and openai-python)",
    )
    parser.add_argument(
        "-n", dest="workers", type=_count(1), default=4, metavar="N", help="exchanges at a time (default: 4)"
    )
    parser.add_argument("--report", default="conformance-report", metavar="DIR", help="default: conformance-report")
    parser.add_argument(
        "--deviations",
        default="",
        metavar="FILE",
        help="known violations, which do not fail the run; `conformance report DIR --format deviations` drafts a file",
    )
    parser.add_argument(
        "--live", action="store_true", help="a deployed gateway whose upstream is not ours; needs a URL"
    )
    parser.add_argument("--api-key-env", default="", metavar="VAR", help="the variable that holds the client's key")
    parser.add_argument("--model", default="", help="the model to ask for (a URL target)")
    parser.add_argument("--max-requests", type=_count(0), metavar="N", help="stop before more requests were sent")
    parser.add_argument("--max-tokens", type=_count(0), metavar="N", help="stop before more tokens were spent")
    parser.add_argument(
        "--load", action="store_true", help="alone against in parallel: each scenario at rising concurrency"
    )
    parser.add_argument("--load-max", type=_count(2), metavar="N", help="highest concurrency (default: 16)")
    parser.add_argument("--load-alone", type=_count(1), metavar="N", help="runs alone (default: 20)")
    parser.add_argument("--load-rounds", type=_count(1), metavar="N", help="bursts at each (default: 3)")
    parser.add_argument("--load-shape", action="append", choices=LOAD_SHAPES, default=[], help="default: burst, mixed")
    parser.add_argument("--seed", type=int, default=0, help="of nonces and order (default: 0)")
    _form(parser)


def _judge(parser: ArgumentParser) -> None:
    parser.add_argument(
        "client", metavar="CLIENT.yaml", help="a cassette of the client leg; each interaction is judged"
    )
    parser.add_argument("--upstream", metavar="UP.yaml", help="a cassette of the upstream leg: the attempts, in order")
    _repeatable(parser, "--capabilities", "NAMES", f"what the gateway declares: {', '.join(CAPABILITIES)}")
    _repeatable(parser, "--clauses", "GLOB", "ids of clauses (default: all)")
    parser.add_argument("--report", default="", metavar="DIR", help="write a report there, too (default: none)")
    _form(parser)


def _upstream(parser: ArgumentParser) -> None:
    parser.add_argument("--members", type=_count(1), default=4, metavar="N", help="upstream members (default: 4)")
    parser.add_argument("--host", default="127.0.0.1", help="default: 127.0.0.1, this machine alone")
    parser.add_argument(
        "--port-base", type=_count(0), default=0, metavar="PORT", help="first member's port (default: any)"
    )
    _repeatable(parser, "--cassettes", "DIR", "cassettes of your own, looked up before the bundled ones")


def _record(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--to", required=True, metavar="URL", help="the API's base URL, such as https://api.openai.com/v1"
    )
    parser.add_argument(
        "--behind",
        action="append",
        default=[],
        metavar="URL",
        help="--to is a gateway, and this a member behind it: both legs are recorded; repeatable",
    )
    parser.add_argument("--port", type=_count(0), default=0, help="where to listen, on 127.0.0.1 (default: any)")
    parser.add_argument(
        "--out",
        default="",
        metavar="FILE|DIR",
        help="the cassette to write; with --behind a folder for client.yaml and upstream.yaml (default: "
        "recorded/PROVIDER/record.yaml)",
    )
    parser.add_argument("--append", action="store_true", help="add to a file that is there")
    parser.add_argument("--title", default="", help="what is recorded, as a fact")
    parser.add_argument("--provider", default="", metavar="NAME", help="default: the host")
    parser.add_argument("--source", default="", help="where it comes from (default: the base URL)")
    parser.add_argument("--max", type=_count(0), default=0, metavar="N", help="end after so many exchanges")
    parser.add_argument(
        "--replace-key-env",
        default="",
        metavar="VAR",
        help="the variable that holds the provider's key, which takes the place of the client's",
    )
    parser.add_argument(
        "--silence",
        type=_count(1),
        default=300,
        metavar="SECONDS",
        help="how long the provider may be silent until the exchange has ended as a stall (default: 300)",
    )


def _stage(parser: ArgumentParser) -> None:
    parser.add_argument("--target", default="reference", metavar="NAME|FILE|URL", help="default: the reference gateway")
    _repeatable(parser, "--select", "GLOB", "ids of scenarios (default: those made for load)")
    _repeatable(parser, "--clauses", "GLOB", "ids of clauses (default: all)")
    parser.add_argument("--driver", default="wire", metavar="NAME", help="default: wire")
    parser.add_argument(
        "--file", required=True, metavar="FILE", help="describes the stage while it stands; holds a token"
    )


def _repeatable(parser: ArgumentParser, name: str, metavar: str, about: str) -> None:
    parser.add_argument(name, action="append", default=[], metavar=metavar, help=about)


def _form(parser: ArgumentParser, forms: tuple[str, ...] = ("text", "json")) -> None:
    parser.add_argument("--format", choices=forms, default="text", help="default: text")


def _count(least: int) -> Callable[[str], int]:
    def count(text: str) -> int:
        if not text.isascii() or not text.isdigit() or int(text) < least:
            raise ArgumentTypeError(f"{text!r} is not a whole number of at least {least}")
        return int(text)

    return count
