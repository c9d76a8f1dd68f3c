"""Right captures of requests that a gateway passes on in other words, legally: nothing that gates may be violated.

Each is named by the freedom that is taken, with the reports of members that refuse the request as it came. Material for
`test_adversarial_apis`; knows no clause.
"""

from __future__ import annotations

from typing import Any

from tests.contract.captures import Capture, Try, ask, call, capture, chat, embeddings, wire
from tests.contract.responding import response

_PROMPT = {"role": "user", "content": "Ticket cf-q8w3zd: say hello."}
_SAID = {"role": "assistant", "content": "Aye."}
_TOOL: dict[str, Any] = {
    "type": "function",
    "function": {"name": "look_up", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}},
}
_OTHER: dict[str, Any] = {"type": "function", "function": {"name": "forget", "parameters": {"type": "object"}}}
_LOOSE = {
    "type": "function",
    "function": {
        "name": "look_up",
        "parameters": {
            **_TOOL["function"]["parameters"],
            "$schema": "http://json-schema.org/draft-07/schema#",
            "additionalProperties": False,
        },
    },
}


def _told(asked: list[dict[str, Any]], sent: list[dict[str, Any]]) -> Capture:
    """A conversation and what the member was told of it."""
    both = [ask(messages=[*messages, _PROMPT]) for messages in (asked, sent)]
    return capture(both[0], wire(chat()), Try(wire(chat()), request=both[1].with_(model="up-model")))


def _asked(asked: dict[str, Any], sent: dict[str, Any], endpoint: str = "chat.completions") -> Capture:
    """The parameters of a request and those of its dispatch."""
    reply = wire(response() if endpoint == "responses" else chat("{}" if "response_format" in asked else "Hello."))
    return capture(ask(endpoint, **asked), reply, Try(reply, request=ask(endpoint, **{"model": "up-model", **sent})))


def _called(**more: Any) -> list[dict[str, Any]]:
    """A tool turn whose one call has more members, and its result."""
    one = {**call(None, id="c1", name="look_up", arguments='{"a":"b"}'), **more}
    return [{**_SAID, "content": None, "tool_calls": [one]}, {"role": "tool", "tool_call_id": "c1", "content": "4"}]


_IMAGE = {"type": "image_url", "image_url": {"url": "https://a.test/1.png"}}


def _pictured(**image: Any) -> list[dict[str, Any]]:
    return [{"role": "user", "content": [{"type": "image_url", "image_url": image}]}]


def _called_tool(name: str, **more: Any) -> dict[str, Any]:
    return {"type": "function", "function": {**_TOOL["function"], "name": name, **more}}


#: What clients copy from an answer into the history, and strict members refuse: BerriAI/litellm#30835,
#: decolua/9router#2090, can1357/oh-my-pi#1157, plmbr/notebook-intelligence#371.
_COPIED: dict[str, Any] = {
    "annotations": [],
    "reasoning_content": "Hm.",
    "reasoning": "Hm.",
    "reasoning_details": [{"type": "reasoning.text", "text": "Hm."}],
    "thinking_blocks": [{"type": "thinking", "thinking": "Hm."}],
    "provider_specific_fields": {"a": 1},
    "images": [],
    "id": "msg_1",
    "finish_reason": "stop",
}

TOLD: dict[str, Capture] = {
    **{
        f"a turn without the {name} that its client copied": _told([{**_SAID, name: value}], [_SAID])
        for name, value in _COPIED.items()
    },
    "a call without what its client copied": _told(_called(index=0, extra_content={"a": 1}), _called()),
    "a call of no arguments": _told(
        _called(function={"name": "look_up", "arguments": ""}), _called(function={"name": "look_up", "arguments": "{}"})
    ),
    "a result without its tool's name": _told(
        [_called()[0], {**_called()[1], "name": "look_up"}],
        _called(),
    ),
    "calls under ids that the member takes": _told(
        _called(), [_called(id="a1B2c3D4e")[0], {**_called()[1], "tool_call_id": "a1B2c3D4e"}]
    ),
    "a mark of Anthropic's memory is taken away": _told(
        [{"role": "user", "content": [{**_IMAGE, "cache_control": {"type": "ephemeral"}}]}],
        [{"role": "user", "content": [_IMAGE]}],
    ),
    "an empty turn is left out": _told([{"role": "assistant", "content": ""}], []),
    "an image's detail is spelled out": _told(
        _pictured(url="https://a.test/1.png"), _pictured(url="https://a.test/1.png", detail="auto")
    ),
    "an image goes as its bytes": _told(
        _pictured(url="https://a.test/1.png"), _pictured(url="data:image/png;base64,iVBORw0KGgo=")
    ),
}

