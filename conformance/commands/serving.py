"""`upstream` and `stage`: the replay upstream alone, or with a gateway before it, until they are interrupted."""

from __future__ import annotations

import signal
import time
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

from conformance.commands.shown import Shown
from conformance.errors import UsageError
from conformance.options import words

PORTS = 65_535


def upstream(arguments: Namespace, say: Callable[[str], None]) -> Shown:
    """Serve; `say` is told where it listens, line by line. Raises UsageError, or UpstreamError without a port."""
    if arguments.port_base + arguments.members - 1 > PORTS:
        raise UsageError(f"there is no port above {PORTS}", where="--port-base", hint="leave room for each member")
    from conformance.run.choice import cassette_roots
    from conformance.upstream.serve import Settings, serve_alone

    settings = Settings(
        members=arguments.members,
        port_base=arguments.port_base,
        host=arguments.host,
        cassettes=cassette_roots(arguments.cassettes),
    )
    return Shown(code=serve_alone(settings, say))


def stage(arguments: Namespace, say: Callable[[str], None]) -> Shown:
    """Let a stage stand for load engines. Raises UsageError, LaunchError, UpstreamError."""
    from conformance.run.standing import Chosen, keep

    chosen = Chosen(
        target=arguments.target,
        select=words(arguments.select),
        clauses=words(arguments.clauses),
        driver=arguments.driver,
    )
    told: list[int] = []  # an Event's lock could be held by the very wait that the handler interrupts
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda got, _: told.append(got))

    def ended(seconds: float) -> bool:
        until = time.monotonic() + seconds
        while not told and time.monotonic() < until:
            time.sleep(0.02)
        return bool(told)

    keep(chosen, Path(arguments.file), say, ended)
    return Shown(code=0)
