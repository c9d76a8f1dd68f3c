"""How the gateway behaves at each of its stages: right steps that can be left out, and hooks that can turn a result
wrong.

The faithful gateway is `FAITHFUL`: nothing skipped, every hook the identity. A defect is another Behaviour. A hook
gets the value that the stage made and the Call it belongs to, and gives the value that goes on; `Call.memo` and
`Call.shared` are its memory.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from conformance.reference.cache import ResponseCache
from conformance.reference.health import Health
from conformance.reference.steps import Step

if TYPE_CHECKING:
    from conformance.reference.call import Call
    from conformance.reference.config import Member
    from conformance.reference.failure import Failure
    from conformance.reference.framing import Framing

Doc = dict[str, Any]
Fields = tuple[tuple[str, str], ...]


class Moment(StrEnum):
    """What a list of frames is at the point where the `frames` hook sees it."""

    CHUNKS = "chunks"  # the events of one part of the answer
    LAST = "last"  # usage and [DONE]: the end of a whole answer
    ERROR = "error"  # the end of an answer that broke


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorReply:
    """An error on its way to the client: the status, the JSON document, and field lines besides the usual ones."""

    status: int
    doc: Any
    headers: Fields = ()


def _members(members: Sequence[Member], call: Call) -> Sequence[Member]:
    return members


def _request_body(body: bytes, member: Member, call: Call) -> bytes:
    return body


def _request_headers(headers: Fields, member: Member, call: Call) -> Fields:
    return headers


def _failure(failure: Failure, call: Call) -> Failure:
    return failure


def _failures(failure: Failure, failures: Sequence[Failure], call: Call) -> Failure:
    return failure


def _error(error: ErrorReply, call: Call) -> ErrorReply:
    return error


def _doc(doc: Any, call: Call) -> Any:
    return doc


def _chunks(chunks: list[Doc], call: Call) -> list[Doc]:
    return chunks


def _frames(frames: list[bytes], moment: Moment, call: Call) -> list[bytes]:
    return frames


def _flow(parts: AsyncIterator[bytes], call: Call) -> AsyncIterator[bytes]:
    return parts


def _headers(headers: Fields, status: int, call: Call) -> Fields:
    return headers


def _body(body: bytes, status: int, call: Call) -> bytes:
    return body


async def _accepted(call: Call) -> None:
    return None


def _around(call: Call) -> AbstractAsyncContextManager[None]:
    return nullcontext()


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """One way to be a gateway.

    In the order of an exchange: `around` is entered before a member is asked (it may refuse) and left when all is over;
    `members` gives the members to try, in order; `request_body` and `request_headers`
    what one is sent; `failure` what a failed attempt means (its `moves_on` decides on another member), `conclusion`
    what the client is told when all failed; `accepted` runs when an attempt succeeded, before anything is sent;
    `doc` sees a JSON answer, `chunks` the chunk objects of a stream, `frames` their encoded events, `flow` the whole
    stream of bytes; `error` an error reply; `headers` the response's field lines and `body` the bytes of a body that
    is not a stream. `framing`, when set, writes HTTP/1.1 itself. `health` and `cache` make the gateway's memory of its
    members and of its answers. `hangup_poll` is how often, in seconds, it looks whether the client is still there; 0.0
    is at once.
    """

    skip: frozenset[Step] = field(default_factory=frozenset)
    around: Callable[[Call], AbstractAsyncContextManager[None]] = _around
    members: Callable[[Sequence[Member], Call], Sequence[Member]] = _members
    request_body: Callable[[bytes, Member, Call], bytes] = _request_body
    request_headers: Callable[[Fields, Member, Call], Fields] = _request_headers
    failure: Callable[[Failure, Call], Failure] = _failure
    conclusion: Callable[[Failure, Sequence[Failure], Call], Failure] = _failures
    accepted: Callable[[Call], Awaitable[None]] = _accepted
    doc: Callable[[Any, Call], Any] = _doc
    chunks: Callable[[list[Doc], Call], list[Doc]] = _chunks
    frames: Callable[[list[bytes], Moment, Call], list[bytes]] = _frames
    flow: Callable[[AsyncIterator[bytes], Call], AsyncIterator[bytes]] = _flow
    error: Callable[[ErrorReply, Call], ErrorReply] = _error
    headers: Callable[[Fields, int, Call], Fields] = _headers
    body: Callable[[bytes, int, Call], bytes] = _body
    framing: type[Framing] | None = None
    health: type[Health] = Health
    cache: type[ResponseCache] = ResponseCache
    hangup_poll: float = 0.0


FAITHFUL = Behaviour()
