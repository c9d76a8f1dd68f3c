"""Further public reports of what a gateway made of a request or an answer, seen on both legs, named by their thread.

Facts from the threads, rebuilt as captures; keys and names are ours.
"""

from __future__ import annotations

import json

from tests.contract.captures import (
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
    wire,
    words,
)
from tests.contract.further import (
    AUDIO,
    DEVELOPED,
    FROM_ANTHROPIC,
    FROM_GEMINI,
    FROM_RESPONSES,
    FUNCTION,
    HISTORY,
    INPUT,
    LATE,
    MERGED,
    OK,
    RESPONSE,
    SLOW,
    STREAM,
    TOOL,
    TOOLS,
    TOOLS_STREAM,
    TWO,
    asked,
    events,
    to_anthropic,
    to_gemini,
    told_so,
)
from tests.contract.responding import response, said
from tests.contract.situation import Report, Right, report

LEGS: tuple[Report, ...] = (
    report(
        "api7/aisix#144",
        "error.rate-limit.retry-after",
        up=wire(
            error("Slow down.", type="rate_limit_error", code="rate_limit_exceeded"),
            status=429,
            headers=("retry-after: 30",),
        ),
        wrong=wire(error("Slow down.", type="rate_limit_error", code="rate_limit_exceeded"), status=429),
        right=wire(
            error("Slow down.", type="rate_limit_error", code="rate_limit_exceeded"),
            status=429,
            headers=("retry-after: 30",),
        ),
        told="a SHOULD: the norm leaves the field to the server",
    ),
    report(
        "api7/aisix#170",
        "relay.tool-calls.equal",
        request=TOOLS,
        up=Try(
            wire(
                {
                    "id": "msg_1",
                    "type": "message",
                    "role": "assistant",
                    "model": "claude",
                    "content": [{"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"city": "SF"}}],
                    "stop_reason": "tool_use",
                    "usage": {"input_tokens": 9, "output_tokens": 2},
                }
            ),
            request=Ask(
                "/v1/messages",
                {
                    "model": "claude",
                    "max_tokens": 9,
                    "messages": [{"role": "user", "content": "Ticket cf-q8w3zd: say hello."}],
                    "tools": [{"name": "f", "input_schema": {"type": "object", "properties": {}}}],
                },
            ),
        ),
        wrong=wire(chat("", "tool_calls")),
        right=wire(
            chat(
                None,
                "tool_calls",
                message={"tool_calls": [call(None, id="toolu_1", name="f", arguments='{"city":"SF"}')]},
            )
        ),
    ),
    report(
        "envoyproxy/ai-gateway#2467",
        "relay.request.fields",
        request=TOOLS,
        up=Try(
            OK,
            request=Ask(
                "/v1/messages",
                {
                    "model": "claude",
                    "max_tokens": 9,
                    "messages": [{"role": "user", "content": "Ticket cf-q8w3zd: say hello."}],
                },
            ),
        ),
        wrong=OK,
    ),
    report(
        "Portkey-AI/gateway#980",
        "relay.request.messages",
        request=ask(
            messages=[
                {"role": "user", "content": "cf-q8w3zd"},
                {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [
                        call(None, id="c1", name="f", arguments="{}"),
                        call(None, id="c2", name="f", arguments="{}"),
                    ],
                },
                {"role": "tool", "tool_call_id": "c1", "content": "47"},
                {"role": "tool", "tool_call_id": "c2", "content": "62"},
            ]
        ),
        up=Try(
            wire(
                {"type": "error", "error": {"type": "invalid_request_error", "message": "tool_use ids were not found"}},
                status=400,
            ),
            request=Ask(
                "/v1/messages",
                {
                    "model": "claude",
                    "max_tokens": 9,
                    "messages": [
                        {"role": "user", "content": "cf-q8w3zd"},
                        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "f", "input": {}}]},
                        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "47"}]},
                    ],
                },
            ),
        ),
        wrong=wire(error("tool_use ids were not found"), status=400),
    ),
    report(
        "ikawrakow/ik_llama.cpp#2321-relayed",
        "relay.request.fields",
        request=ask(max_completion_tokens=50),
        up=Try(OK, request=asked()),
        wrong=OK,
        right=(
            Right(OK, Try(OK, request=asked(max_completion_tokens=50))),
            Right(OK, Try(OK, request=asked(max_tokens=50))),
        ),
    ),
    report(
        "llm-d/llm-d-router#2518",
        "relay.request.fields",
        request=Ask(
            "chat.completions",
            json.loads(
                '{"model":"alias-1","messages":[{"role":"user","content":"cf-q8w3zd"}],"seed":9007199254740993}'
            ),
        ),
        up=Try(
            OK,
            request=Ask(
                "chat.completions",
                json.loads(
                    '{"model":"up-model","messages":[{"role":"user","content":"cf-q8w3zd"}],"seed":9007199254740992}'
                ),
            ),
        ),
        wrong=OK,
        right=Right(
            OK,
            Try(
                OK,
                request=Ask(
                    "chat.completions",
                    json.loads(
                        '{"model":"up-model","messages":[{"role":"user","content":"cf-q8w3zd"}],"seed":9007199254740993}'
                    ),
                ),
            ),
        ),
    ),
    report(
        "mark3labs/mcp-go#913",
        "relay.tool-calls.equal",
        request=TOOLS,
        up=wire(
            chat(
                None,
                "tool_calls",
                message={"tool_calls": [call(None, id="call_1", name="f", arguments='{"id":9223372036854775807}')]},
            )
        ),
        wrong=wire(
            chat(
                None,
                "tool_calls",
                message={"tool_calls": [call(None, id="call_1", name="f", arguments='{"id":9223372036854776000}')]},
            )
        ),
        right=wire(
            chat(
                None,
                "tool_calls",
                message={"tool_calls": [call(None, id="call_1", name="f", arguments='{"id": 9223372036854775807}')]},
            )
        ),
    ),
    report(
        "higress-group/higress#4027",
        "relay.text.equal",
        up=wire(compact(chat("XX")).replace(b"XX", b"\\ud83d\\ude00")),
        wrong=wire(chat("��")),
        right=(wire(chat("😀")), wire(compact(chat("XX")).replace(b"XX", b"\\ud83d\\ude00"))),
    ),
    report(
        "router-for-me/CLIProxyAPI#5533",
        "relay.request.fields",
        request=ask(
            response_format={"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}
        ),
        up=Try(OK, request=asked()),
        wrong=OK,
    ),
    report(
        "router-for-me/CLIProxyAPI#4802",
        "relay.request.fields",
        request=ask(
            "responses",
            text={
                "format": {
                    "type": "json_schema",
                    "name": "answer",
                    "strict": True,
                    "schema": {"type": "object", "properties": {"ok": {"type": "boolean"}}},
                }
            },
        ),
        up=Try(wire(chat("NOT_JSON")), request=ask(model="up-model")),
        wrong=wire(response("NOT_JSON")),
        right=Right(
            wire(response("NOT_JSON")),
            Try(
                wire(chat("NOT_JSON")),
                request=asked(
                    response_format={
                        "type": "json_schema",
                        "json_schema": {
                            "name": "answer",
                            "strict": True,
                            "schema": {"type": "object", "properties": {"ok": {"type": "boolean"}}},
                        },
                    }
                ),
            ),
        ),
    ),
    report(
        "decolua/9router#2433",
        "relay.request.messages",
        "relay.request.fields",
        request=DEVELOPED,
        up=Try(FROM_RESPONSES, request=Ask("responses", {"model": "up-model", "input": INPUT, "store": False})),
        wrong=OK,
        right=(
            Right(
                OK,
                Try(
                    FROM_RESPONSES,
                    request=Ask(
                        "responses",
                        {
                            "model": "up-model",
                            "instructions": "Follow the project rules.",
                            "input": INPUT,
                            "store": False,
                        },
                    ),
                ),
            ),
            Right(
                OK,
                Try(
                    FROM_RESPONSES,
                    request=Ask(
                        "responses",
                        {
                            "model": "up-model",
                            "input": [{"role": "developer", "content": "Follow the project rules."}, *INPUT],
                        },
                    ),
                ),
            ),
        ),
    ),
    report(
        "router-for-me/CLIProxyAPI#850",
        "relay.request.messages",
        "relay.request.fields",
        request=DEVELOPED,
        up=Try(
            FROM_GEMINI,
            request=Ask(
                "/v1beta/models/g:generateContent",
                {"contents": [{"role": "user", "parts": [{"text": "cf-q8w3zd Hello"}]}]},
            ),
        ),
        wrong=OK,
        right=Right(
            OK,
            Try(
                FROM_GEMINI,
                request=Ask(
                    "/v1beta/models/g:generateContent",
                    {
                        "systemInstruction": {"parts": [{"text": "Follow the project rules."}]},
                        "contents": [{"role": "user", "parts": [{"text": "cf-q8w3zd Hello"}]}],
                    },
                ),
            ),
        ),
    ),
    report(
        "BerriAI/litellm#42005",
        "relay.text.equal",
        "relay.tool-calls.equal",
        request=ask(
            "responses", tools=[{"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}}]
        ),
        up=Try(
            wire(
                chat(
                    None,
                    "tool_calls",
                    message={
                        "reasoning_content": "I must call f.",
                        "tool_calls": [call(None, id="call_1", name="f", arguments="{}")],
                    },
                )
            ),
            request=ask(model="up-model", tools=[TOOL]),
        ),
        wrong=wire(response("I must call f.")),
        right=wire(
            response(
                output=[
                    {"type": "reasoning", "id": "rs_1", "summary": []},
                    {**FUNCTION, "arguments": "{}", "status": "completed"},
                ]
            )
        ),
    ),
    report(
        "coulsontl/ai-toolbox#352",
        "relay.request.messages",
        "relay.request.fields",
        request=ask(
            "responses",
            input=[
                {"role": "user", "content": "cf-q8w3zd"},
                {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
                {"type": "function_call", "call_id": "c2", "name": "f", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c1", "output": "47"},
                {"type": "function_call_output", "call_id": "c2", "output": "62"},
            ],
        ),
        up=Try(
            wire(error("insufficient tool messages following tool_calls message"), status=400),
            request=ask(
                model="up-model",
                messages=[
                    {"role": "user", "content": "cf-q8w3zd"},
                    {
                        "role": "assistant",
                        "content": None,
                        "tool_calls": [
                            call(None, id="c1", name="f", arguments="{}"),
                            call(None, id="c2", name="f", arguments="{}"),
                        ],
                    },
                    {"role": "tool", "tool_call_id": "c1", "content": "47"},
                ],
            ),
        ),
        wrong=wire(error("insufficient tool messages following tool_calls message"), status=400),
        right=Right(
            FROM_RESPONSES,
            Try(
                OK,
                request=ask(
                    model="up-model",
                    messages=[
                        {"role": "user", "content": "cf-q8w3zd"},
                        {
                            "role": "assistant",
                            "content": None,
                            "tool_calls": [
                                call(None, id="c1", name="f", arguments="{}"),
                                call(None, id="c2", name="f", arguments="{}"),
                            ],
                        },
                        {"role": "tool", "tool_call_id": "c1", "content": "47"},
                        {"role": "tool", "tool_call_id": "c2", "content": "62"},
                    ],
                ),
            ),
        ),
    ),
    report(
        "10/chatgpt-codex-proxy#9",
        "relay.request.fields",
        request=ask(
            "responses",
            input=[
                {
                    "type": "additional_tools",
                    "role": "developer",
                    "id": "at_1",
                    "tools": [{"type": "namespace", "name": "collaboration", "tools": []}],
                },
                {"role": "user", "content": "cf-q8w3zd"},
            ],
        ),
        up=Try(
            wire(error("Missing required parameter: 'input[0].content'.", param="input[0].content"), status=400),
            request=ask(
                "responses", model="up-model", input=[{"role": "developer"}, {"role": "user", "content": "cf-q8w3zd"}]
            ),
        ),
        wrong=wire(error("Missing required parameter: 'input[0].content'.", param="input[0].content"), status=400),
    ),
    report(
        "Shelpuk-AI-Technology-Consulting/kitty-bridge#92-chat",
        "relay.request.fields",
        request=ask(stop=["END"], temperature=0.3, max_tokens=77),
        up=Try(FROM_ANTHROPIC, request=to_anthropic(max_tokens=77, temperature=0.3)),
        wrong=OK,
        right=Right(
            OK, Try(FROM_ANTHROPIC, request=to_anthropic(max_tokens=77, temperature=0.3, stop_sequences=["END"]))
        ),
    ),
    report(
        "maximhq/bifrost#1829",
        "relay.tool-calls.equal",
        "tool.arguments.once",
        request=TOOLS_STREAM,
        up=wire(stream(*TWO)),
        wrong=wire(stream(*MERGED)),
        right=wire(stream(*TWO)),
    ),
    report(
        "Wei-Shaw/sub2api#1493",
        "relay.text.equal",
        request=RESPONSE,
        up=Try(events(*said("TEST", "_OK")), request=ask("responses", model="up-model", stream=True)),
        wrong=wire(response(output=[])),
        right=wire(response("TEST_OK")),
    ),
    report(
        "NousResearch/hermes-agent#102939",
        "relay.status.kept",
        "relay.error.told",
        request=RESPONSE,
        up=Try(wire(error("Invalid schema for function"), status=400), request=ask("responses", model="up-model")),
        wrong=wire(response("API call failed: Invalid schema for function")),
        right=(wire(error("Invalid schema for function"), status=400),),
    ),
    report(
        "diegosouzapw/OmniRoute#10441",
        "relay.text.equal",
        request=STREAM,
        up=wire(stream(opening(), chunk("<thi"), chunk("nk>Hm.</think>"), chunk("Hi"), chunk(reason="stop"))),
        wrong=wire(stream(opening(), chunk("<thi"), chunk("Hi"), chunk(reason="stop"))),
        right=(
            wire(stream(opening(), chunk(delta={"reasoning_content": "Hm."}), chunk("Hi"), chunk(reason="stop"))),
            wire(stream(opening(), chunk("<thi"), chunk("nk>Hm.</think>"), chunk("Hi"), chunk(reason="stop"))),
        ),
    ),
    report(
        "dstackai/dstack#4269",
        "stream.delivery.incremental",
        request=STREAM,
        up=SLOW,
        wrong=LATE,
        right=wire(stream(*words(*"abcdefgh"), every=250.0)),
    ),
    report(
        "router-for-me/CLIProxyAPI#4219",
        "relay.request.fields",
        request=ask("responses", input=HISTORY),
        up=Try(OK, request=told_so()),
        wrong=FROM_RESPONSES,
        right=Right(
            FROM_RESPONSES,
            Try(
                OK,
                request=told_so(
                    {
                        "role": "assistant",
                        "content": None,
                        "tool_calls": [call(None, id="c1", name="exec", arguments='{"input":"ls -la /srv"}')],
                    },
                    {"role": "tool", "tool_call_id": "c1", "content": "total 47"},
                    tools=[
                        {"type": "function", "function": {"name": "exec"}},
                        {"type": "function", "function": {"name": "wait"}},
                    ],
                ),
            ),
        ),
    ),
    report(
        "router-for-me/CLIProxyAPI#4219-results",
        "relay.request.messages",
        request=ask("responses", input=HISTORY),
        up=Try(OK, request=told_so()),
        wrong=FROM_RESPONSES,
    ),
    report(
        "raullenchai/Rapid-MLX#466", "relay.request.messages", request=AUDIO, up=Try(OK, request=told_so()), wrong=OK
    ),
    report(
        "raullenchai/Rapid-MLX#466-gemini",
        "relay.request.messages",
        request=AUDIO,
        up=Try(
            FROM_GEMINI,
            request=Ask(
                "/v1beta/models/g:generateContent", {"contents": [{"role": "user", "parts": [{"text": "cf-q8w3zd"}]}]}
            ),
        ),
        wrong=OK,
        right=Right(
            OK,
            Try(
                FROM_GEMINI,
                request=Ask(
                    "/v1beta/models/g:generateContent",
                    {
                        "contents": [
                            {
                                "role": "user",
                                "parts": [
                                    {"text": "cf-q8w3zd"},
                                    {"inlineData": {"mimeType": "audio/wav", "data": "AAAA"}},
                                ],
                            }
                        ]
                    },
                ),
            ),
        ),
    ),
    report(
        "api7/aisix#323",
        "error.message.no-raw-body",
        "relay.error.code-kept",
        up=wire(
            error("Rate limit reached", type="rate_limit_error", code="rate_limit_exceeded", param="model"), status=429
        ),
        wrong=wire(
            error(
                'upstream returned HTTP 429: {"error":{"message":"Rate limit reached","type":"rate_limit_error","param":"model","code":"rate_limit_exceeded"}}',
                type="upstream_error",
            ),
            status=429,
        ),
        right=wire(
            error("Rate limit reached", type="rate_limit_exceeded", code="rate_limit_exceeded", param="model"),
            status=429,
        ),
    ),
    report(
        "sourcegraph/sourcegraph-public-snapshot#52633",
        "relay.status.kept",
        up=wire(error("Rate limit reached", code="rate_limit_exceeded"), status=429),
        wrong=wire(error("Rate limit reached", type="server_error"), status=500),
        right=(
            wire(error("Rate limit reached", code="rate_limit_exceeded"), status=429),
            wire(error("Rate limit reached", type="server_error"), status=503),
        ),
    ),
    report(
        "maximhq/bifrost#6103",
        "relay.reason.kept",
        request=RESPONSE,
        up=Try(wire(chat("", "content_filter")), request=ask(model="up-model")),
        wrong=wire(response("")),
        right=wire(response("", status="incomplete", incomplete_details={"reason": "content_filter"})),
    ),
    report(
        "openai/openai-agents-python#4252",
        "relay.annotations.kept",
        request=STREAM,
        up=wire(
            stream(
                opening(),
                chunk(
                    "Hi",
                    delta={
                        "annotations": [
                            {
                                "type": "url_citation",
                                "url_citation": {
                                    "url": "https://a.test/1",
                                    "title": "A",
                                    "start_index": 0,
                                    "end_index": 2,
                                },
                            }
                        ]
                    },
                ),
                chunk(reason="stop"),
            )
        ),
        wrong=wire(stream(*words("Hi"))),
        right=wire(
            stream(
                opening(),
                chunk("Hi"),
                chunk(
                    delta={
                        "annotations": [
                            {
                                "type": "url_citation",
                                "url_citation": {
                                    "url": "https://a.test/1",
                                    "title": "A",
                                    "start_index": 0,
                                    "end_index": 2,
                                },
                            }
                        ]
                    }
                ),
                chunk(reason="stop"),
            )
        ),
    ),
    report(
        "mozilla-ai/any-llm#1292",
        "relay.request.fields",
        request=ask(tools=[TOOL], parallel_tool_calls=False),
        up=Try(
            FROM_ANTHROPIC,
            request=to_anthropic(
                tools=[{"name": "f", "input_schema": {}}],
                tool_choice={"type": "any", "disable_parallel_tool_use": True},
            ),
        ),
        wrong=OK,
        right=Right(
            OK,
            Try(
                FROM_ANTHROPIC,
                request=to_anthropic(
                    tools=[{"name": "f", "input_schema": {}}],
                    tool_choice={"type": "auto", "disable_parallel_tool_use": True},
                ),
            ),
        ),
    ),
    report(
        "presenton/presenton#800",
        "relay.request.fields",
        request=ask(
            response_format={
                "type": "json_schema",
                "json_schema": {
                    "name": "deck",
                    "schema": {"type": "object", "properties": {"slide_title": {"type": "string"}}},
                },
            }
        ),
        up=Try(FROM_GEMINI, request=to_gemini(generationConfig={"responseMimeType": "application/json"})),
        wrong=OK,
        right=Right(
            OK,
            Try(
                FROM_GEMINI,
                request=to_gemini(
                    generationConfig={
                        "responseMimeType": "application/json",
                        "responseSchema": {"type": "OBJECT", "properties": {"slide_title": {"type": "STRING"}}},
                    }
                ),
            ),
        ),
    ),
)
