"""What the parameters of a request say: which change the answer, what leaving one out means, what else says the same.

From the members of the client's body and of a dispatch in the same API to what was lost: (name, expected, actual).
Knows values alone, no exchange and no clause.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from conformance.contract.evidence import show
from conformance.contract.sameness import contained, same
from conformance.exchange.members import list_in, object_in, text_in, texts

#: openai-api/chat-create: parameters that change what is generated. A gateway may leave `model` to its configuration.
_CHANGING = (
    "temperature",
    "top_p",
    "n",
    "stop",
    "seed",
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "logprobs",
    "top_logprobs",
    "tools",
    "tool_choice",
    "functions",
    "function_call",
    "parallel_tool_calls",
    "response_format",
    "reasoning_effort",
    "verbosity",
    "modalities",
    "audio",
    "web_search_options",
    "prompt",
    "suffix",
    "echo",
    "best_of",
    "input",
    "dimensions",
    "instructions",
    "text",
    "reasoning",
    "max_output_tokens",
    "previous_response_id",
    "include",
    "max_tool_calls",
    "truncation",
)
#: openai-api/chat-create: max_tokens is deprecated in favour of max_completion_tokens, which counts where both stand.
CAPS = ("max_tokens", "max_completion_tokens")

#: Parameters that a gateway may spell out (`strict`, `additionalProperties`) as long as all of them arrives.
_STRUCTURED = ("tools", "functions", "response_format")
#: What speaks of tools, and says nothing without any.
_OF_TOOLS = ("tools", "tool_choice", "parallel_tool_calls", "functions", "function_call")

#: openai-api/chat-create, openai-api/completions: what a parameter that is left out means. None: nothing is sent.
DEFAULTS: dict[str, Any] = {
    "temperature": 1,
    "top_p": 1,
    "n": 1,
    "best_of": 1,
    "presence_penalty": 0,
    "frequency_penalty": 0,
    "logprobs": False,
    "echo": False,
    "parallel_tool_calls": True,
    "response_format": {"type": "text"},
    "stop": [],
    "logit_bias": {},
    "seed": None,
    "suffix": None,
    "dimensions": None,
    "max_tokens": None,
    "max_completion_tokens": None,
    "max_output_tokens": None,
}
#: The same of parameters that not every model takes: one that is added is not the API's default made explicit.
_SAID_BY_NONE: dict[str, Any] = {
    "top_logprobs": 0,
    "modalities": ["text"],
    "verbosity": "medium",
    "reasoning_effort": "medium",
    "truncation": "disabled",
    "reasoning": {},
    "text": {"format": {"type": "text"}},
    "tools": [],
    "functions": [],
    "include": [],
}


def is_default(name: str, value: Any) -> bool:
    """Whether `value` says what leaving `name` out says."""
    if name in ("tool_choice", "function_call"):
        return bool(value == "auto")
    if name == "stop" and value == "":
        return True
    default = DEFAULTS.get(name, _SAID_BY_NONE.get(name))
    return value is None or (default is not None and same(value, default))


def _idle(name: str, asked: dict[str, Any], sent: dict[str, Any]) -> bool:
    """Whether a parameter about tools may be left out: there are none, or none may be called and none are sent."""
    if name not in _OF_TOOLS:
        return False
    barred = "none" in (asked.get("tool_choice"), asked.get("function_call"))
    sends = sent.get("tools") or sent.get("functions")
    return (barred and not sends) or not (asked.get("tools") or asked.get("functions"))


def _successor(name: str, sent: dict[str, Any]) -> Any:
    """What replaced a deprecated parameter: functions as tools."""
    tools = sent.get("tools")
    if name == "functions" and isinstance(tools, list):
        return [tool.get("function") for tool in tools if isinstance(tool, dict)]
    choice = sent.get("tool_choice")
    if name == "function_call":
        return choice.get("function") if isinstance(choice, dict) else choice
    return None


def succeeds(name: str, value: Any, asked: dict[str, Any]) -> bool:
    """Whether a parameter says what the client said by a deprecated one, or in the API's words, and no more."""
    if name == "tools" and isinstance(value, list):
        functions, told = asked.get("functions"), _successor("functions", {"tools": value})
        return isinstance(functions, list) and len(functions) == len(value) and contained(functions, told)
    if name == "tool_choice":
        choice = asked.get("function_call")
        return choice is not None and same(choice, _successor("function_call", {"tool_choice": value}))
    if name == "parallel_tool_calls":  # of functions a model calls one at a time
        return value is False and bool(asked.get("functions"))
    if name == "prompt_cache_key":
        return asked.get("user") is not None and same(asked["user"], value)
    return any(_otherwise(other, asked[other], {name: value}) for other in _DIALECT if asked.get(other) is not None)


