"""The reference gateway as a process.

`python -m conformance.reference --config FILE (--port N [--defect NAME] | --matrix [load])`; prints {name: port} as one
JSON line where the port was left to the system.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import sys
from pathlib import Path

from conformance.errors import ConformanceError
from conformance.reference.behaviour import FAITHFUL, Behaviour
from conformance.reference.config import Config, load_config
from conformance.reference.defects import DEFECTS, LOAD_DEFECTS, find_defect
from conformance.reference.serve import hosted


def arguments(words: list[str]) -> argparse.Namespace:
    """The command line, read."""
    parser = argparse.ArgumentParser(prog="python -m conformance.reference", description="The reference gateway.")
    parser.add_argument("--config", type=Path, required=True, metavar="FILE", help="lanes, members and keys, as JSON")
    parser.add_argument("--port", type=int, default=0, metavar="N", help="the port to listen on (0: any)")
    parser.add_argument("--defect", metavar="NAME", help="one right behaviour turned wrong")
    parser.add_argument(
        "--matrix",
        nargs="?",
        const="alone",
        choices=("alone", "load"),
        help="the faithful gateway and every defect (those that only load shows: load), a port each",
    )
    parser.add_argument("--watched", action="store_true", help="end when standard input does: with the parent")
    return parser.parse_args(words)


def main(words: list[str]) -> int:
    """Serve until the process is told to end; the exit code."""
    options = arguments(words)
    try:
        config = load_config(options.config)
        gateways = chosen(options)
        gc.freeze()
        asyncio.run(_serve(config, gateways, 0 if options.matrix else options.port, watched=options.watched))
    except (ConformanceError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def chosen(options: argparse.Namespace) -> dict[str, Behaviour]:
    """The behaviours to serve, by name."""
    if options.matrix:
        wanted = LOAD_DEFECTS if options.matrix == "load" else DEFECTS
        return {"faithful": FAITHFUL} | {name: defect.behaviour for name, defect in wanted.items()}
    return {options.defect: find_defect(options.defect).behaviour} if options.defect else {"faithful": FAITHFUL}


async def _serve(config: Config, gateways: dict[str, Behaviour], port: int, *, watched: bool) -> None:
    async with hosted(config, gateways, port) as hosts:
        if not port:
            sys.stdout.write(json.dumps(hosts.ports) + "\n")
            sys.stdout.flush()
        ends = {hosts.ended, asyncio.ensure_future(_input_ended())} if watched else {hosts.ended}
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)


async def _input_ended() -> None:
    """Until whoever holds the other end of standard input is gone."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while await reader.read(4096):
        pass


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
