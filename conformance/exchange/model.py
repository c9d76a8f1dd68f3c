"""The frozen record of one exchange: the client's request, what came back, and every attempt at every upstream member.

Data only; `assemble` makes it from transcripts and the upstream's journal. No clause's opinion stands here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from conformance.exchange.answer import Answer
from conformance.wire.facts import Span
from conformance.wire.http1 import Head, Message
from conformance.wire.jsondoc import Doc
from conformance.wire.sse import Event, EventStream
from conformance.wire.transcript import Arrivals, End, Segment, Transcript


class Endpoint(StrEnum):
    """The OpenAI API's operations that the contract speaks about."""

    CHAT = "chat.completions"
    COMPLETIONS = "completions"
    EMBEDDINGS = "embeddings"
    RESPONSES = "responses"
    MODELS = "models"
    MODEL = "models.retrieve"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request as it was sent: by the client to the gateway, or by the gateway to a member."""

    endpoint: Endpoint
    method: str
    target: str
    head: Head
    body: bytes
    doc: Doc | None
    host: str = ""

    def get(self, *path: str | int) -> Any:
        """The value at `path` of the JSON body, or None."""
        return self.doc.get(*path) if self.doc is not None else None

    @property
    def model(self) -> str | None:
        """The `model` member when it is a string."""
        value = self.get("model")
        return value if isinstance(value, str) else None

    @property
    def stream(self) -> bool:
        """Whether the request asks for a stream (`stream` is the JSON true)."""
        return self.get("stream") is True

    @property
    def include_usage(self) -> bool:
        """Whether `stream_options.include_usage` is true."""
        return self.get("stream_options", "include_usage") is True


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamEvent:
    """One event of a streamed reply: the SSE event, its JSON (None when it is none, as `[DONE]`), its arrival in ms.

    `done` is whether this is the `[DONE]` sentinel (outer white space ignored).
    """

    event: Event
    doc: Doc | None
    at: float
    done: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "done", self.event.data.strip() == b"[DONE]")


def _is_json(event: StreamEvent) -> bool:
    return event.doc is not None and event.doc.ok


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One HTTP response as facts, of either leg.

    `content` is the body with its content coding removed (equal to the body when it has none or cannot be decoded:
    then `undecodable` says why). `doc` is set when the content was read as one JSON text, `stream` and `events` when it
    was read as server-sent events: by the media type, else by the look of its first bytes. `readable` is whether every
    piece of the content can be read: its coding is its own, its events are JSON or `[DONE]`. `sealed` is whether it has
    a coding that has no decoder here: what stands in it is not known, so that it is neither right nor wrong.
    """

    message: Message
    content: bytes
    end: End
    ended_at: float
    arrivals: Arrivals
    answer: Answer
    media_type: str = ""
    doc: Doc | None = None
    stream: EventStream | None = None
    events: tuple[StreamEvent, ...] = ()
    undecodable: str = ""
    sealed: bool = False
    readable: bool = field(init=False)

    def __post_init__(self) -> None:
        read = not self.undecodable and (self.doc is None or self.doc.ok)
        object.__setattr__(self, "readable", read and all(event.done or _is_json(event) for event in self.events))

    @property
    def status(self) -> int:
        """The status code."""
        return self.message.status

    @property
    def ok(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.message.status < 300

    @property
    def complete(self) -> bool:
        """Whether the reply came whole by its own framing (a body until close counts when the peer closed cleanly)."""
        return self.message.complete

    def header(self, name: str) -> str | None:
        """The first value of a header field, or None."""
        return self.message.head.get(name)

    def arrival(self, body_span: Span) -> float:
        """When the last byte of `body_span` (offsets in the body) was there, in ms."""
        return self.arrivals.of(self.message.raw_span(body_span))


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One dispatch of the gateway to one member.

    `at` is when its request head had arrived there, in ms on the client leg's clock. `reply` is what the member really
    sent (None when it sent nothing); its `end` is what the member did: COMPLETE, CLOSE, RESET, STALL, or HANGUP when
    the gateway went away first. `peer_closed_at` is when the gateway closed the connection while the member was still
    answering (None otherwise), and `peer_closed` at which point: "before-head", "before-event", "mid-body",
    "after-end".
    `source` names the envelope that was played; `sent` are the raw bytes that the member sent, timed, and `dispatched`
    those of the request that it got.
    """

    member: str
    at: float
    request: Request
    reply: Reply | None
    end: End
    ended_at: float
    peer_closed: str = ""
    peer_closed_at: float | None = None
    source: str = ""
    sent: tuple[Segment, ...] = ()
    dispatched: bytes = b""

    @property
    def succeeded(self) -> bool:
        """Whether the member gave a whole, well-formed success (an answer that is finished and is no error)."""
        reply = self.reply
        return reply is not None and reply.ok and reply.complete and reply.answer.finished and reply.readable


@dataclass(frozen=True, slots=True, kw_only=True)
class HangUp:
    """The client went away on purpose: `after` is "send", "head" or "event:N"; `at` is when, in ms.

    "half-close": it had ended its sending side, and the peer took that for its going.
    """

    after: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientView:
    """What an SDK made of the bytes.

    `parsed` is the JSON form of the object (or the list of chunk objects) that it returned; `exception` the class name
    that it raised ("" for none), `fields` that exception's public fields (status_code, code, type, param, message ...).
    """

    name: str
    version: str
    parsed: Any = None
    exception: str = ""
    fields: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What the target was told and what it declared; a request is judged against nothing else.

    `capabilities` are its declared promises. `secrets` are byte strings that must never reach a client (member keys,
    canaries). `identities` are names that tell which provider served (member model names, hosts, provider names).
    `members` are the members of the lane that served the request, `healthy` those whose play is a complete success,
    `closed` those whose port is closed, so that nobody sees them asked.
    `assigned` are the key and the model with which each member is to be asked, where they are known.
    `members` is None where they are not known (a capture, a live run). `known_models` are the aliases that the target
    serves (None: not known). `key_valid` is whether the request's client key is one that the target accepts (None: not
    known). `request_valid` is whether the request is one that the API accepts (None: not known). `max_attempts` is how
    many dispatches the target makes for one request (None: it does not say).
    """

    capabilities: frozenset[str] = frozenset()
    secrets: tuple[bytes, ...] = ()
    identities: tuple[bytes, ...] = ()
    members: tuple[str, ...] | None = None
    assigned: tuple[tuple[str, str, str], ...] = ()
    healthy: frozenset[str] = frozenset()
    closed: frozenset[str] = frozenset()
    known_models: frozenset[str] | None = None
    key_valid: bool | None = None
    request_valid: bool | None = None
    first_token_timeout_ms: float | None = None
    idle_timeout_ms: float | None = None
    cancel_ms: float | None = None
    max_attempts: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One client request and all that followed.

    `reply` is None when no complete response head came. `attempts` is None where the upstream leg is not held (a live
    target, a capture of the client leg alone), else every attempt in order of arrival, () for none. `lag_ms` is the
    longest time for which the harness itself did not run meanwhile: what came then is dated late. `timed` is whether it
    is known when the pieces of the reply came (a capture may hold the body alone).
    """

    name: str
    request: Request
    reply: Reply | None
    transcript: Transcript
    attempts: tuple[Attempt, ...] | None
    terms: Terms
    driver: str = "wire"
    nonce: str = ""
    hangup: HangUp | None = None
    client: ClientView | None = None
    lag_ms: float = 0.0
    timed: bool = True

    @property
    def end(self) -> End:
        """How the client leg ended."""
        return self.transcript.end

    @property
    def declares(self) -> frozenset[str]:
        """The target's declared capabilities."""
        return self.terms.capabilities
