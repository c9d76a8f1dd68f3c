"""Captured exchanges in a line or two: a request, what the client got, what each member answered.

Plain values become the cassettes of both legs, which `conformance.capture` turns into the Exchange that `conformance
judge` sees. Knows no clause.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any

from conformance.capture import exchanges
from conformance.cassette.model import Cassette, Envelope, EnvelopeEnd, Frame, Interaction, RecordedRequest
from conformance.contract.catalog import CATALOG
from conformance.contract.clause import Outcome, Verdict
from conformance.contract.judge import judge
from conformance.exchange.model import Exchange

CLIENT_KEY = "sk-test-client"
PATHS = {
    "chat.completions": "/v1/chat/completions",
    "completions": "/v1/completions",
    "embeddings": "/v1/embeddings",
    "responses": "/v1/responses",
    "models": "/v1/models",
    "messages": "/v1/messages",
}


@dataclass(frozen=True, slots=True)
class Ask:
    """A request: where it goes, its JSON value (or raw bytes), its header fields besides type and key."""

    endpoint: str = "chat.completions"
    value: Any = None
    method: str = "POST"
    headers: tuple[tuple[str, str], ...] = ()

    def with_(self, **members: Any) -> Ask:
        """The same request with members set (None takes one away)."""
        value = {**self.value, **members}
        return replace(self, value={name: item for name, item in value.items() if item is not None})

    def headed(self, *fields: tuple[str, str]) -> Ask:
        """The same request with more header fields."""
        return replace(self, headers=(*self.headers, *fields))


def ask(endpoint: str = "chat.completions", /, **params: Any) -> Ask:
    """A request with a model and the endpoint's prompt (which carries a nonce), and `params` over them."""
    prompt = "Ticket cf-q8w3zd: say hello."
    base: dict[str, Any] = {"model": "alias-1"}
    if endpoint == "chat.completions":
        base["messages"] = [{"role": "user", "content": prompt}]
    elif endpoint == "completions":
        base["prompt"] = prompt
    elif endpoint in ("embeddings", "responses"):
        base["input"] = prompt
    return Ask(endpoint, {**base, **params})


def listing(path: str = "models") -> Ask:
    """A GET of the models endpoint (or of any other path, given with its slash)."""
    return Ask(path, None, "GET")


def stream(*events: Any, done: bool = True, every: float = 10.0) -> tuple[tuple[float, bytes], ...]:
    """The timed frames of a stream, one each `every` ms: a JSON value is a data event, (name, value) a named one,
    bytes stand as they are; `done` adds `[DONE]`."""
    texts = [_event(item) for item in events] + ([b"data: [DONE]\n\n"] if done else [])
    return tuple((position * every, text) for position, text in enumerate(texts))


def _event(item: Any) -> bytes:
    if isinstance(item, bytes):
        return item
    if isinstance(item, tuple):
        return f"event: {item[0]}\n".encode() + _event(item[1])
    return b"data: " + compact(item) + b"\n\n"


