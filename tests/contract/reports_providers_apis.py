"""Reports on embeddings, Responses events, the models list and HTTP (categories h, i, j, k).

Wire data from public reports, named by their ids in the collection; `S-` ids are siblings of the same kinds.
"""

from __future__ import annotations

import base64
import gzip
import struct
from typing import Any

from conformance.cassette.model import Envelope
from tests.contract.captures import (
    Ask,
    ask,
    chat,
    compact,
    completion,
    embeddings,
    error,
    listing,
    opening,
    stream,
    wire,
    words,
)
from tests.contract.report import Report
from tests.contract.responding import created, event, item_added, numbered, response, said, told

CHAT = ask(stream=False)
PLAIN = ask()
STREAM = ask(stream=True)
VECTORS = ask("embeddings")
PACKED = ask("embeddings", encoding_format="base64")
RESPOND = ask("responses")
RESPOND_STREAM = ask("responses", stream=True)
MODELS = listing()

FAILED = wire(error("The upstream failed.", type="server_error", code="upstream_error"), status=502)
HELLO = words("Hello", ".")
WHOLE = wire(stream(*HELLO))
SAID = wire(chat("Hello."))
FLOATS = [0.25, -0.5, 0.75, 1.0]


def packed(numbers: list[float]) -> str:
    """The numbers as the API packs them: base64 of little-endian float32."""
    return base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()


EMBEDDED = wire(embeddings(FLOATS))
EMBEDDED_PACKED = wire(embeddings(packed(FLOATS)))


def vectors(
    clause: str, wrong: Any, id: str, asked: Ask = VECTORS, right: tuple[Envelope, ...] = (EMBEDDED,), **more: Any
) -> Report:
    """An embeddings reply."""
    return Report(id=id, ask=asked, wrong=wire(wrong), clauses=(clause,), right=right, **more)


TWO_INPUTS = ask("embeddings", input=["a", "b"])
SMALL = ask("embeddings", dimensions=4)
_NOBODY = "which numbers the member meant nobody knows"

EMBEDDING = (
    vectors("embeddings.encoding", embeddings(FLOATS), "P-165", PACKED, (EMBEDDED_PACKED,)),
    vectors("embeddings.encoding", embeddings([0.5] * 16), "P-166", PACKED, (wire(embeddings(packed([0.5] * 16))),)),
    vectors("embeddings.encoding", embeddings(packed(FLOATS)), "S-packed-unasked"),
    vectors(
        "embeddings.dimensions", embeddings([0.5] * 8), "S-dimensions", SMALL, (EMBEDDED,), answers=False, why=_NOBODY
    ),
    vectors(
        "embeddings.count",
        embeddings(FLOATS),
        "S-one-of-two",
        TWO_INPUTS,
        (wire(embeddings(FLOATS, FLOATS)),),
        answers=False,
        why=_NOBODY,
    ),
    vectors("embeddings.values", embeddings([0.5, None, 0.5]), "S-null-number", right=(EMBEDDED, FAILED)),
    vectors("embeddings.shape", {"embeddings": [FLOATS]}, "S-native-shape", right=(FAILED,)),
    vectors("embeddings.count", embeddings(), "S-no-data", right=(FAILED,)),
    vectors(
        "embeddings.index",
        {**embeddings(), "data": [{"object": "embedding", "index": 0, "embedding": FLOATS}] * 2},
        "S-one-index",
        TWO_INPUTS,
        (wire(embeddings(FLOATS, FLOATS)),),
    ),
)

_ITEM = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_1",
    "name": "read",
    "arguments": "",
    "status": "in_progress",
}
_BARE_ITEM = {name: value for name, value in _ITEM.items() if name != "id"}
_GOOD = said("Hello", ".")


def responded(*events: Any, done: bool = False, **how: Any) -> Envelope:
    """A Responses stream of typed events (type, value): each with its event field."""
    return wire(
        stream(*(item if isinstance(item, bytes) else (item["type"], item) for item in events), done=done), **how
    )


RESPONDED = responded(*_GOOD)


def stream_of(clause: str, wrong: Envelope, id: str, right: tuple[Envelope, ...] = (RESPONDED,), **more: Any) -> Report:
    """A Responses stream."""
    return Report(id=id, ask=RESPOND_STREAM, wrong=wrong, clauses=(clause,), right=right, **more)


