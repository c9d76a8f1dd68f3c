"""One case, from arming the play to the verdicts: what happened between is facts, only our own faults raise.

`Player` holds what all cases of one process share: control connection, drivers, scripts.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from time import monotonic

from conformance.cassette.store import Library
from conformance.contract.clause import Clause
from conformance.contract.judge import judge
from conformance.driver.model import Behaviour, Call, Capture, Driver
from conformance.driver.registry import make_driver
from conformance.errors import CassetteError, ConformanceError, HarnessError
from conformance.exchange.assemble import assemble, read_attempt
from conformance.exchange.model import Attempt, Exchange
from conformance.report.evidence import case_of
from conformance.report.model import Case
from conformance.run.mask import masked
from conformance.run.plan import PlannedCase, closes_a_port
from conformance.run.pulse import Pulse
from conformance.run.sequence import came_late, perform, read, sequence_cases
from conformance.run.stage import Seat, Stage
from conformance.run.terms import terms_of
from conformance.scenario.model import PlayItem
from conformance.scenario.request import prepare
from conformance.target.lanes import Lane
from conformance.target.profile import Profile
from conformance.target.render import lane_headers
from conformance.upstream.client import ControlClient
from conformance.upstream.items import Scripts
from conformance.upstream.journal import Entry, sent_segments
from conformance.upstream.replayed import script_of
from conformance.wire.transcript import End, Segment

#: How long the attempts of a request may go on after the client's side is over, in ms.
WAIT_MS = 2500.0
#: How long a pool whose client has gone is watched, after each attempt's end, for another one, in ms.
LADDER_MS = 150.0

#: Scenarios of this area can keep a gateway busy for seconds: beside others they would be judged as the others' faults.
HEAVY = "weight."

#: How often a long wait looks whether the stage still stands, in s.
WATCH_S = 1.0

#: So many sequences that came too late have their last try when all else is done, with nothing beside them.
LAST_TRIES = 24

#: Before each of these a gateway has time to forget what came before: the longest of its windows, but no more ms.
FORGOTTEN_MS = 6000.0

LATE = "its requests missed the windows that they were meant for: a busy machine, or a gateway that remembers otherwise"

#: Awaited between the preparation of a request and its sending.
Gate = Callable[[], Awaitable[object]]

#: Every try of a sequence, and its last one.
_ALL, _LAST = slice(None), slice(-1, None)

_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"


def nonce_for(seed: int, case: str, repetition: int = 0) -> str:
    """The nonce of a case: "cf-" and nine letters or digits and a digit, the same for the same seed."""
    number = int.from_bytes(hashlib.sha256(f"{seed}/{case}/{repetition}".encode()).digest()[:8], "big")
    letters = ""
    for _ in range(9):
        number, rest = divmod(number, len(_ALPHABET))
        letters += _ALPHABET[rest]
    return f"cf-{letters}{number % 10}"


def call_of(case: PlannedCase, lane: Lane, profile: Profile, base_url: str, nonce: str) -> Call:
    """What the driver of a case sends."""
    request = case.scenario.request
    method, path, params, body = prepare(request, alias=profile.model_prefix + lane.alias, nonce=nonce)
    key = profile.api_key if request.api_key is None else request.api_key
    return Call(
        base_url=base_url,
        path=path,
        method=method,
        endpoint=request.endpoint,
        api_key="" if method == "OPTIONS" else key,  # a browser's question carries no key
        body=body,
        params=params,
        headers=(*lane_headers(profile, lane), *request.headers),
        behaviour=_in_time(case.scenario.behaviour, profile.first_token_timeout_ms),
        deadlines=profile.deadlines,
    )


def _in_time(behaviour: Behaviour, first_token_ms: float | None) -> Behaviour:
    """The behaviour of a client that goes while the gateway still waits: within half of what the gateway declares."""
    if behaviour.hang_up != "send" or first_token_ms is None:
        return behaviour
    return replace(behaviour, wait_ms=min(behaviour.wait_ms, first_token_ms / 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What both legs saw of one request, before anything is read: the client's capture and the journal's entries."""

    case: PlannedCase
    nonce: str
    capture: Capture
    entries: tuple[Entry, ...]
    lag_ms: float = 0.0


