"""What a call says beside its tool's declaration: arguments that are the function's, and calls that are told as calls.

The API warns that a model may write arguments that are no JSON, or of parameters that nobody declared: what those
clauses judge is what a service makes of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.clauses.asked import answered, cut, refuses, told_by_member
from conformance.contract.clauses.calling import Call, Tool, by_choice, calls_of, tools_told
from conformance.contract.evidence import at_end, show
from conformance.contract.given import misfit
from conformance.contract.when import serving, the_reply
from conformance.exchange.answer import Choice
from conformance.exchange.asking import asking
from conformance.exchange.members import object_in
from conformance.exchange.model import Endpoint, Exchange, Reply, Request
from conformance.wire.jsondoc import parse


def _functions(reply: Reply, endpoint: Endpoint) -> list[Call]:
    """The calls of functions that were not cut off."""
    whole = {choice.index for choice in reply.answer.choices if not cut(choice)}
    return [call for call in calls_of(reply, endpoint) if call.kind in ("function", "legacy") and call.choice in whole]


def _mine(x: Exchange) -> list[tuple[Call, Tool]]:
    """The calls of functions that the request declares, each with its declaration."""
    tools = tools_told(x)
    calls = _functions(the_reply(x), x.request.endpoint)
    return [(call, tools[call.name]) for call in calls if call.name in tools]


def _theirs(x: Exchange) -> list[Call]:
    """The calls of the serving member."""
    attempt = serving(x)
    if attempt is None or attempt.reply is None:
        return []
    return _functions(attempt.reply, attempt.request.endpoint)


def _value(text: str) -> tuple[bool, Any]:
    """Whether a text is JSON, and its value."""
    doc = parse(text.encode("utf-8", "surrogatepass"))
    return doc.ok, doc.value


def _no_object(call: Call) -> bool:
    ok, value = _value(call.arguments)
    return ok and not isinstance(value, dict)


def _takes_object(tool: Tool) -> bool:
    """Whether a function takes its arguments by name: so its schema says, or it has none."""
    return bool(tool.parameters.get("type", "object") == "object")


@clause(
    id="tool.arguments.object",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="Arguments that are JSON are an object, where a function's parameters are one",
    rationale="Agents parse the text once and read the arguments by name: JSON in a JSON text, an array or null has no names.",
    source="openai-api/function-calling",
    applies=lambda x: answered(x) and any(_takes_object(tool) and _value(call.arguments)[0] for call, tool in _mine(x)),
)
def arguments_object(x: Exchange) -> Iterator[Finding]:
    wrong = [call for call, tool in _mine(x) if _takes_object(tool) and _no_object(call)]
    if wrong and any(map(_no_object, _theirs(x))):
        return
    for call in wrong:
        yield at_end(the_reply(x), f"an object as the arguments of {show(call.name)}", show(call.arguments))


def _strict_calls(x: Exchange) -> list[tuple[Call, Tool]]:
    """The calls of strict functions, of choices with one call: parallel calls need not keep to a schema."""
    mine = _mine(x)
    told = calls_of(the_reply(x), x.request.endpoint)
    alone = {index for index, calls in by_choice(told).items() if len(calls) == 1}
    return [(call, tool) for call, tool in mine if tool.strict and tool.parameters and call.choice in alone]


def _strictly(sent: Request) -> bool:
    """Whether a dispatch declares a strict function."""
    tools = sent.get("tools")
    inner = (object_in(tool, "function") or tool for tool in (tools if isinstance(tools, list) else []))
    return any(isinstance(tool, dict) and tool.get("strict") is True for tool in inner)


def _schema_broken(call: Call, tool: Tool) -> str:
    ok, value = _value(call.arguments)
    return misfit(tool.parameters, value) if ok else "no JSON"


@clause(
    id="tool.arguments.strict",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The arguments for a strict function fit its schema",
    rationale="Strict is asked for so that the arguments need no check: a member that is missing breaks the function itself.",
    source="openai-api/function-calling",
    applies=lambda x: answered(x) and bool(_strict_calls(x)),
)
def arguments_strict(x: Exchange) -> Iterator[Finding]:
    wrong = [(call, tool, why) for call, tool in _strict_calls(x) if (why := _schema_broken(call, tool))]
    member = told_by_member(x, _strictly, "strict") if wrong else None
    tools = tools_told(x)
    if member is not None and any(call.name in tools and _schema_broken(call, tools[call.name]) for call in _theirs(x)):
        return
    for call, _, why in wrong:
        yield at_end(the_reply(x), f"arguments of {show(call.name)} by its schema", f"{why}: {show(call.arguments)}")


#: How models write calls: what a server that declares tools has to read, and to tell as tool_calls.
_MARKS = re.compile(
    r"<\|?tool_calls?\|?>|<\|tool_calls?_(?:section_)?(?:begin|start)\|>|\[TOOL_CALLS\]|<TOOLCALL>|<\|python_tag\|>"
    r"|<function=|<function_calls>|<invoke name=|<\uff5ctool\u2581calls?\u2581begin\uff5c>|<\uff5cDSML\uff5c|"
    r"<(?:minimax|seed|longcat):?_?tool_call>|<\|action_start\|>|<\|tools_prefix\|>|<start_function_call>|functools\["
)
#: How far after a mark the name stands, how many marks are looked at.
_NEAR, _MANY = 300, 32
_WORD = re.compile(r"[\w.-]+")


def _marked(text: str, names: set[str], request: bytes) -> str:
    """The mark in a text behind which a tool's name stands, outside of code; "" for none."""
    for number, mark in enumerate(_MARKS.finditer(text)):
        if number == _MANY:
            break
        before, near = text[: mark.start()], text[mark.end() : mark.end() + _NEAR]
        words = {part for word in _WORD.findall(near) for part in (word, word.rpartition(".")[2])}
        quoted = before.count("```") % 2 == 1 or before.endswith("`") or mark.group(0).encode() in request
        if not quoted and words & names:
            return mark.group(0)
    return ""


