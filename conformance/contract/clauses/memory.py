"""What a gateway carries from one request into the next, over sequences: nothing, whatever happened before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.contract.clause import Basis, Finding, Level, sequence_clause
from conformance.contract.clauses.cache import document_of
from conformance.contract.clauses.isolation import strange_messages
from conformance.contract.evidence import show
from conformance.contract.history import Fate, histories
from conformance.contract.timeline import at_dispatch, at_turn
from conformance.exchange.model import Exchange
from conformance.exchange.sequence import Dispatch, Sequence, Turn
from conformance.wire.transcript import End

#: Fates that stand against no member.
_KIND = frozenset({Fate.SUCCESS, Fate.ABANDONED})


def _sent_once(s: Sequence) -> Iterator[tuple[Turn, str, Any]]:
    """Parameters that one turn sent and others did not."""
    for turn in s.turns:
        for name, value in document_of(turn.exchange).items():
            if any(name not in document_of(other.exchange) for other in s.turns if other is not turn):
                yield turn, name, value


def _leaks(s: Sequence) -> Iterator[tuple[Dispatch, str]]:
    """The dispatches that carry what only an earlier turn sent; the same with nothing before it is a default."""
    for turn, name, value in _sent_once(s):
        for dispatch in s.dispatches:
            before = [d for d in s.dispatches if d.turn.began < turn.began and d.lane == dispatch.lane]
            if not before or any(_asked(d, name) == value for d in before):
                continue
            later = dispatch.turn.began > turn.began and name not in document_of(dispatch.turn.exchange)
            if later and value is not None and _asked(dispatch, name) == value:
                yield dispatch, f"{name} {show(value)} of {turn.label}"


def _asked(dispatch: Dispatch, name: str) -> Any:
    doc = dispatch.attempt.request.doc
    return doc.get(name) if doc is not None and doc.ok else None


def _foreign(s: Sequence) -> Iterator[tuple[Dispatch, str]]:
    """The dispatches that carry another turn's prompt, told by its nonce."""
    nonces = {turn.exchange.nonce for turn in s.turns if turn.exchange.nonce}
    for dispatch in s.dispatches:
        own = dispatch.turn.exchange
        for nonce in nonces - {own.nonce}:
            if nonce.encode() in dispatch.attempt.request.body and nonce.encode() not in own.request.body:
                yield dispatch, f"the prompt of another request ({nonce})"


@sequence_clause(
    id="isolation.state",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="What one request says does not reach a member with a later one",
    rationale="A parameter or a prompt that sticks to a connection or an object is another caller's.",
    source="report/isolation",
    applies=lambda s: s.held and sum(bool(turn.exchange.attempts) for turn in s.turns) > 1,
)
def isolation_state(s: Sequence) -> Iterator[Finding]:
    for dispatch, what in (*_leaks(s), *_foreign(s), *strange_messages(s)):
        yield at_dispatch(s, dispatch, "the members of this request alone", f"it carries {what}")


def _plain(s: Sequence) -> list[Turn]:
    """The turns after others that nothing stands against: a request that is accepted, in a lane where none ever failed."""
    harmed = {lane for (lane, _), records in histories(s).items() if any(r.fate not in _KIND for r in records)}
    found = []
    for turn in s.turns:
        exchange = turn.exchange
        accepted = (
            exchange.terms.key_valid is not False and exchange.request.doc is not None and exchange.request.doc.ok
        )
        known = exchange.terms.known_models
        accepted = accepted and (known is None or exchange.request.model in known) and exchange.hangup is None
        accepted = accepted and not _refused(exchange)
        healthy = exchange.terms.members is not None and turn.healthy == frozenset(exchange.terms.members)
        if accepted and healthy and turn.lane not in harmed and any(other.ended <= turn.began for other in s.turns):
            found.append(turn)
    return found


def _refused(exchange: Exchange) -> bool:
    """Whether the gateway refused the request for its own sake, such as for a parameter that it does not know."""
    status = exchange.reply.status if exchange.reply is not None else 0
    return not exchange.attempts and status in (400, 401, 403, 413, 415, 422)


@sequence_clause(
    id="alive.after",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="Whatever happened before, a plain request is answered",
    rationale="A gateway that one bad exchange takes down, or leaves stuck, is down for everybody.",
    source="openai-api/chat-create",
    applies=lambda s: bool(_plain(s)),
)
def alive_after(s: Sequence) -> Iterator[Finding]:
    for turn in _plain(s):
        reply = turn.exchange.reply
        # In what form an answer came is judged by the clauses on form: here it is there, or not.
        stuck = turn.exchange.end is End.STALL
        if reply is None or not reply.ok or not reply.content or reply.answer.errors or stuck:
            seen = f"status {reply.status}" if reply is not None and reply.status else "no response"
            yield at_turn(s, turn, "the answer of a healthy member", f"{seen}, {turn.exchange.end.value}")
