"""Pools: who was called, how often and when, against what the client was told and when."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.contract.clause import Basis, Finding, Found, Level, Undecided, clause
from conformance.contract.clauses.chunk import requested_choices
from conformance.contract.evidence import at_exchange, at_head
from conformance.contract.failover import Cause, cause_of, promised, router_exhausted
from conformance.contract.kinds import Kind, kind_of_reply
from conformance.contract.when import has_output, reached_late, replied, stayed, the_reply, upstream_known, usable
from conformance.exchange.model import Attempt, Endpoint, Exchange

#: Dispatches for one client request that public gateways were seen to make range from 1 to 10.
MAX_ATTEMPTS = 10

#: Of several members asked at once those that were slower are given up within so many ms of the first success.
LOSER_MS = 500.0


def _several(number: int, noun: str, ending: str = "s") -> str:
    return f"{number} {noun}{'' if number == 1 else ending}"


def _genuine(x: Exchange, attempt: Attempt) -> bool:
    """Whether a member's model-not-found is about the name that the client itself asked for."""
    reply, name = attempt.reply, x.request.model
    if reply is None or not name or attempt.request.model != name or kind_of_reply(reply) is not Kind.MODEL_NOT_FOUND:
        return False
    return reply.status in (400, 404) and name.encode("utf-8", "surrogatepass") in reply.content


def _others(x: Exchange) -> frozenset[str]:
    """The healthy members that the gateway did not give up on: whether it was right in that, relay.success.kept judges."""
    left = {a.member for a in x.attempts or () if a.peer_closed_at is not None and not a.succeeded}
    return x.terms.healthy - left


def _spent(x: Exchange) -> bool:
    """Whether every dispatch that the target declares for one request was made, or may have been, at closed ports."""
    made = len(x.attempts or ()) + len(x.terms.closed)
    return x.terms.max_attempts is not None and made >= x.terms.max_attempts


def _unseen(x: Exchange) -> bool:
    """Whether nobody was seen to be asked beside members whose port is closed, which are asked unseen."""
    asked = _answerable(x) and stayed(x) and not x.attempts
    return asked and bool(x.terms.closed) and promised(Cause.CONNECTION, x.declares)


def _failed_over(x: Exchange) -> bool:
    if _unseen(x):
        return not _spent(x)
    if stayed(x) and x.attempts and x.terms.members is None and _genuine(x, x.attempts[0]):
        return False  # no member serves a name that nobody serves
    if x.request.endpoint is Endpoint.OTHER and stayed(x) and the_reply(x).ok:
        return False  # what a success of another operation has to hold is not known
    first = cause_of(x.attempts[0]) if stayed(x) and x.attempts else None
    if not stayed(x) or not x.attempts or first is None:
        return bool(stayed(x) and x.attempts and x.attempts[0].succeeded and x.terms.healthy)
    if _spent(x):
        return False  # the target says how often it asks, and it did
    last = cause_of(x.attempts[-1])
    if not promised(first, x.declares) or (last is not None and not promised(last, x.declares)):
        return False  # it went over, or stopped, where the target promised nothing
    if x.terms.members is not None:
        return bool(_others(x))
    # A capture does not say which members are healthy: a second member that was asked in vain is no broken promise.
    tried = {attempt.member for attempt in x.attempts}
    return len(tried) < 2 or any(attempt.succeeded for attempt in x.attempts)


