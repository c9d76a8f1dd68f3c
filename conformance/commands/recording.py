"""`record`: arguments become the recorder's settings; what was recorded is told at the end."""

from __future__ import annotations

import os
import re
from argparse import Namespace
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from conformance import __version__
from conformance.cassette.redact import redacted
from conformance.commands.shown import Shown
from conformance.driver.request import Place, locate
from conformance.errors import DriverError, UsageError
from conformance.recorder.file import About, RecordFile, open_file
from conformance.recorder.serve import Settings, record
from conformance.report.gate import HARNESS

_KEY = re.compile(r"[\x21-\x7e]{6,}")


def show(arguments: Namespace, say: Callable[[str], None]) -> Shown:
    """Record until interrupted; `say` is told where to, and each exchange. Raises UsageError, UpstreamError."""
    to = _place(arguments.to)
    behind = tuple((f"m{number}", _place(url)) for number, url in enumerate(arguments.behind))
    if arguments.port + len(behind) > 65_535:
        raise UsageError("there is no such port", where="--port", hint="up to 65535, one more for each --behind")
    about = _about(arguments, to)
    file, attempts = _files(arguments, about, both=bool(behind))
    tally = record(
        Settings(
            to=to,
            file=file,
            behind=behind,
            attempts=attempts,
            port=arguments.port,
            most=arguments.max,
            key=_key(arguments.replace_key_env),
            silence=arguments.silence,
        ),
        say,
    )
    where = f"{file.path}" if attempts is None else f"{file.path} and {attempts.path}"
    told = f"{tally.kept} recorded in {where}" if tally.kept else "nothing was recorded"
    text = f"{told}, {tally.left} not recorded\n" if tally.left else f"{told}\n"
    return Shown(text=text, code=HARNESS if tally.failure or not tally.kept else 0)


def _place(url: str) -> Place:
    try:
        return locate(url)
    except DriverError as error:
        raise UsageError("not the base URL of an API", where=redacted(url), hint=error.hint) from None


def _about(arguments: Namespace, to: Place) -> About:
    return About(
        title=arguments.title,
        provider=arguments.provider or to.host,
        source=arguments.source or f"{redacted(arguments.to)}, recorded by gateway-conformance {__version__}",
        date=datetime.now(UTC).date().isoformat(),
    )


def _files(arguments: Namespace, about: About, *, both: bool) -> tuple[RecordFile, RecordFile | None]:
    """The file, or the two in a folder. Raises UsageError."""
    folder = Path("recorded") / re.sub(r"[^a-z0-9.-]+", "-", about.provider.lower()).strip(".-")
    if not both:
        return open_file(Path(arguments.out or folder / "record.yaml"), about, append=arguments.append), None
    if arguments.append:
        raise UsageError("two legs are not added to", where="--append", hint="record them into a new folder")
    out = Path(arguments.out or folder)
    if out.suffix in (".yaml", ".yml", ".json"):
        raise UsageError("two legs need a folder", where=str(out), hint="--out names one, with --behind")
    client, upstream = (open_file(out / name, about, append=False) for name in ("client.yaml", "upstream.yaml"))
    return client, upstream


def _key(variable: str) -> str:
    if not variable:
        return ""
    key = os.environ.get(variable, "").strip()
    if not key:
        raise UsageError("the variable holds no key", where=variable, hint="export it before")
    if not _KEY.fullmatch(key):
        raise UsageError("the variable does not hold a key, but something else", where=variable)
    return key
