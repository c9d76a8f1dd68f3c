"""The answer of a healthy member to a request that belongs to no play, and the 599 of one whose play is not there.

Raw request -> Script, by endpoint: a fixed, well-formed answer of each of the API's shapes. Knows no play, no socket.
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Iterable, Mapping
from typing import Any

from conformance.cassette.model import Envelope, Frame
from conformance.upstream.script import Script, script
from conformance.wire.http1 import decode_content, read_request

TEXT = ("Hello", " there", ".")
CREATED = 1735689600
VECTOR = (0.5, -0.25, 0.125, 0.0625)
MAX_BODY = 16 * 1024 * 1024
_USAGE = {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}


def healthy(request: bytes) -> Script:
    """The healthy default for a raw request: the API's endpoints, else 200 to a GET and a 404 to anything else."""
    message = read_request(request)
    body, _ = decode_content(message.body, message.head.get("content-encoding"), limit=MAX_BODY)
    try:
        asked = json.loads(body) if body else None
    except (ValueError, RecursionError):
        asked = None
    path = message.target.partition("?")[0].rstrip("/")
    if message.method == "HEAD":
        return script(Envelope(head=("HTTP/1.1 200 OK", "Content-Length: 0"), body=b"", frames=()))
    if message.method == "GET":
        return _document(_models() if path.endswith("/models") else {"status": "ok"})
    for end, answer in _ANSWERS.items():
        if path.endswith(end):
            return answer(asked) if isinstance(asked, dict) and _accepted(asked, end) else _refusal()
    return failure(404, "Not Found", f"the replay upstream has no default for {message.method} {path}", "not_found")


def _accepted(asked: Mapping[str, Any], end: str) -> bool:
    return end != "/chat/completions" or isinstance(asked.get("messages"), list)


def _refusal() -> Script:
    """The 400 to what the API does not accept (openai-api/errors): a gateway that only relays has it to pass on."""
    wrong = "A JSON object is needed, with an array of messages for a chat."
    return failure(400, "Bad Request", wrong, None, kind="invalid_request_error")


def unknown_nonce(nonce: str) -> Script:
    """The 599 for a nonce that no play is armed for."""
    return failure(599, "Unknown Nonce", f"no play is armed for the nonce {nonce}", "unknown_nonce")


def unplanned(nonce: str, member: str) -> Script:
    """The 599 for a member that the nonce's play has nothing for."""
    return failure(599, "Unplanned Member", f"the play of {nonce} has nothing for the member {member}", "unplanned")


def failure(status: int, phrase: str, message: str, code: str | None, *, kind: str = "replay_upstream") -> Script:
    """A JSON error in the API's shape."""
    error = {"message": message, "type": kind, "param": None, "code": code}
    return _document({"error": error}, status=f"{status} {phrase}")


def _chat(asked: Mapping[str, Any]) -> Script:
    base = {"id": "chatcmpl-default", "created": CREATED, "model": _model(asked)}
    if asked.get("stream") is not True:
        message = {"role": "assistant", "content": "".join(TEXT), "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        return _document({**base, "object": "chat.completion", "choices": [choice], "usage": _USAGE})
    base["object"] = "chat.completion.chunk"
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}, *({"content": word} for word in TEXT), {}]
    chunks = [
        {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None if delta else "stop"}]}
        for delta in deltas
    ]
    return _stream([*chunks, *_usage_chunk(asked, base)])


def _completion(asked: Mapping[str, Any]) -> Script:
    base = {"id": "cmpl-default", "object": "text_completion", "created": CREATED, "model": _model(asked)}
    if asked.get("stream") is not True:
        choice = {"index": 0, "text": "".join(TEXT), "logprobs": None, "finish_reason": "stop"}
        return _document({**base, "choices": [choice], "usage": _USAGE})
    texts = [*((word, None) for word in TEXT), ("", "stop")]
    chunks = [
        {**base, "choices": [{"index": 0, "text": text, "logprobs": None, "finish_reason": reason}]}
        for text, reason in texts
    ]
    return _stream([*chunks, *_usage_chunk(asked, base)])