_OVERLOADED = {
    "type": "service_unavailable_error",
    "code": "server_is_overloaded",
    "message": "Our servers are currently overloaded. Please try again later.",
    "param": None,
}
_BROKEN = response(status="failed", output=[], error={"code": "server_is_overloaded", "message": "Overloaded."})
_TOLD_FAILED = responded(*numbered([created(), {"type": "response.failed", "response": _BROKEN}]))
_TOLD_ERROR = responded(
    *numbered([created(), {"type": "error", "code": "server_is_overloaded", "message": "Overloaded.", "param": None}])
)
_LATE_INDEX = [{**item, **({"output_index": 1} if "output_index" in item else {})} for item in _GOOD]
_REASONING = event("response.reasoning_summary_text.delta", item_id="rs_1", output_index=0, summary_index=0, delta="Hm")
_INVALID = compact(response()).replace(b'"status":', b'status":')

RESPONSES = (
    stream_of(
        "responses.stream.items",
        responded(*numbered([created(), event("response.output_item.added", item=_ITEM), *told()])),
        "P-168",
    ),
    stream_of("responses.stream.items", responded(*numbered(_LATE_INDEX)), "P-170"),
    stream_of(
        "responses.stream.terminal",
        responded(*numbered([created(), item_added({"type": "reasoning", "id": "rs_1", "summary": []}), _REASONING])),
        "P-171",
        right=(_TOLD_FAILED, _TOLD_ERROR),
        answers=False,
        why="the middle of the stream is left out",
    ),
    stream_of(
        "responses.stream.created-first",
        responded(*numbered([_GOOD[3], *told()]), done=True),
        "P-173",
        answers=False,
        why="such a stream has no item that the text belongs to",
    ),
    stream_of("responses.stream.sequence", responded(*({**item, "sequence_number": 0} for item in _GOOD)), "P-173b"),
    Report(
        id="P-175",
        ask=ask("responses", stream=False),
        wrong=wire(_INVALID),
        clauses=("json.body.valid",),
        right=(wire(response()), wire({**response(), "created_at": 1761380911.5})),
        answers=False,
        why="bytes that are no JSON have no one right reading",
    ),
    Report(
        id="P-175b",
        ask=RESPOND,
        wrong=wire({**response(), "id": ""}),
        clauses=("responses.id",),
        right=(wire(response()),),
    ),
    stream_of(
        "responses.stream.typed",
        wire(stream({"error": _OVERLOADED}, done=False)),
        "P-176",
        right=(_TOLD_FAILED, _TOLD_ERROR, FAILED),
    ),
    stream_of(
        "responses.stream.shape",
        responded(
            *numbered(
                [
                    {
                        "type": "response.created",
                        "response": {"id": "resp_1", "object": "response", "status": "in_progress", "output": []},
                    },
                    *_GOOD[1:],
                ]
            )
        ),
        "S-created-bare",
    ),
    stream_of(
        "responses.stream.shape",
        responded(
            *numbered([created(), *[{k: v for k, v in item.items() if k != "content_index"} for item in _GOOD[1:]]])
        ),
        "S-no-content-index",
    ),
    stream_of(
        "responses.stream.sequence",
        responded(*({k: v for k, v in item.items() if k != "sequence_number"} for item in _GOOD)),
        "S-no-sequence",
    ),
    stream_of(
        "responses.stream.item-ids",
        responded(*({k: v for k, v in item.items() if k != "item_id"} for item in _GOOD)),
        "S-no-item-id",
    ),
    stream_of(
        "responses.stream.terminal", responded(*_GOOD, {**_GOOD[-1], "sequence_number": 99}), "S-completed-twice"
    ),
    stream_of(
        "responses.stream.text",
        responded(
            *(
                {**item, "text": "Hello.Hello."} if item["type"] == "response.output_text.done" else item
                for item in _GOOD
            )
        ),
        "S-text-doubled",
        answers=True,
    ),
    stream_of(
        "responses.stream.typed", wire(stream(*(("message", item) for item in _GOOD), done=False)), "S-event-name"
    ),
    stream_of(
        "responses.stream.typed",
        wire(stream(*HELLO)),
        "S-chunks-on-responses",
        right=(RESPONDED, FAILED),
        answers=False,
        why="the member spoke another API",
    ),
    Report(
        id="S-chat-on-responses",
        ask=RESPOND,
        wrong=SAID,
        clauses=("responses.shape",),
        right=(wire(response()), FAILED),
        answers=False,
        why="the member spoke another API",
    ),
    Report(
        id="S-output-null",
        ask=RESPOND,
        wrong=wire({**response(), "output": None}),
        clauses=("responses.shape",),
        right=(FAILED, wire(response())),
        answers=False,
        why="what the member meant nobody knows",
    ),
    Report(
        id="S-bad-status",
        ask=RESPOND,
        wrong=wire({**response(), "status": "done"}),
        clauses=("responses.shape",),
        right=(wire(response()),),
    ),
)

