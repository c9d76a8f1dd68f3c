"""Further public reports, named by their issue thread: servers and gateways judged as the endpoint that a client meets.

Facts from the threads, rebuilt as captures; keys and names are ours.
"""

from __future__ import annotations

import gzip
from typing import Any

from conformance.cassette.model import Envelope
from tests.contract.captures import (
    HEAD,
    USAGE,
    Try,
    ask,
    call,
    chat,
    chunk,
    compact,
    completion,
    embeddings,
    error,
    opening,
    stream,
    usage_chunk,
    wire,
    words,
)
from tests.contract.responding import created, event, item_added, message, numbered, response, said, told
from tests.contract.situation import Report, Right, report

_STREAM = ask(stream=True)
_METERED = ask(stream=True, stream_options={"include_usage": True})
_EVENTS = ask("responses", stream=True)
_TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
_TOOLS = ask(tools=[_TOOL])
_TOOLS_STREAM = ask(stream=True, tools=[_TOOL])
_HELLO = wire(stream(*words("Hel", "lo.")))
_CALLED = {"tool_calls": [call(None, id="call_1", name="f", arguments="{}")]}
_GIVEN = {"content": [{"token": "Hello.", "logprob": -0.1, "bytes": None, "top_logprobs": []}], "refusal": None}
_LISTS = {"tokens": ["Hello."], "token_logprobs": [-0.1], "top_logprobs": None, "text_offset": [0]}


def _events(*items: dict[str, Any]) -> Envelope:
    return wire(stream(*((item["type"], item) for item in numbered(list(items))), done=False))


def _without(*kinds: str) -> list[dict[str, Any]]:
    return [item for item in said("Hel", "lo.") if item["type"] not in kinds]


def _ending(**members: Any) -> list[dict[str, Any]]:
    """The good events, the last of which holds another response."""
    return [*said("Hel", "lo.")[:-1], event("response.completed", response=response(**members))]


_FUNCTION = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": "", "status": "x"}
_DONE = {**_FUNCTION, "arguments": "{}", "status": "completed"}
_ARGUMENTS = {"item_id": "fc_1", "output_index": 0}
_CALLING = [
    created(),
    item_added({**_FUNCTION, "status": "in_progress"}),
    event("response.function_call_arguments.delta", **_ARGUMENTS, delta="{}"),
    event("response.function_call_arguments.done", **_ARGUMENTS, arguments="{}"),
    event("response.output_item.done", output_index=0, item=_DONE),
]
_SAID = _events(*said("Hel", "lo."))

RESPONSES: tuple[Report, ...] = (
    report(  # a message item that is closed and was never opened
        "BerriAI/litellm#37852",
        "responses.stream.items",
        request=_EVENTS,
        wrong=_events(
            *_CALLING,
            event("response.output_text.done", item_id="msg_1", output_index=1, content_index=0, text=""),
            event("response.output_item.done", output_index=1, item=message("")),
            *told(output=[_DONE]),
        ),
        right=_events(*_CALLING, *told(output=[_DONE])),
    ),
    report(
        "Wei-Shaw/sub2api#2875",
        "responses.stream.parts",
        request=_EVENTS,
        wrong=_events(*_without("response.content_part.added")),
        right=_SAID,
    ),
    report(
        "anomalyco/opencode#40171",
        "responses.stream.items",
        "responses.stream.created-first",
        request=_EVENTS,
        wrong=_events(event("response.output_text.delta", output_index=0, content_index=0, delta="ok"), *told("ok")),
        right=_SAID,
    ),
    report(  # the answer was streamed, and the last event has none
        "BerriAI/litellm#41009",
        "responses.stream.whole",
        request=_EVENTS,
        wrong=_events(*_ending(output=[])),
        right=_SAID,
    ),
    report(
        "openai/openai-python#3321",
        "responses.stream.shape",
        request=_EVENTS,
        wrong=_events(*_ending(output=None)),
        right=_SAID,
    ),
    report(
        "github/copilot-sdk#2010",
        "responses.stream.one",
        request=_EVENTS,
        wrong=_events(event("response.created", response=response()), *said("Hel", "lo.")[1:]),
        right=_SAID,
    ),
    report(
        "router-for-me/CLIProxyAPI#2460",
        "stream.event.has-data",
        request=_EVENTS,
        wrong=wire(stream(*said("Hi"), b"data:\n\n", done=False)),
        right=_SAID,
    ),
    report(  # missing done events are reported, and no official client reads them
        "ogx-ai/ogx#5309",
        "responses.stream.closed",
        request=_EVENTS,
        wrong=_events(*_without("response.output_text.done")),
        right=_SAID,
        told="the official SDK hands out what comes",
    ),
)