def _bare(text: str, names: set[str]) -> bool:
    """Whether a text is nothing but a call as JSON: a tool's name and its arguments."""
    if not text.lstrip().startswith("{"):
        return False
    ok, value = _value(text)
    given = isinstance(value, dict) and set(value) in ({"name", "arguments"}, {"name", "parameters"})
    return ok and given and value["name"] in list(names)


def _written(x: Exchange, reply: Reply) -> Iterator[tuple[Choice, str]]:
    """The choices of a reply that call nothing and hold a call as text."""
    names = set(tools_told(x))
    asked = asking(x.request)
    told = asked is not None and any('"name"' in text for text in asked.texts)
    plain = x.request.get("response_format") is None and x.request.get("text", "format") is None and not told
    for choice in reply.answer.choices:
        if choice.tool_calls or cut(choice) or refuses(choice, reply):
            continue
        said = choice.text if choice.text.strip() else choice.reasoning
        mark = _marked(said, names, x.request.body)
        if mark:
            yield choice, mark
        elif plain and _bare(choice.text, names):
            yield choice, "a call as JSON"


def _may_call(x: Exchange) -> bool:
    forbidden = "none" in (x.request.get("tool_choice"), x.request.get("function_call"))
    return answered(x) and not forbidden and bool(tools_told(x)) and not _calls_all(x)


def _calls_all(x: Exchange) -> bool:
    return all(choice.tool_calls for choice in the_reply(x).answer.choices)


@clause(
    id="tool.markup.parsed",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A call of a declared tool is told as a call, not written into the text",
    rationale="What a model writes for its own server is no call to a client: it shows the markup, and the tool is never run.",
    source="openai-api/chat-object",
    applies=_may_call,
)
def markup_parsed(x: Exchange) -> Iterator[Finding]:
    wrong = list(_written(x, the_reply(x)))
    attempt = serving(x)
    member = attempt.reply if attempt is not None else None
    if wrong and member is not None and any(True for _ in _written(x, member)):
        return
    for choice, mark in wrong:
        yield at_end(the_reply(x), "a tool call", f"{mark} in {show(choice.text or choice.reasoning)}")
