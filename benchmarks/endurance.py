"""One load run of very many exchanges: does the harness's memory stay flat?

    python benchmarks/endurance.py [--exchanges 200000] [--concurrency 16] [--clauses GLOB ...]

A closed loop of a plain chat completion through the reference gateway, half of it straight at the replay upstream (the
control). Prints the resident memory of the harness and of the upstream at each tenth, and what it cost.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from conformance.contract.catalog import select
from conformance.load.plan import LoadOptions, Shape
from conformance.run.load import LoadRunner
from conformance.run.loadplan import plan_load
from conformance.run.stage import open_stage
from conformance.scenario.load import load_scenarios
from conformance.scenario.load import select as select_scenarios
from conformance.target.load import load_profile

CLAUSES = ("http.body.complete", "chat.choices.present", "relay.text.equal", "isolation.nonce", "pool.success.final")


def resident(pid: int) -> float:
    """The resident memory of a process, in MiB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


class Watch(threading.Thread):
    """Notes the resident memory of the harness and the upstream, once a second, beside how much was sent."""

    def __init__(self, runner: LoadRunner, upstream: int) -> None:
        super().__init__(daemon=True)
        self._runner, self._upstream = runner, upstream
        self.over = threading.Event()
        self.notes: list[tuple[int, float, float]] = []

    def run(self) -> None:
        while not self.over.wait(1.0):
            self.notes.append((self._runner.sent, resident(os.getpid()), resident(self._upstream)))


def main() -> int:
    """Run and print; exits 1 when memory grew by more than a tenth between the first tenth and the end."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--exchanges", type=int, default=200_000, metavar="N")
    parser.add_argument("--concurrency", type=int, default=16, metavar="N")
    parser.add_argument("--clauses", action="append", default=[], metavar="GLOB", help=f"default: {', '.join(CLAUSES)}")
    options = parser.parse_args()
    profile = load_profile("reference")
    plan = plan_load(select_scenarios(load_scenarios(), ("baseline.chat",)), ("wire",), profile)
    levels = 2 * options.concurrency - 2  # 2 + 4 + ... + concurrency, in both legs
    load = LoadOptions(
        alone=1,
        most=options.concurrency,
        rounds=max(1, options.exchanges // (2 * levels)),
        shapes=(Shape.CLOSED,),
        extend=0,
    )
    with TemporaryDirectory() as scratch, open_stage(profile, plan.cases, Path(scratch)) as stage:
        assert stage.upstream is not None
        runner = LoadRunner(stage, select(tuple(options.clauses) or CLAUSES), load)
        watch = Watch(runner, stage.upstream.pid)
        watch.start()
        began, cpu = time.monotonic(), time.process_time()
        result = asyncio.run(runner.run(plan))
        seconds, used = time.monotonic() - began, time.process_time() - cpu
        watch.over.set()
        watch.join()
    tenths = [
        next((note for note in watch.notes if note[0] >= runner.sent * n / 10), watch.notes[-1]) for n in range(1, 11)
    ]
    for sent, mine, theirs in tenths:
        print(f"{sent:>9,} sent: harness {mine:6.1f} MiB, upstream {theirs:6.1f} MiB")
    failed = sum(row.loaded.failed + row.alone.failed for row in result.rows)
    each = 1000 * used / runner.sent
    print(f"{runner.sent:,} exchanges in {seconds:.0f} s, {each:.2f} ms of CPU each; {failed} failures")
    print(f"load average {os.getloadavg()[0]:.1f}")
    return 1 if failed or tenths[-1][1] > 1.1 * tenths[0][1] or tenths[-1][2] > 1.1 * tenths[0][2] else 0


if __name__ == "__main__":
    sys.exit(main())
