"""Right captures of gateways that put right what their member sent, or say it as the member's own matter: nothing that
gates may be violated on any of them.

Each is named by the freedom that is taken. Material for `test_adversarial_apis`; knows no clause.
"""

from __future__ import annotations

from typing import Any

from tests.contract.captures import (
    Ask,
    Capture,
    Try,
    ask,
    call,
    capture,
    chat,
    chunk,
    embeddings,
    error,
    opening,
    stream,
    wire,
    words,
)
from tests.contract.responding import response

_PROMPT = "Ticket cf-q8w3zd: say hello."
_PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}}
_ARGS = '{"city":"Oslo"}'


def _tool(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": _PARAMETERS}}


TOOLS = ask(tools=[_tool("get_weather")])
JSON = ask(response_format={"type": "json_object"})
SCHEMA = ask(
    response_format={"type": "json_schema", "json_schema": {"name": "a", "strict": True, "schema": _PARAMETERS}}
)
OSLO = wire(chat(_ARGS))


def one(name: str = "get_weather", arguments: str = _ARGS, identity: str = "call_1") -> dict[str, Any]:
    """A call as it stands in a message."""
    return call(None, id=identity, name=name, arguments=arguments)


def calling(*calls: dict[str, Any], reason: str = "tool_calls") -> Any:
    """A message with those calls."""
    return wire(chat(None, reason, message={"tool_calls": list(calls or (one(),))}))


def claude(*blocks: dict[str, Any], reason: str = "tool_use", **asked: Any) -> Try:
    """A member that speaks Anthropic's API, and its message of those blocks."""
    said = {"type": "message", "role": "assistant", "content": list(blocks), "stop_reason": reason}
    messages = [{"role": "user", "content": _PROMPT}]
    told = {"model": "claude", "max_tokens": 1024, "messages": messages, **asked}
    usage = {"input_tokens": 9, "output_tokens": 2}
    return Try(wire({"id": "msg_1", "model": "claude", **said, "usage": usage}), request=Ask("/v1/messages", told))


def used(name: str) -> dict[str, Any]:
    """A call in Anthropic's words."""
    return {"type": "tool_use", "id": "call_1", "name": name, "input": {"city": "Oslo"}}


def forced(name: str) -> dict[str, Any]:
    """The parameters of a request that makes Claude call one tool."""
    return {
        "tools": [{"name": name, "input_schema": _PARAMETERS}],
        "tool_choice": {"type": "tool", "name": name},
    }


def counted(read: int, wrote: int, total: int, **details: dict[str, int]) -> Any:
    """A greeting with these tokens."""
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    return wire(chat(usage=dict(zip(names, (read, wrote, total), strict=True)) | details))


def vectors(*numbers: list[float]) -> dict[str, Any]:
    """The embeddings of inputs of two tokens each."""
    tokens = 2 * len(numbers)
    return embeddings(*numbers, usage={"prompt_tokens": tokens, "total_tokens": tokens})


THOUGHT = {"completion_tokens_details": {"reasoning_tokens": 2809}}
CACHED = {"prompt_tokens_details": {"cached_tokens": 13312}}
_BEFORE = [
    {"role": "user", "content": _PROMPT},
    {"role": "assistant", "content": None, "tool_calls": [one(identity="call_0")]},
    {"role": "tool", "tool_call_id": "call_0", "content": "4 C"},
]
_HELLO = wire(chat())
_MARKUP = f'<tool_call>{{"name":"get_weather","arguments":{_ARGS}}}</tool_call>'
_BROKE = wire(error("No member has funds.", type="server_error"), status=503)

PUT_RIGHT: dict[str, Capture] = {
    # Wei-Shaw/sub2api#5771, maximhq/bifrost#7250, vercel/ai#12425, UKGovernmentBEIS/inspect_ai#5528
    "thoughts counted in, as the total says": capture(
        ask(), counted(10120, 4308, 14428, **THOUGHT), counted(10120, 1499, 14428, **THOUGHT)
    ),
    "thoughts counted in that the member does not detail": capture(ask(), counted(9, 24, 33), counted(9, 4, 33)),
    # Menci/Floway#350
    "a cache counted in, as the total says": capture(
        ask(), counted(13791, 373, 14164, **CACHED), counted(479, 373, 14164, **CACHED)
    ),
    "tokens counted where the member counted none": capture(ask(), _HELLO, counted(0, 0, 0)),
    "a detail of zero left out": capture(
        ask(), counted(9, 2, 11), counted(9, 2, 11, prompt_tokens_details={"cached_tokens": 0, "audio_tokens": 0})
    ),
    # BerriAI/litellm#6741, #8291
    "a schema by way of a forced tool": capture(
        SCHEMA, OSLO, claude(used("json_tool_call"), **forced("json_tool_call"))
    ),
    "a schema by way of a forced tool, respelt": capture(
        SCHEMA, wire(chat('{ "city": "Oslo" }')), claude(used("json_tool_call"), **forced("json_tool_call"))
    ),
    # kagent-dev/kagent#1730, 0xKobold/pi-mcp-adapter#190
    "a tool's own name restored": capture(
        ask(tools=[_tool("fs.read")]),
        calling(one("fs.read")),
        claude(used("fs_read"), tools=[{"name": "fs_read", "input_schema": _PARAMETERS}]),
    ),
    "a tool's own name restored from a short one": capture(
        ask(tools=[_tool("files/" + "x" * 60)]),
        calling(one("files/" + "x" * 60)),
        claude(used("t_9f3a"), tools=[{"name": "t_9f3a", "input_schema": _PARAMETERS}]),
    ),
    "a name without the member's prefix": capture(TOOLS, calling(), calling(one("functions.get_weather"))),
    "a name without blanks": capture(TOOLS, calling(), calling(one(" get_weather"))),
    "a call with an id of its own": capture(
        TOOLS.with_(messages=_BEFORE), calling(one(identity="gw_9")), calling(one(identity="call_0"))
    ),
    "one call where one was allowed": capture(
        TOOLS.with_(parallel_tool_calls=False), calling(), calling(one(), one(identity="call_2"))
    ),
    "arguments that were a text in a text": capture(
        TOOLS, calling(), calling(one(arguments='"{\\"city\\":\\"Oslo\\"}"'))
    ),
    # router-for-me/CLIProxyAPI#2173
    "fences taken off JSON": capture(JSON, OSLO, wire(chat(f"```json\n{_ARGS}\n```"))),
    "a text cut at the stop": capture(ask(stop=["there"]), wire(chat("Hello ")), wire(chat("Hello there."))),
    "a text cut at the stop, and whole": capture(
        ask(stop=["there"]), wire(chat("Hello ")), wire(chat("Hello there. And", "length"))
    ),
    "a token of the model's end cut off": capture(ask(), _HELLO, wire(chat("Hello.<|im_end|>"))),
    # jundot/vllm-mlx#357
    "markup of a call as a call": capture(TOOLS, calling(), wire(chat(_MARKUP))),
    "deltas that were the whole text": capture(
        ask(stream=True), wire(stream(*words("Hel", "lo."))), wire(stream(*words("Hel", "Hello.")))
    ),
    "blanks at the ends taken off": capture(ask(), _HELLO, wire(chat("\n\nHello. "))),
    "a blank at the beginning of a cut text taken off": capture(
        ask(stream=True),
        wire(stream(opening(), chunk("One"), error("cut"), done=False)),
        wire(stream(opening(), chunk("\nOne "), done=False), end="close"),
    ),
    "half a character replaced": capture(
        ask(),
        wire(chat("Hi \ufffd")),
        wire(
            b'{"id":"c","object":"chat.completion","created":1785402847,"model":"m","choices":[{"index":0,"message":'
            b'{"role":"assistant","content":"Hi \\ud83d"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,'
            b'"completion_tokens":2,"total_tokens":11}}'
        ),
    ),
    "an answer that stood among the thoughts": capture(
        ask(), _HELLO, wire(chat("", message={"reasoning_content": "Hello."}))
    ),
    "a filtered text as a refusal": capture(
        ask(),
        wire(chat(None, "content_filter", message={"refusal": "I cannot."})),
        wire(chat("I cannot.", "content_filter")),
    ),
    # theopenco/llmgateway#2652, #3297, QuantumNous/new-api#6306
    "a member's empty balance as an outage": capture(
        ask(), _BROKE, wire(error("Insufficient balance", code="insufficient_quota"), status=402)
    ),
    "a member's credit as an outage": capture(
        ask(),
        _BROKE,
        Try(
            wire(
                {
                    "type": "error",
                    "error": {"type": "invalid_request_error", "message": "Your credit balance is too low."},
                },
                status=400,
            ),
            request=Ask("/v1/messages", {"model": "claude", "messages": [{"role": "user", "content": _PROMPT}]}),
        ),
    ),
    "a member's refused key as an internal error": capture(
        ask(),
        wire(error("The gateway is misconfigured.", type="server_error"), status=500),
        wire(error("No auth", code="invalid_api_key"), status=401),
    ),
    **{
        f"{told} told as {reason}": capture(ask(), wire(chat("Hi", reason)), wire(chat("Hi", told)))
        for told, reason in (
            ("guardrail_intervened", "content_filter"),
            ("content_filtered", "content_filter"),
            ("SPII", "content_filter"),
            ("LANGUAGE", "content_filter"),
            ("max_length", "length"),
            ("truncated", "length"),
            ("token_limit", "length"),
        )
    },
    "a batch shared out": capture(
        ask("embeddings", input=["cf-q8w3zd a", "cf-q8w3zd b"]),
        wire({**vectors([0.5], [0.25]), "usage": {"prompt_tokens": 4, "total_tokens": 4}}),
        [
            Try(wire(vectors([0.5])), "m0", 2.0, ask("embeddings", input=["cf-q8w3zd a"])),
            Try(wire(vectors([0.25])), "m0", 3.0, ask("embeddings", input=["cf-q8w3zd b"])),
        ],
    ),
    "choices shared out, the prompt counted once": capture(
        ask(n=2),
        wire(
            {
                **chat("A.", usage={"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}),
                "choices": [chat("A.")["choices"][0], {**chat("B.")["choices"][0], "index": 1}],
            }
        ),
        [Try(wire(chat("A.")), "m0", 2.0, ask()), Try(wire(chat("B.")), "m0", 3.0, ask())],
    ),
    "thoughts nobody asked to be included": capture(
        ask("responses"),
        wire(response()),
        wire(
            response(
                output=[
                    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
                    *response()["output"],
                ]
            )
        ),
    ),
    "a response that is still queued": capture(
        ask("responses", background=True),
        wire(response(status="queued", output=[], usage=None, background=True)),
        wire(response(status="queued", output=[], usage=None, background=True)),
    ),
    "a vendor's notice between two deltas": capture(
        ask(stream=True),
        wire(stream(*words("Hel", "lo."))),
        wire(stream(opening(), chunk("Hel"), {"message": "Still busy."}, chunk("lo."), chunk(reason="stop"))),
    ),
    "a vendor's error in other words": capture(
        ask(stream=True),
        wire(stream(opening(), chunk("Hel"), error("The upstream failed.", type="server_error"), done=False)),
        wire(
            stream(opening(), chunk("Hel"), {"code": "Throttling.RateQuota", "message": "Requests rate limit exceeded"})
        ),
    ),
}
