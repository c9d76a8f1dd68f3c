"""Examples of the clauses on calls beside what the request asked for: which tools, how many, in which form."""

from __future__ import annotations

from typing import Any

from tests.contract.captures import Ask, Capture, Try, ask, call, capture, chat, chunk, error, opening, stream, wire
from tests.contract.example import Example, Examples
from tests.contract.responding import response, said

ARGS = '{"city":"Oslo"}'
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = {"type": "function", "function": {"name": "get_weather", "parameters": PARAMETERS}}
CLOCK = {"type": "function", "function": {"name": "get_time", "parameters": {"type": "object", "properties": {}}}}
TOOLS = [WEATHER, CLOCK]
NAMED = {"type": "function", "function": {"name": "get_weather"}}
ONLY = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [NAMED]}}
MUST_ONLY = {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [NAMED]}}
FUNCTIONS = ask(functions=[WEATHER["function"]])
FUNCTION = {"type": "function", "name": "get_weather", "parameters": PARAMETERS}
ITEM = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_1",
    "name": "get_weather",
    "arguments": ARGS,
    "status": "completed",
}
SEARCHED = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "a"}}


def one(name: str = "get_weather", arguments: str = ARGS, id: str = "call_1") -> dict[str, Any]:
    """A whole call."""
    return call(None, id=id, name=name, arguments=arguments)


def calling(asked: Ask, *calls: Any, reason: str = "tool_calls", upstream: Any = None) -> Capture:
    """A message with those calls."""
    return capture(asked, wire(chat(None, reason, message={"tool_calls": list(calls)})), upstream)


def choosing(choice: Any, **more: Any) -> Ask:
    """A chat request with two tools and a choice of them."""
    return ask(tools=TOOLS, tool_choice=choice, **more)


def asking(**more: Any) -> Ask:
    """A Responses request with a function."""
    return ask("responses", tools=[FUNCTION], **more)


def responding(asked: Ask, *items: Any) -> Capture:
    """A response of those items."""
    return capture(asked, wire(response(output=list(items))))


def legacy(asked: Ask, upstream: Any = None, **more: Any) -> Capture:
    """A message with a legacy call."""
    told = {"function_call": {"name": "get_weather", "arguments": ARGS}, **more}
    return capture(asked, wire(chat(None, "function_call", message=told)), upstream)


def turn(id: str) -> list[dict[str, Any]]:
    """A conversation in which a tool was called before."""
    return [
        {"role": "user", "content": "Ticket cf-q8w3zd: Oslo?"},
        {"role": "assistant", "content": None, "tool_calls": [one(id=id)]},
        {"role": "tool", "tool_call_id": id, "content": "rain"},
        {"role": "user", "content": "And Bergen?"},
    ]


def pieces(*calls: Any) -> Any:
    """A stream with a delta for each piece of a call."""
    return wire(stream(opening(), *(chunk(delta={"tool_calls": [one]}) for one in calls), chunk(reason="tool_calls")))


CALLED = wire(chat(None, "tool_calls", message={"tool_calls": [one()]}))
PAIR = [one(), one("get_time", "{}", "call_2")]
STREAMED = wire(
    stream(
        opening(),
        chunk(delta={"tool_calls": [call(0, id="call_1", name="get_weather", arguments="")]}),
        chunk(delta={"tool_calls": [call(0, arguments=ARGS)]}),
        chunk(reason="tool_calls"),
    )
)
NONE = choosing("none")
REFUSED = Try(wire(error("Unsupported parameter: 'tool_choice'.", param="tool_choice"), status=400))