#: Parameters that members which speak the same API are known to take under a name of their own.
_DIALECT = ("reasoning_effort", "response_format", "web_search_options", "seed", "tool_choice")


def _otherwise(name: str, value: Any, sent: dict[str, Any]) -> bool:
    """Whether a dispatch says a parameter in its member's own words: OpenRouter's reasoning and plugins, vLLM's guided
    decoding and chat templates."""
    if name == "reasoning_effort":
        thinks = object_in(sent, "chat_template_kwargs").get("enable_thinking")
        switched = any(sent.get(word) is not None for word in ("thinking", "enable_thinking", "thinking_budget"))
        return switched or same(object_in(sent, "reasoning").get("effort"), value) or thinks is (value != "none")
    if name == "seed":
        return same(sent.get("random_seed"), value)
    if name == "tool_choice":
        return value == "required" and sent.get("tool_choice") == "any"
    if name == "response_format":
        schema = object_in(object_in({"": value}, ""), "json_schema").get("schema")
        guided = sent.get("guided_json", object_in(sent, "structured_outputs").get("json"))
        guided = object_in(sent, "response_format").get("schema") if guided is None else guided
        return schema is not None and contained(_bare(schema), guided)
    searches = bool(sent.get("search_parameters"))
    return searches or any(object_in({"": plugin}, "").get("id") == "web" for plugin in list_in(sent, "plugins"))


def _bare(value: Any) -> Any:
    """A tool or a schema without what only describes it, and members refuse: its dialect and, where nothing strict is
    asked, whether more members may come."""
    if isinstance(value, list):
        return [_bare(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("strict") is True:
        return value  # a strict schema says all that it says
    said = {name: _bare(item) for name, item in value.items() if name not in ("$schema", "additionalProperties")}
    if said.get("strict", True) in (False, None):
        del said["strict"]
    if object_in(said, "parameters").get("properties") == {}:
        del said["parameters"]
    return said


def _arrived(name: str, asked: Any, sent: Any) -> bool:
    """Whether a parameter's value stands in a dispatch; tools in any order, each at least once."""
    if name == "input" and _tokens(asked):
        number = len(asked) if isinstance(asked[0], list) else 1
        return same(asked, sent) or len(texts(sent)) == number
    if name not in _STRUCTURED:
        return same(asked, sent)
    asked = _bare(asked)
    if isinstance(asked, list) and isinstance(sent, list):
        named: dict[str, list[Any]] = defaultdict(list)
        for tool in sent:
            named[_name(tool)].append(tool)
        return all(any(contained(_nameless(one), other) for other in named[_name(one)]) for one in asked)
    return contained(asked, sent)


def _name(tool: Any) -> str:
    """A tool's name, or its type where it has none of its own."""
    name = text_in(object_in(tool, "function") or tool, "name")
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:40] or text_in(tool, "type")  # what the API does not take has another


def _nameless(tool: Any) -> Any:
    """A tool without its name, where the API does not take it as it is."""
    inner = object_in(tool, "function") or tool
    if not isinstance(inner, dict) or re.fullmatch(r"[A-Za-z0-9_-]{1,64}", text_in(inner, "name")):
        return tool
    rest = {name: value for name, value in inner.items() if name != "name"}
    return {**tool, "function": rest} if object_in(tool, "function") else rest


def _tokens(value: Any) -> bool:
    """Whether an input is told in tokens, one text or several: a gateway may decode them."""
    first = value[0] if isinstance(value, list) and value else None
    return isinstance(first, int) or (isinstance(first, list) and bool(first) and isinstance(first[0], int))


def lost(asked: dict[str, Any], sent: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The parameters of a request that a dispatch does not have, or has otherwise."""
    for name in _CHANGING:
        value = asked.get(name)
        if value is None or (name not in sent and (is_default(name, value) or _idle(name, asked, sent))):
            continue
        told = sent.get(name, _successor(name, sent))
        if told is None:
            if not (name in _DIALECT and _otherwise(name, value, sent)):
                yield name, show(value), "absent"
        elif not _arrived(name, value, told) and not (name in _DIALECT and _otherwise(name, value, sent)):
            yield name, show(value), show(told)
    cap = next((asked[name] for name in reversed(CAPS) if asked.get(name) is not None), None)
    if cap is not None and not any(same(sent.get(name), cap) for name in CAPS):
        stands = {name: sent[name] for name in CAPS if name in sent}
        yield CAPS[asked.get(CAPS[1]) is not None], show(cap), show(stands) if stands else "absent"
    if asked.get("store") is False and "input" in asked and sent.get("store") is not False:
        yield "store", "false", show(sent["store"]) if "store" in sent else "absent"  # a response is kept by default
