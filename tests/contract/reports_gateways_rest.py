"""Reports of gateways: what crosses from one request to another (i), the request on its way up (j), other endpoints (k).

Facts from public issue threads, named by their number in the reports' list; a trailing letter marks a sibling of ours.
"""

from __future__ import annotations

import base64
import struct
from typing import Any

from tests.contract.captures import (
    Ask,
    Try,
    ask,
    chat,
    chunk,
    completion,
    embeddings,
    error,
    opening,
    stream,
    wire,
    words,
)
from tests.contract.situation import Report, Right, report

_STREAM = ask(stream=True)
_502 = wire(error("The upstream failed.", type="api_error", code="upstream_error"), status=502)
_OK = wire(chat())
_INVALID = wire(error("Invalid model name", code="400"), status=400)

CROSSING: tuple[Report, ...] = (
    report(
        "G-94",
        "error.in-success",
        up=(),
        wrong=wire(error("Invalid model name", code="400")),
        right=(_INVALID, Right(_OK, _OK)),
    ),
    report(
        "G-94-truncated",  # a stored half answer
        "relay.truncation.told",
        "stream.done.present",
        request=_STREAM,
        up=(),
        wrong=wire(stream(opening(), chunk("One "), done=False)),
        right=wire(stream(*words("One ", "two."))),
    ),
    report(
        "G-95",
        "reply.mode.stream",
        request=_STREAM,
        up=(),
        caps="cache",
        wrong=wire(chat()),
        right=wire(stream(*words("Hello."))),
    ),
    report(
        "G-95-garbage",
        "stream.lines.fields",
        "stream.done.present",
        "reply.mode.stream",
        request=_STREAM,
        up=(),
        caps="cache",
        wrong=wire(stream(b"!!!!!!\n\n", done=False)),
        right=wire(stream(*words("Hello."))),
    ),
    report(
        "G-95-back",
        "reply.mode.json",
        up=(),
        caps="cache",
        wrong=wire(stream(*words("Hello."))),
        right=wire(chat()),
    ),
    report(
        "G-96",
        "isolation.nonce",
        up=(),
        caps="cache",
        wrong=wire(chat("You wrote: Ticket cf-z9y8x7: gateway A.")),
        right=wire(chat("You wrote: Ticket cf-q8w3zd: say hello.")),
    ),
    report(
        "G-99",
        "isolation.nonce",
        request=_STREAM,
        up=wire(stream(*words("cf-q8w3zd"))),
        wrong=wire(stream(*words("cf-z9y8x7"))),
        right=wire(stream(*words("cf-q8w3zd"))),
    ),
    report(
        "G-90",
        "isolation.nonce",
        request=_STREAM,
        wrong=wire(stream(*words("cf-q8w3zd ", "cf-z9y8x7 "))),
        right=wire(stream(*words("cf-q8w3zd ", "cf-q8w3zd "))),
    ),
    report(
        "G-90-error-first",
        "relay.error.told",
        request=_STREAM,
        up=wire(stream(error("boom", type="server_error"), done=False)),
        wrong=wire(stream(opening(), chunk(reason="stop"))),
        right=(_502, wire(stream(error("boom", type="server_error"), done=False))),
    ),
    report(
        "G-98",
        "relay.request.nothing-added",
        up=Try(_OK, request=ask(model="up-model", dry_multiplier=0.8)),
        wrong=_OK,
        right=Right(_OK, _OK),
        told="a gateway may add members by its own configuration: one exchange does not show where this one is from",
    ),
)


def _sent(**members: Any) -> Try:
    return Try(_OK, request=ask(model="up-model", **members))


_HISTORY: list[dict[str, Any]] = [
    {"role": "user", "content": "Search cf-q8w3zd."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "search", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": "result"},
]
_STRIPPED = [{k: v for k, v in message.items() if v is not None} for message in _HISTORY]
_REQUIRED = wire(error("message[2].content is required"), status=400)
_ENCRYPTED = wire(error("The encrypted content could not be verified.", code="invalid_encrypted_content"), status=400)
_TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}

