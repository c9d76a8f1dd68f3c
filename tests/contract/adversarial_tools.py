"""Right captures whose calls, or whose text, look as if they were not what the request asked for: nothing that gates may
be violated on any of them.

Each is named by the freedom that is taken. Material for `test_adversarial_apis`; knows no clause.
"""

from __future__ import annotations

from typing import Any

from tests.contract.captures import Capture, Try, ask, capture, chat, wire
from tests.contract.examples_format import ANN, FENCED, JSON, by, said, shaped
from tests.contract.examples_tool_asked import (
    CALLED,
    CLOCK,
    FUNCTION,
    ITEM,
    NONE,
    SEARCHED,
    TOOLS,
    WEATHER,
    calling,
    choosing,
    one,
    responding,
    turn,
)
from tests.contract.examples_tool_said import ASKED, HERMES, told
from tests.contract.responding import message, response

RUN = {"type": "custom", "custom": {"name": "run"}}
RAN = {"id": "call_1", "type": "custom", "custom": {"name": "run", "input": '"ls"'}}
ASKED_MCP = {"type": "mcp_approval_request", "id": "mcpr_1", "name": "f", "arguments": "{}", "server_label": "s"}
LISTED = {"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "s", "tools": []}
SERVED = {"type": "web_search", "web_search": {"enable": True}}
XAI = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": "x_keyword_search", "input": "a"}
BUILT_IN = {"type": "builtin_function", "function": {"name": "$web_search"}}
FOUND = {
    "type": "tool_search_output",
    "id": "tso_1",
    "tools": [{"type": "namespace", "name": "a", "tools": [FUNCTION]}],
}


def remark(text: str) -> dict[str, Any]:
    """A message before the last."""
    return {**message(text), "id": "msg_0"}


CHOSEN: dict[str, Capture] = {
    "a custom tool is chosen by name": calling(
        ask(tools=[RUN, WEATHER], tool_choice={"type": "custom", "custom": {"name": "run"}}), RAN, reason="stop"
    ),
    "several calls of the one tool that was chosen": calling(
        choosing({"type": "function", "function": {"name": "get_weather"}}), one(), one(id="call_2"), reason="stop"
    ),
    "a choice in another provider's words": capture(choosing("any"), wire(chat())),
    "a choice of a hosted tool": responding(
        ask("responses", tools=[{"type": "web_search"}], tool_choice={"type": "web_search"}), *response()["output"]
    ),
    "a server's approval is a call that was required": responding(
        ask("responses", tools=[{"type": "mcp", "server_label": "s"}, FUNCTION], tool_choice="required"),
        LISTED,
        ASKED_MCP,
    ),
    "a tool of the server fulfils what is required": capture(
        ask(tools=[SERVED, *TOOLS], tool_choice="required"), wire(chat())
    ),
    "some tools are allowed, one is hosted": responding(
        ask(
            "responses",
            tools=[FUNCTION, {"type": "image_generation"}],
            tool_choice={"type": "allowed_tools", "mode": "auto", "tools": [{"type": "image_generation"}]},
        ),
        *response()["output"],
    ),
    "no tools, and a choice of none": capture(ask(tool_choice="none"), wire(chat())),
    "an older answer calls a tool": calling(NONE, one(), upstream=()),
    "hosted calls are no parallel ones": responding(
        ask("responses", tools=[{"type": "web_search"}, FUNCTION], parallel_tool_calls=False),
        SEARCHED,
        {**SEARCHED, "id": "ws_2"},
        ITEM,
    ),
    "a call of a tool that was declared in the conversation": responding(
        ask("responses", input=[{"type": "additional_tools", "role": "developer", "tools": [FUNCTION]}]), ITEM
    ),
    "a call of a tool that a search found": responding(ask("responses", tools=[{"type": "tool_search"}]), FOUND, ITEM),
    "a call of a stored prompt's tool": responding(ask("responses", prompt={"id": "pmpt_1"}), ITEM),
    "a call of a provider's own tool": responding(ask("responses", tools=[{"type": "x_search"}]), XAI),
    "a call of a built-in function": calling(
        ask(tools=[BUILT_IN]),
        {"id": "call_1", "type": "function", "function": {"name": "$web_search", "arguments": "{}"}},
    ),
    "a member's own id, used again": calling(ask(tools=TOOLS, messages=turn("call_1")), one(), upstream=Try(CALLED)),
    "a custom tool's input is a JSON text": calling(ask(tools=[RUN]), RAN),
    "a function that takes a list": calling(
        ask(tools=[{"type": "function", "function": {"name": "sum", "parameters": {"type": "array"}}}]),
        one("sum", "[1]"),
    ),
    "parameters of several types": calling(
        ask(tools=[{"type": "function", "function": {"name": "sum", "parameters": {"type": ["object", "null"]}}}]),
        one("sum", "null"),
    ),
    "markup that the user asked about": told(
        HERMES, ASKED.with_(messages=[{"role": "user", "content": "Ticket cf-q8w3zd: how is a <tool_call> written?"}])
    ),
    "markup in a code fence": told(f"So:\n```xml\n{HERMES}\n```\nThat is all.", ask(tools=TOOLS)),
    "markup of a tool that nobody declared": told(HERMES, ask(tools=[CLOCK])),
    "markup that a cap cut": told(HERMES[:60], reason="length"),
    "JSON that was asked for looks like a call": told(
        '{"name": "get_weather", "arguments": {}}', ask(tools=TOOLS, response_format={"type": "json_object"})
    ),
    "JSON with white space around it": said(JSON, f"\n\n  {ANN}\n"),
    "a list where JSON was asked for": said(JSON, "[1, 2]"),
    "a remark, then JSON": capture(shaped(), wire(response(output=[remark("I look it up."), message(ANN)]))),
    "a member that does not keep to JSON": said(JSON, FENCED, Try(wire(chat(FENCED)))),
    "a schema that nobody can read": said(by({"$ref": "other.json#/a"}), ANN),
    "a null where a schema of another dialect allows it": said(
        by({"type": "object", "properties": {"name": {"type": "string", "nullable": True}}}), '{"name":null}'
    ),
}
