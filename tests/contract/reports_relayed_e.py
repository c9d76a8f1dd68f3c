"""Public reports of what becomes of an answer on its way down, above all of members that speak another API.

Facts from the threads, rebuilt as captures; keys and names are ours.
"""

from __future__ import annotations

from typing import Any

from tests.contract.adversarial_relayed import CACHED, TOOLS, calling, claude, counted, one, used
from tests.contract.captures import Ask, Try, ask, call, chat, chunk, error, opening, stream, wire, words
from tests.contract.situation import Report, Right, report

PROMPT = "Ticket cf-q8w3zd: say hello."
HELLO = wire(chat())
LENGTH = wire(chat(reason="length"))
FILTERED = wire(chat(reason="content_filter"))
NOTHING = wire(chat(""))


def converse(*blocks: dict[str, Any], reason: str = "end_turn", **asked: Any) -> Try:
    """A member behind Bedrock's Converse, and its message of those blocks (a greeting without any)."""
    said = {"message": {"role": "assistant", "content": list(blocks) or [{"text": "Hel"}, {"text": "lo."}]}}
    body = {"output": said, "stopReason": reason, "usage": {"inputTokens": 9, "outputTokens": 2, "totalTokens": 11}}
    told = {"messages": [{"role": "user", "content": [{"text": PROMPT}]}], **asked}
    return Try(wire(body), request=Ask("/model/up-model/converse", told))


def ollama(message: dict[str, Any], reason: str = "stop", **asked: Any) -> Try:
    """A member behind Ollama's chat, and its message."""
    body = {"model": "up", "message": {"role": "assistant", **message}, "done": True, "done_reason": reason}
    counts = {"prompt_eval_count": 9, "eval_count": 2}
    return Try(wire(body | counts), request=_to_ollama(stream=False, **asked))


def _to_ollama(**asked: Any) -> Ask:
    return Ask("/api/chat", {"model": "up", "messages": [{"role": "user", "content": PROMPT}], **asked})


