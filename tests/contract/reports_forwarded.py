"""Public reports of requests that reached the member as others: parameters, turns, results and bodies that were lost.

Each is a report's facts as a capture. Material for `test_reports_gateways`; knows no clause.
"""

from __future__ import annotations

from typing import Any

from tests.contract.captures import Ask, Try, ask, call, chat, completion, error, wire
from tests.contract.further import FROM_ANTHROPIC, FROM_GEMINI, OK, to_anthropic
from tests.contract.responding import response
from tests.contract.situation import Report, Right, report

_PROMPT = {"role": "user", "content": "Ticket cf-q8w3zd: say hello."}
_TOOL = {"type": "function", "function": {"name": "look_up", "parameters": {"type": "object", "properties": {}}}}
_TOLD = {"type": "function", "name": "look_up", "parameters": {"type": "object", "properties": {}}}
_KNOWN = {"name": "look_up", "input_schema": {"type": "object", "properties": {}}}
_RESPONSE = wire(response("Hello."))
_EMPTY = wire(response("{}"))
_CALLING = wire(
    {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": [{"type": "tool_use", "id": "c", "name": "look_up", "input": {}}],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 9, "output_tokens": 2},
    }
)
_TAKES = {"type": "object", "properties": {"wording": {"type": "string"}}}
_DESCRIBED = {
    "type": "function",
    "function": {"name": "look_up", "description": "Looks a word up.", "parameters": _TAKES},
}
_WHOLE = {"name": "look_up", "description": "Looks a word up.", "input_schema": _TAKES}
_FLAT = wire(
    error("Unsupported parameter: 'reasoning_effort'. Use 'reasoning.effort'.", param="reasoning_effort"), status=400
)
_503 = wire(error("busy", type="server_error"), status=503)


def _to_responses(**members: Any) -> Try:
    return Try(_RESPONSE, request=ask("responses", model="up-model", **members))


def _to_chat(**members: Any) -> Try:
    return Try(wire(chat("Hello.")), request=ask(model="up-model", **members))


def _lost(name: str, asked: Ask, wrong: Try, right: Try, reply: Any = OK) -> Report:
    """A parameter that does not reach the member in its own API."""
    return report(name, "relay.request.fields", request=asked, up=wrong, wrong=reply, right=Right(reply, right))


_CALLS = [call(None, id=f"c{n}", name=name, arguments="{}") for n, name in enumerate(("look_up", "forget"))]
_RESULTS = [{"role": "tool", "tool_call_id": f"c{n}", "content": text} for n, text in enumerate(("cold", "gone"))]
_CALLED = ask(messages=[{"role": "assistant", "content": None, "tool_calls": _CALLS}, *_RESULTS, _PROMPT])
_SWAPPED = [{**one, "tool_call_id": other["tool_call_id"]} for one, other in zip(_RESULTS, _RESULTS[::-1], strict=True)]
_HISTORY = ask(messages=[{"role": "user", "content": "First."}, {"role": "assistant", "content": "Second."}, _PROMPT])


def _anthropic_results(*ids: str) -> Try:
    """Both calls, and their results under those ids."""
    uses = [
        {"type": "tool_use", "id": f"c{n}", "name": one["function"]["name"], "input": {}}
        for n, one in enumerate(_CALLS)
    ]
    results = [
        {"type": "tool_result", "tool_use_id": key, "content": one["content"]}
        for key, one in zip(ids, _RESULTS, strict=True)
    ]
    told = [
        {"role": "assistant", "content": uses},
        {"role": "user", "content": [*results, {"type": "text", "text": _PROMPT["content"]}]},
    ]
    return Try(FROM_ANTHROPIC, request=to_anthropic(messages=told))


def _gemini_results(*names: str) -> Try:
    """Both calls, and their results under those names."""
    calls = [{"functionCall": {"name": one["function"]["name"], "args": {}}} for one in _CALLS]
    results = [
        {"functionResponse": {"name": name, "response": {"result": one["content"]}}}
        for name, one in zip(names, _RESULTS, strict=True)
    ]
    contents = [
        {"role": "model", "parts": calls},
        {"role": "user", "parts": results},
        {"role": "user", "parts": [{"text": _PROMPT["content"]}]},
    ]
    return Try(FROM_GEMINI, request=Ask("/v1beta/models/g:generateContent", {"contents": contents}))


def _anthropic_turns(*turns: tuple[str, str]) -> Try:
    return Try(FROM_ANTHROPIC, request=to_anthropic(messages=[{"role": role, "content": text} for role, text in turns]))


_IN_ORDER = (("user", "First."), ("assistant", "Second."), ("user", _PROMPT["content"]))