EXAMPLES: Examples = {
    "tool.choice.kept": Example(
        (
            capture(NONE, wire(chat())),
            # The member was asked for the same, in whatever words, or had refused to be asked.
            calling(NONE, one(), upstream=Try(CALLED)),
            calling(NONE, one(), upstream=Try(CALLED, request=ask(model="up-model"))),
            calling(NONE, one(), upstream=(REFUSED, Try(CALLED, "m0", 30.0, ask(model="up-model", tools=TOOLS)))),
            capture(choosing(NAMED), wire(chat()), Try(wire(chat()), request=choosing("required", model="up-model"))),
            calling(choosing("required"), one(), reason="stop"),
            calling(choosing(NAMED), one(), one(id="call_2"), reason="stop"),
            capture(choosing("required"), wire(chat("Hel", "length"))),
            capture(choosing("required"), wire(chat(None, message={"refusal": "No."}))),
            calling(choosing(ONLY), one()),
            capture(choosing(ONLY), wire(chat())),
            responding(asking(tool_choice="required"), SEARCHED, *response()["output"]),
            responding(asking(tool_choice={"type": "function", "name": "get_weather"}), ITEM),
            legacy(FUNCTIONS.with_(function_call={"name": "get_weather"})),
        ),
        (
            calling(NONE, one()),
            capture(NONE.with_(stream=True), STREAMED),
            calling(NONE, one(), upstream=Try(CALLED, request=ask(model="up-model", tools=TOOLS))),
            calling(choosing("none"), one(), upstream=Try(wire(chat()))),
            capture(choosing("required"), wire(chat())),
            capture(choosing(NAMED), wire(chat())),
            calling(choosing(NAMED), one("get_time", "{}")),
            calling(choosing(ONLY), one("get_time", "{}")),
            capture(choosing(MUST_ONLY), wire(chat())),
            responding(asking(tool_choice="none"), ITEM),
            responding(asking(tool_choice="none"), SEARCHED),
            capture(asking(tool_choice="required"), wire(response())),
            capture(
                asking(tool_choice="required", stream=True),
                wire(stream(*((i["type"], i) for i in said("Hi")), done=False)),
            ),
            legacy(FUNCTIONS.with_(function_call="none")),
        ),
    ),
    "tool.parallel.kept": Example(
        (
            calling(ask(tools=TOOLS, parallel_tool_calls=False), one()),
            calling(
                ask(tools=TOOLS, parallel_tool_calls=False),
                *PAIR,
                upstream=Try(wire(chat(None, "tool_calls", message={"tool_calls": PAIR}))),
            ),
            responding(asking(parallel_tool_calls=False), SEARCHED, {**SEARCHED, "id": "ws_2"}, ITEM),
        ),
        (
            calling(ask(tools=TOOLS, parallel_tool_calls=False), *PAIR),
            calling(
                ask(tools=TOOLS, parallel_tool_calls=False),
                *PAIR,
                upstream=Try(
                    wire(chat(None, "tool_calls", message={"tool_calls": PAIR})),
                    request=ask(model="up-model", tools=TOOLS),
                ),
            ),
            responding(asking(parallel_tool_calls=False), ITEM, {**ITEM, "id": "fc_2", "call_id": "call_2"}),
            # Two calls at one index are two.
            capture(
                ask(tools=TOOLS, parallel_tool_calls=False, stream=True),
                pieces(*(call(0, id=f"c{number}", name="get_time", arguments="{}") for number in (1, 2))),
            ),
        ),
    ),
    "tool.name.declared": Example(
        (
            # The member's calls have no ids and no indexes, and are told apart.
            capture(
                ask(tools=TOOLS, stream=True),
                pieces(
                    *(call(n, id=f"call_{n}", name=name, arguments="{}") for n, name in enumerate(("look", "write")))
                ),
                Try(pieces(*({"function": {"name": name, "arguments": "{}"}} for name in ("look", "write")))),
            ),
            calling(ask(tools=TOOLS), *PAIR),
            calling(
                ask(tools=TOOLS),
                one("look"),
                upstream=Try(wire(chat(None, "tool_calls", message={"tool_calls": [one("look")]}))),
            ),
            responding(
                ask("responses", tools=[{"type": "namespace", "name": "a", "tools": [FUNCTION]}]),
                {**ITEM, "namespace": "a"},
            ),
            responding(
                ask("responses", tools=[{"type": "tool_search"}]),
                {"type": "tool_search_output", "tools": [FUNCTION]},
                ITEM,
            ),
            legacy(FUNCTIONS),
        ),
        (
            calling(ask(tools=TOOLS), one("look")),
            calling(ask(), one()),
            calling(ask(tools=TOOLS), one("look"), upstream=Try(CALLED)),
            # A name that the gateway gave to the member and did not take back.
            calling(
                ask(tools=TOOLS),
                one("mcp_look"),
                upstream=Try(
                    wire(chat(None, "tool_calls", message={"tool_calls": [one("mcp_look")]})),
                    request=ask(model="up-model", tools=[{"type": "function", "function": {"name": "mcp_look"}}]),
                ),
            ),
            responding(asking(), {**ITEM, "name": "look"}),
        ),
    ),
    "tool.name.characters": Example(
        (
            calling(ask(tools=TOOLS), one("look")),
            calling(ask(tools=[{"type": "function", "function": {"name": "a.b"}}]), one("a.b")),
            calling(
                ask(tools=TOOLS),
                one("functions.get_weather"),
                upstream=Try(wire(chat(None, "tool_calls", message={"tool_calls": [one("functions.get_weather")]}))),
            ),
        ),
        (
            calling(ask(tools=TOOLS), one("get_weather<|channel|>commentary")),
            calling(ask(tools=TOOLS), one("functions.get_weather"), upstream=Try(CALLED)),
            responding(asking(), {**ITEM, "name": "get weather"}),
        ),
    ),
    "tool.legacy.form": Example(
        (
            legacy(FUNCTIONS),
            calling(ask(tools=TOOLS), one()),
            legacy(ask(tools=TOOLS), tool_calls=[one()]),
            calling(ask(tools=TOOLS, functions=[]), one()),
            calling(FUNCTIONS, one(), upstream=Try(CALLED)),
        ),
        (
            calling(FUNCTIONS, one()),
            legacy(ask(tools=TOOLS)),
            # The member was asked by tools: turning its call back is left to the gateway.
            calling(FUNCTIONS, one(), upstream=Try(CALLED, request=ask(model="up-model", tools=[WEATHER]))),
        ),
    ),
    "tool.id.fresh": Example(
        (
            calling(ask(tools=TOOLS, messages=turn("call_0")), one()),
            calling(ask(tools=TOOLS, messages=turn("call_1")), one(), upstream=Try(CALLED)),
            responding(
                asking(
                    input=[
                        {**ITEM, "call_id": "call_0"},
                        {"type": "function_call_output", "call_id": "call_0", "output": "a"},
                    ]
                ),
                ITEM,
            ),
        ),
        (
            calling(ask(tools=TOOLS, messages=turn("call_1")), one()),
            capture(ask(tools=TOOLS, messages=turn("call_1"), stream=True), STREAMED),
            calling(
                ask(tools=TOOLS, messages=turn("call_1")),
                one(),
                upstream=Try(wire(chat(None, "tool_calls", message={"tool_calls": [one(id="call_7")]}))),
            ),
            responding(
                asking(
                    previous_response_id="resp_0",
                    input=[{"type": "function_call_output", "call_id": "call_1", "output": "a"}],
                ),
                ITEM,
            ),
        ),
    ),
}
