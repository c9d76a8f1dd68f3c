"""What a gateway may put right of a member's answer: text, calls and numbers that would themselves break the contract.

A gateway that takes fences off asked-for JSON, cuts a text at its stop or makes a call of a call's markup does not
relay byte for byte, and does well. From the member's part of an answer and the client's to whether that is all that
differs; no clause stands here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

from conformance.contract.clause import Clause
from conformance.contract.clauses import format, tool_said
from conformance.contract.clauses.calling import tools_told, values_of
from conformance.contract.when import serving, the_reply
from conformance.exchange.answer import Choice, ToolCall
from conformance.exchange.asking import asking
from conformance.exchange.counted import number
from conformance.exchange.members import list_in, object_in, text_in, texts
from conformance.exchange.model import Endpoint, Exchange, Reply
from conformance.wire.jsondoc import parse

#: What a text of a member is held to by what was asked for: its form, and calls that are told as calls.
_TWINS = (format.json_kept, format.schema_kept, format.schema_followed, tool_said.markup_parsed)
#: Tokens that end a turn or a text: models' own, never a part of what they say.
_ENDS = re.compile(
    r"<\|(?:im_end|im_start|eot_id|eom_id|end_of_text|endoftext|end|end_of_turn|return|call|eos|END_OF_TURN_TOKEN)\|>"
    r"|</s>|<eos>|<end_of_turn>|<\uff5cend\u2581of\u2581sentence\uff5c>"
)
#: Half of a pair, which stands for no character, and what it becomes.
_HALF, _NONE = re.compile("[\ud800-\udfff]"), re.compile("[\ud800-\udfff\ufffd]")
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>\s*", re.S)


def _broken(x: Exchange, reply: Reply, rule: Clause) -> bool:
    """Whether a reply, as an answer of the gateway's own, would violate a rule."""
    alone = replace(x, reply=reply, attempts=None)
    return rule.applies(alone) and next(iter(rule.check(alone)), None) is not None


def twin_kept(x: Exchange) -> bool:
    """Whether the member's answer, told as it is, would violate a rule on its text that the client's keeps."""
    attempt = serving(x)
    member = attempt.reply if attempt is not None else None
    if member is None:
        return False
    return any(_broken(x, member, rule) and not _broken(x, the_reply(x), rule) for rule in _TWINS)


def text_mended(x: Exchange, upstream: Choice, mine: Choice | None) -> bool:
    """Whether the client's text is the member's, put right."""
    text = mine.text if mine is not None else ""
    said = upstream.text
    if mine is not None and _refuses(upstream, mine):
        return True
    if not said and upstream.reasoning:
        return text == upstream.reasoning  # a member that put its whole answer among its thoughts
    if any(_alike(text, way) for way in (said, _ENDS.sub("", said), _until_stop(x, said))):
        return True
    return text == _last_snapshot(x, upstream) or twin_kept(x)


def _alike(text: str, said: str) -> bool:
    """Whether two texts differ by nothing but the blanks around them, and by half characters that are none."""
    if _HALF.search(said):
        text, said = _NONE.sub("", text), _NONE.sub("", said)
    return text.strip() == said.strip()


def _refuses(upstream: Choice, mine: Choice) -> bool:
    """Whether a refusal became the text, a filtered text the refusal, or thoughts in tags were taken out of it."""
    if upstream.refusal and not upstream.text:
        return mine.text == upstream.refusal
    filtered = "content_filter" in upstream.reasons and not mine.text
    spoken = _THOUGHT.sub("", upstream.text)
    return (filtered and mine.refusal == upstream.text) or (
        spoken != upstream.text and spoken.strip() == mine.text.strip()
    )


def _until_stop(x: Exchange, said: str) -> str:
    """A text up to the first of the stop texts that the client asked for."""
    stops = [stop for stop in texts(x.request.get("stop")) if isinstance(stop, str) and stop]
    return said[: min([said.find(stop) for stop in stops if stop in said], default=len(said))]


def stopped(x: Exchange, upstream: Choice, mine: Choice) -> bool:
    """Whether the client's text is the member's, cut at a stop text that the member went past."""
    until = _until_stop(x, upstream.text)
    return until != upstream.text and _alike(mine.text, until)


def _last_snapshot(x: Exchange, upstream: Choice) -> str | None:
    """The text of a choice whose deltas are the whole text so far; None where they are not."""
    attempt = serving(x)
    pieces = []
    for value in values_of(attempt.reply) if attempt is not None and attempt.reply is not None else ():
        for place, choice in enumerate(list_in(value, "choices")):
            if isinstance(choice, dict) and choice.get("index", place) == upstream.index:
                pieces.append(text_in(object_in(choice, "delta"), "content") or text_in(choice, "text"))
    pieces = [piece for piece in pieces if piece]
    grows = len(pieces) > 1 and all(after.startswith(before) for before, after in pairwise(pieces))
    return pieces[-1] if grows and "".join(pieces) == upstream.text else None