FORWARDED: tuple[Report, ...] = (
    _lost(  # kindred of diegosouzapw/OmniRoute#1414
        "effort-lost-chat-to-responses",
        ask(reasoning_effort="high"),
        _to_responses(),
        _to_responses(reasoning={"effort": "high"}),
    ),
    _lost(
        "effort-lost-responses-to-chat",
        ask("responses", reasoning={"effort": "high"}),
        _to_chat(),
        _to_chat(reasoning_effort="high"),
        _RESPONSE,
    ),
    _lost(  # kindred of CherryHQ/cherry-studio#18854
        "json-lost-chat-to-responses",
        ask(response_format={"type": "json_object"}),
        Try(_EMPTY, request=ask("responses", model="up-model")),
        Try(_EMPTY, request=ask("responses", model="up-model", text={"format": {"type": "json_object"}})),
        wire(chat("{}")),
    ),
    _lost(
        "parallel-lost-chat-to-responses",
        ask(tools=[_TOOL], parallel_tool_calls=False),
        _to_responses(tools=[_TOLD]),
        _to_responses(tools=[_TOLD], parallel_tool_calls=False),
    ),
    _lost(  # BerriAI/litellm#38222
        "parallel-lost-chat-to-anthropic",
        ask(tools=[_TOOL], parallel_tool_calls=False),
        Try(FROM_ANTHROPIC, request=to_anthropic(tools=[_KNOWN])),
        Try(
            FROM_ANTHROPIC,
            request=to_anthropic(tools=[_KNOWN], tool_choice={"type": "auto", "disable_parallel_tool_use": True}),
        ),
    ),
    _lost(  # raine/claude-code-proxy#97 (kindred): a named tool became any of two
        "named-tool-became-any",
        ask(
            tools=[_TOOL, {"type": "function", "function": {"name": "forget"}}],
            tool_choice={"type": "function", "function": {"name": "look_up"}},
        ),
        Try(_CALLING, request=to_anthropic(tools=[_KNOWN, {"name": "forget"}], tool_choice={"type": "any"})),
        Try(
            _CALLING,
            request=to_anthropic(tools=[_KNOWN, {"name": "forget"}], tool_choice={"type": "tool", "name": "look_up"}),
        ),
        wire(chat(None, "tool_calls", message={"tool_calls": [call(None, id="c", name="look_up", arguments="{}")]})),
    ),
    _lost(
        "none-of-the-tools-lost",
        ask(tools=[_TOOL], tool_choice="none"),
        Try(FROM_ANTHROPIC, request=to_anthropic(tools=[_KNOWN])),
        Try(FROM_ANTHROPIC, request=to_anthropic()),
    ),
    _lost(
        "stop-lost-completion-to-chat",
        ask("completions", stop=["END"]),
        _to_chat(messages=[{"role": "user", "content": "Ticket cf-q8w3zd: say hello."}]),
        _to_chat(messages=[{"role": "user", "content": "Ticket cf-q8w3zd: say hello."}], stop=["END"]),
        wire(completion("Hello.")),
    ),
    *(
        _lost(
            f"{name}-lost",
            ask("responses", **{name: value}),
            _to_responses(),
            _to_responses(**{name: value}),
            _RESPONSE,
        )
        for name, value in {
            "include": ["reasoning.encrypted_content"],
            "max_tool_calls": 3,
            "truncation": "auto",
            "store": False,
        }.items()
    ),
    *(
        report(  # router-for-me/CLIProxyAPI#5199, any-llm#1318: results under another call
            f"results-swapped-{name}",
            "relay.request.messages",
            request=_CALLED,
            up=wrong,
            wrong=OK,
            right=Right(OK, right),
        )
        for name, wrong, right in (
            ("anthropic", _anthropic_results("c1", "c0"), _anthropic_results("c0", "c1")),
            ("gemini", _gemini_results("forget", "look_up"), _gemini_results("look_up", "forget")),
            ("gemini-unknown", _gemini_results("unknown", "unknown"), _gemini_results("look_up", "forget")),
        )
    ),
    report(  # results under each other's ids, in the client's own API
        "results-swapped-chat",
        "relay.request.messages",
        request=_CALLED,
        up=_to_chat(messages=[_CALLED.value["messages"][0], *_SWAPPED, _PROMPT]),
        wrong=OK,
        right=Right(OK, _to_chat(messages=_CALLED.value["messages"])),
    ),
    *(
        report(
            f"turns-{name}",
            "relay.request.messages",
            request=_HISTORY,
            up=_anthropic_turns(*turns),
            wrong=OK,
            right=Right(OK, _anthropic_turns(*_IN_ORDER)),
        )
        for name, turns in {
            "reordered": (_IN_ORDER[2], *_IN_ORDER[:2]),
            "flipped": (("assistant", "First."), ("user", "Second."), _IN_ORDER[2]),
        }.items()
    ),
    report(
        "decolua/9router#3183",
        "relay.request.not-spoiled",
        request=ask(reasoning_effort="high"),
        up=Try(_FLAT, request=ask("responses", model="up-model", reasoning_effort="high")),
        wrong=_FLAT,
        right=Right(OK, _to_responses(reasoning={"effort": "high"})),
    ),
    _lost(
        "arguments-lost-chat-to-anthropic",
        ask(tools=[_DESCRIBED]),
        Try(FROM_ANTHROPIC, request=to_anthropic(tools=[{**_KNOWN, "description": "Looks a word up."}])),
        Try(FROM_ANTHROPIC, request=to_anthropic(tools=[_WHOLE])),
    ),
    _lost(
        "description-lost-chat-to-anthropic",
        ask(tools=[_DESCRIBED]),
        Try(FROM_ANTHROPIC, request=to_anthropic(tools=[{name: _WHOLE[name] for name in ("name", "input_schema")}])),
        Try(FROM_ANTHROPIC, request=to_anthropic(tools=[_WHOLE])),
    ),
    report(
        "result-of-no-call",
        "relay.request.messages",
        request=_CALLED,
        up=_anthropic_results("c0", "gone"),
        wrong=OK,
        right=Right(OK, _anthropic_results("c0", "c1")),
    ),
    report(  # higress-group/higress#3531: the second member gets no body
        "higress-group/higress#3531",
        "relay.request.fields",
        request=ask(),
        up=(Try(_503), Try(OK, "m1", 20.0, Ask("chat.completions", None))),
        wrong=OK,
        right=Right(OK, (Try(_503), Try(OK, "m1", 20.0))),
    ),
    report(  # bfenetworks/bfe#1311: half of it
        "bfenetworks/bfe#1311",
        "relay.request.fields",
        request=ask(),
        up=(Try(_503), Try(OK, "m1", 20.0, Ask("chat.completions", b'{"model":"up-model","messa'))),
        wrong=OK,
        right=Right(OK, (Try(_503), Try(OK, "m1", 20.0))),
    ),
)
