"""`upstream`: the replay upstream alone, for a gateway on another host, until it is interrupted."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

from conformance.commands.shown import Shown


def upstream(arguments: Namespace, say: Callable[[str], None]) -> Shown:
    """Serve; `say` is told where it listens, line by line. Raises UpstreamError when a port cannot be had."""
    from conformance.upstream.serve import Settings, serve_alone

    settings = Settings(
        members=arguments.members,
        port_base=arguments.port_base,
        host=arguments.host,
        cassettes=(Path(arguments.cassettes),) if arguments.cassettes else (),
    )
    return Shown(code=serve_alone(settings, say))