def schema_tool(x: Exchange) -> str:
    """The tool by which a member was made to answer in the client's schema; "" for none, or one of the client's."""
    formed = object_in(_body(x), "response_format") or object_in(object_in(_body(x), "text"), "format")
    attempt = serving(x)
    asked = asking(attempt.request) if attempt is not None else None
    if formed.get("type") not in ("json_object", "json_schema") or asked is None:
        return ""
    names = [name for name in asked.tools if name not in tools_told(x)]
    forced = asked.choice is not None and (asked.choice == "required" or asked.choice.startswith("="))
    if forced and len(names) == 1:
        return names[0] if asked.choice in ("required", f"={names[0]}") else ""
    return ""


def _body(x: Exchange) -> Any:
    return x.request.doc.value if x.request.doc is not None and x.request.doc.ok else None


def by_schema(x: Exchange, pairs: Iterator[tuple[Choice, Choice | None]]) -> Iterator[tuple[Choice, Choice | None]]:
    """The choices of both legs, a call of the schema's tool as the text that it stands for."""
    name = schema_tool(x)
    for upstream, mine in pairs:
        called = [call for call in upstream.tool_calls if call.name == name]
        if name and called and (mine is None or not mine.tool_calls):
            told = mine.text if mine is not None else ""
            text = told if same_json(called[-1].arguments, told) else called[-1].arguments
            reasons = tuple("stop" if reason in ("tool_calls", "tool_use") else reason for reason in upstream.reasons)
            rest = tuple(call for call in upstream.tool_calls if call.name != name)
            yield replace(upstream, text=text, tool_calls=rest, reasons=reasons), mine
        else:
            yield upstream, mine


def same_json(left: str, right: str) -> bool:
    """Whether two texts are the same, or the same JSON."""
    if left.strip() == right.strip():
        return True
    docs = [parse(text.encode("utf-8", "surrogatepass")) for text in (left, right)]
    return all(doc.ok for doc in docs) and bool(docs[0].value == docs[1].value)


def same_arguments(left: str, right: str) -> bool:
    """The same for arguments, of which a member may have sent JSON in a JSON text."""
    doc = parse(left.encode("utf-8", "surrogatepass"))
    return same_json(left, right) or (doc.ok and isinstance(doc.value, str) and same_json(doc.value, right))


def calls_owed(x: Exchange, upstream: Choice, mine: Choice | None) -> tuple[ToolCall, ...]:
    """The calls of a choice, of which one is enough where the client forbade several."""
    told = mine.tool_calls if mine is not None else ()
    if x.request.get("parallel_tool_calls") is False and len(told) == 1:
        return tuple(call for call in upstream.tool_calls if _same_call(x, call, told[0]))[:1] or upstream.tool_calls
    return upstream.tool_calls


def _same_call(x: Exchange, expected: ToolCall, actual: ToolCall) -> bool:
    return same_name(x, expected.name, actual.name) and same_arguments(expected.arguments, actual.arguments)


def same_name(x: Exchange, expected: str, actual: str) -> bool:
    """Whether two names are one tool's: the client's own for one that the member's API, or the member, spelt otherwise."""
    if expected == actual:
        return True
    mine = list(tools_told(x))
    if actual not in mine or expected in mine:
        return False
    attempt = serving(x)
    asked = asking(attempt.request) if attempt is not None else None
    sent = list(asked.tools) if asked is not None else []
    if len(sent) == len(mine) and expected in sent and sent.index(expected) == mine.index(actual):
        return True
    return expected.strip().endswith(actual) or _letters(expected) == _letters(actual)


def _letters(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


def ids_told(x: Exchange) -> set[str]:
    """The ids of the calls that the conversation holds already: a new call needs a new one."""
    items = [*list_in(_body(x), "messages"), *list_in(_body(x), "input")]
    calls = [call for item in items for call in (*list_in(item, "tool_calls"), item)]
    return {text_in(call, name) for call in calls for name in ("id", "call_id")}


def usage_mended(x: Exchange, upstream: Any, mine: Any) -> bool:
    """Whether a usage is the member's with its sum put right: what the member's own total says is counted in.

    Members leave thoughts out of what they wrote, or the cache out of what they read, and not out of their total. One
    that counted nothing at all has no numbers that could be kept.
    """
    names = ("input_tokens", "output_tokens") if x.request.endpoint is Endpoint.RESPONSES else _CHAT
    read, wrote, total = _three(upstream, names)
    told_read, told_wrote, told = _three(mine, names)
    if not read and not wrote and not total:
        return bool(told_read)
    if read + wrote >= total or told != total or told_read + told_wrote != total:
        return False
    details = [_detail(upstream, names[1], "reasoning"), _detail(upstream, names[0], "cached")]
    if told_read == read:
        return details[0] in (None, 0, told_wrote - wrote)
    return told_wrote == wrote and details[1] in (None, 0, told_read - read)


_CHAT = ("prompt_tokens", "completion_tokens")


def _three(usage: Any, names: tuple[str, str]) -> tuple[int, int, int]:
    return number(usage, names[0]) or 0, number(usage, names[1]) or 0, number(usage, "total_tokens") or 0


def _detail(usage: Any, name: str, what: str) -> int | None:
    return number(usage, f"{name}_details", f"{what}_tokens")
