"""Many streams at once: none lost, none mismatched, all judged; how exactly the replay keeps its times, at what cost.

    python benchmarks/streams.py [--streams 1000] [--gateway] [--pace 200] [--spread 1]

Plays one scenario, a stream of 22 events PACE ms apart, so many times at once (begun within SPREAD s) straight at the
replay upstream (with --gateway: through the reference gateway). The timing error of an event is how much later it was
written than planned, counted from the first byte of its response.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import os
import resource
import sys
import time
from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory

from conformance.cassette.store import Library
from conformance.contract.catalog import CATALOG
from conformance.contract.clause import Outcome
from conformance.contract.judge import judge
from conformance.run.cell import measured
from conformance.run.loadplan import control_seat
from conformance.run.plan import PlannedCase
from conformance.run.play import Observed, Player
from conformance.run.stage import Stage, open_stage
from conformance.scenario.load import load_scenarios
from conformance.scenario.model import Play, PlayItem
from conformance.target.load import load_profile
from conformance.upstream.items import Scripts
from conformance.upstream.replayed import script_of
from conformance.upstream.script import Action

#: All plays are armed before the first request is sent, in seconds.
START = 3.0


def case_of(pace: float) -> PlannedCase:
    """The scenario that is played."""
    base = next(scenario for scenario in load_scenarios() if scenario.id == "load.chat-stream")
    item = PlayItem(cassette="authored/openai/chat-long-stream", transforms=(f"pace:{pace:g}",))
    return PlannedCase(scenario=dataclasses.replace(base, play=Play(default=(item,))), driver="wire", lane=0)


def lateness(observed: Observed, scripts: Scripts) -> Iterator[float]:
    """The timing error of each event of a stream, in ms."""
    for entry in observed.entries:
        steps = [step for step in script_of(entry, scripts).steps if step.action is Action.SEND and step.data]
        written = list(accumulate(size for _, size in entry.writes))
        planned = accumulate(len(step.data) for step in steps)
        for step, end in zip(steps, planned, strict=True):
            at = entry.writes[min(bisect_left(written, end), len(written) - 1)][0]
            yield (at - entry.writes[0][0]) * 1000 - (step.at - steps[0].at)


async def measure(stage: Stage, case: PlannedCase, streams: int, spread: float, *, gateway: bool) -> int:
    """Play, judge and print; the exit code."""
    scripts = Scripts(Library().get)
    seat = stage.seat if gateway else control_seat(stage.seat, case)
    player = Player(seat, tuple(CATALOG.values()), scripts=scripts, drivers=("wire",))
    await player.exchange(case, repetition=streams)  # everything is imported and connected once
    upstream = stage.upstream.pid if stage.upstream is not None else 0
    async with measured({"upstream": (upstream, False), "gateway": (stage.target.pid, True)}) as strain:
        start = time.monotonic() + START
        seen = await asyncio.gather(
            *(player.observe(case, repetition=n, at=start + n * spread / streams) for n in range(streams))
        )
    began, violated, lost = time.process_time(), 0, 0
    for observed in seen:
        exchange = player.joined(observed)
        verdicts = judge(exchange, CATALOG.values())
        violated += any(verdict.outcome is Outcome.VIOLATED for verdict in verdicts)
        lost += exchange.reply is None or not exchange.reply.complete or len(observed.entries) != 1
    judging = (time.process_time() - began) * 1000 / streams
    errors = sorted(error for observed in seen for error in lateness(observed, scripts))
    mismatched = sum(len({entry.nonce for entry in observed.entries} - {observed.nonce}) for observed in seen)
    await player.aclose()
    print(f"{streams} streams at once, {len(errors):,} writes of events, in {strain.seconds:.1f} s")
    print(f"lost {lost}, mismatched {mismatched}, judged {len(seen)}, with a violation {violated}")
    p50, p99 = errors[len(errors) // 2], errors[int(0.99 * (len(errors) - 1))]
    print(f"timing error of the replay: p50 {p50:.2f} ms, p99 {p99:.2f} ms, most {errors[-1]:.2f} ms")
    shares = ", ".join(f"{name} {strain.share(used):.0%}" for name, used in strain.others.items())
    print(f"CPU of a core: harness {strain.share(strain.client):.0%}, {shares}; judging {judging:.1f} ms a stream")
    print(f"loop lag of the harness p99 {strain.lag_ms:.0f} ms; load average {os.getloadavg()[0]:.1f}")
    return 1 if lost or mismatched or (violated and not gateway) else 0


def main() -> int:
    """Bring a stage up and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=1000, metavar="N")
    parser.add_argument("--pace", type=float, default=200.0, metavar="MS")
    parser.add_argument("--spread", type=float, default=1.0, metavar="S", help="they begin within so many seconds")
    parser.add_argument("--gateway", action="store_true", help="through the reference gateway")
    options = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    profile = load_profile("reference")
    case = case_of(options.pace)
    with TemporaryDirectory() as scratch, open_stage(profile, (case,), Path(scratch)) as stage:
        return asyncio.run(measure(stage, case, options.streams, options.spread, gateway=options.gateway))


if __name__ == "__main__":
    sys.exit(main())