def compact(value: Any) -> bytes:
    """A JSON value as compact UTF-8."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def wire(
    body: Any = None,
    *,
    status: int = 200,
    headers: Iterable[str] = (),
    media: str | None = None,
    framing: str = "",
    end: str = "complete",
    version: str = "HTTP/1.1",
) -> Envelope:
    """One response: `body` is a JSON value, bytes, or the frames of `stream`.

    `media` is its content type (None: the one that fits, "": none); `framing` is "length", "chunked" or "close" (""
    chunks streams). `headers` are whole lines, added after; `status` 0 sends no byte before `end`.
    """
    if status == 0:
        return Envelope(head=(), body=b"", frames=(), end=EnvelopeEnd(end))
    streamed = isinstance(body, tuple)
    timed = body if isinstance(body, tuple) else ((0.0, _bytes(body)),)
    frames = tuple(Frame(at, len(data)) for at, data in timed if data)
    data = b"".join(data for _, data in timed)
    reason = HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else "Unknown"
    lines = [f"{version} {status} {reason}"]
    media = ("text/event-stream" if streamed else "application/json") if media is None else media
    if media:
        lines.append(f"Content-Type: {media}")
    lines += headers
    framing = framing or ("chunked" if streamed else "length")
    if framing == "length":
        lines.append(f"Content-Length: {len(data)}")
    elif framing == "chunked":
        lines.append("Transfer-Encoding: chunked")
    return Envelope(head=tuple(lines), body=data, frames=frames, end=EnvelopeEnd(end))


def _bytes(body: Any) -> bytes:
    return b"" if body is None else body if isinstance(body, bytes) else compact(body)


@dataclass(frozen=True, slots=True)
class Try:
    """One attempt: what the member answered, which member, when it was asked (ms), with what (None: the client's)."""

    envelope: Envelope
    member: str = "m0"
    at: float = 2.0
    request: Ask | None = None
    key: str = "sk-up-0"
    host: str = ""


@dataclass(frozen=True, slots=True)
class Capture:
    """Both legs of one exchange and what the target declares; `attempts` None: the upstream leg is not held.

    `known` adds what a run knows and no capture holds: terms, a hang-up, what an SDK made of it.
    """

    request: Ask
    reply: Envelope
    attempts: tuple[Try, ...] | None = None
    capabilities: frozenset[str] = field(default_factory=frozenset)
    name: str = "capture"
    known: Callable[[Exchange], Exchange] | None = None


def capture(
    request: Ask, reply: Envelope, upstream: Envelope | Try | Iterable[Envelope | Try] | None = None, *caps: str
) -> Capture:
    """A capture; bare envelopes of the upstream leg become attempts at m0, m1, ... one after the other's end."""
    if upstream is None:
        return Capture(request, reply, None, frozenset(caps))
    found = [upstream] if isinstance(upstream, Envelope | Try) else list(upstream)
    tries: list[Try] = []
    at = 2.0
    for number, item in enumerate(found):
        one = item if isinstance(item, Try) else Try(item, f"m{number}", at)
        tries.append(one)
        at = one.at + (one.envelope.frames[-1].at if one.envelope.frames else 0.0) + 2.0
    return Capture(request, reply, tuple(tries), frozenset(caps))


def cassettes(item: Capture) -> tuple[Cassette, Cassette | None]:
    """The client leg and the upstream leg."""
    request = _recorded(item.request, "gateway.test", CLIENT_KEY)
    client = Cassette(name=item.name, interactions=(Interaction(request=request, envelope=item.reply),))
    if item.attempts is None:
        return client, None
    return client, Cassette(name="upstream", interactions=tuple(_tried(item.request, one) for one in item.attempts))


def _tried(mine: Ask, one: Try) -> Interaction:
    asked = one.request
    if asked is None:
        asked = mine.with_(model="up-model") if isinstance(mine.value, dict) else mine
    request = _recorded(asked, one.host or f"{one.member}.test", one.key)
    return Interaction(request=request, envelope=one.envelope, member=one.member, at=one.at)


def _recorded(asked: Ask, host: str, key: str) -> RecordedRequest:
    fields = [("Content-Type", "application/json")] if asked.value is not None else []
    if not any(name.lower() == "authorization" for name, _ in asked.headers):
        fields.append(("Authorization", f"Bearer {key}"))
    return RecordedRequest(
        method=asked.method,
        uri=f"http://{host}{PATHS.get(asked.endpoint, asked.endpoint)}",
        headers=(*fields, *asked.headers),
        body=_bytes(asked.value),
    )


def exchange(item: Capture) -> Exchange:
    """What `conformance judge` sees of it."""
    client, upstream = cassettes(item)
    seen = exchanges(client, upstream, item.capabilities)[0]
    return seen if item.known is None else item.known(seen)


def knowing(item: Capture, *, attempt: Mapping[str, Any] | None = None, terms: Any = None, **facts: Any) -> Capture:
    """The capture with facts of a run: members of the exchange, of its `terms`, and of its last `attempt`."""

    def known(seen: Exchange) -> Exchange:
        if attempt is not None and seen.attempts:
            facts["attempts"] = (*seen.attempts[:-1], replace(seen.attempts[-1], **attempt))
        return replace(seen, terms=replace(seen.terms, **(terms or {})), **facts)

    return replace(item, known=known)


def verdicts(item: Capture) -> dict[str, Verdict]:
    """Every clause's verdict on it, by id."""
    return {verdict.clause: verdict for verdict in judge(exchange(item), CATALOG.values())}


def violated(item: Capture, *, gating: bool = True) -> dict[str, Verdict]:
    """The violations (those that gate alone, or all)."""
    return {
        name: verdict
        for name, verdict in verdicts(item).items()
        if verdict.outcome is Outcome.VIOLATED and (CATALOG[name].gates or not gating)
    }


# -- the shapes that examples are made of ------------------------------------------------------------------------------

HEAD: Mapping[str, Any] = {"id": "chatcmpl-1", "created": 1785402847, "model": "alias-1"}
USAGE: Mapping[str, Any] = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}