@clause(
    id="pool.failover.answers",
    level=Level.MUST,
    basis=Basis.POLICY,
    title="A failing member's request is answered by a healthy member",
    rationale="One exhausted or retired member of a pool takes the alias down for its share of the requests.",
    source="incident/pool-failover",
    applies=_failed_over,
    capabilities=("failover",),
)
def failover_answers(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    attempts = x.attempts or ()
    if reply.ok and reply.answer.finished and reply.complete:
        return
    if not attempts:
        if reply.status >= 500:
            yield at_head(
                reply, f"the answer of {_several(len(x.terms.healthy), 'healthy member')}", f"status {reply.status}"
            )
        return
    if attempts[0].succeeded or (reply.ok and any(attempt.succeeded for attempt in attempts)):
        return  # a member did answer: what became of its answer is judged by the relay clauses
    if (
        reply.ok
        and reply.answer.output
        and reply.answer.errors
        and any(a.reply is not None and a.reply.answer.output for a in attempts)
    ):
        return  # it broke after output had reached the client: too late for another member
    tried = ", ".join(f"{a.member} {a.reply.status if a.reply is not None else a.end.value}" for a in attempts)
    healthy = _several(len(_others(x)), "healthy member") if x.terms.members is not None else "another member"
    yield at_head(
        reply,
        f"the answer of {healthy}",
        f"status {reply.status} after {_several(len(attempts), 'dispatch', 'es')} ({tried})",
    )


@clause(
    id="pool.attempts.bounded",
    level=Level.MUST,
    basis=Basis.POLICY,
    title="One client request makes at most ten dispatches, or as many as the target declares",
    rationale="Unbounded retries multiply an outage, and the bill.",
    source="incident/pool-failover",
    applies=lambda x: bool(x.attempts),
    capabilities=("retries", "failover"),
)
def attempts_bounded(x: Exchange) -> Iterator[Finding]:
    count, limit = len(x.attempts or ()), x.terms.max_attempts or MAX_ATTEMPTS
    if count > limit:
        most = f"at most {_several(limit, 'dispatch', 'es')}"
        yield at_exchange(x, most, _several(count, "dispatch", "es"), leg=f"upstream:{limit}")


def _same_prompt(first: Attempt, second: Attempt) -> bool:
    """Whether two dispatches ask for the same generation: not the parts of a batch, a choice each, or a guard's question."""
    if first.request.endpoint is not second.request.endpoint:
        return False
    parts = [[attempt.request.get(name) for name in ("messages", "input", "prompt")] for attempt in (first, second)]
    return parts[0] == parts[1]


@clause(
    id="pool.success.final",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="Nothing is dispatched after a success",
    rationale="One request is one generation: a second dispatch is paid twice, and its tools can run twice.",
    source="rfc9110/retries",
    applies=lambda x: requested_choices(x) == 1 and any(usable(x, attempt) for attempt in x.attempts or ()),
)
def success_final(x: Exchange) -> Found:
    attempts = x.attempts or ()
    first = next(number for number, attempt in enumerate(attempts) if usable(x, attempt))
    won = attempts[first]
    later = [n for n in range(first + 1, len(attempts)) if attempts[n].at > won.ended_at]
    again = [number for number in later if _same_prompt(won, attempts[number])]
    if again and reached_late(x, won):
        yield Undecided(f"{won.member} read its request so late that the gateway may have given it up")
        return
    for number in again:
        yield at_exchange(
            x,
            f"no dispatch after the success of {won.member} at {won.ended_at:.1f} ms",
            f"{attempts[number].member} asked at {attempts[number].at:.1f} ms",
            leg=f"upstream:{number}",
        )


@clause(
    id="pool.success.alone",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="Of several members asked at once the slower ones are given up when one has answered",
    rationale="A generation beside the one that is used is paid, too, be it a probe or a hedge; no norm forbids it, so it is no MUST.",
    source="openai-api/responses-cancel",
    applies=lambda x: requested_choices(x) == 1 and any(usable(x, attempt) for attempt in x.attempts or ()),
)
def success_alone(x: Exchange) -> Iterator[Finding]:
    attempts = x.attempts or ()
    first = min((attempt for attempt in attempts if usable(x, attempt)), key=lambda attempt: attempt.ended_at)
    for number, attempt in enumerate(attempts):
        beside = attempt is not first and attempt.at <= first.ended_at and usable(x, attempt)
        if beside and attempt.ended_at > first.ended_at + LOSER_MS and _same_prompt(first, attempt):
            yield at_exchange(
                x,
                f"{attempt.member} given up within {LOSER_MS:.0f} ms of the success of {first.member} at {first.ended_at:.1f} ms",
                f"it went on to its end at {attempt.ended_at:.1f} ms",
                leg=f"upstream:{number}",
            )


def _first_output(x: Exchange) -> float | None:
    return next((event.at for event in the_reply(x).events if has_output(event)), None)


def _streamed_output(x: Exchange) -> bool:
    return replied(x) and bool(x.attempts) and x.driver == "wire" and _first_output(x) is not None


@clause(
    id="pool.output.final",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="Nothing is dispatched after output has reached the client",
    rationale="A second member's answer glued to the first one's beginning is an answer that nobody gave.",
    source="incident/streams",
    applies=_streamed_output,
)
def output_final(x: Exchange) -> Iterator[Finding]:
    seen = _first_output(x) or 0.0
    for number, attempt in enumerate(x.attempts or ()):
        if number and attempt.at > seen + 1.0:
            yield at_exchange(
                x,
                f"no dispatch after the client's first output at {seen:.1f} ms",
                f"{attempt.member} asked at {attempt.at:.1f} ms",
                leg=f"upstream:{number}",
            )


def _rejection(attempt: Attempt) -> bool:
    """Whether the member answered that the request cannot be served; a router that is exhausted may be asked again."""
    reply = attempt.reply
    return reply is not None and reply.status in (400, 404, 413, 422) and not router_exhausted(reply)


def _rejected(x: Exchange) -> bool:
    return any(_rejection(attempt) for attempt in x.attempts or ())


@clause(
    id="pool.rejection.once",
    level=Level.MUST,
    basis=Basis.PROTOCOL,
    title="A member that rejected a request is not asked the same again",
    rationale="400, 404, 413 and 422 are answers: the same request to the same member fails the same way, for money.",
    source="rfc9110/retries",
    applies=_rejected,
)
def rejection_once(x: Exchange) -> Iterator[Finding]:
    rejected: dict[str, list[Attempt]] = {}
    for number, attempt in enumerate(x.attempts or ()):
        # A gateway may mend what the member refused, by leaving a parameter out, and ask again.
        if any(_same_request(earlier, attempt) for earlier in rejected.get(attempt.member, ())):
            yield at_exchange(
                x,
                f"no second dispatch to {attempt.member} after its rejection",
                f"dispatch {number + 1} asks it again",
                leg=f"upstream:{number}",
            )
        if _rejection(attempt):
            rejected.setdefault(attempt.member, []).append(attempt)


def _same_request(first: Attempt, second: Attempt) -> bool:
    docs = first.request.doc, second.request.doc
    if docs[0] is None or docs[1] is None or not (docs[0].ok and docs[1].ok):
        return first.request.body == second.request.body
    return bool(docs[0].value == docs[1].value)


def _unknown_model(x: Exchange) -> bool:
    known = x.terms.known_models
    return upstream_known(x) and known is not None and x.request.model is not None and x.request.model not in known


@clause(
    id="pool.unknown-model.no-dispatch",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A model that the target does not serve is dispatched to no member",
    rationale="A wrong name that reaches a member costs a round trip, or is answered by a model that nobody asked for.",
    source="openai-api/errors",
    applies=_unknown_model,
)
def unknown_model(x: Exchange) -> Iterator[Finding]:
    for number, attempt in enumerate(x.attempts or ()):
        yield at_exchange(
            x, "no dispatch", f"{attempt.member} asked for {attempt.request.model!r}", leg=f"upstream:{number}"
        )


def _answerable(x: Exchange) -> bool:
    """A request of the API's form, for a model that is served, with a good key, while a member is healthy."""
    terms, doc = x.terms, x.request.doc
    if x.hangup is not None or not upstream_known(x) or not terms.members or not terms.healthy:
        return False
    if terms.key_valid is False or terms.request_valid is False or doc is None or not doc.ok:
        return False
    return terms.known_models is not None and x.request.model in terms.known_models


@clause(
    id="pool.healthy.asked",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A request that a healthy member could answer does not fail before any member is asked",
    rationale="A pool of connections that ran dry, or another lane's failures, look to the client like an outage that is none.",
    source="rfc9110/status",
    applies=lambda x: _answerable(x) and not x.terms.closed,
)
def healthy_asked(x: Exchange) -> Iterator[Finding]:
    if x.attempts:
        return
    # rfc9110/status: 503 tells of overload, and 429 of a limit; any other 5xx tells of a failure.
    if not replied(x):
        yield at_exchange(x, "a member asked, or a refusal", f"no response, {x.end.value}, no member asked")
    elif the_reply(x).status >= 500 and the_reply(x).status != 503:
        yield at_head(the_reply(x), "a member asked, or a refusal by 429 or 503", f"{the_reply(x).status}, none asked")
