"""Where requests go over sequences: waits that members ask for, shares, and who is told to have served."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.contract.clause import Basis, Finding, Level, sequence_clause
from conformance.contract.history import GRACE_MS, Fate, cooldowns, fate_of, histories, told_at, wait_told
from conformance.contract.spread import Share, could_ask, enough, share_of
from conformance.contract.timeline import at_dispatch, at_turn
from conformance.exchange.sequence import Dispatch, Sequence, Turn

#: Header fields that differ from answer to answer and name nobody.
_NAMELESS = frozenset(
    {"content-length", "date", "etag", "age", "x-request-id", "server-timing", "openai-processing-ms"}
)


def _waits(s: Sequence) -> Iterator[tuple[Dispatch, float]]:
    """The dispatches whose member said how long to wait, each with the end of that time."""
    longest = s.windows.retry_after_max_ms
    for dispatch in s.dispatches:
        reply = dispatch.attempt.reply
        told = wait_told(reply) if reply is not None and reply.status in (429, 503) else None
        if told is not None and told[0]:
            wait = told[0] * 1000.0
            if longest is None or wait <= longest:
                yield dispatch, told_at(dispatch) + 0.95 * wait


def _too_soon(s: Sequence) -> Iterator[tuple[Dispatch, Dispatch, float]]:
    for asked, until in _waits(s):
        for dispatch in s.dispatches:
            same = (dispatch.lane, dispatch.member) == (asked.lane, asked.member) and dispatch.at < until
            if not same or dispatch.at <= asked.ended:
                continue
            again = dispatch.turn is asked.turn
            if again or (dispatch.turn.began >= asked.known + GRACE_MS and _better(s, dispatch)):
                yield asked, dispatch, until


def _better(s: Sequence, dispatch: Dispatch) -> bool:
    """Whether a healthy member that nothing stands against was there to be asked instead, and was not yet."""
    turn = dispatch.turn
    waiting = {
        asked.member for asked, until in _waits(s) if asked.lane == turn.lane and asked.ended < turn.began < until
    }
    cooling = {w.member for w in cooldowns(s) if w.lane == turn.lane and w.covers(turn.began)}
    tried = {attempt.member for attempt in (turn.exchange.attempts or ())[: dispatch.index]}
    return bool(turn.healthy - waiting - cooling - tried - {dispatch.member})


@sequence_clause(
    id="retry-after.waits",
    level=Level.MUST,
    basis=Basis.POLICY,
    title="A member that said how long to wait is not asked before",
    rationale="Asking earlier prolongs the limit at many providers, and costs a round trip for a certain refusal.",
    source="rfc9110/retry-after",
    applies=lambda s: any(True for _ in _waits(s)),
    capabilities=("honours-retry-after",),
)
def retry_after_waits(s: Sequence) -> Iterator[Finding]:
    for asked, dispatch, _ in _too_soon(s):
        reply = asked.attempt.reply
        told = (reply.header("retry-after") or "") if reply is not None else ""
        unit = " s are over" if told.strip().isdigit() else ""
        yield at_dispatch(
            s,
            dispatch,
            f"no dispatch to {asked.member} before {told}{unit}, as it asked for in {asked.turn.label}",
            f"asked {dispatch.at - asked.ended:.0f} ms after it",
        )


#: Fates that stand against no member.
_KIND = frozenset({Fate.SUCCESS, Fate.ABANDONED})


def _bystanders(s: Sequence) -> Iterator[tuple[Dispatch, str, tuple[Turn, ...]]]:
    """The members against which nothing stands, each with the turns after the first thing that stands against another."""
    for lane in s.lanes:
        turns, kept = s.lane(lane), {m: records for (name, m), records in histories(s).items() if name == lane}
        against = [record.dispatch for records in kept.values() for record in records if record.fate not in _KIND]
        if not against:
            continue
        first = min(against, key=lambda dispatch: dispatch.known)
        for member in set(turns[0].exchange.terms.members or ()) - {dispatch.member for dispatch in against}:
            later = (turn for turn in turns if turn.began >= first.known + GRACE_MS)
            yield first, member, tuple(turn for turn in later if could_ask(turn, member))


def _unasked(s: Sequence, turns: tuple[Turn, ...]) -> Iterator[Turn]:
    """The turns that were refused with nobody asked, and nothing else on its way: no limit of the gateway's own."""
    for turn in turns:
        alone = all(other is turn or other.ended <= turn.began or turn.ended <= other.began for other in s.turns)
        if alone and not turn.exchange.attempts:
            yield turn