_ENTRY = {"id": "alias-1", "object": "model", "created": 1785402847, "owned_by": "system"}
LISTED = wire({"object": "list", "data": [_ENTRY]})


def models(clause: str, wrong: Any, id: str, **more: Any) -> Report:
    """A models list."""
    return Report(id=id, ask=more.pop("ask", MODELS), wrong=wire(wrong), clauses=(clause,), right=(LISTED,), **more)


MODEL_LISTS = (
    models("models.entries", {"data": [{"id": "alias-1", "name": "Alias"}]}, "P-178"),
    models("models.shape", {"data": [_ENTRY]}, "P-178b"),
    models(
        "models.entries",
        {
            "data": [
                {"id": "deepseek-r1", "object": "model", "type": "llm", "state": "loaded"},
                {"id": "smolvlm", "object": "model", "type": "vlm"},
            ]
        },
        "P-180",
        ask=listing("/api/v0/models"),
    ),
    Report(
        id="P-181",
        ask=MODELS,
        wrong=wire(b"Internal Server Error", status=500, media="text/plain"),
        clauses=("error.content-type",),
        right=(LISTED, FAILED),
    ),
    models("json.body.valid", [_ENTRY], "S-bare-array"),
    models("models.shape", {"object": "list", "models": [_ENTRY]}, "S-other-wrapper"),
    models(
        "models.entries",
        {"object": "list", "data": [{**_ENTRY, "created": "who can keep track?"}]},
        "S-created-text-listed",
    ),
    models("models.entries", {"object": "list", "data": ["alias-1"]}, "S-names-only"),
    models("models.unique", {"object": "list", "data": [_ENTRY, _ENTRY]}, "S-listed-twice"),
)

_ZIPPED = gzip.compress(b"".join(data for _, data in stream(*HELLO)), mtime=0)
_PLAIN = b"".join(data for _, data in stream(*HELLO))
_JSON_DONE = compact(chat()) + b"\ndata: [DONE]\n\n"
_CODED = ("Content-Encoding: gzip",)
ZIPPING = Ask(STREAM.endpoint, STREAM.value, headers=(("Accept-Encoding", "gzip, deflate"),))
NOT_ZIPPING = Ask(STREAM.endpoint, STREAM.value, headers=(("Accept-Encoding", "identity"),))
_CODED_STREAM = wire(((0.0, _ZIPPED),), headers=_CODED)

