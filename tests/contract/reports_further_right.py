"""What public reports show and no norm denies: the extensions of providers, odd spellings, other events.

Facts from the threads, rebuilt as captures; keys and names are ours.
"""

from __future__ import annotations

from conformance.cassette.model import Envelope, Frame
from tests.contract.captures import (
    USAGE,
    Ask,
    Try,
    ask,
    call,
    chat,
    chunk,
    compact,
    error,
    opening,
    stream,
    usage_chunk,
    wire,
)
from tests.contract.further import (
    EVENTS,
    FILTER,
    FLUSHED,
    FROM_ANTHROPIC,
    FROM_GEMINI,
    FROM_RESPONSES,
    OK,
    RESPONSE,
    STREAM,
    TOOLS,
    asked,
    events,
    said_with,
    streamed_with,
    to_anthropic,
)
from tests.contract.responding import event, response, said
from tests.contract.situation import Report, Right, report

PASSING: tuple[Report, ...] = (
    report(
        "coder/coder#28185", request=STREAM, right=wire(stream(opening(), b":\n\n", chunk("Hi"), chunk(reason="stop")))
    ),
    report(
        "vllm-project/vllm#35705",
        request=ask(stream=True, max_tokens=2),
        right=wire(stream(opening(), chunk(" ."), chunk("<think>", "length", choice={"stop_reason": None}))),
    ),
    report(
        "davidmigloz/langchain_dart#778",
        request=STREAM,
        right=wire(
            stream(
                b'data:{"id":"d","object":"chat.completion.chunk","created":1759222019,"model":"L","choices":[{"delta":{"role":"assistant","content":"Hi","function_call":null},"index":0,"finish_reason":null,"logprobs":null}],"content":"","lastOne":false}\n\n',
                b'data:{"id":"d","object":"chat.completion.chunk","created":1759222019,"model":"L","choices":[{"delta":{},"index":0,"finish_reason":"stop","logprobs":null}],"content":"","lastOne":true}\n\n',
                b"data:[DONE]\n\n",
                done=False,
            )
        ),
    ),
    report(
        "zyycn/codex-proxy-rs#90",
        request=EVENTS,
        right=events(
            *said("Hi")[:3],
            event(
                "error",
                error={
                    "type": "service_unavailable_error",
                    "code": "server_is_overloaded",
                    "message": "Our servers are overloaded.",
                    "param": None,
                },
            ),
        ),
    ),
    report(
        "router-for-me/CLIProxyAPI#3064",
        request=RESPONSE,
        right=(wire(response(output_text=None)), wire(response(output_text="Hello."))),
    ),
    report(
        "Wave-RF/WaveHouse#465",
        request=STREAM.headed(("Accept-Encoding", "gzip")),
        right=wire(FLUSHED, headers=("Content-Encoding: gzip",)),
    ),
    report(
        "x_groq",
        request=STREAM,
        right=(
            wire(
                stream(
                    opening(x_groq={"id": "req_1"}),
                    chunk("Hi"),
                    chunk(reason="stop", x_groq={"id": "req_1", "usage": {**USAGE, "queue_time": 0.1}}),
                )
            ),
        ),
    ),
    report(
        "deepseek-cache", right=said_with(usage={**USAGE, "prompt_cache_hit_tokens": 4, "prompt_cache_miss_tokens": 5})
    ),
    report(
        "perplexity",
        right=said_with(citations=["https://a.test"], search_results=[{"title": "a", "url": "https://a.test"}]),
    ),
    report(
        "openrouter",
        request=STREAM,
        right=wire(
            stream(
                b": OPENROUTER PROCESSING\n\n",
                opening(provider="X"),
                chunk(
                    "",
                    delta={
                        "reasoning": "Hm",
                        "reasoning_details": [
                            {"type": "reasoning.text", "text": "Hm", "index": 0, "format": "unknown"}
                        ],
                    },
                ),
                chunk("Hi", choice={"native_finish_reason": None}),
                chunk("", reason="stop", choice={"native_finish_reason": "end_turn"}),
                usage_chunk(
                    {**USAGE, "cost": 0.001, "is_byok": False, "cost_details": {"upstream_inference_cost": None}},
                    choices=[],
                ),
            )
        ),
    ),
    report("cerebras", right=said_with(time_info={"queue_time": 0.1, "created": 1785402847.5})),
    report("together", right=said_with(prompt=[], choice={"seed": 123456789})),
    report(
        "vllm",
        right=said_with(
            choice={"stop_reason": None, "token_ids": None},
            message={"reasoning": None, "annotations": None, "audio": None, "function_call": None, "tool_calls": []},
            service_tier=None,
            system_fingerprint=None,
            prompt_logprobs=None,
            prompt_token_ids=None,
            kv_transfer_params=None,
        ),
    ),
    report(
        "vllm-plain",
        right=said_with(
            choice={"stop_reason": None},
            service_tier=None,
            system_fingerprint=None,
            prompt_logprobs=None,
            kv_transfer_params=None,
        ),
    ),
    report(
        "gemini",
        request=TOOLS,
        right=wire(
            chat(
                None,
                "tool_calls",
                message={
                    "tool_calls": [
                        {
                            **call(None, id="function-call-1", name="f", arguments="{}"),
                            "extra_content": {"google": {"thought_signature": "x"}},
                        }
                    ]
                },
            )
        ),
    ),
    report(
        "llamacpp",
        request=STREAM,
        right=streamed_with(top={"timings": {"prompt_n": 1}, "system_fingerprint": "b6000-abc"}),
    ),
    report("lmstudio", right=said_with(stats={}, system_fingerprint="qwen")),
    report(
        "litellm",
        request=STREAM,
        right=streamed_with(delta={"provider_specific_fields": None}, top={"citations": None}),
    ),
    report("litellm-msg", right=said_with(message={"provider_specific_fields": {"refusal": None}, "annotations": []})),
    report("sglang", right=said_with(choice={"matched_stop": 151645}, metadata={"weight_version": "default"})),
    report(
        "moonshot",
        request=STREAM,
        right=wire(stream(opening(), chunk("Hi"), chunk(reason="stop", choice={"usage": USAGE}))),
    ),
    report(
        "xai",
        right=said_with(
            citations=None,
            usage={
                **USAGE,
                "num_sources_used": 0,
                "prompt_tokens_details": {"text_tokens": 9, "audio_tokens": 0, "image_tokens": 0, "cached_tokens": 0},
            },
        ),
    ),
    report(
        "openai-new",
        request=STREAM,
        right=streamed_with(
            top={"service_tier": "default", "system_fingerprint": "fp_1", "obfuscation": "abc", "usage": None}, delta={}
        ),
    ),
    report(
        "azure-async",
        right=said_with(
            choice={"content_filter_results": FILTER, "content_filter_offsets": {"check_offset": 0}},
            prompt_filter_results=[{"prompt_index": 0, "content_filter_results": FILTER}],
        ),
    ),
    report(
        "anthropic-compat",
        right=said_with(
            system_fingerprint=None, usage={**USAGE, "completion_tokens_details": None, "prompt_tokens_details": None}
        ),
    ),
    report(
        "http-case",
        right=Envelope(
            head=(
                "HTTP/1.1 200 OK",
                "CONTENT-TYPE: application/json; charset=UTF-8",
                f"content-length: {len(compact(chat()))}",
                "connection: Keep-Alive",
                "X-Request-ID: 1",
            ),
            body=compact(chat()),
            frames=(Frame(0.0, len(compact(chat()))),),
        ),
    ),
    report(
        "responses-extra",
        request=EVENTS,
        right=(
            events(
                *said("Hi")[:1],
                event("response.in_progress", response=response(status="in_progress", output=[], usage=None)),
                *said("Hi")[1:3],
                event("keepalive"),
                *said("Hi")[3:],
            ),
            events(
                *said("Hi")[:3],
                event(
                    "response.output_text.annotation.added",
                    item_id="msg_1",
                    output_index=0,
                    content_index=0,
                    annotation_index=0,
                    annotation={
                        "type": "url_citation",
                        "url": "https://a.test",
                        "title": "a",
                        "start_index": 0,
                        "end_index": 1,
                    },
                ),
                *said("Hi")[3:],
            ),
        ),
    ),
    report("responses-done", request=EVENTS, right=wire(stream(*((i["type"], i) for i in said("Hi")), done=True))),
    report(
        "theopenco/llmgateway#1578",
        up=Try(wire(status=0, end="stall")),
        right=(
            wire(error("The upstream took too long.", type="upstream_timeout", code="timeout"), status=504),
            wire(error("The upstream took too long.", type="upstream_error", code="fetch_failed"), status=502),
        ),
    ),
    report(
        "router-for-me/CLIProxyAPI#4699",
        request=ask(
            "responses",
            input=[
                {"role": "user", "content": "cf-q8w3zd"},
                {
                    "type": "function_call",
                    "call_id": "c1",
                    "name": "view",
                    "arguments": '{"path": "a.png", "note":"x\\ny"}',
                },
                {"type": "function_call_output", "call_id": "c1", "output": '{"size": 47, "name": "screen shot"}'},
            ],
        ),
        right=Right(
            FROM_RESPONSES,
            Try(
                FROM_ANTHROPIC,
                request=Ask(
                    "/v1/messages",
                    {
                        "model": "claude",
                        "max_tokens": 9,
                        "messages": [
                            {"role": "user", "content": "cf-q8w3zd"},
                            {
                                "role": "assistant",
                                "content": [
                                    {
                                        "type": "tool_use",
                                        "id": "c1",
                                        "name": "view",
                                        "input": {"path": "a.png", "note": "x\ny"},
                                    }
                                ],
                            },
                            {
                                "role": "user",
                                "content": [
                                    {
                                        "type": "tool_result",
                                        "tool_use_id": "c1",
                                        "content": [{"type": "text", "text": '{"size":47,"name":"screen shot"}'}],
                                    }
                                ],
                            },
                        ],
                    },
                ),
            ),
        ),
    ),
    report(  # what another API does not take may be brought into its bounds
        "translated-within-the-bounds",
        request=ask(
            max_completion_tokens=200000,
            temperature=1.7,
            stop=["\n\n"],
            tools=[{"type": "function", "function": {"name": "mcp.files/read", "parameters": {}}}],
            tool_choice="none",
        ),
        right=Right(OK, Try(FROM_ANTHROPIC, request=to_anthropic(max_tokens=8192, temperature=1))),
    ),
    report(
        "translated-history",
        request=ask(
            messages=[
                {"role": "user", "content": "Hi"},
                {"role": "assistant", "content": "<think>Hm.</think>Hello."},
                {"role": "assistant", "content": None, "tool_calls": [call(None, id="c", name="f", arguments='{"a":')]},
                {"role": "tool", "tool_call_id": "c", "content": ""},
                {"role": "user", "content": "cf-q8w3zd"},
            ]
        ),
        right=Right(
            OK,
            Try(
                FROM_GEMINI,
                request=Ask(
                    "/v1beta/models/g:generateContent",
                    {
                        "contents": [
                            {"role": "user", "parts": [{"text": "Hi"}]},
                            {
                                "role": "model",
                                "parts": [{"text": "Hello."}, {"functionCall": {"name": "f", "args": {}}}],
                            },
                            {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]},
                            {"role": "user", "parts": [{"text": "cf-q8w3zd"}]},
                        ]
                    },
                ),
            ),
        ),
    ),
    report(  # a guard that is asked about the text is no dispatch of the request
        "translated-guard",
        request=ask(stop=["END"]),
        right=Right(
            OK,
            (
                Try(
                    FROM_ANTHROPIC,
                    request=to_anthropic(
                        messages=[{"role": "user", "content": "Is this safe? Ticket cf-q8w3zd: say hello."}]
                    ),
                ),
                Try(OK, "m1", 40.0, request=asked(stop=["END"])),
            ),
        ),
    ),
    report(
        "stop-in-the-thought",
        request=ask(stop=["\n\n"]),
        right=wire(chat("<think>Hm.\n\nYes.</think>Hello.")),
    ),
)