@sequence_clause(
    id="pool.bystander.serves",
    level=Level.MUST,
    basis=Basis.POLICY,
    title="What one member did takes no other member of its pool out",
    rationale="A window, a wait or a quarantine that is kept for the whole pool makes one bad member an outage of all.",
    source="incident/pool-failover",
    applies=lambda s: any(turns for _, _, turns in _bystanders(s)),
    capabilities=("failover",),
)
def bystander_serves(s: Sequence) -> Iterator[Finding]:
    for first, member, turns in _bystanders(s):
        share = share_of(s, member, turns)
        refused = next(_unasked(s, turns), None)
        turn = refused or (share.turns[-1] if share.passed_over else None)
        if turn is not None:
            seen = "refused, and nobody asked" if refused else f"not asked in {len(share.turns)} requests"
            yield at_turn(s, turn, f"{member} serves, whatever {first.member} did in {first.turn.label}", seen)
            return


def _shares(s: Sequence) -> Iterator[tuple[str, Share]]:
    """The shares of the members of lanes in which nothing ever failed."""
    for lane in s.lanes:
        turns = s.lane(lane)
        members = turns[0].exchange.terms.members or ()
        fates = {fate_of(turn.exchange, attempt) for turn in turns for attempt in turn.exchange.attempts or ()}
        if len(members) > 1 and fates <= {Fate.SUCCESS} and len(turns) >= enough(len(members)):
            for member in members:
                yield member, share_of(s, member, turns)


@sequence_clause(
    id="pool.spread",
    level=Level.MUST,
    basis=Basis.POLICY,
    title="Each healthy member gets a share of the requests",
    rationale="A pool whose load falls on one member has the limits of one.",
    source="target/declaration",
    applies=lambda s: any(share.decided for _, share in _shares(s)),
    capabilities=("spread",),
)
def pool_spread(s: Sequence) -> Iterator[Finding]:
    for member, share in _shares(s):
        if share.passed_over:
            yield at_turn(s, share.turns[-1], f"{member} is asked, too", f"not once in {len(share.turns)} requests")


def _served(s: Sequence) -> list[tuple[str, Turn]]:
    """The turns that were answered, each with the member whose answer it was."""
    found = []
    for turn in s.turns:
        reply, attempts = turn.exchange.reply, turn.exchange.attempts or ()
        good = [attempt.member for attempt in attempts if fate_of(turn.exchange, attempt) is Fate.SUCCESS]
        if turn.lane == "own" and reply is not None and reply.ok and good:
            found.append((good[-1], turn))
    return found


def _telling(s: Sequence) -> bool:
    members = [member for member, _ in _served(s)]
    return len(set(members)) > 1 and any(members.count(member) > 1 for member in members)


@sequence_clause(
    id="serving-model.reported",
    level=Level.MUST,
    basis=Basis.POLICY,
    title="The response names the deployment that served, also after a failover",
    rationale="Without it nobody can tell whose answer it was, what it cost, or which member is bad.",
    source="incident/streams",
    applies=_telling,
    capabilities=("reports-serving-model",),
)
def serving_reported(s: Sequence) -> Iterator[Finding]:
    served = _served(s)
    seen: dict[str, dict[str, set[str]]] = {}
    told = [(member, _told(turn)) for member, turn in served]
    for name in {name for _, fields in told for name in fields}:
        for member, fields in told:
            seen.setdefault(name, {}).setdefault(member, set()).add(fields.get(name, ""))
    members = {member for member, _ in served}
    if any(_tells_apart(values, members) for values in seen.values()):
        return
    member, turn = served[-1]
    yield at_turn(
        s, turn, f"a header field, or `model`, that names {member} and only it", "no field tells the members apart"
    )


def _tells_apart(values: dict[str, set[str]], members: set[str]) -> bool:
    """Whether a field has one value for each member, and another for each."""
    single = values.keys() == members and all(len(told) == 1 for told in values.values())
    return single and len(set().union(*values.values())) == len(members)


def _told(turn: Turn) -> dict[str, str]:
    """The header fields of a response and its `model`, by name."""
    reply = turn.exchange.reply
    assert reply is not None
    fields = ((line.name.lower(), line.value) for line in reply.message.head.headers)
    told = {name.decode("latin-1"): value.decode("latin-1") for name, value in fields}
    told = {name: value for name, value in told.items() if name not in _NAMELESS}
    documents = [reply.doc, *(event.doc for event in reply.events)]
    models = {doc.get("model") for doc in documents if doc is not None and isinstance(doc.get("model"), str)}
    return told | ({"model": models.pop()} if len(models) == 1 else {})