def lines(*texts: str, reason: str | None = "stop") -> Try:
    """The same, streamed: a text a line; without a reason it is cut."""
    said = [{"message": {"role": "assistant", "content": text}, "done": False} for text in texts]
    last = {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": reason}
    body = b"".join(wire(value).body + b"\n" for value in ([*said, last] if reason else said))
    end = "complete" if reason else "close"
    return Try(wire(body, media="application/x-ndjson", framing="chunked", end=end), request=_to_ollama(stream=True))


def cohere(text: str = "Hello.", reason: str = "COMPLETE") -> Try:
    """A member behind Cohere's chat, and its text."""
    said = {"role": "assistant", "content": [{"type": "text", "text": text}]}
    body = {"id": "c1", "finish_reason": reason, "message": said}
    usage = {"billed_units": {"input_tokens": 3, "output_tokens": 2}, "tokens": {"input_tokens": 9, "output_tokens": 2}}
    asked = {"model": "up", "messages": [{"role": "user", "content": PROMPT}]}
    return Try(wire(body | {"usage": usage}), request=Ask("/v2/chat", asked))


SCHEMA = TOOLS.value["tools"][0]["function"]["parameters"]
CONFIG = {"tools": [{"toolSpec": {"name": "get_weather", "inputSchema": {"json": SCHEMA}}}]}
WEATHER = {"toolUse": {"toolUseId": "call_1", "name": "get_weather", "input": {"city": "Oslo"}}}
CALL = {"function": {"name": "get_weather", "arguments": {"city": "Oslo"}}}
#: Events after which a stream is over, each an error by its vendor's form.
VENDORS: dict[str, dict[str, Any]] = {
    "baidu": {"error_code": 17, "error_msg": "Open api daily request limit reached"},
    "minimax": {"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}, "choices": None},
    "dashscope": {"code": "Throttling.RateQuota", "message": "Requests rate limit exceeded", "request_id": "r1"},
    "cloudflare": {"result": None, "success": False, "errors": [{"code": 7009, "message": "unavailable"}]},
    "tencent": {"Response": {"Error": {"Code": "LimitExceeded", "Message": "limit"}, "RequestId": "r"}},
    "spark": {"header": {"code": 10013, "message": "Input audit failed", "sid": "s"}},
    "zhipu": {"code": 500, "msg": "internal", "success": False},
    "bedrock": {"message": "Too many tokens, please wait"},
    "status": {"status": "error", "message": "overloaded"},
    "detail": {"detail": "overloaded"},
}
BROKEN = wire(stream(opening(), chunk("Hel"), error("The upstream failed.", type="server_error"), done=False))
CUT_SHORT = wire(stream(*words("Hel")))


def broken_off(event: dict[str, Any]) -> Any:
    """A stream that a vendor's event ends after a word."""
    return wire(stream(opening(), chunk("Hel"), event))


def torn(reason: str) -> Any:
    """A stream whose call is cut."""
    begun = call(0, id="call_1", name="get_weather", arguments='{"city":"Os')
    return wire(stream(opening(), chunk(delta={"tool_calls": [begun]}), chunk(reason=reason)))


DOWN: tuple[Report, ...] = (
    report(
        "spring-projects/spring-ai#4374",
        "relay.reason.kept",
        up=converse(reason="max_tokens"),
        wrong=HELLO,
        right=LENGTH,
    ),
    report(
        "majiayu000/litellm-rs#581",
        "relay.reason.kept",
        up=converse(reason="guardrail_intervened"),
        wrong=HELLO,
        right=FILTERED,
    ),
    report(
        "UKGovernmentBEIS/inspect_ai#2941",
        "relay.reason.kept",
        up=converse(reason="model_context_window_exceeded"),
        wrong=HELLO,
        right=LENGTH,
    ),
    report(
        "mozilla-ai/any-llm#1358",
        "relay.reason.kept",
        up=converse(reason="content_filtered"),
        wrong=HELLO,
        right=FILTERED,
    ),
    report("converse-text-lost", "relay.text.equal", up=converse(), wrong=wire(chat("Hel")), right=HELLO),
    report(
        "converse-call-lost",
        "relay.tool-calls.equal",
        request=TOOLS,
        up=converse(WEATHER, reason="tool_use", toolConfig=CONFIG),
        wrong=NOTHING,
        right=calling(),
    ),
    report(
        "converse-arguments-lost",
        "relay.tool-calls.equal",
        request=TOOLS,
        up=converse(
            {"reasoningContent": {"reasoningText": {"text": "Hm."}}}, WEATHER, reason="tool_use", toolConfig=CONFIG
        ),
        wrong=calling(one(arguments="{}")),
        right=calling(),
    ),
    report("converse-usage-lost", "relay.usage.kept", up=converse(), wrong=counted(0, 0, 0), right=HELLO),
    report(
        "majiayu000/litellm-rs#1164",
        "relay.reason.kept",
        up=ollama({"content": "Hello."}, "length"),
        wrong=HELLO,
        right=LENGTH,
    ),
    report(
        "ollama-call-lost",
        "relay.tool-calls.equal",
        request=TOOLS,
        up=ollama({"content": "", "tool_calls": [CALL]}, tools=TOOLS.value["tools"]),
        wrong=NOTHING,
        right=calling(one(identity="gw_1")),
    ),
    report(
        "ollama-usage-lost", "relay.usage.kept", up=ollama({"content": "Hello."}), wrong=counted(1, 1, 2), right=HELLO
    ),
    report(
        "ollama-lines-lost",
        "relay.text.equal",
        request=ask(stream=True),
        up=lines("Hel", "lo."),
        wrong=CUT_SHORT,
        right=wire(stream(*words("Hel", "lo."))),
    ),
    report(
        "ollama-lines-cut",
        "relay.truncation.told",
        request=ask(stream=True),
        up=lines("Hel", reason=None),
        wrong=CUT_SHORT,
        right=BROKEN,
    ),
    report(
        "ollama-lines-cut-later",
        "relay.truncation.told",
        request=ask(stream=True),
        up=lines("H", "el", reason=None),
        wrong=CUT_SHORT,
        right=BROKEN,
    ),
    report("cohere-cut-as-stop", "relay.reason.kept", up=cohere(reason="MAX_TOKENS"), wrong=HELLO, right=LENGTH),
    report("cohere-text-lost", "relay.text.equal", up=cohere(), wrong=wire(chat("Hel")), right=HELLO),
    report(
        "cohere-usage-lost",
        "relay.usage.kept",
        up=cohere(),
        wrong=counted(1, 2, 3),
        right=(HELLO, counted(3, 2, 5)),
    ),
)

CALLS: tuple[Report, ...] = (
    report(
        "vllm-project/vllm#58228",
        "relay.reason.kept",
        request=TOOLS.with_(stream=True),
        up=torn("length"),
        wrong=torn("tool_calls"),
        right=torn("length"),
    ),
    report(
        "block/goose#11838",
        "relay.reason.kept",
        request=TOOLS,
        up=claude(used("get_weather"), reason="max_tokens", tools=[{"name": "get_weather", "input_schema": SCHEMA}]),
        wrong=calling(),
        right=calling(reason="length"),
    ),
    report(
        "filtered-call-as-tool-calls",
        "relay.reason.kept",
        request=TOOLS,
        up=calling(reason="content_filter"),
        wrong=calling(),
        right=calling(reason="content_filter"),
    ),
)

#: A gateway that mends one thing and spoils another is found all the same.
MENDED: tuple[Report, ...] = (
    report(
        "another-name-restored",
        "relay.tool-calls.equal",
        request=ask(
            tools=[*TOOLS.value["tools"], {"type": "function", "function": {"name": "book", "parameters": {}}}]
        ),
        up=calling(),
        wrong=calling(one("book")),
        right=calling(),
    ),
    report(
        "cache-counted-in-and-lost",
        "relay.usage.kept",
        up=counted(479, 373, 14164, **CACHED),
        wrong=counted(13791, 373, 14164, prompt_tokens_details={"cached_tokens": 0}),
        right=counted(479, 373, 14164, **CACHED),
    ),
    report(
        "text-cut-before-the-stop",
        "relay.text.equal",
        request=ask(stop=["there"]),
        up=wire(chat("Hello there.")),
        wrong=wire(chat("Hel")),
        right=wire(chat("Hello ")),
    ),
    report(
        "parallel-calls-lost",
        "relay.tool-calls.equal",
        request=TOOLS.with_(parallel_tool_calls=False),
        up=calling(one(), one(identity="call_2")),
        wrong=calling(one(arguments="{}")),
        right=(calling(), Right(calling(), calling(one(identity="call_1")))),
    ),
    report(
        "laundered-unknown-reason", "relay.reason.not-laundered", up=wire(chat("Hi", "SPII")), wrong=wire(chat("Hi"))
    ),
    report(
        "laundered-failure-as-length",
        "relay.reason.not-laundered",
        up=wire(chat("Hi", "network_error")),
        wrong=wire(chat("Hi", "length")),
    ),
)

ERRORS: tuple[Report, ...] = (
    *(
        report(
            f"vendor-error-{name}",
            "relay.error.told",
            request=ask(stream=True),
            up=broken_off(event),
            wrong=CUT_SHORT,
            right=BROKEN,
        )
        for name, event in VENDORS.items()
    ),
    report(
        "fastapi-detail-lost",
        "relay.error.reason-kept",
        up=wire({"detail": [{"type": "missing", "loc": ["body", "messages"], "msg": "Field required"}]}, status=422),
        wrong=wire(error("Unknown error"), status=422),
        right=wire(error("messages: Field required"), status=422),
        told="the reason is a SHOULD",
    ),
)

RELAYED_DOWN: tuple[Report, ...] = (*DOWN, *CALLS, *MENDED, *ERRORS)
