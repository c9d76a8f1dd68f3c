"""Relay: the answer that reaches the client is the one that the upstream gave: text, reason, tool calls, certainty."""

from __future__ import annotations

import math
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.clauses.legs import (
    both_whole,
    pairs,
    speaks,
    torn_texts,
)
from conformance.contract.clauses.mended import (
    by_schema,
    calls_owed,
    ids_told,
    same_arguments,
    same_name,
    stopped,
    text_mended,
    twin_kept,
)
from conformance.contract.clauses.tool import repeated
from conformance.contract.evidence import at_end, show
from conformance.contract.when import the_reply
from conformance.exchange.answer import Choice, normal_reason
from conformance.exchange.members import list_in, object_in, text_in
from conformance.exchange.model import Endpoint, Exchange, Reply


def _has_text(x: Exchange) -> bool:
    found = speaks(x)
    return (
        found is not None
        and the_reply(x).ok
        and any(choice.plain or choice.refusal for choice, _ in pairs(x))
        and bool(the_reply(x).answer.choices)
    )


@clause(
    id="relay.text.equal",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The text that reaches the client is the text that the upstream sent",
    rationale="Lost, doubled, re-encoded or invented pieces are another answer; of a cut answer the client has a prefix.",
    source="openai-api/chat-object",
    applies=_has_text,
)
def text_equal(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    for upstream, mine in by_schema(x, pairs(x)):
        refused = mine.refusal or mine.text if mine is not None else ""
        if upstream.refusal and reply.answer.finished and upstream.refusal not in refused:
            yield at_end(reply, f"the refusal {show(upstream.refusal)}", show(refused))
        text = mine.text if mine is not None else ""
        if not upstream.plain or _saved(x, upstream, text):
            continue
        whole = reply.answer.finished and mine is not None
        begun = upstream.text.startswith(text) or upstream.text.lstrip().startswith(text)
        if (text == upstream.text if whole else begun) or text_mended(x, upstream, mine):
            continue
        if whole:
            yield at_end(reply, show(upstream.text), show(text) + _difference(upstream.text, text))
        else:
            yield at_end(reply, f"a beginning of {show(upstream.text)}", show(text) + _difference(upstream.text, text))


def _saved(x: Exchange, upstream: Choice, text: str) -> bool:
    """Whether a text also holds what stood in chunks that are no JSON."""
    found = speaks(x)
    for torn in torn_texts(found[1]) if found is not None else ():
        text = text.replace(torn, "", 1)
        if text == upstream.text:
            return True
    return False


def _difference(expected: str, actual: str) -> str:
    for position, (left, right) in enumerate(zip(expected, actual, strict=False)):
        if left != right:
            return f" (differs at character {position})"
    return f" ({len(actual)} characters of {len(expected)})"


def _refusal_owed(x: Exchange) -> bool:
    both = both_whole(x) is not None and x.request.endpoint is Endpoint.CHAT
    return both and any(choice.refusal for choice, _ in pairs(x))


@clause(
    id="relay.refusal.kept",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="A refusal reaches the client as a refusal",
    rationale="Clients of structured outputs look at `refusal` before they parse the content. What other APIs refuse has no such place: a SHOULD.",
    source="openai-api/chat-object",
    applies=_refusal_owed,
)
def refusal_kept(x: Exchange) -> Iterator[Finding]:
    for upstream, mine in pairs(x):
        if upstream.refusal and (mine is None or upstream.refusal not in mine.refusal):
            told = f"content {show(mine.text)}" if mine is not None and mine.text else "no refusal"
            yield at_end(the_reply(x), f"the refusal {show(upstream.refusal)}", told)


def _citations(value: Any, *, inside: bool = False) -> Iterator[str]:
    """The addresses that a JSON value cites: of each url_citation among annotations."""
    if isinstance(value, list):
        for item in value:
            yield from _citations(item, inside=inside)
    elif isinstance(value, dict):
        cited = value.get("url_citation") if isinstance(value.get("url_citation"), dict) else value
        if inside and value.get("type") == "url_citation" and isinstance(cited, dict):
            yield from (url for url in (cited.get("url"),) if isinstance(url, str))
            return
        for name, item in value.items():
            yield from _citations(item, inside=inside or name in ("annotations", "annotation"))


def _cited(reply: Reply) -> set[str]:
    docs = [event.doc for event in reply.events] or [reply.doc]
    return {url for doc in docs if doc is not None and doc.ok for url in _citations(doc.value)}


def _citations_owed(x: Exchange) -> bool:
    both = both_whole(x)
    if both is None or x.request.endpoint is Endpoint.COMPLETIONS:  # completions have no place for annotations
        return False
    return b"url_citation" in both[0].content and bool(_cited(both[0]))


@clause(
    id="relay.annotations.kept",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The sources that the upstream cites reach the client",
    rationale="A text with marks and no sources cannot be checked; the sources were searched for and paid.",
    source="openai-api/chat-object",
    applies=_citations_owed,
)
def annotations_kept(x: Exchange) -> Iterator[Finding]:
    both = both_whole(x)
    assert both is not None
    for url in sorted(_cited(both[0]) - _cited(both[1])):
        yield at_end(both[1], f"an annotation with {show(url)}", "none")


def _sounds(reply: Reply) -> dict[int, bytes]:
    """The audio of each choice of a chat reply, joined."""
    found: dict[int, list[str]] = {}
    for doc in [event.doc for event in reply.events] or [reply.doc]:
        for choice in list_in(doc.value if doc is not None else None, "choices"):
            data = text_in(object_in(object_in(choice, "message") or object_in(choice, "delta"), "audio"), "data")
            if data and isinstance(choice.get("index"), int):
                found.setdefault(choice["index"], []).append(data)
    return {index: _decoded(pieces) for index, pieces in found.items()}


def _decoded(pieces: list[str]) -> bytes:
    """What pieces of base64 hold, each by itself or one after another; the pieces themselves where they hold nothing."""
    for parts in (pieces, ["".join(pieces)]):
        try:
            return b"".join(b64decode(part, validate=True) for part in parts)
        except ValueError:
            continue
    return "".join(pieces).encode("utf-8", "surrogatepass")


def _audio_owed(x: Exchange) -> bool:
    both = both_whole(x)
    return x.request.endpoint is Endpoint.CHAT and both is not None and bool(_sounds(both[0]))


@clause(
    id="relay.audio.kept",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The audio that the upstream sent reaches the client",
    rationale="A spoken answer has a null content: without its audio there is no answer at all.",
    source="openai-api/chat-object",
    applies=_audio_owed,
)
def audio_kept(x: Exchange) -> Iterator[Finding]:
    both = both_whole(x)
    assert both is not None
    mine = _sounds(both[1])
    for index, data in _sounds(both[0]).items():
        if mine.get(index) != data:
            told = f"{len(mine[index])} bytes {mine[index][:20].hex(' ')}" if index in mine else "none"
            yield at_end(both[1], f"audio of {len(data)} bytes {data[:20].hex(' ')}", told)


#: How a choice ends that calls something. One that was cut, or filtered, while it called is told as cut.
_CALLED = ("tool_calls", "function_call")


@clause(
    id="relay.reason.kept",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The upstream's finish reason reaches the client",
    rationale="A hard-coded stop hides length caps and tool rounds: agents end their turn, cut text passes for whole.",
    source="incident/errors",
    applies=lambda x: both_whole(x) is not None,
)
def reason_kept(x: Exchange) -> Iterator[Finding]:
    for upstream, mine in by_schema(x, pairs(x)):
        if mine is None or not mine.reasons:
            continue
        told = next((normal_reason(reason) for reason in upstream.reasons if normal_reason(reason)), None)
        allowed = {told}
        if told in _CALLED or (told == "stop" and (upstream.tool_calls or (mine.tool_calls and twin_kept(x)))):
            allowed |= set(_CALLED)
        if stopped(x, upstream, mine):
            allowed.add("stop")
        got = normal_reason(mine.reasons[-1])
        if got is not None and got not in allowed:
            yield at_end(the_reply(x), show(told), show(mine.reasons[-1]))


def _tokens(reply: Reply) -> dict[int, list[dict[str, Any]]]:
    """The tokens with their log probabilities that a chat reply gives, by choice."""
    docs = [event.doc for event in reply.events] or [reply.doc]
    found: dict[int, list[dict[str, Any]]] = {}
    for doc in docs:
        choices = doc.get("choices") if doc is not None else None
        for choice in choices if isinstance(choices, list) else []:
            told = choice.get("logprobs") if isinstance(choice, dict) else None
            content = told.get("content") if isinstance(told, dict) else None
            index = choice.get("index") if isinstance(choice, dict) else None
            if not isinstance(content, list) or not isinstance(index, int):
                continue
            for item in content:
                found.setdefault(index, []).append(item if isinstance(item, dict) else {})
    return found


def _same_token(expected: dict[str, Any], actual: dict[str, Any]) -> bool:
    """Whether two are one token, about as probable; a number may lose digits on its way, not its magnitude."""
    left, right = expected.get("logprob"), actual.get("logprob")
    if not isinstance(left, int | float) or not isinstance(right, int | float):
        return left is None and expected.get("token") == actual.get("token")
    if max(abs(left), abs(right)) > 1e300:
        return left == right and expected.get("token") == actual.get("token")
    return math.isclose(left, right, rel_tol=1e-3, abs_tol=1e-6) and expected.get("token") == actual.get("token")


def _alternatives(item: dict[str, Any]) -> list[dict[str, Any]]:
    told = item.get("top_logprobs")
    return [one for one in told if isinstance(one, dict)] if isinstance(told, list) else []


def _changed(x: Exchange, expected: dict[str, Any], actual: dict[str, Any]) -> str:
    """What became of a token's log probabilities, or ""."""
    if not _same_token(expected, actual):
        return f"{show(expected.get('token'))} {show(expected.get('logprob'))}"
    asked = x.request.get("top_logprobs")
    told = _alternatives(actual)
    for one in _alternatives(expected)[: asked if isinstance(asked, int) else 0]:
        if not any(_same_token(one, other) for other in told):
            return f"{show(one.get('token'))} {show(one.get('logprob'))} beside {show(expected.get('token'))}"
    return ""


def _logprobs_owed(x: Exchange) -> bool:
    both = both_whole(x)
    asked = x.request.endpoint is Endpoint.CHAT and x.request.get("logprobs") is True
    return asked and both is not None and bool(_tokens(both[0]))


@clause(
    id="relay.logprobs.kept",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The log probabilities that were asked for reach the client",
    rationale="Whoever asks for them computes with them: null in their place is an answer to another request.",
    source="openai-api/chat-create",
    applies=_logprobs_owed,
)
def logprobs_kept(x: Exchange) -> Iterator[Finding]:
    both = both_whole(x)
    assert both is not None
    mine = _tokens(both[1])
    for index, expected in _tokens(both[0]).items():
        told = mine.get(index, [])
        names = [[str(item.get("token")) for item in side] for side in (expected, told)]
        if names[0] != names[1]:
            yield at_end(
                the_reply(x), f"{len(expected)} tokens {show(names[0], 60)}", f"{len(told)} {show(names[1], 60)}"
            )
            continue
        lost = next(((what, b) for a, b in zip(expected, told, strict=True) if (what := _changed(x, a, b))), None)
        if lost is not None:
            yield at_end(the_reply(x), lost[0], show({**lost[1], "bytes": None}))


def _clean_calls(choice: Choice) -> bool:
    return bool(choice.tool_calls) and all(call.name and repeated(call.arguments) == 1 for call in choice.tool_calls)


@clause(
    id="relay.tool-calls.equal",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The tool calls that reach the client are those that the upstream sent",
    rationale="A lost id or name, merged or reordered calls run the wrong tool or none.",
    source="openai-api/function-calling",
    applies=lambda x: both_whole(x) is not None and any(_clean_calls(choice) for choice, _ in pairs(x)),
)
def tool_calls_equal(x: Exchange) -> Iterator[Finding]:
    before = ids_told(x)
    for upstream, mine in by_schema(x, pairs(x)):
        if not _clean_calls(upstream):
            continue
        calls, owed = mine.tool_calls if mine is not None else (), calls_owed(x, upstream, mine)
        if len(calls) != len(owed):
            yield at_end(
                the_reply(x), f"{len(owed)} calls", f"{len(calls)} calls: {show([call.name for call in calls])}"
            )
            continue
        for expected, actual in zip(owed, calls, strict=True):
            shared = sum(call.id == expected.id for call in upstream.tool_calls) > 1
            free = not expected.id.strip() or shared or expected.id in before
            same = same_name(x, expected.name, actual.name) and same_arguments(expected.arguments, actual.arguments)
            if not same or (actual.id != expected.id and not free):
                yield at_end(
                    the_reply(x),
                    show([expected.id, expected.name, expected.arguments]),
                    show([actual.id, actual.name, actual.arguments]),
                )