CHAT: tuple[Report, ...] = (
    report(
        "mudler/LocalAI#6243",
        "tool.finish-reason",
        request=_TOOLS,
        wrong=wire(chat("Hello.", "tool_calls")),
        right=(wire(chat()), wire(chat("Let me see.", "tool_calls", message=_CALLED))),
    ),
    report(
        "mudler/LocalAI#6243-stream",
        "tool.finish-reason",
        request=_TOOLS_STREAM,
        wrong=wire(stream(*words("Hello.", reason="tool_calls"))),
        right=_HELLO,
    ),
    report(  # the arguments of parallel calls in one
        "NousResearch/hermes-agent#62937",
        "tool.arguments.once",
        request=_TOOLS,
        wrong=wire(
            chat(
                None,
                "tool_calls",
                message={"tool_calls": [call(None, id="call_1", name="f", arguments='{"day":11}{"day":12}')]},
            )
        ),
        right=wire(chat(None, "tool_calls", message=_CALLED)),
    ),
    report(
        "langwatch/tasks#700",
        "chunk.choices",
        request=_STREAM,
        wrong=wire(stream(*words("Hi")[:2], {"warning": "no usage was reported"}, *words("Hi")[2:])),
        right=(_HELLO, wire(stream(*words("Hi")[:2], b": no usage was reported\n\n", *words("Hi")[2:]))),
    ),
    report(
        "anomalyco/opencode#42918",
        "chunk.object",
        "usage.stream.last",
        request=_METERED,
        wrong=wire(stream(*words("Hi"), usage_chunk(), {"choices": [], "cost": "0"})),
        right=wire(stream(*words("Hi", usage=None), usage_chunk())),
    ),
    report(
        "agentgateway/agentgateway#3455",
        "chunk.shape",
        request=_STREAM,
        wrong=wire(
            stream(
                *words("Hi")[:2],
                {**HEAD, "object": "chat.completion.chunk", "choices": [{"index": 0, "finish_reason": "stop"}]},
            )
        ),
        right=wire(stream(*words("Hi"))),
    ),
    report(
        "BerriAI/litellm#28735",
        "usage.stream.own-chunk",
        request=_METERED,
        wrong=wire(stream(*words("Hi"), chunk(usage=dict(USAGE)))),
        right=wire(stream(*words("Hi"), usage_chunk())),
    ),
    report(
        "sgl-project/sglang#3912",
        "chunk.finish-reason.enum",
        "chunk.role.valid",
        request=_STREAM,
        wrong=wire(stream(opening(), chunk("Hi", "", delta={"role": None, "tool_calls": None}), chunk(reason="stop"))),
        right=_HELLO,
    ),
    report(
        "vllm-project/vllm#47838",
        "logprobs.present",
        request=ask(logprobs=True, top_logprobs=None),
        wrong=wire(chat()),
        right=wire(chat(choice={"logprobs": _GIVEN})),
    ),
    report(
        "xorbitsai/inference#5252",
        "chat.logprobs.shape",
        request=ask(logprobs=True),
        wrong=wire(chat(choice={"logprobs": {"content": [{**_GIVEN["content"][0], "logprob": None}]}})),
        right=wire(chat(choice={"logprobs": _GIVEN})),
    ),
)