class Player:
    """Plays cases on a stage. Belongs to one event loop; `aclose` frees its connections.

    `drivers` are made at once: an SDK takes seconds to import, which no request may have to wait for. Others are made
    when a case first needs them.
    """

    def __init__(
        self,
        stage: Stage | Seat,
        clauses: Sequence[Clause],
        *,
        seed: int = 0,
        scripts: Scripts | None = None,
        drivers: Iterable[str] = (),
    ) -> None:
        self._stage = stage if isinstance(stage, Stage) else None
        self._seat = stage if isinstance(stage, Seat) else stage.seat
        self._clauses = tuple(clauses)
        self._seed = seed
        self._control = ControlClient(self._seat.upstream)
        self._drivers: dict[str, Driver] = {name: make_driver(name) for name in dict.fromkeys(drivers)}
        self._pulse = Pulse()
        self._desk = asyncio.Lock()  # one is read and judged at a time: the loop stays free for those that are sending
        self._scripts = scripts if scripts is not None else Scripts(Library(self._seat.cassettes or None).get)
        self._names = {port: f"u{index}" for index, port in enumerate(self._seat.upstream.ports)}

    async def aclose(self) -> None:
        """Close every connection."""
        self._pulse.stop()
        for driver in self._drivers.values():
            await driver.aclose()
        await self._control.aclose()

    async def play_all(self, cases: Iterable[PlannedCase], *, workers: int, keep: Callable[[Case], None]) -> None:
        """Play the cases, `workers` at a time, and hand each on as it is done; the heavy ones last, one at a time, and
        after them, in the same way, the sequences that came too late beside others. Raises HarnessError.
        """
        planned, late = list(cases), list[PlannedCase]()
        heavy = [case for case in planned if self._goes_alone(case)][::-1]
        queue = [case for case in planned if not self._goes_alone(case)][::-1]
        # An SDK takes its time to be imported: nothing is to be in flight meanwhile.
        for name in {case.driver for case in planned if not case.skipped}:
            with suppress(ConformanceError):
                self._driver(name)

        async def work() -> None:
            while queue:
                case = queue.pop()
                made = await self.play(case, tries=slice(None, -1) if case.spares else _ALL)
                if case.spares and _late(made):
                    if len(late) < LAST_TRIES:
                        late.append(case)
                        continue
                    made = await self.play(case, tries=_LAST)
                for one in made:
                    keep(one)
                if self._stage is not None:
                    self._stage.ensure_alive()

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(max(1, workers)):
                    group.create_task(work())
            queue = heavy
            await work()
            for case in late:
                # What a gateway keeps of the lanes before under too short a key is over by then.
                await asyncio.sleep(min(1.1 * self._longest_window_ms(), FORGOTTEN_MS) / 1000)
                for one in await self.play(case, tries=_LAST):
                    keep(one)
        except* HarnessError as errors:
            raise _first(errors) from None
        finally:
            await self.aclose()

    def _longest_window_ms(self) -> float:
        return max(self.profile.cooldown_ms or 0.0, self.profile.quarantine_ms or 0.0)

    def _goes_alone(self, case: PlannedCase) -> bool:
        """Whether it and the cases beside it would feel each other: it is heavy, closes a port of a lane that others
        share, or is a sequence at a gateway whose lanes share one bounded memory."""
        shared = self.profile.kind == "url" and closes_a_port(case.scenario)
        crowding = self.profile.sequences_alone and bool(case.scenario.steps)
        return case.scenario.id.startswith(HEAVY) or shared or crowding

    async def play(self, case: PlannedCase, *, repetition: int = 0, tries: slice = _ALL) -> tuple[Case, ...]:
        """Play one case and judge it: one case of the report, or, for a sequence, one for each request and one for all.

        `tries` are those of a sequence's tries that are made. A fault of our own becomes the case's error; a lost stage
        raises. A real client key stands in none of them.
        """
        return tuple(masked(made, self.profile.secret) for made in await self._play(case, repetition, tries))

    async def _play(self, case: PlannedCase, repetition: int, tries: slice) -> tuple[Case, ...]:
        try:
            if case.skipped:
                return (_unplayed(case, skipped=case.skipped),)
            if case.scenario.steps:
                return await self._sequence(case, repetition, tries)
            observed = await self.observe(case, repetition=repetition)
            async with self._desk:
                return (self.judged(case, self.joined(observed)),)
        except ConformanceError as error:
            if self._stage is not None:
                self._stage.ensure_alive()
            return (_unplayed(case, exercises=case.scenario.exercises, error=str(error)),)

    async def _sequence(self, case: PlannedCase, repetition: int, tries: slice) -> tuple[Case, ...]:
        """The cases of a sequence; one that came too late for its windows is played again, in fresh lanes."""
        made: tuple[Case, ...] = ()
        for again, one in list(enumerate(case.tries))[tries]:
            sent = await perform(self, one, repetition=repetition + again)
            async with self._desk:
                sequence = await read(self, one, sent)
                made = await sequence_cases(case, sequence, self._clauses)
            if not came_late(made[-1], sequence, self._clauses):
                return made
        # Every try missed a window: nothing is proven, and nothing is held against anybody. It is told, not hidden.
        reason = f"{LATE} ({len(case.tries)} times); alone: --select {case.scenario.id} -n 1"
        return (*made[:-1], replace(made[-1], exercises=(), skipped=reason))

    def judged(self, case: PlannedCase, exchange: Exchange) -> Case:
        """The case of one exchange."""
        return case_of(
            exchange,
            judge(exchange, self._clauses),
            scenario=case.scenario.id,
            title=case.scenario.title,
            case=case.id,
            exercises=case.scenario.exercises,
            upstream=tuple(attempt.sent for attempt in exchange.attempts or ()),
        )

    async def exchange(self, case: PlannedCase, *, repetition: int = 0) -> Exchange:
        """Send the request of a case once and join what both legs saw."""
        return self.joined(await self.observe(case, repetition=repetition))

    def nonce(self, case: str, repetition: int = 0) -> str:
        """The nonce of a case, or of a part of one."""
        return nonce_for(self._seed, case, repetition)

    @property
    def profile(self) -> Profile:
        """The target's profile."""
        return self._seat.profile

    async def observe(
        self, case: PlannedCase, *, repetition: int = 0, nonce: str = "", at: float = 0.0, gate: Gate | None = None
    ) -> Observed:
        """Send the request of a case once and bring back what both legs saw, not read yet.

        With `at` (CLOCK_MONOTONIC, s) all is made ready first, and the request sent then; with `gate`, when that is
        passed: what is to be sent at once passes it together.
        """
        self._pulse.beat()
        seat = self._seat
        lane = seat.lanes[case.lane]
        nonce = nonce or self.nonce(case.id, repetition)
        play = case.scenario.play
        members = {member.name: self._names[member.port] for member in lane.members}
        plays = {members[name]: items for name, items in play.members.items() if name in members}
        if not play.default:
            # A found lane may be wider than the scenario's: its further members do as the scenario's last one does.
            as_last = play.members.get(f"m{case.members - 1}", ())
            plays |= {members[member.name]: as_last for member in lane.members[case.members :]}
        await self._arm(nonce, plays, play.default)
        call = call_of(case, lane, seat.profile, seat.base_url, nonce)
        try:
            if at:
                await self._until(at)
            if gate is not None:
                await gate()
            capture = await self._driver(case.driver).send(call)
        finally:
            goes, shared = (
                bool(case.scenario.behaviour.hang_up or case.scenario.behaviour.half_close),
                len(lane.members) > 1,
            )
            settle = max(seat.profile.settle_ms, LADDER_MS if goes and shared else 0.0)
            entries = await self._control.take(nonce, wait_ms=WAIT_MS, settle_ms=settle)
        started = capture.transcript.origin
        lag = self._pulse.worst_ms(started, started + capture.transcript.ended_at / 1000)
        return Observed(case=case, nonce=nonce, capture=capture, entries=entries, lag_ms=lag)

    async def _arm(self, nonce: str, plays: Mapping[str, Sequence[PlayItem]], default: Sequence[PlayItem]) -> None:
        try:
            await self._control.arm(nonce, plays, default)
        except CassetteError as error:
            if self.profile.kind != "url":
                raise
            hint = "folders of your own are named to it, too: `conformance upstream --cassettes DIR`"
            raise CassetteError(error.what, where="the replay upstream behind the target", hint=hint) from error

    async def _until(self, at: float) -> None:
        """Wait until `at` (CLOCK_MONOTONIC, s), as long as what is waited for still stands. Raises HarnessError."""
        while (left := at - monotonic()) > 0:
            await asyncio.sleep(min(left, WATCH_S))
            if left > WATCH_S and self._stage is not None:
                self._stage.ensure_alive()

    def joined(self, observed: Observed) -> Exchange:
        """The exchange of what was observed: everything read into facts."""
        case, capture, nonce = observed.case, observed.capture, observed.nonce
        lane = self._seat.lanes[case.lane]
        # Dispatches of a request that carries no nonce cannot be told from others'.
        marked = nonce.encode() in capture.transcript.request
        attempts = [self._attempt(entry, capture, lane) for entry in observed.entries]
        return assemble(
            name=case.id,
            transcript=capture.transcript,
            attempts=attempts if marked else None,
            terms=terms_of(case.scenario, lane, self._seat, self._scripts),
            driver=case.driver,
            nonce=nonce if marked else "",
            hangup=capture.hangup,
            client=capture.client,
            lag_ms=observed.lag_ms,
        )

    def _driver(self, name: str) -> Driver:
        if name not in self._drivers:
            self._drivers[name] = make_driver(name)
        return self._drivers[name]

    def _attempt(self, entry: Entry, capture: Capture, lane: Lane) -> Attempt:
        origin = capture.transcript.origin
        script = script_of(entry, self._scripts)
        segments = tuple(Segment((at - origin) * 1000, data) for at, data in sent_segments(entry, script))
        names = {member.port: member.name for member in lane.members}
        closed = entry.peer_closed_at
        return read_attempt(
            member=names.get(entry.port, entry.member),
            at=(entry.at - origin) * 1000,
            request=entry.request,
            segments=segments,
            end=End.STALL if entry.open else entry.end,
            ended_at=(entry.ended_at - origin) * 1000,
            peer_closed=entry.peer_closed,
            peer_closed_at=None if closed is None else (closed - origin) * 1000,
            source=entry.played.cassette or entry.played.digest,
        )


def _unplayed(case: PlannedCase, *, exercises: tuple[str, ...] = (), skipped: str = "", error: str = "") -> Case:
    """The case that was not played, or not to its end."""
    scenario = case.scenario
    return Case(
        id=case.id,
        scenario=scenario.id,
        title=scenario.title,
        driver=case.driver,
        exercises=exercises,
        skipped=skipped,
        error=error,
    )


def _late(made: Sequence[Case]) -> bool:
    """Whether what was made of a sequence proves nothing, since it came too late."""
    return bool(made) and made[-1].skipped.startswith(LATE)


def _first(errors: BaseExceptionGroup[HarnessError]) -> HarnessError:
    error: BaseException = errors
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert isinstance(error, HarnessError)
    return error
