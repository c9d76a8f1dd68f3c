"""What stands behind the fixtures: gateways launched for a gateway developer's own tests, and one call to use them.

    exchange = send(messages=[...], play={"m0": "authored/errors/...", "default": "authored/openai/chat-hello"})
    judge(exchange)

Starts processes; the plugin's fixtures end them.
"""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

from conformance.columns import LEAST, plain
from conformance.contract.catalog import select
from conformance.contract.clause import Outcome, Verdict
from conformance.contract.judge import judge as judge_exchange
from conformance.driver.model import Behaviour
from conformance.errors import ConformanceError, UsageError
from conformance.exchange.model import Exchange
from conformance.options import RunOptions
from conformance.report import terminal
from conformance.report.evidence import case_of
from conformance.run.choice import cassette_roots
from conformance.run.header import header_of
from conformance.run.mask import masked
from conformance.run.plan import PlannedCase
from conformance.run.play import Player
from conformance.run.stage import Seat, seat_found
from conformance.scenario.codec import play_item
from conformance.scenario.model import Play, PlayItem, Scenario, ScenarioRequest
from conformance.scenario.place import Place
from conformance.target.lanes import plan_lanes
from conformance.target.launch import RunningTarget, launch
from conformance.target.load import load_profile
from conformance.target.profile import CAPABILITIES, Profile, spelt_out
from conformance.upstream.client import SyncControlClient
from conformance.upstream.process import UpstreamProcess, start_upstream

#: Lanes of a launched gateway, each with four members; a test gets the next one, so that failures do not add up.
LANES, MEMBERS = 32, 4

Items = str | PlayItem | Sequence[str | PlayItem]


class Benches:
    """The gateways of one process, by target and promises; launched when first asked for, with an upstream behind them.

    A target that already runs is used with the upstream that its profile names, and its own lanes in turn. Plays look
    for their cassettes in the folders `cassettes` first. Raises UsageError for one that is none.
    """

    def __init__(self, scratch: Path, cassettes: Sequence[str] = ()) -> None:
        self._cassettes = cassette_roots(cassettes)
        self._upstream: UpstreamProcess | None = None
        self._scratch = scratch
        self._ready: dict[tuple[str, frozenset[str] | None], tuple[Seat, RunningTarget]] = {}
        self._numbers = itertools.count()
        self._runner = asyncio.Runner()
        self._players: dict[tuple[str, frozenset[str] | None], Player] = {}

    def bench(
        self, *, target: str = "reference", capabilities: Sequence[str] | None = None, width: int = LEAST
    ) -> Bench:
        """A bench with a fresh lane; failures are told `width` columns wide. Raises UsageError, LaunchError."""
        declared = None if capabilities is None else spelt_out(capabilities)
        for name in declared or ():
            if name not in CAPABILITIES:
                hint = f"one of {', '.join(CAPABILITIES)}"
                raise UsageError(f"there is no capability {name!r}", where="marker conformance", hint=hint)
        key = (target, declared)
        if key not in self._ready:
            self._ready[key] = self._launch(target, declared)
            self._players[key] = Player(self._ready[key][0], select(()))
        seat, running = self._ready[key]
        number = next(self._numbers)
        lane = number % len(seat.lanes)
        return Bench(seat, running, self._players[key], self._runner, lane=lane, number=number, width=width)

    def _launch(self, target: str, declared: frozenset[str] | None) -> tuple[Seat, RunningTarget]:
        profile: Profile = load_profile(target)
        if declared is not None:
            profile = dataclasses.replace(profile, capabilities=declared)
        if profile.kind == "url":
            found = dataclasses.replace(seat_found(profile, profile.lanes), cassettes=self._cassettes)
            return found, RunningTarget(profile, base_url=profile.base_url)
        upstream = self._upstream = self._upstream or start_upstream(LANES * MEMBERS, cassettes=self._cassettes)
        count = min(LANES, profile.max_lanes or LANES)
        lanes = plan_lanes([MEMBERS] * count, ports=upstream.ports)
        running = launch(profile, lanes, scratch=self._scratch)
        address = upstream.address
        seat = Seat(
            upstream=address,
            base_url=running.base_url,
            version=running.version,
            lanes=lanes,
            profile=profile,
            cassettes=self._cassettes,
        )
        return seat, running

    def __enter__(self) -> Benches:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for player in self._players.values():
            self._runner.run(player.aclose())
        self._runner.close()
        for _, running in self._ready.values():
            running.stop()
        if self._upstream is not None:
            self._upstream.stop()