ASKED: dict[str, Capture] = {
    "a tool's name is spelt as the API takes it": _asked(
        {"tools": [_called_tool("git.search")]}, {"tools": [_called_tool("git_search")]}
    ),
    "strict is false by default": _asked(
        {"tools": [_called_tool("look_up", strict=False)]}, {"tools": [_called_tool("look_up")]}
    ),
    "a seed in Mistral's words": _asked({"seed": 3}, {"random_seed": 3}),
    "an effort in Qwen's words": _asked({"reasoning_effort": "high"}, {"enable_thinking": True}),
    "a schema in Fireworks' words": _asked(
        {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}},
        {"response_format": {"type": "json_object", "schema": {"type": "object"}}},
    ),
    "an id of the gateway's own": _asked(
        {"previous_response_id": "resp_gw"}, {"previous_response_id": "resp_up"}, "responses"
    ),
    "no tools are left out": _asked({"tools": []}, {}),
    "tools of which none may be called": _asked({"tools": [_TOOL], "tool_choice": "none"}, {}),
    "a choice without tools": _asked({"tool_choice": "none", "parallel_tool_calls": False}, {}),
    "tools in another order": _asked({"tools": [_TOOL, _OTHER]}, {"tools": [_OTHER, _TOOL]}),
    "a tool that was told twice": _asked({"tools": [_TOOL, _TOOL]}, {"tools": [_TOOL]}),
    "a schema without its dialect": _asked({"tools": [_LOOSE]}, {"tools": [_TOOL]}),
    "defaults are left out": _asked(
        {"modalities": ["text"], "verbosity": "medium", "top_logprobs": 0, "stop": "", "reasoning_effort": "medium"}, {}
    ),
    "an effort in OpenRouter's words": _asked({"reasoning_effort": "high"}, {"reasoning": {"effort": "high"}}),
    "an effort in a template's words": _asked(
        {"reasoning_effort": "none"}, {"chat_template_kwargs": {"enable_thinking": False}}
    ),
    "a schema in a server's words": _asked(
        {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}},
        {"guided_json": {"type": "object"}},
    ),
    "a search in a router's words": _asked({"web_search_options": {}}, {"plugins": [{"id": "web"}]}),
    "an input told as an item": _asked({}, {"input": [{"type": "message", **_PROMPT}]}, "responses"),
    "instructions told as an item": _asked(
        {"instructions": "Be brief."}, {"input": [{"role": "developer", "content": "Be brief."}, _PROMPT]}, "responses"
    ),
    "earlier turns spelled out": _asked(
        {"previous_response_id": "resp_1"},
        {"input": [{"role": "user", "content": "Hi."}, _SAID, _PROMPT]},
        "responses",
    ),
    "items without ids": _asked(
        {
            "input": [
                {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "f", "arguments": "{}", "status": "x"},
                {"type": "function_call_output", "call_id": "c", "output": "4"},
                _PROMPT,
            ]
        },
        {
            "input": [
                {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c", "output": "4"},
                _PROMPT,
            ],
            "store": False,
        },
        "responses",
    ),
    "tokens are decoded": capture(
        ask("embeddings", input=[[1, 2, 3]]),
        wire(embeddings([0.5])),
        Try(wire(embeddings([0.5])), request=ask("embeddings", model="up-model", input=["abc"])),
    ),
}