REQUESTS: tuple[Report, ...] = (
    report(
        "G-35",
        "relay.request.messages",
        request=ask(messages=_HISTORY),
        up=Try(_REQUIRED, request=ask(model="up-model", messages=_STRIPPED)),
        wrong=_REQUIRED,
        right=Right(_OK, _sent(messages=_HISTORY)),
    ),
    report(
        "G-103-completion-cap",
        "relay.request.fields",
        request=ask(max_completion_tokens=7),
        up=_sent(),
        wrong=_OK,
        right=(Right(_OK, _sent(max_completion_tokens=7)), Right(_OK, _sent(max_tokens=7))),
    ),
    report(
        "G-103-cap",
        "relay.request.fields",
        request=ask(max_tokens=7),
        up=_sent(),
        wrong=_OK,
        right=(Right(_OK, _sent(max_tokens=7)), Right(_OK, _sent(max_completion_tokens=7))),
    ),
    report(
        "G-103-both",
        "relay.request.fields",
        request=ask(max_tokens=9, max_completion_tokens=7),
        up=_sent(max_tokens=9),
        wrong=_OK,
        right=(
            Right(_OK, _sent(max_completion_tokens=7)),
            Right(_OK, _sent(max_tokens=7)),
            Right(_OK, _sent(max_tokens=9, max_completion_tokens=7)),
        ),
    ),
    report(
        "G-103-neither",
        "relay.request.defaults",
        up=_sent(max_tokens=256),
        wrong=wire(chat("Hello. I am", "length")),
        right=Right(_OK, _sent()),
    ),
    report(
        "G-105",
        "relay.request.fields",
        request=ask(stop=["END"]),
        up=_sent(),
        wrong=_OK,
        right=(Right(_OK, _sent(stop=["END"])), Right(_OK, _sent(stop="END"))),
    ),
    report(
        "G-105-retry",
        "relay.request.fields",
        caps="failover",
        request=ask(stop=["END"]),
        up=(
            Try(wire(error("busy", type="server_error"), status=503), "m0", 2.0, ask(model="up-model", stop=["END"])),
            Try(_OK, "m1", 9.0, ask(model="up-model")),
        ),
        wrong=_OK,
        right=Right(
            _OK,
            (
                Try(
                    wire(error("busy", type="server_error"), status=503), "m0", 2.0, ask(model="up-model", stop=["END"])
                ),
                Try(_OK, "m1", 9.0, ask(model="other-model", stop=["END"])),
            ),
        ),
    ),
    report(
        "G-106",
        "blind.model.alias",
        caps="provider-blind",
        up=wire(chat(model="deepseek-v4-flash-202605")),
        wrong=wire(chat(model="deepseek-v4-flash-202605")),
        right=wire(chat()),
    ),
    report(
        "G-106-not-declared",  # the API itself answers with a dated name
        up=wire(chat(model="gpt-5.4-2026-03-05")),
        right=wire(chat(model="gpt-5.4-2026-03-05")),
    ),
    report(
        "G-106-chunk",
        "blind.model.alias",
        caps="provider-blind",
        request=_STREAM,
        up=wire(stream(*words("Hel", "lo.", model="deepseek-v4-flash"))),
        wrong=wire(stream(opening(), chunk("Hel"), chunk("lo.", model="deepseek-v4-flash"), chunk(reason="stop"))),
        right=wire(stream(*words("Hel", "lo."))),
    ),
    report(
        "G-106-error",
        "blind.identity.body",
        caps="provider-blind",
        up=Try(
            wire(error("deepseek-v4-flash is overloaded", type="server_error"), status=503),
            request=ask(model="deepseek-v4-flash"),
        ),
        wrong=wire(error("deepseek-v4-flash is overloaded", type="server_error"), status=503),
        right=wire(error("The model is overloaded.", type="server_error"), status=503),
    ),
    report(
        "G-108",  # the refusal of one member's secret text by another: passed on after one attempt
        caps="failover",
        request=ask("responses", input=[{"type": "reasoning", "encrypted_content": "gAAAA", "summary": []}]),
        up=_ENCRYPTED,
        right=_ENCRYPTED,
    ),
    # -- siblings ------------------------------------------------------------------------------------------------------
    report(
        "G-102-temperature",
        "relay.request.fields",
        request=ask(temperature=0),
        up=_sent(),
        wrong=_OK,
        right=(Right(_OK, _sent(temperature=0)), Right(_OK, _sent(temperature=0.0))),
    ),
    report(
        "G-102-changed",
        "relay.request.fields",
        request=ask(seed=7, temperature=0.2),
        up=_sent(seed=7, temperature=1),
        wrong=_OK,
        right=Right(_OK, _sent(seed=7, temperature=0.2)),
    ),
    report(
        "G-104-tools",
        "relay.request.fields",
        request=ask(tools=[_TOOL], tool_choice="auto"),
        up=_sent(tool_choice="auto"),
        wrong=_OK,
        right=Right(_OK, _sent(tools=[_TOOL], tool_choice="auto")),
    ),
    report(
        "G-107-system-lost",
        "relay.request.messages",
        request=ask(messages=[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "cf-q8w3zd"}]),
        up=_sent(messages=[{"role": "user", "content": "cf-q8w3zd"}]),
        wrong=_OK,
        right=(
            Right(
                _OK,
                _sent(messages=[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "cf-q8w3zd"}]),
            ),
            Right(
                _OK,
                _sent(
                    messages=[
                        {"role": "developer", "content": "Be brief."},
                        {"role": "user", "content": [{"type": "text", "text": "cf-q8w3zd"}]},
                    ]
                ),
            ),
        ),
    ),
    report(
        "G-107-format-lost",
        "relay.request.fields",
        request=ask(response_format={"type": "json_object"}),
        up=_sent(),
        wrong=_OK,
        right=Right(_OK, _sent(response_format={"type": "json_object"})),
    ),
    report(
        "G-109-translated",  # another API behind it: its request is not of our form
        request=ask(stop=["END"], max_tokens=7),
        up=Try(
            wire(
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "text", "text": "Hello."}],
                    "stop_reason": "end_turn",
                }
            ),
            request=Ask(
                "/v1/messages", {"model": "claude", "max_tokens": 7, "stop_sequences": ["END"], "messages": []}
            ),
        ),
        right=_OK,
    ),
)