def _embeddings(asked: Mapping[str, Any]) -> Script:
    given = asked.get("input")
    many = isinstance(given, list) and bool(given) and not isinstance(given[0], int)
    count = len(given) if many and isinstance(given, list) else 1
    vector: Any = list(VECTOR)
    if asked.get("encoding_format") == "base64":
        vector = base64.b64encode(struct.pack(f"<{len(VECTOR)}f", *VECTOR)).decode()
    data = [{"object": "embedding", "index": index, "embedding": vector} for index in range(count)]
    usage = {"prompt_tokens": 3 * count, "total_tokens": 3 * count}
    return _document({"object": "list", "data": data, "model": _model(asked), "usage": usage})


def _responses(asked: Mapping[str, Any]) -> Script:
    part = {"type": "output_text", "text": "".join(TEXT), "annotations": []}
    item = {"id": "msg_default", "type": "message", "status": "completed", "role": "assistant", "content": [part]}
    response = _response(asked, "completed", [item])
    if asked.get("stream") is not True:
        return _document(response)
    where = {"item_id": "msg_default", "output_index": 0, "content_index": 0}
    begun = {**item, "status": "in_progress", "content": []}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": _response(asked, "in_progress", [])},
        {"type": "response.in_progress", "response": _response(asked, "in_progress", [])},
        {"type": "response.output_item.added", "output_index": 0, "item": begun},
        {"type": "response.content_part.added", **where, "part": {**part, "text": ""}},
        *({"type": "response.output_text.delta", **where, "delta": word} for word in TEXT),
        {"type": "response.output_text.done", **where, "text": "".join(TEXT)},
        {"type": "response.content_part.done", **where, "part": part},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": response},
    ]
    texts = [
        f"event: {event['type']}\ndata: {_dumped({**event, 'sequence_number': number})}\n\n"
        for number, event in enumerate(events)
    ]
    return _events(texts)


def _response(asked: Mapping[str, Any], status: str, output: list[Any]) -> dict[str, Any]:
    usage = {
        "input_tokens": 5,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 3,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 8,
    }
    return {
        "id": "resp_default",
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": _model(asked),
        "output": output,
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": usage if status == "completed" else None,
    }


_ANSWERS = {
    "/chat/completions": _chat,
    "/completions": _completion,
    "/embeddings": _embeddings,
    "/responses": _responses,
}


def _model(asked: Mapping[str, Any]) -> str:
    model = asked.get("model")
    return model if isinstance(model, str) else "default"


def _models() -> dict[str, Any]:
    model = {"id": "default", "object": "model", "created": CREATED, "owned_by": "replay-upstream"}
    return {"object": "list", "data": [model]}


def _usage_chunk(asked: Mapping[str, Any], base: Mapping[str, Any]) -> list[dict[str, Any]]:
    options = asked.get("stream_options")
    wanted = isinstance(options, dict) and options.get("include_usage") is True
    return [{**base, "choices": [], "usage": _USAGE}] if wanted else []


def _stream(chunks: Iterable[Mapping[str, Any]]) -> Script:
    return _events([*(f"data: {_dumped(chunk)}\n\n" for chunk in chunks), "data: [DONE]\n\n"])


def _events(texts: Iterable[str]) -> Script:
    head = ("HTTP/1.1 200 OK", "Content-Type: text/event-stream", "Transfer-Encoding: chunked")
    pieces = [text.encode() for text in texts]
    frames = tuple(Frame(0.0, len(piece)) for piece in pieces)
    return script(Envelope(head=head, body=b"".join(pieces), frames=frames))


def _document(document: Mapping[str, Any], *, status: str = "200 OK") -> Script:
    body = _dumped(document).encode()
    head = (f"HTTP/1.1 {status}", "Content-Type: application/json", f"Content-Length: {len(body)}")
    return script(Envelope(head=head, body=body, frames=(Frame(0.0, len(body)),)))


def _dumped(document: Mapping[str, Any]) -> str:
    return json.dumps(document, separators=(",", ":"))
