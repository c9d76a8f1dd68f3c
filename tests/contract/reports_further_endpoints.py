"""Further public reports of what an endpoint sent to its client, named by their issue thread.

Facts from the threads, rebuilt as captures; keys and names are ours.
"""

from __future__ import annotations

from tests.contract.captures import (
    USAGE,
    ask,
    call,
    chat,
    chunk,
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
from tests.contract.further import (
    AS_CUSTOM,
    AS_FUNCTION,
    AT_FUNCTION,
    CALLING,
    EVENTS,
    FILTER_OFFSETS,
    FILTERED,
    FUNCTION_DONE,
    HELLO,
    OK,
    PATCHING,
    RESPONSE,
    SAID,
    STREAM,
    TOOLS_STREAM,
    TWO,
    calling,
    events,
    without,
)
from tests.contract.responding import created, event, item_added, response, said, told
from tests.contract.situation import Report, report

ENDPOINTS: tuple[Report, ...] = (
    report(
        "NVIDIA/TensorRT-Edge-LLM#93",
        "chunk.object",
        request=STREAM,
        wrong=wire(stream(*(without(c, "object", "created", "model") for c in words("Hi")))),
        right=HELLO,
    ),
    report(
        "pjq/sap-ai-core-llm-proxy#35",
        "responses.stream.typed",
        request=EVENTS,
        wrong=wire(
            stream(
                ("response.created", {**response(status="in_progress", output=[], usage=None), "sequence_number": 0}),
                *((i["type"], i) for i in said("Hi")[1:-1]),
                ("response.completed", {**response("Hi"), "sequence_number": 9}),
                done=False,
            )
        ),
        right=SAID,
    ),
    report(
        "NousResearch/hermes-agent#92764",
        "responses.stream.whole",
        "responses.stream.closed",
        request=EVENTS,
        wrong=events(*CALLING[:4], *told(output=[])),
        right=events(*CALLING, *told(output=[FUNCTION_DONE])),
    ),
    report(
        "openclaw/openclaw#133158",
        "embeddings.dimensions",
        request=ask("embeddings", dimensions=8),
        wrong=wire(embeddings([0.1] * 1536)),
        right=wire(embeddings([0.1] * 8)),
    ),
    report(
        "doobidoo/mcp-memory-service#612",
        "embeddings.index",
        "embeddings.shape",
        request=ask("embeddings", input=["cf-q8w3zd", "b"]),
        wrong=wire(
            {
                "object": "list",
                "model": "m",
                "data": [{"object": "embedding", "embedding": [0.1]}, {"object": "embedding", "embedding": [0.2]}],
                "usage": {"prompt_tokens": 4, "total_tokens": 4},
            }
        ),
        right=wire(embeddings([0.1], [0.2])),
    ),
    report(
        "theopenco/llmgateway#2334",
        "stream.event.has-data",
        request=STREAM,
        wrong=wire(
            stream(
                *(b"id: %d\nevent: message\ndata: " % i + compact(c) + b"\n\n" for i, c in enumerate(words("Hi"))),
                b": ping\n\n",
                b": ping\n",
            )
        ),
        right=wire(
            stream(*(b"id: %d\ndata: " % n + compact(c) + b"\n\n" for n, c in enumerate(words("Hi"))), b": ping\n")
        ),
    ),
    report(
        "omnigent-ai/omnigent#1474",
        "stream.event.has-data",
        "stream.event.json",
        request=STREAM,
        wrong=wire(stream(opening(), b"data: \n\n", chunk("Hi"), chunk(reason="stop"))),
        right=HELLO,
    ),
    report(
        "openclaw/clawhub#407",
        "error.retry-after.valid",
        wrong=wire(
            error("Too many requests.", type="rate_limit_exceeded"), status=429, headers=("Retry-After: 1771404540",)
        ),
        right=(
            wire(error(), status=429, headers=("Retry-After: 30",)),
            wire(error(), status=429, headers=("Retry-After: 86400",)),
        ),
    ),
    report(
        "brave/brave-browser#40902",
        "chunk.object",
        request=STREAM,
        wrong=wire(stream(*FILTERED)),
        right=wire(stream(*FILTERED[1:])),
    ),
    report(
        "microsoft/autogen#6465",
        "chunk.shape",
        "chunk.object",
        request=STREAM,
        wrong=wire(stream(*FILTERED, FILTER_OFFSETS)),
        right=wire(stream(*FILTERED[1:])),
    ),
    report(
        "Kohaku-Lab/KohakuTerrarium#48",
        "json.text.unicode",
        request=STREAM,
        wrong=wire(
            stream(
                opening(), b"data: " + compact(chunk("XX")).replace(b"XX", b"\\udcaf") + b"\n\n", chunk(reason="stop")
            )
        ),
        right=HELLO,
        told="a SHOULD: the norm leaves it open",
    ),
    report(
        "BigPizzaV3/CodexPlusPlus#1908",
        "responses.stream.shape",
        request=EVENTS,
        wrong=events(
            *said("Hi")[:-1],
            event(
                "response.completed",
                response=response(
                    "Hi",
                    usage={
                        "input_tokens": 9,
                        "input_tokens_details": {"cached_tokens": 0},
                        "output_tokens": 2,
                        "output_tokens_details": {},
                        "total_tokens": 11,
                    },
                ),
            ),
        ),
        right=SAID,
    ),
    report(
        "pingmike2/freebuff2api-wokers#10",
        "responses.stream.shape",
        "usage.counters",
        request=EVENTS,
        wrong=events(*said("Hi")[:-1], event("response.completed", response=response("Hi", usage=dict(USAGE)))),
        right=SAID,
    ),
    report(
        "alfredapp/openai-workflow#52",
        "stream.terminal.present",
        request=STREAM,
        wrong=wire(
            stream(
                *(
                    {
                        "created": 1732022963,
                        "id": "d",
                        "model": "x",
                        "version": "2",
                        "choices": [{"index": 0, "delta": {"role": "assistant", "content": t}}],
                        "usage": {"prompt_tokens": 1, "completion_tokens": n, "total_tokens": n + 1},
                    }
                    for n, t in ((1, "a"), (2, "b"))
                )
            )
        ),
        right=HELLO,
    ),
    report(
        "jjang-ai/vmlx#219",
        "tool.finish-reason",
        request=TOOLS_STREAM,
        wrong=wire(
            stream(opening(), chunk(delta={}, tool_call_generating=True), chunk(delta={}), chunk(reason="tool_calls"))
        ),
        right=HELLO,
    ),
    report(
        "vllm-project/vllm#44348",
        "tool.arguments.json",
        request=EVENTS,
        wrong=events(
            *CALLING[:3],
            event("response.function_call_arguments.done", **AT_FUNCTION, name="f", arguments='{"city":'),
            event("response.output_item.done", output_index=0, item={**FUNCTION_DONE, "arguments": '{"city":'}),
            *told(output=[{**FUNCTION_DONE, "arguments": '{"city":'}]),
        ),
        right=events(*CALLING, *told(output=[FUNCTION_DONE])),
        told="a SHOULD: models write such arguments themselves",
    ),
    report(
        "Gnosil/semantix#368",
        "http.body.complete",
        wrong=wire(compact(chat())[:60], headers=("Content-Length: 9000",), framing="none", end="close"),
        right=OK,
    ),
    report("wso2/api-manager#5231", "json.body.valid", wrong=wire(compact(chat())[:60]), right=OK),
    report(
        "opennextjs/opennextjs-aws#532",
        "http.body.nothing-after-end",
        "json.body.valid",
        wrong=wire(chat(), headers=("Content-Length: 60",), framing="none"),
        right=OK,
    ),
    report(
        "raullenchai/Rapid-MLX#733",
        "completion.text",
        "bounds.echo.first",
        request=ask("completions", prompt="Once cf-q8w3zd upon", echo=True),
        wrong=wire(completion(" a time")),
        right=wire(completion("Once cf-q8w3zd upon a time")),
    ),
    report(
        "router-for-me/CLIProxyAPI#5733-sum",
        "usage.parts",
        wrong=wire(
            chat(
                usage={
                    "completion_tokens": 0,
                    "total_tokens": 21,
                    "prompt_tokens": 21,
                    "completion_tokens_details": {"reasoning_tokens": 60},
                }
            )
        ),
    ),
    report(
        "mozilla-ai/any-llm#1290",
        "usage.total",
        wrong=wire(chat(usage={"prompt_tokens": 20, "completion_tokens": 198, "total_tokens": 623})),
        right=wire(chat(usage={"prompt_tokens": 20, "completion_tokens": 603, "total_tokens": 623})),
    ),
    report(
        "Wei-Shaw/sub2api#1471",
        "stream.event.json",
        request=EVENTS,
        wrong=wire(
            stream(
                *((i["type"], i) for i in said("Hi")[:-1]),
                b'event: response.completed\ndata: {"type":"response.completed","response":{"id"\ndata: {"type":"error","sequence_number":0,"error":{"type":"upstream_error","message":"stream_read_error"}}\n\n',
                done=False,
            )
        ),
        right=wire(
            stream(
                *((i["type"], i) for i in said("Hi")[:-1]),
                (
                    "error",
                    {
                        "type": "error",
                        "sequence_number": 8,
                        "code": "server_error",
                        "message": "stream_read_error",
                        "param": None,
                    },
                ),
                done=False,
            )
        ),
    ),
    report(
        "lucasjinreal/Crane#121",
        "stream.event.json",
        request=STREAM,
        wrong=wire(stream(opening(), chunk("Hi"), b"data: error: out of memory\n\n", done=False)),
        right=wire(stream(opening(), chunk("Hi"), error("out of memory", type="server_error"), done=False)),
    ),
    report(
        "openai-php/client#723",
        "error.content-type",
        wrong=wire(error(), status=400, media="text/plain; charset=utf-8"),
        right=wire(error(), status=400, media="application/json; charset=utf-8"),
    ),
    report(
        "AltimateAI/altimate-code#1119",
        "json.body.valid",
        "http.content-type.json",
        wrong=wire(b"<!DOCTYPE html><html><body>Sign in</body></html>", media="text/html"),
        right=OK,
    ),
    report("AltimateAI/altimate-code#1119-none", "http.content-type.json", wrong=wire(chat(), media=""), right=OK),
    report(
        "ollama/ollama#10139",
        "error.body.json",
        "error.content-type",
        request=listing("/v1/models/aaa/llava:13b"),
        wrong=wire(b"404 page not found", status=404, media="text/plain"),
        right=(
            wire({"id": "aaa/llava:13b", "object": "model", "created": 1743869353, "owned_by": "aaa"}),
            wire(error("model not found", code="model_not_found"), status=404),
        ),
    ),
    report(
        "diegosouzapw/OmniRoute#4677",
        "models.retrieve",
        "json.body.valid",
        "http.content-type.json",
        request=listing("/v1/models/alias-1"),
        wrong=wire(b"<!DOCTYPE html><html></html>", media="text/html; charset=utf-8"),
        right=wire({"id": "alias-1", "object": "model", "created": 1, "owned_by": "me"}),
    ),
    report(
        "webai-at-home/webai-at-home#208",
        "models.entries",
        request=listing(),
        wrong=wire(
            {"object": "list", "data": [{"id": "qwen3.5-2b", "object": "model", "owned_by": "organization_owner"}]}
        ),
        right=wire(
            {
                "object": "list",
                "data": [{"id": "qwen3.5-2b", "object": "model", "created": 1, "owned_by": "organization_owner"}],
            }
        ),
    ),
    report(
        "timoklimmer/powerproxy-aoai#53",
        "http.framing.consistent",
        request=STREAM,
        wrong=wire(stream(*words("Hi")), headers=("Content-Length: 900",)),
        right=HELLO,
    ),
    report(
        "huggingface/text-generation-inference#1724",
        "bounds.stop.left-out",
        request=ask(stop=["<|im_end|>", "</s>"]),
        wrong=wire(chat("Hello.<|im_end|>")),
        right=OK,
    ),
    report(
        "Blaizzy/mlx-vlm#1069",
        "bounds.stop.left-out",
        request=ask(stop="END", stream=True),
        wrong=wire(stream(*words("Hel", "lo E", "ND more"))),
        right=HELLO,
    ),
    report(
        "rohitg00/agentmemory#526",
        "reply.mode.json",
        "http.content-type.json",
        wrong=wire(stream(*words("Hi"))),
        right=OK,
    ),
    report(
        "ggml-org/llama.cpp#16109",
        "stream.error.shape",
        "stream.lines.fields",
        "stream.event.has-data",
        request=STREAM,
        wrong=wire(
            stream(
                opening(),
                b'error: {"code":400,"message":"too long","type":"exceed_context_size_error"}\n\n',
                done=False,
            )
        ),
        right=wire(stream(opening(), error("too long", code="context_length_exceeded"), done=False)),
    ),
    report(
        "diegosouzapw/OmniRoute#6905",
        "chunk.tool.index",
        request=TOOLS_STREAM,
        wrong=wire(
            stream(*calling([call(0, id="a", name="f", arguments="")], [{"id": "a", "function": {"arguments": "{}"}}]))
        ),
        right=wire(stream(*calling([call(0, id="a", name="f", arguments="")], [call(0, arguments="{}")]))),
    ),
    report(
        "apache/maka#1976",
        "chunk.tool.distinct",
        request=TOOLS_STREAM,
        wrong=wire(
            stream(
                *calling(
                    [call(0, id="a", name="f", arguments='{"p":"a"}')],
                    [call(0, id="b", name="f", arguments='{"p":"b"}')],
                )
            )
        ),
        right=wire(stream(*TWO)),
    ),
    report(
        "Wei-Shaw/sub2api#1493-alone",
        "responses.output.present",
        request=RESPONSE,
        wrong=wire(response(output=[])),
        right=wire(response()),
    ),
    report(
        "openai/openai-python#3454",
        "responses.shape",
        request=RESPONSE,
        wrong=wire(response(None)),
        right=wire(response("")),
    ),
    report(
        "earendil-works/pi#7748",
        "error.envelope.object",
        wrong=wire({"error_code": "BAD_REQUEST", "message": "Unknown parameter."}, status=400),
        right=wire(error("Unknown parameter."), status=400),
    ),
    report(
        "HKUDS/nanobot#2289",
        "json.body.valid",
        "http.content-type.json",
        wrong=wire(b"unsupported model: x", media="text/plain"),
        right=wire(error("unsupported model: x", code="model_not_found"), status=404),
    ),
    report(
        "PsycherosAI/Psycheros#44",
        "error.envelope.object",
        wrong=wire({"error": "Insufficient balance", "requiredBalance": 0.0035, "status": 402}, status=402),
        right=wire(error("Insufficient balance", type="insufficient_quota", code="insufficient_quota"), status=402),
    ),
    report(
        "decolua/9router#1371",
        "tool.kind.declared",
        request=PATCHING,
        wrong=wire(response(output=[AS_FUNCTION])),
        right=wire(response(output=[AS_CUSTOM])),
    ),
    report(
        "Wei-Shaw/sub2api#5659",
        "tool.kind.declared",
        request=PATCHING.with_(stream=True),
        wrong=events(
            created(),
            item_added({**AS_FUNCTION, "arguments": "", "status": "in_progress"}),
            event("response.function_call_arguments.delta", item_id="fc_1", output_index=0, delta="{}"),
            event("response.function_call_arguments.done", item_id="fc_1", output_index=0, arguments="{}"),
            event("response.output_item.done", output_index=0, item=AS_FUNCTION),
            *told(output=[AS_FUNCTION]),
        ),
        right=events(
            created(),
            item_added({**AS_CUSTOM, "input": "", "status": "in_progress"}),
            event("response.custom_tool_call_input.delta", item_id="ctc_1", output_index=0, delta="*** Begin Patch"),
            event("response.custom_tool_call_input.done", item_id="ctc_1", output_index=0, input="*** Begin Patch"),
            event("response.output_item.done", output_index=0, item=AS_CUSTOM),
            *told(output=[AS_CUSTOM]),
        ),
    ),
    report(
        "ogx-ai/ogx#2496",
        "http.status.final",
        wrong=wire(
            {"id": "", "model": "", "choices": [], "created": 0, "object": ""},
            status=307,
            headers=("Location: https://api.test/v1/chat/completions",),
        ),
        right=OK,
    ),
    report(
        "mudler/LocalAI#1744",
        "usage.stream.once",
        request=STREAM,
        wrong=wire(
            stream(
                *(
                    {
                        **without(c),
                        "choices": [{k: v for k, v in c["choices"][0].items() if v is not None}],
                        "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
                    }
                    for c in words("Hi")
                )
            )
        ),
        right=HELLO,
    ),
    report(
        "mudler/LocalAI#648",
        "chunk.choice.index",
        "chunk.id",
        "completion.shape",
        "chunk.shape",
        request=ask("completions", stream=True),
        wrong=wire(
            stream(
                {"object": "text_completion", "model": "g", "choices": [{"text": " Hall"}]},
                {"model": "g", "choices": [{"finish_reason": "stop"}]},
            )
        ),
        right=wire(stream(completion(" Hall", None, usage=None), completion("", "stop", usage=None))),
    ),
    report("mudler/LocalAI#1103", "chat.id", "chat.created", wrong=wire(without(chat(), "id", "created")), right=OK),
    report(
        "acon96/home-llm#350",
        "chunk.object",
        request=STREAM,
        wrong=wire(stream(without(opening(), "object"), chunk("Hi"), chunk(reason="stop"))),
        right=HELLO,
    ),
    report(
        "NangoHQ/nango#6499",
        "http.framing.consistent",
        wrong=wire(error(), status=400, headers=(f"Content-Length: {len(compact(error()))}",), framing="chunked"),
        right=wire(error(), status=400),
    ),
    report(
        "envoyproxy/envoy#9019",
        "http.header.single",
        wrong=wire(chat(), headers=("Content-Type: application/json",)),
        right=OK,
    ),
)