_FLOATS = [0.5, 0.25, -1.0, 2.0]
_PACKED = base64.b64encode(struct.pack("<4f", *_FLOATS)).decode()
_BASE64 = ask("embeddings", encoding_format="base64")
_EMBED = ask("embeddings")
_REFUSED_FORMAT = wire(
    error(
        "Setting {'encoding_format': 'base64'} is not supported: the model does not support parameters: encoding_format"
    ),
    status=400,
)


def response(text: str = "Hello.", status: str = "completed", **more: Any) -> dict[str, Any]:
    """A response object with one message."""
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": status,
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    }
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1785402847,
        "status": status,
        "model": "alias-1",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "output": [message] if text else [],
        "usage": {
            "input_tokens": 9,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 2,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 11,
        },
        **more,
    }


def lifecycle(*texts: str, start: int = 0, end: str = "completed", **more: Any) -> list[tuple[str, dict[str, Any]]]:
    """The typed events of one streamed response."""
    whole = "".join(texts)
    item = response(whole)["output"][0] if whole else None
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": response("", "in_progress")},
        {"type": "response.in_progress", "response": response("", "in_progress")},
    ]
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    if item is not None:
        part = {"type": "output_text", "text": "", "annotations": []}
        events += [
            {
                "type": "response.output_item.added",
                "output_index": 0,
                "item": {**item, "status": "in_progress", "content": []},
            },
            {"type": "response.content_part.added", **place, "part": part},
            *({"type": "response.output_text.delta", **place, "delta": text, "logprobs": []} for text in texts),
            {"type": "response.output_text.done", **place, "text": whole, "logprobs": []},
            {"type": "response.content_part.done", **place, "part": {**part, "text": whole}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
        ]
    events.append({"type": f"response.{end}", "response": response(whole, end, **more)})
    return [(event["type"], {**event, "sequence_number": start + n}) for n, event in enumerate(events)]


_RESPOND = ask("responses", stream=True)
_FAILURE = {"code": "server_error", "message": "The upstream failed."}
_FAILED = [
    *lifecycle()[:2],
    (
        "response.failed",
        {"type": "response.failed", "sequence_number": 2, "response": response("", "failed", error=_FAILURE)},
    ),
]

OTHERS: tuple[Report, ...] = (
    report(
        "G-43",
        "relay.success.kept",
        request=_RESPOND,
        up=wire(stream(*lifecycle("Hel", "lo."), done=False)),
        wrong=wire(error("upstream stream closed before [DONE]", type="server_error"), status=502),
        right=(wire(stream(*lifecycle("Hel", "lo."), done=False)), wire(stream(*lifecycle("Hel", "lo.")))),
    ),
    report(
        "G-43-newline",
        "stream.event.has-data",
        request=_RESPOND,
        wrong=wire(stream(*lifecycle("Hello."), b"event: done\n\n", done=False)),
        right=wire(stream(*lifecycle("Hello."), done=False)),
    ),
    report(
        "G-51",  # CRLF and no space after the colon are legal on the upstream leg
        request=_RESPOND,
        up=wire(
            stream(
                *(
                    data.replace(b"\n", b"\r\n").replace(b": ", b":")
                    for _, data in stream(*lifecycle("Hello."), done=False)
                ),
                done=False,
            )
        ),
        right=wire(stream(*lifecycle("Hello."), done=False)),
    ),
    report(
        "G-58",
        "responses.stream.terminal",
        request=_RESPOND,
        wrong=wire(stream(*lifecycle("Bonjour!"), *lifecycle("Bonjour!", start=9), done=False)),
        right=wire(stream(*lifecycle("Bonjour!"), done=False)),
    ),
    report(
        "G-18-responses",
        "relay.error.told",
        request=_RESPOND,
        up=Try(
            wire(
                stream(
                    chunk(
                        choices=[], error={"code": 502, "message": "Worker local total request limit reached (33/32)"}
                    )
                )
            ),
            request=_STREAM,
        ),
        wrong=wire(stream(*lifecycle(), done=False)),
        right=(wire(stream(*_FAILED, done=False)), _502),
    ),
    report(
        "G-113",  # the same on the Responses endpoint: a failure before any output
        "relay.error.told",
        request=_RESPOND,
        up=wire(stream(*_FAILED, done=False)),
        wrong=wire(stream(*lifecycle(), done=False)),
        right=(wire(stream(*_FAILED, done=False)), _502),
    ),
    report(
        "G-113-cut",
        "relay.truncation.told",
        "relay.empty.not-success",
        request=_RESPOND,
        up=wire(stream(*lifecycle()[:2], done=False), end="close"),
        wrong=wire(stream(*lifecycle(), done=False)),
        right=(wire(stream(*_FAILED, done=False)), _502),
    ),
    report(
        "G-110",
        "relay.request.not-spoiled",
        request=_EMBED,
        up=Try(_REFUSED_FORMAT, request=ask("embeddings", model="up-model", encoding_format="base64")),
        wrong=wire(error("the model does not support parameters: encoding_format"), status=400),
        right=Right(wire(embeddings(_FLOATS)), wire(embeddings(_FLOATS))),
    ),
    report(
        "G-111",
        "embeddings.encoding",
        request=_BASE64,
        up=wire(embeddings(_FLOATS)),
        wrong=wire(embeddings(_FLOATS)),
        right=(
            wire(embeddings(_PACKED)),
            _502,
            wire(error("encoding_format base64 is not supported", param="encoding_format"), status=400),
        ),
    ),
    report(
        "G-111-empty",
        "embeddings.count",
        "relay.empty.not-success",
        request=_BASE64,
        up=wire(embeddings()),
        wrong=wire(embeddings()),
        right=_502,
    ),
    # -- siblings ------------------------------------------------------------------------------------------------------
    report(
        "G-112-order",
        "embeddings.index",
        "relay.embedding.equal",
        request=ask("embeddings", input=["cf-q8w3zd a", "b"]),
        up=wire(embeddings([0.5, 0.25], [1.0, 2.0])),
        wrong=wire(embeddings([1.0, 2.0], [0.5, 0.25])),
        right=wire(embeddings([0.5, 0.25], [1.0, 2.0])),
    ),
    report(
        "G-112-cut",
        "embeddings.dimensions",
        request=ask("embeddings", dimensions=4),
        wrong=wire(embeddings([0.5])),
        right=wire(embeddings(_FLOATS)),
    ),
    report(
        "G-112-float-for-base64",
        "embeddings.encoding",
        request=_EMBED,
        up=wire(embeddings(_PACKED)),
        wrong=wire(embeddings(_PACKED)),
        right=wire(embeddings(_FLOATS)),
    ),
    report(
        "G-114-text-null",
        "completion.text",
        request=ask("completions"),
        wrong=wire(completion(None)),
        right=wire(completion("")),
    ),
    report(
        "G-114-chat-for-text",
        "completion.object",
        "completion.text",
        request=ask("completions"),
        wrong=wire(chat()),
        right=wire(completion()),
    ),
)
