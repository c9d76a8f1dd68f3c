"""Tool calls beside what the request asked for: which tools may, or have to, be called, how many at once, in which form.

A tool that runs at the service itself (a web search, an MCP server) is no call for the client, and fulfils `required`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.clauses.asked import answered, cut, refuses, told_by_member
from conformance.contract.clauses.calling import OWN, Call, by_choice, calls_of, foreign_tools, output_of, tools_told
from conformance.contract.evidence import at_end, show
from conformance.contract.when import serving, the_reply
from conformance.exchange.members import list_in, object_in, text_in
from conformance.exchange.model import Endpoint, Exchange, Reply, Request


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """What a tool choice asks for: `mode` is none, auto or required, `names` are those that may be called (None: all)."""

    mode: str
    names: frozenset[str] | None = None


def _name(value: Any) -> str:
    """The name in a tool choice, or in a tool of one: beside its type, or in an object named after it."""
    return text_in(object_in(value, text_in(value, "type")), "name") or text_in(value, "name")


def _wanted(request: Request) -> _Wanted | None:
    """What a request's choice asks for; None where it leaves the choice open, or names a tool of the service itself."""
    told = request.get("tool_choice")
    if told is None and request.endpoint is Endpoint.CHAT:
        legacy = request.get("function_call")
        told = {"type": "function", "function": legacy} if isinstance(legacy, dict) else legacy
    if told in ("none", "required"):
        return _Wanted(mode=str(told))
    kind = text_in(told, "type")
    if kind in ("function", "custom") and _name(told):
        return _Wanted(mode="required", names=frozenset((_name(told),)))
    if kind != "allowed_tools":
        return None
    inner = object_in(told, "allowed_tools") or told
    names = [_name(tool) for tool in list_in(inner, "tools")]
    if not names or not all(names) or text_in(inner, "mode") not in ("auto", "required"):
        return None
    return _Wanted(mode=text_in(inner, "mode"), names=frozenset(names))


def _own(reply: Reply, endpoint: Endpoint) -> list[Call]:
    return [call for call in calls_of(reply, endpoint) if call.kind in OWN]


def _runs(reply: Reply) -> bool:
    """Whether a Responses reply holds a call of any kind, or what stands for one: what is neither said nor thought."""
    idle = ("message", "reasoning", "compaction", "additional_tools", "mcp_list_tools")
    kinds = (text_in(item, "type") for item in output_of(reply))
    return any(kind not in idle and not kind.endswith("_output") for kind in kinds)


def _choice_told(x: Exchange) -> bool:
    wanted = _wanted(x.request)
    if wanted is None or not answered(x):
        return False
    return wanted.mode == "none" or (bool(tools_told(x)) and not foreign_tools(x))


def _choice_faults(x: Exchange, reply: Reply, endpoint: Endpoint) -> Iterator[tuple[str, str]]:
    wanted, calls = _wanted(x.request), calls_of(reply, endpoint)
    assert wanted is not None
    if wanted.mode == "none":
        yield from (("no call", f"a call of {show(call.name or call.kind)}") for call in calls)
        return
    names = wanted.names
    allowed = "a call" if names is None else f"a call of {' or '.join(map(show, sorted(names)))}"
    own = by_choice(call for call in calls if call.kind in OWN)
    for choice in reply.answer.choices:
        mine = own.get(choice.index, [])
        others = [call for call in mine if names is not None and call.name not in names]
        yield from ((allowed, f"a call of {show(call.name)}") for call in others)
        called = bool(mine) or (endpoint is Endpoint.RESPONSES and names is None and _runs(reply))
        if wanted.mode == "required" and not called and not cut(choice) and not refuses(choice, reply):
            yield allowed, f"no call, text {show(choice.text, 60)}"


def _choice_kept(x: Exchange, sent: Request) -> bool:
    """Whether a dispatch asks for the same choice: by its own words, by the tools that it leaves out, or by asking for
    some call where one is asked for."""
    mine, other = _wanted(x.request), _wanted(sent)
    if mine is None or mine == other:
        return True
    if mine.mode == "none":
        return not sent.get("tools") and not sent.get("functions")
    return other is not None and other.mode == mine.mode