class Bench:
    """One test's gateway and lane."""

    def __init__(
        self,
        seat: Seat,
        target: RunningTarget,
        player: Player,
        runner: asyncio.Runner,
        *,
        lane: int,
        number: int,
        width: int,
    ) -> None:
        self.seat = seat
        self._width = width
        self.target = target
        self.lane = seat.lanes[lane]
        self.upstream = SyncControlClient(seat.upstream)
        self._player = player
        self._runner = runner
        self._lane_number = lane
        self._number = number
        self._sent = 0

    def send(
        self,
        *,
        play: Mapping[str, Items] | None = None,
        endpoint: str = "chat.completions",
        driver: str = "wire",
        model: str | None = None,
        api_key: str | None = None,
        headers: Mapping[str, str] | None = None,
        hang_up: str = "",
        wait_ms: float = 0.0,
        pause_ms: float = 0.0,
        **params: Any,
    ) -> Exchange:
        """Send one request through the gateway and return what happened on both legs.

        `play` says what each member ("m0" to "m3", "default" for the rest) answers: cassette names as a scenario writes
        them ("authored/openai/chat-hello | crlf"), or words ("@reset"); without a play every member answers well.
        `params` are the API's parameters; `model` and `api_key` replace the lane's alias and the target's key.
        `hang_up` is when the client goes ("send", "head", "event:N"), `wait_ms` how much later, `pause_ms` how long a
        slow reader rests before each read. Raises ScenarioError for a play that cannot be read, UsageError for a
        parameter that is no JSON, HarnessError when the upstream is gone.
        """
        __tracebackhide__ = True
        for name, value in params.items():
            _json(name, value)
        items = {name: _items(value) for name, value in (play or {}).items()}
        known = [member.name for member in self.lane.members] + ["default"]
        for name in sorted(items.keys() - set(known)):
            raise UsageError(f"the lane has no member {name!r}", where="send: play", hint=f"it has {', '.join(known)}")
        scenario = Scenario(
            id=f"test.{self._number}",
            title="",
            request=ScenarioRequest(
                endpoint=endpoint, params=params, model=model, api_key=api_key, headers=tuple((headers or {}).items())
            ),
            play=Play(members={k: v for k, v in items.items() if k != "default"}, default=items.get("default", ())),
            lane="pool4",
            behaviour=Behaviour(hang_up=hang_up, wait_ms=wait_ms, pause_ms=pause_ms),
        )
        self._sent += 1
        case = PlannedCase(scenario=scenario, driver=driver, lane=self._lane_number)
        try:
            return self._runner.run(self._player.exchange(case, repetition=self._sent))
        except UsageError as error:  # a slip of the test: its line tells, not the way down to where it showed
            raise error.with_traceback(None) from None

    def judge(self, exchange: Exchange, clauses: Sequence[str] = ()) -> tuple[Verdict, ...]:
        """The verdicts on an exchange, by the clauses that match these globs (all for none).

        Fails the test, showing requirement, expected, actual and the bytes, where a clause that gates is violated;
        so does it where clauses were named and none of them applies: a check that cannot fail is none. Raises
        ConformanceError when a clause itself failed or none matches.
        """
        chosen = select(tuple(clauses))
        if not chosen:
            raise UsageError(f"no clause matches {', '.join(clauses)}", where="judge")
        verdicts = judge_exchange(exchange, chosen)
        faulty = next((verdict for verdict in verdicts if verdict.outcome is Outcome.FAULTY), None)
        if faulty is not None:
            raise ConformanceError(f"the clause {faulty.clause} failed: {faulty.reason}", where="harness fault")
        if clauses and all(verdict.outcome is Outcome.NOT_APPLICABLE for verdict in verdicts):
            pytest.fail(f"none of the clauses {', '.join(clauses)} applies to this exchange: nothing was checked")
        case = case_of(
            exchange,
            verdicts,
            scenario=exchange.name.partition("[")[0],
            case=exchange.name,
            upstream=tuple(attempt.sent for attempt in exchange.attempts or ()),
        )
        header = header_of(RunOptions(target=self.seat.profile.name), self.seat.profile, chosen, ())
        shown = terminal.failure(header, masked(case, self.seat.profile.secret))
        if shown is not None:
            pytest.fail(plain(shown, self._width), pytrace=False)
        return verdicts


def _json(name: str, value: Any) -> None:
    try:
        json.dumps(value)
    except (TypeError, ValueError) as error:
        hint = "besides its own arguments send takes the API's parameters: help(send) tells them"
        raise UsageError(f"{name} is no JSON value: {error}", where="send", hint=hint) from None


def _items(value: Items) -> tuple[PlayItem, ...]:
    listed = [value] if isinstance(value, str | PlayItem) else list(value)
    return tuple(item if isinstance(item, PlayItem) else play_item(item, Place("play")) for item in listed)