def chat(content: Any = "Hello.", reason: Any = "stop", **more: Any) -> dict[str, Any]:
    """A chat completion of one choice; `message` and `choice` (mappings) are laid over those, the rest over the top."""
    message = {"role": "assistant", "content": content, "refusal": None, **more.pop("message", {})}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reason, **more.pop("choice", {})}
    return {**HEAD, "object": "chat.completion", "choices": [choice], "usage": dict(USAGE), **more}


def chunk(content: Any = None, reason: Any = None, **more: Any) -> dict[str, Any]:
    """A chunk of one choice; `delta` and `choice` are laid over those, the rest over the top."""
    delta = {**({} if content is None else {"content": content}), **more.pop("delta", {})}
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason, **more.pop("choice", {})}
    return {**HEAD, "object": "chat.completion.chunk", "choices": [choice], **more}


def opening(**more: Any) -> dict[str, Any]:
    """The first chunk: the role and an empty content."""
    return chunk(delta={"role": "assistant", "content": ""}, **more)


def words(*texts: str, reason: Any = "stop", **more: Any) -> list[dict[str, Any]]:
    """The chunks of a whole stream: the opening, one for each text, and the end."""
    return [opening(**more), *(chunk(text, **more) for text in texts), chunk(reason=reason, **more)]


def usage_chunk(usage: Any = USAGE, **more: Any) -> dict[str, Any]:
    """The chunk that carries the usage alone."""
    return {**HEAD, "object": "chat.completion.chunk", "choices": [], "usage": dict(usage), **more}


def call(index: int | None, *, id: Any = None, name: Any = None, arguments: Any = None) -> dict[str, Any]:
    """A piece of a tool call in a delta (`index` None: a whole call of a message)."""
    function = {key: item for key, item in (("name", name), ("arguments", arguments)) if item is not None}
    head = {} if index is None else {"index": index}
    return {**head, **({} if id is None else {"id": id, "type": "function"}), "function": function}


def error(message: Any = "Something is wrong.", **more: Any) -> dict[str, Any]:
    """An error body in the API's envelope."""
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None, **more}}


def embeddings(*vectors: Any, **more: Any) -> dict[str, Any]:
    """A list of embeddings."""
    data = [{"object": "embedding", "index": number, "embedding": item} for number, item in enumerate(vectors)]
    return {
        "object": "list",
        "data": data,
        "model": "alias-1",
        "usage": {"prompt_tokens": 4, "total_tokens": 4},
        **more,
    }


def completion(text: Any = "Hello.", reason: Any = "stop", **more: Any) -> dict[str, Any]:
    """A legacy completion of one choice."""
    choice = {"text": text, "index": 0, "logprobs": None, "finish_reason": reason, **more.pop("choice", {})}
    return {
        "id": "cmpl-1",
        "object": "text_completion",
        "created": 1785402847,
        "model": "alias-1",
        "choices": [choice],
        "usage": dict(USAGE),
        **more,
    }