@clause(
    id="tool.choice.kept",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The tools that are called are those that the tool choice allows, or asks for",
    rationale="Who forbids calls has nothing to run one with, and who asks for one waits for it: the turn is lost either way.",
    source="openai-api/chat-create",
    applies=_choice_told,
)
def choice_kept(x: Exchange) -> Iterator[Finding]:
    wrong = list(_choice_faults(x, the_reply(x), x.request.endpoint))
    member = told_by_member(x, lambda sent: _choice_kept(x, sent), "tool_choice", "function_call") if wrong else None
    if member is not None and any(_choice_faults(x, member, _spoken(x))):
        return
    for expected, actual in wrong:
        yield at_end(the_reply(x), expected, actual)


def _spoken(x: Exchange) -> Endpoint:
    """The operation that the serving member was asked for."""
    attempt = serving(x)
    return attempt.request.endpoint if attempt is not None else x.request.endpoint


def _together(reply: Reply, endpoint: Endpoint) -> list[list[Call]]:
    """The calls of each choice that has more than one."""
    return [group for group in by_choice(_own(reply, endpoint)).values() if len(group) > 1]


@clause(
    id="tool.parallel.kept",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="Without parallel tool calls a turn calls one tool at most",
    rationale="The client runs one call at a time, in order, or has strict arguments only then: a second call is lost or out of turn.",
    source="openai-api/function-calling",
    applies=lambda x: x.request.get("parallel_tool_calls") is False and answered(x),
)
def parallel_kept(x: Exchange) -> Iterator[Finding]:
    wrong = _together(the_reply(x), x.request.endpoint)
    member = told_by_member(x, _one_at_a_time, "parallel_tool_calls") if wrong else None
    if member is not None and _together(member, _spoken(x)):
        return
    for group in wrong:
        yield at_end(the_reply(x), "one call at most", f"{len(group)}: {show([call.name for call in group])}")


def _one_at_a_time(sent: Request) -> bool:
    return sent.get("parallel_tool_calls") is False


def _inherits(x: Exchange) -> bool:
    """Whether a request takes over what it does not say itself: a stored prompt, an earlier turn."""
    return any(x.request.get(name) for name in ("prompt", "previous_response_id", "conversation"))


def _named(x: Exchange) -> bool:
    known = isinstance(x.request.doc.value, dict) if x.request.doc is not None else False
    return known and answered(x) and not _inherits(x) and not foreign_tools(x) and bool(_own_calls(x))


def _own_calls(x: Exchange) -> list[Call]:
    return _own(the_reply(x), x.request.endpoint)


def _names_known(x: Exchange) -> set[str]:
    """The names of the request's tools, and of those that the reply says were loaded."""
    found, rest = set(tools_told(x)), [tool for item in output_of(the_reply(x)) for tool in list_in(item, "tools")]
    while rest:
        tool = rest.pop()
        found.add(text_in(tool, "name") or text_in(object_in(tool, "function"), "name"))
        rest += list_in(tool, "tools")
    return found


def _unknown(x: Exchange) -> list[Call]:
    """The calls by names that no tool of the request has, and that the member did not make up itself."""
    known, attempt = _names_known(x), serving(x)
    member = attempt.reply if attempt is not None else None
    theirs = {call.name for call in calls_of(member, _spoken(x))} if member is not None else set()
    made_up = theirs - (_names_sent(attempt.request) if attempt is not None else set())
    known |= made_up
    return [call for call in _own_calls(x) if call.name and call.name not in known]


#: openai-spec: a function's name is letters, digits, underscores and dashes, at most 64.
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
#: The API's own models call this.
_OWN_NAME = "multi_tool_use.parallel"


@clause(
    id="tool.name.characters",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A call's name is one that a function can have",
    rationale="A name with a template's token or a prefix in it is the server's reading of the model: no tool is called so.",
    source="openai-api/chat-create",
    applies=_named,
)
def name_characters(x: Exchange) -> Iterator[Finding]:
    for call in _unknown(x):
        if call.kind != "custom" and not _NAME.fullmatch(call.name) and call.name != _OWN_NAME:
            yield at_end(the_reply(x), "letters, digits, _ and -, at most 64", f"a call of {show(call.name)}")