HTTP = (
    Report(
        id="P-183",
        ask=PLAIN,
        wrong=wire(_JSON_DONE, media="text/event-stream"),
        clauses=("reply.mode.json", "http.content-type.json"),
        right=(SAID,),
    ),
    Report(id="P-183b", ask=PLAIN, wrong=WHOLE, clauses=("reply.mode.json",), right=(SAID,)),
    Report(id="P-185", ask=STREAM, wrong=SAID, clauses=("reply.mode.stream",), right=(WHOLE, FAILED)),
    Report(
        id="P-186",
        ask=ZIPPING,
        wrong=wire(((0.0, _ZIPPED),)),
        clauses=("http.content-encoding.honest",),
        upstream=(_CODED_STREAM,),
        right=(WHOLE, _CODED_STREAM),
    ),
    Report(
        id="P-186b", ask=NOT_ZIPPING, wrong=_CODED_STREAM, clauses=("http.content-encoding.honest",), right=(WHOLE,)
    ),
    Report(
        id="P-188",
        ask=STREAM,
        wrong=wire(((0.0, _PLAIN),), headers=_CODED),
        clauses=("http.content-encoding.honest",),
        right=(WHOLE,),
    ),
    Report(
        id="P-190",
        ask=STREAM,
        wrong=wire(stream(*HELLO[:2], done=False), end="close"),
        clauses=("http.body.complete",),
        right=(wire(stream(*HELLO[:2], error("The upstream closed.", type="server_error"), done=False)),),
        relayed=False,
        why="an abort is an honest way to tell that the upstream broke",
    ),
    Report(
        id="P-191",
        ask=STREAM,
        wrong=wire(((0.0, b'error: {"code":400,"message":"the request exceeds the available context size"}\n\n'),)),
        clauses=("stream.lines.fields", "reply.mode.stream"),
        right=(
            wire(error("the request exceeds the available context size", code="context_length_exceeded"), status=400),
        ),
    ),
    Report(
        id="P-191b",
        ask=STREAM,
        wrong=wire(
            stream({"error": {"code": 400, "message": "the request exceeds the available context size"}}, done=False)
        ),
        clauses=("stream.error.shape",),
        right=(
            wire(error("the request exceeds the available context size", code="context_length_exceeded"), status=400),
        ),
    ),
    Report(
        id="P-193",
        ask=CHAT,
        wrong=wire({"detail": [{"loc": ["body"], "msg": "field required", "type": "missing"}]}, status=422),
        clauses=("error.envelope.object",),
        right=(wire(error("field required"), status=422), wire(error("field required"), status=400)),
    ),
    Report(
        id="S-octets",
        ask=CHAT,
        wrong=wire(chat(), media="application/octet-stream"),
        clauses=("http.content-type.json",),
        right=(SAID,),
    ),
    Report(
        id="S-no-media",
        ask=CHAT,
        wrong=wire(chat(), media=""),
        clauses=("http.content-type.json",),
        right=(SAID, wire(chat(), media="application/json; charset=utf-8")),
    ),
    Report(
        id="S-stream-as-plain",
        ask=STREAM,
        wrong=wire(stream(*HELLO), media="text/plain"),
        clauses=("http.content-type.event-stream",),
        right=(WHOLE, wire(stream(*HELLO), media="text/event-stream; charset=utf-8")),
    ),
    Report(
        id="S-stream-as-json",
        ask=STREAM,
        wrong=wire(stream(*HELLO), media="application/json"),
        clauses=("http.content-type.event-stream",),
        right=(WHOLE,),
    ),
    Report(
        id="S-two-types",
        ask=CHAT,
        wrong=wire(chat(), headers=("Content-Type: application/json",)),
        clauses=("http.header.single",),
        right=(SAID,),
    ),
    Report(
        id="S-joined-origins",
        ask=CHAT,
        wrong=wire(chat(), headers=("Access-Control-Allow-Origin: *, *",)),
        clauses=("http.header.single",),
        right=(wire(chat(), headers=("Access-Control-Allow-Origin: *",)),),
    ),
    Report(
        id="S-length-and-chunked",
        ask=STREAM,
        wrong=wire(stream(*HELLO), headers=("Content-Length: 10",)),
        clauses=("http.framing.consistent",),
        right=(WHOLE,),
        relayed=False,
        why="such a member's message cannot be read",
    ),
    Report(
        id="S-short-body",
        ask=CHAT,
        wrong=wire(compact(chat())[:-20], framing="none", headers=("Content-Length: 400",), end="close"),
        clauses=("http.body.complete",),
        right=(SAID, FAILED),
        relayed=False,
        answers=False,
        why="such a member's message cannot be read",
    ),
    Report(
        id="S-redirect",
        ask=CHAT,
        wrong=wire(b"", status=307, headers=("Location: http://m0.test/v1/chat/completions",)),
        clauses=("http.status.final",),
        right=(FAILED,),
    ),
    Report(id="S-empty-200", ask=CHAT, wrong=wire(b""), clauses=("reply.mode.json",), right=(FAILED,)),
    Report(
        id="S-two-values",
        ask=CHAT,
        wrong=wire(compact(chat()) * 2),
        clauses=("json.body.valid",),
        right=(SAID, FAILED),
        answers=False,
        why="the member's bytes have no one right reading",
    ),
    Report(
        id="S-bom-json",
        ask=CHAT,
        wrong=wire(b"\xef\xbb\xbf" + compact(chat())),
        clauses=("json.body.valid",),
        right=(SAID,),
    ),
    Report(id="S-null-body", ask=CHAT, wrong=wire(b"null"), clauses=("json.body.valid",), right=(FAILED,)),
    Report(
        id="S-legacy-chat",
        ask=ask("completions"),
        wrong=SAID,
        clauses=("completion.object", "completion.text"),
        right=(wire(completion("Hello.")),),
    ),
    Report(
        id="S-legacy-reason",
        ask=ask("completions"),
        wrong=wire(completion("Hello.", "eos")),
        clauses=("completion.finish-reason",),
        right=(wire(completion("Hello.")),),
    ),
    Report(
        id="S-opening-only",
        ask=STREAM,
        wrong=wire(stream(opening())),
        clauses=("stream.terminal.present",),
        right=(FAILED,),
    ),
)

REPORTS = EMBEDDING + RESPONSES + MODEL_LISTS + HTTP
