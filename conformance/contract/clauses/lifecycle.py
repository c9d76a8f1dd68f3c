"""The life of one request in a pool: how it ends when all are dead, when the client goes, when it does not read."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.evidence import at_end, at_exchange, at_head
from conformance.contract.kinds import Kind, error_object, kind_of_reply, reason_of
from conformance.contract.when import failed, replied, the_reply
from conformance.exchange.model import Attempt, Exchange, Reply
from conformance.wire.transcript import End

#: How long after the last member's failure a client may have to wait for the error, in ms.
PROMPT_MS = 5000.0
#: A dispatch that was on its way when the client hung up has arrived by then, in ms.
ON_ITS_WAY_MS = 500.0
#: So often a member may be asked for one request without growing pauses: once, and two retries as the SDKs do.
TRIES = 3
#: What a gateway may take from a member ahead of a client that does not read, in bytes, beside the kernels' buffers.
AHEAD_BYTES = 16 * 1024 * 1024
#: A client that has read no more than this did not keep up.
READ_BYTES = 4 * 1024 * 1024


def _exhausted(x: Exchange) -> bool:
    """Every member is bad by its play, and nothing of an answer had come when the last one failed."""
    terms = x.terms
    if x.hangup is not None or not terms.members or terms.healthy or not x.attempts:
        return False
    return not any(a.succeeded or (a.reply is not None and _of_use(a.reply)) for a in x.attempts)


def _of_use(reply: Reply) -> bool:
    """Whether an answer stands in a member's reply, be it under a label that hides it."""
    unread = reply.ok and (reply.doc is None or not reply.doc.ok)
    return reply.answer.output or (unread and reply.content.lstrip().startswith(b"{") and b'"choices"' in reply.content)


@clause(
    id="pool.exhausted.told",
    level=Level.MUST,
    basis=Basis.POLICY,
    title="When every member fails, the client gets one whole error at once",
    rationale="An outage is told by a status and a whole body; silence, a cut body or an empty success is taken for something else.",
    source="incident/pool-failover",
    applies=_exhausted,
    capabilities=("failover",),
)
def exhausted_told(x: Exchange) -> Iterator[Finding]:
    # A member that never answered failed when the gateway gave it up.
    last = max(max(attempt.ended_at, attempt.peer_closed_at or 0.0) for attempt in x.attempts or ())
    late = x.transcript.ended_at - last
    if not replied(x):
        yield at_exchange(x, "an error", f"no response, {x.end.value} at {x.transcript.ended_at:.0f} ms")
        return
    reply = the_reply(x)
    if reply.ok and not reply.answer.errors:
        yield at_head(reply, "a status of 4xx or 5xx, or an error event", f"status {reply.status} without an error")
    elif not reply.ok and not reply.complete:  # after an error event an abort does no harm
        yield at_end(reply, "a whole body", f"{len(reply.message.body)} bytes, then {reply.end.value}")
    elif not reply.ok and not _words(reply):
        yield at_head(reply, "an error object with a message", "no message can be read")
    elif late > PROMPT_MS:
        yield at_end(reply, f"the error within {PROMPT_MS:.0f} ms of the last failure", f"{late:.0f} ms after it")


def _words(reply: Reply) -> str:
    value = reply.doc.value if reply.doc is not None and reply.doc.ok else None
    return reason_of(value) if error_object(value) is not None else ""


def _refusals(x: Exchange) -> list[Attempt]:
    """The attempts whose answer tells the client something that it can act upon: its request is bad, or it has to wait."""
    found = []
    for attempt in x.attempts or ():
        reply = attempt.reply
        if reply is None or reply.ok:
            continue
        own = reply.status in (400, 413, 422) and kind_of_reply(reply) is not Kind.MODEL_NOT_FOUND
        if own or reply.status == 429:
            found.append(attempt)
    return found


def _all_failed(x: Exchange) -> bool:
    """Whether every member that was seen to be asked failed, of several; how many there are a capture does not say."""
    asked = {attempt.member for attempt in x.attempts or ()}
    unknown = x.terms.members is None and x.hangup is None and len(asked) > 1
    return unknown and not any(a.succeeded or (a.reply is not None and _of_use(a.reply)) for a in x.attempts or ())


def _acted_upon(x: Exchange) -> list[Attempt] | list[int]:
    return _refusals(x) or _passing(x)


def _passing(x: Exchange) -> list[int]:
    """The statuses of members that may answer another time."""
    told = [attempt.reply.status for attempt in x.attempts or () if attempt.reply is not None]
    return [status for status in told if status == 429 or status >= 500]