OTHERS: tuple[Report, ...] = (
    report(
        "EricLBuehler/mistral.rs#1876",
        "logprobs.present",
        request=ask("completions", logprobs=2),
        wrong=wire(completion()),
        right=wire(completion(choice={"logprobs": _LISTS})),
    ),
    report(
        "raullenchai/Rapid-MLX#461",
        "chunk.id.stable",
        request=ask("completions", stream=True),
        wrong=wire(
            stream(*({**completion(text, None, usage=None), "id": f"cmpl-{text}"} for text in "ab"), completion(""))
        ),
        right=wire(stream(*(completion(text, None, usage=None) for text in "ab"), completion(""))),
    ),
    report(
        "BerriAI/litellm#42426",
        "embeddings.encoding",
        request=ask("embeddings", encoding_format="base64"),
        wrong=wire(embeddings([0.1, 0.2])),
        right=wire(embeddings("AACAPwAAAEA=")),
    ),
    report(
        "envoyproxy/ai-gateway#2553",
        "http.content-encoding.honest",
        request=ask().headed(("Accept-Encoding", "gzip")),
        wrong=wire(error(), status=400, headers=("Content-Encoding: gzip",)),
        right=(
            wire(error(), status=400),
            wire(gzip.compress(compact(error()), mtime=0), status=400, headers=("Content-Encoding: gzip",)),
        ),
    ),
    report(
        "Kong/kong#14893",
        "reply.mode.stream",
        request=_STREAM.headed(("Accept-Encoding", "gzip")),
        wrong=wire(b"", media="text/event-stream", headers=("Content-Encoding: gzip",), framing="chunked"),
        right=_HELLO,
    ),
    report(  # the length of the first event alone
        "kubernetes-sigs/gateway-api-inference-extension#2993",
        "http.body.nothing-after-end",
        "stream.done.present",
        request=_STREAM,
        wrong=wire(stream(*words("Hi")), headers=("Content-Length: 214",), framing="none"),
        right=_HELLO,
    ),
    report(
        "Portkey-AI/gateway#1305",
        "http.framing.consistent",
        wrong=wire(chat(), headers=("Content-Length: 300",), framing="chunked"),
        right=(wire(chat()), wire(chat(), framing="chunked")),
    ),
    report(
        "vllm-project/aibrix#1494",
        "http.body.complete",
        request=_STREAM,
        wrong=wire(stream(*words("Hi")), end="close"),
        right=_HELLO,
    ),
    report(
        "envoyproxy/ai-gateway#1091",
        "http.body.complete",
        wrong=wire(
            error(), status=400, headers=(f"Content-Length: {len(compact(error())) + 1}",), framing="none", end="close"
        ),
        right=wire(error(), status=400),
    ),
    report(
        "mnfst/llm-gateway#2053",
        "stream.event.json",
        request=_STREAM,
        up=wire(stream(b": PROCESSING\n\n", *words("Hi"))),
        wrong=wire(stream(b"data: : PROCESSING\n\n", *words("Hi"))),
        right=(wire(stream(b": PROCESSING\n\n", *words("Hi"))), wire(stream(*words("Hi")))),
    ),
    report(  # the second dispatch's text behind the first one's
        "aden-hive/hive#5923",
        "relay.text.equal",
        "relay.truncation.told",
        request=_STREAM,
        up=(wire(stream(opening(), chunk("Hel"), done=False), end="close"), wire(stream(*words("Hello.")))),
        wrong=wire(stream(opening(), chunk("Hel"), chunk("Hello."), chunk(reason="stop"))),
        right=Right(
            wire(stream(*words("Hello."))),
            (wire(stream(opening(), done=False), end="close"), Try(wire(stream(*words("Hello."))), "m1", 60.0)),
        ),
    ),
    report(  # nobody answered, and the client is told a whole answer of nothing
        "BerriAI/litellm#32086-chat",
        "relay.empty.not-success",
        request=_STREAM,
        up=wire(status=0, end="reset"),
        wrong=wire(stream(opening(), chunk(reason="stop"))),
        right=(
            wire(error("The upstream failed.", type="server_error"), status=502),
            wire(stream(error("The upstream failed.", type="server_error"), done=False)),
        ),
    ),
)

FURTHER = (*RESPONSES, *CHAT, *OTHERS)