@clause(
    id="tool.name.declared",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="A call names a tool of the request",
    rationale="Nothing can be run for another name: the agent answers with an error or ends. A model may invent a name: a SHOULD.",
    source="openai-api/function-calling",
    applies=_named,
)
def name_declared(x: Exchange) -> Iterator[Finding]:
    known = sorted(_names_known(x))
    for call in _unknown(x):
        yield at_end(the_reply(x), f"one of {show(known)}", f"a call of {show(call.name)}")


def _names_sent(request: Request) -> set[str]:
    """Every name in a dispatch's tools, in whatever API's words."""
    found, rest = set(), [request.get(name) for name in ("tools", "functions", "toolConfig", "input")]
    while rest:
        value = rest.pop()
        if isinstance(value, dict):
            found.add(text_in(value, "name"))
            rest += [item for name, item in value.items() if name not in ("parameters", "input_schema", "inputSchema")]
        elif isinstance(value, list):
            rest += value
    return found


def _form_asked(request: Request) -> str:
    """The form in which calls are asked for: legacy or function, "" for both or neither."""
    functions, tools = bool(request.get("functions")), bool(request.get("tools"))
    return "" if functions == tools else "legacy" if functions else "function"


def _form_wrong(reply: Reply, form: str) -> list[Call]:
    """The calls of the other form, of choices that have none of the form that was asked for."""
    calls = _own(reply, Endpoint.CHAT)
    right = {call.choice for call in calls if (call.kind == "legacy") == (form == "legacy")}
    return [call for call in calls if call.choice not in right]


@clause(
    id="tool.legacy.form",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="Functions are called by function_call, and tools by tool_calls",
    rationale="A client looks for its call where its request's form puts it, and finds none in the other place.",
    source="openai-api/chat-object",
    applies=lambda x: (
        x.request.endpoint is Endpoint.CHAT and bool(_form_asked(x.request)) and answered(x) and bool(_own_calls(x))
    ),
)
def legacy_form(x: Exchange) -> Iterator[Finding]:
    form = _form_asked(x.request)
    wrong = _form_wrong(the_reply(x), form)
    member = told_by_member(x, lambda sent: _form_asked(sent) == form) if wrong else None
    if member is not None and _spoken(x) is Endpoint.CHAT and _form_wrong(member, form):
        return
    names = {"legacy": "function_call", "function": "tool_calls"}
    for call in wrong:
        other = names["function" if form == "legacy" else "legacy"]
        yield at_end(the_reply(x), f"a call of {show(call.name)} by {names[form]}", f"by {other}")


def _ids_told(request: Request) -> set[str]:
    """The ids of the calls that stand in a request: earlier turns', and those that results name."""
    found = set()
    for item in [*list_in(_body(request), "messages"), *list_in(_body(request), "input")]:
        found |= {text_in(call, "id") for call in list_in(item, "tool_calls")}
        found |= {text_in(item, "call_id"), text_in(item, "tool_call_id")}
    return found - {""}


def _body(request: Request) -> Any:
    return request.doc.value if request.doc is not None and request.doc.ok else None


@clause(
    id="tool.id.fresh",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A call has an id that no earlier call of the conversation has",
    rationale="Results are matched to calls by id: the next request then holds two calls of one id, and one result for both.",
    source="openai-api/function-calling",
    applies=lambda x: answered(x) and bool(_ids_told(x.request)) and any(call.id for call in _own_calls(x)),
)
def id_fresh(x: Exchange) -> Iterator[Finding]:
    attempt, old = serving(x), _ids_told(x.request)
    member = attempt.reply if attempt is not None else None
    theirs = {call.id for call in calls_of(member, _spoken(x))} if member is not None else set()
    for call in _own_calls(x):
        if call.id in old and call.id not in theirs:
            yield at_end(the_reply(x), "an id of its own", f"{show(call.id)}, as a call of an earlier turn")
