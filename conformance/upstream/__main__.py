"""`python -m conformance.upstream`: the replay upstream as the child of a run. Arguments become settings; no logic."""

from __future__ import annotations

import argparse
import sys

from conformance.errors import ConformanceError
from conformance.upstream.serve import Settings, folders, serve_attached
from conformance.upstream.server import DEFAULT_BOUNDS, Bounds


def main(arguments: list[str] | None = None) -> int:
    """Serve as a child; 3 when the upstream cannot start."""
    parser = argparse.ArgumentParser(prog="python -m conformance.upstream", description=__doc__)
    parser.add_argument("--members", type=int, required=True)
    parser.add_argument("--cassettes", action="append", default=[])
    parser.add_argument("--journal-entries", type=int, default=DEFAULT_BOUNDS.entries)
    parser.add_argument("--journal-bytes", type=int, default=DEFAULT_BOUNDS.bytes)
    given = parser.parse_args(arguments)
    bounds = Bounds(entries=given.journal_entries, bytes=given.journal_bytes)
    try:
        return serve_attached(Settings(members=given.members, cassettes=folders(given.cassettes), bounds=bounds))
    except ConformanceError as error:
        sys.stderr.write(f"{error}\n")
        return 3


if __name__ == "__main__":
    sys.exit(main())