@clause(
    id="pool.exhausted.telling",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="The error of an exhausted pool is not masked by a later, less telling one",
    rationale="A client that is told 404 or 500 gives up where 429 says to wait; no norm ranks errors, so it is no MUST.",
    source="incident/pool-failover",
    applies=lambda x: (
        failed(x) and (_all_failed(x) or (_exhausted(x) and len(x.attempts or ()) > 1)) and bool(_acted_upon(x))
    ),
)
def exhausted_telling(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    told = {attempt.reply.status for attempt in _refusals(x) if attempt.reply is not None}
    if not told:  # outages alone, and members that refuse the gateway's own key
        if reply.status in (401, 403):
            yield at_head(reply, f"a status like {_passing(x)[0]}, which a member gave", f"status {reply.status}")
        return
    fitting = {400, 413, 422} if told & {400, 413, 422} else {429, 503}
    if x.terms.members is None and 429 in told:
        fitting |= {429, 503}  # what one member refuses of a request another may take, once it is free
    if reply.status not in fitting:
        seen = ", ".join(str(status) for status in sorted(told))
        yield at_head(reply, f"a status like {seen}, which a member gave", f"status {reply.status}")


@clause(
    id="pool.no-hammering",
    level=Level.SHOULD,
    basis=Basis.PROTOCOL,
    title="One request asks a member at most three times, or with growing pauses",
    rationale="RFC 9110 advises against a retry of a failed retry: a member that is down is kept down by those who hammer it.",
    source="rfc9110/retries",
    applies=lambda x: any(not attempt.succeeded for attempt in (x.attempts or ())[:1]),
)
def no_hammering(x: Exchange) -> Iterator[Finding]:
    attempts = x.attempts or ()
    for member in _members(x):
        asked = _asked(x, member)
        pauses = [later.at - earlier.ended_at for earlier, later in pairwise(asked)]
        growing = bool(pauses) and pauses[-1] >= 50.0 and pauses[-1] >= 2 * pauses[0]
        if len(asked) > TRIES and not growing:
            yield at_exchange(
                x,
                f"at most {TRIES} dispatches to {member}, or pauses that grow",
                f"{len(asked)} dispatches, {min(pauses):.0f} to {max(pauses):.0f} ms apart",
                leg=f"upstream:{attempts.index(asked[TRIES])}",
            )


def _members(x: Exchange) -> list[str]:
    return list(dict.fromkeys(attempt.member for attempt in x.attempts or ()))


def _asked(x: Exchange, member: str) -> list[Attempt]:
    return [attempt for attempt in x.attempts or () if attempt.member == member]


@clause(
    id="pool.hangup.final",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="Nothing is dispatched after the client has hung up",
    rationale="A failover or a retry for a client that is gone is a generation that nobody reads and somebody pays.",
    source="openai-api/responses-cancel",
    applies=lambda x: x.hangup is not None and bool(x.attempts),
)
def hangup_final(x: Exchange) -> Iterator[Finding]:
    assert x.hangup is not None
    for number, attempt in enumerate(x.attempts or ()):
        if attempt.at > x.hangup.at + ON_ITS_WAY_MS:
            yield at_exchange(
                x,
                f"no dispatch after the hang-up at {x.hangup.at:.0f} ms",
                f"{attempt.member} asked at {attempt.at:.0f} ms",
                leg=f"upstream:{number}",
            )


def _open_at_hangup(x: Exchange) -> bool:
    if x.hangup is None or not x.attempts:
        return False
    last = x.attempts[-1]
    return last.end in (End.HANGUP, End.STALL) or last.ended_at >= x.hangup.at


@clause(
    id="cancel.in-time",
    level=Level.MUST,
    basis=Basis.POLICY,
    title="A hang-up closes the upstream connection within the declared time",
    rationale="A generation goes on, and is paid, until its connection closes.",
    source="target/declaration",
    applies=lambda x: _open_at_hangup(x) and x.terms.cancel_ms is not None,
    capabilities=("cancel",),
)
def cancel_in_time(x: Exchange) -> Iterator[Finding]:
    assert x.hangup is not None and x.attempts
    last = x.attempts[-1]
    limit = x.terms.cancel_ms or 0.0
    closed = last.peer_closed_at
    if closed is None or closed - x.hangup.at > limit:
        seen = "still open" if closed is None else f"closed {closed - x.hangup.at:.0f} ms after it"
        yield at_exchange(
            x,
            f"closed within {limit:.0f} ms of the hang-up at {x.hangup.at:.0f} ms",
            seen,
            leg=f"upstream:{len(x.attempts) - 1}",
        )


def _lagging(x: Exchange) -> Attempt | None:
    """The attempt of which more was sent than a client took that then left."""
    if x.hangup is None or not x.attempts or len(x.transcript.raw) > READ_BYTES:
        return None
    last = x.attempts[-1]
    return last if sum(len(segment.data) for segment in last.sent) >= READ_BYTES // 4 else None


@clause(
    id="backpressure.bounded",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="A member cannot push far ahead of a client that does not read",
    rationale="What a slow client leaves unread fills the gateway's memory; no norm sets the bound, so it is no MUST.",
    source="incident/streams",
    applies=lambda x: _lagging(x) is not None,
)
def backpressure_bounded(x: Exchange) -> Iterator[Finding]:
    last = _lagging(x)
    assert last is not None and x.attempts
    sent = sum(len(segment.data) for segment in last.sent)
    ahead = sent - len(x.transcript.raw)
    if ahead > AHEAD_BYTES:
        yield at_exchange(
            x,
            f"at most {AHEAD_BYTES >> 20} MiB ahead of the client",
            f"{sent / (1 << 20):.1f} MiB taken from the member, {len(x.transcript.raw) / (1 << 20):.1f} MiB read",
            leg=f"upstream:{len(x.attempts) - 1}",
        )
