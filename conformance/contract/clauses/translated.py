"""A request that reaches the member in another API's words: what of it was lost on the way.

From the client's request and a dispatch, each read as an Asking, to what is missing: (what, expected, actual). Knows
what has no place in an API, and what gateways say in other words; no clause stands here.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from conformance.contract.evidence import show
from conformance.contract.parameters import is_default
from conformance.contract.sameness import same
from conformance.exchange.asking import Asking, Dialect, asking
from conformance.exchange.model import Attempt, Exchange
from conformance.wire.jsondoc import parse

#: The names of tools that every API takes as they are.
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
#: No model's own bound of its output is below this: a larger bound that was asked for may come down to the model's.
_SMALLEST = 4096
#: What an assistant thought in an earlier turn, which models are not told again.
_THOUGHT, _THOUGHT_END = re.compile(r"<think(?:ing)?>"), re.compile(r"</think(?:ing)?>")
_WORD = re.compile(r"\w+")

Loss = tuple[str, str, str]

#: The OpenAI API's own ways of asking, and those of them that are asked in turns.
_OURS = (Dialect.CHAT, Dialect.COMPLETIONS, Dialect.RESPONSES)
_MODERN = (Dialect.CHAT, Dialect.RESPONSES)
#: The APIs that have no place for a tool that is to be called, or none for calling none.
_UNFORCED, _NEVER_NONE = (Dialect.OLLAMA,), (Dialect.OLLAMA, Dialect.CONVERSE)
#: The APIs that have a place for JSON of any schema.
_FORMATTED = (*_MODERN, Dialect.GEMINI, Dialect.OLLAMA)
#: The APIs in which a result is tied to its call by an id.
_TIED = (*_MODERN, Dialect.ANTHROPIC, Dialect.CONVERSE)
#: The APIs that have no place for a stop text.
_ENDLESS = (Dialect.RESPONSES,)
#: The least that an API takes for a bound (the Responses API: 16).
_LEAST = {Dialect.RESPONSES: 16}


def translations(x: Exchange) -> list[tuple[int, Attempt, Asking, Asking]]:
    """The dispatches of the client's own request in the words of another API, with what either side asks."""
    mine = asking(x.request)
    # Several prompts become a request each.
    if mine is None or mine.dialect not in _OURS or (mine.dialect is Dialect.COMPLETIONS and len(mine.texts) > 1):
        return []
    found = []
    for number, attempt in enumerate(x.attempts or ()):
        sent = asking(attempt.request)
        if sent is not None and sent.dialect is not mine.dialect and _speaks_of(mine, sent):
            found.append((number, attempt, mine, sent))
    return found


def _speaks_of(mine: Asking, sent: Asking) -> bool:
    """Whether the last thing that the client said stands in a dispatch: any other asks something else."""
    said = [text for text in mine.texts if text.strip()]
    return bool(said) and _squeezed(said[-1]) in {_squeezed(leaf) for leaf in sent.leaves}


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _spoken(text: str) -> str:
    """A text without the thoughts in it."""
    kept, position = [], 0
    while begin := _THOUGHT.search(text, position):
        end = _THOUGHT_END.search(text, begin.end())
        if end is None:
            break
        kept.append(text[position : begin.start()])
        position = end.end()
    return "".join([*kept, text[position:]])


def lost_turns(mine: Asking, sent: Asking) -> Iterator[Loss]:
    """What was said and does not stand in the dispatch: texts, what tools were given and gave, images and files."""
    leaves = [_squeezed(leaf) for leaf in _spelled_out(sent.leaves)]
    whole, all_of_it = set(leaves), "\n".join(leaves)

    def stands(text: str) -> bool:
        squeezed = _squeezed(text)
        return squeezed in whole or squeezed in all_of_it

    for text in mine.texts:
        if not stands(text) and not stands(_spoken(text)):
            yield "text", show(text), "absent"
    for what, told in (("call of a tool", mine.calls), ("result of a tool", mine.results)):
        for text in told:
            if not all(stands(part) for part in _pieces(text, call=told is mine.calls)):
                yield what, show(text), "absent"
    if mine.media > sent.media:
        yield "images or files", str(mine.media), str(sent.media)
    yield from _misplaced(mine, sent)
    yield from mispaired(mine, sent)


def _misplaced(mine: Asking, sent: Asking) -> Iterator[Loss]:
    """The first turn that does not stand behind those before it, said by the same one; turns may be joined, and a whole
    conversation may be told as one text."""
    walk = [(turn.role, _squeezed(turn.text)) for turn in sent.turns]
    if len([role for role, _ in walk if role != "system"]) < 2:
        return
    everything = "\n".join(text for _, text in walk)
    place, offset = 0, 0
    for turn in mine.turns:
        keys = [key for key in (_squeezed(turn.text), _squeezed(_spoken(turn.text))) if key and key in everything]
        if turn.role not in ("user", "assistant") or not keys:
            continue
        key = keys[0]
        while place < len(walk):
            role, text = walk[place]
            found = text.find(key, offset) if role == turn.role else -1
            if found >= 0:
                offset = found + len(key)
                break
            place, offset = place + 1, 0
        else:
            yield "turn", f"{turn.role}: {show(turn.text)}, in its place", "in another one, or said by another"
            return


def mispaired(mine: Asking, sent: Asking) -> Iterator[Loss]:
    """What a tool gave that stands under another call. Ids may be new, and so may names that an API does not take."""
    told = [("".join(map(_squeezed, one.texts)), one) for one in sent.given]
    exactly = defaultdict(list)
    for text, other in told:
        exactly[text].append(other)
    texts = ["".join(map(_squeezed, one.texts)) for one in mine.given]
    times = Counter(texts)
    for one, text in zip(mine.given, texts, strict=True):
        if not text or one.call < 0 or times[text] > 1:
            continue
        alike = exactly.get(text) or [other for whole, other in told if text in whole]
        if len(alike) != 1:
            continue
        other = alike[0]
        if other.call >= 0 and other.call != one.call and len(mine.given) == len(sent.given):
            yield "result of a tool", f"{show(one.texts)} for call {one.call}", f"for call {other.call}"
        elif other.call < 0 and sent.dialect in _TIED and mine.dialect in _MODERN:
            yield "result of a tool", f"{show(one.texts)} for call {one.call}", "for a call that is not there"
        elif other.name and one.name and _plain(other.name) != _plain(one.name):
            yield "result of a tool", f"{show(one.texts)} of {one.name}", f"of {other.name}"


def _plain(name: str) -> str:
    return re.sub(r"\W", "_", name)


def _spelled_out(leaves: tuple[str, ...]) -> Iterator[str]:
    """The texts of a body, and of each that is JSON itself the texts in it."""
    for leaf in leaves:
        yield leaf
        if leaf.lstrip()[:1] in ("{", "["):
            doc = parse(leaf.encode("utf-8", "surrogatepass"))
            yield from _texts(doc.value) if doc.ok else ()


def _pieces(result: str, *, call: bool) -> list[str]:
    """The texts that a result, or the arguments of a call, is made of: gateways give JSON on as JSON."""
    doc = parse(result.encode("utf-8", "surrogatepass"))
    if not doc.ok and call and result.lstrip().startswith("{"):
        return []  # arguments that are no JSON have no place in an API that wants an object
    if not doc.ok or not isinstance(doc.value, dict | list):
        return [result]
    return [piece for piece in _texts(doc.value) if piece.strip()]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def lost_parameters(mine: Asking, sent: Asking) -> Iterator[Loss]:
    """The parameters that the member is not asked with, though its API has a place for them."""
    yield from _lost_tools(mine, sent)
    if sent.dialect not in _ENDLESS:
        kept = {_squeezed(text) for text in sent.stop}
        for text in mine.stop:
            if text.strip() and _squeezed(text) not in kept:
                yield "stop", show(text), show(list(sent.stop)) if sent.stop else "absent"
    if mine.cap is not None and not sent.thinks and not _capped(mine.cap, sent):
        yield "max_tokens", show(mine.cap), show(sent.cap) if sent.cap is not None else "absent"
    if not sent.thinks and not _as_warm(mine, sent):
        for name in ("temperature", "top_p"):
            asked, told = getattr(mine, name), getattr(sent, name)
            if asked is not None and not same(asked, told):
                yield name, show(asked), show(told) if told is not None else "absent"
    if mine.dialect in _MODERN and sent.dialect in _MODERN:
        for name, parameter in (("effort", "reasoning_effort"), ("verbosity", "verbosity"), ("top_logprobs",) * 2):
            asked, told = getattr(mine, name), getattr(sent, name)
            if asked is not None and not is_default(parameter, asked) and not same(asked, told):
                yield parameter, show(asked), show(told) if told is not None else "absent"
    if mine.as_json and sent.dialect in _FORMATTED and not sent.as_json and sent.schema is None:
        yield "response_format", "json_object", "absent"
    names = _members(mine.schema)
    if names and not _named(names, sent):
        yield "the answer's schema", show(mine.schema), "absent"


def _lost_tools(mine: Asking, sent: Asking) -> Iterator[Loss]:
    if mine.choice == "none":
        if mine.tools and sent.tools and sent.choice != "none" and sent.dialect not in _NEVER_NONE:
            yield "tool_choice", '"none"', show(sent.choice) if sent.choice else "absent"
        return
    named = _named(mine.tools, sent)
    for name in mine.tools:
        # A member without tools may be told of them in words, a name that its API does not know under another.
        if _NAME.fullmatch(name) and name not in named:
            yield "tools", show(name), show(list(sent.tools)) if sent.tools else "absent"
    yield from _lost_descriptions(mine, sent)
    if sent.tools and not sent.thinks and not _as_forced(mine, sent):
        yield "tool_choice", show(mine.choice), show(sent.choice) if sent.choice else "absent"
    if mine.parallel is False and mine.tools and sent.parallel is not False and sent.dialect in _SEQUENTIAL:
        yield "parallel_tool_calls", "false", show(sent.parallel) if sent.parallel is not None else "absent"
    if mine.choice is None and mine.schema is None and mine.tools and sent.choice == "required":
        yield "tool_choice", "none: the client sent none", show(sent.choice)


#: Gateways cut long descriptions: so many characters are enough to know one.
_BEGINNING = 60


def _lost_descriptions(mine: Asking, sent: Asking) -> Iterator[Loss]:
    """What the client says of a tool that a dispatch knows by name: what it does, and what it takes."""
    all_of_it = "\n".join(map(_squeezed, sent.leaves))
    for name, description, arguments in mine.described:
        if name not in sent.tools:
            continue
        if _squeezed(description)[:_BEGINNING] not in all_of_it:
            yield f"description of {name}", show(description), "absent"
        if arguments and not _named(arguments, sent):
            yield f"parameters of {name}", show(list(arguments)), "absent"


#: The APIs that have a place for one call at a time.
_SEQUENTIAL = (Dialect.CHAT, Dialect.RESPONSES, Dialect.ANTHROPIC)


def _as_forced(mine: Asking, sent: Asking) -> bool:
    """Whether a member is asked for a call, or for a call of one tool, as the client asks."""
    wanted = mine.choice or ""
    if sent.dialect in _UNFORCED or not (wanted == "required" or wanted.startswith("=")):
        return True
    if sent.choice in (None, "auto", "none"):
        return False
    named = sent.choice is not None and sent.choice.startswith("=")
    if wanted == "required" or (not named and len(set(sent.tools)) == 1):
        return True
    return named and (not _NAME.fullmatch(wanted[1:]) or sent.choice == wanted)


def _named(names: Iterable[str], sent: Asking) -> set[str]:
    """Those of some names that stand anywhere in a dispatch, as words."""
    words = {word for leaf in sent.leaves for word in _WORD.findall(leaf)}
    all_of_it = "\n".join(sent.leaves)
    return {name for name in names if name in words or (not _WORD.fullmatch(name) and name in all_of_it)}


def _capped(cap: Any, sent: Asking) -> bool:
    least = _LEAST.get(sent.dialect, 0)
    if same(cap, sent.cap):
        return True
    if not isinstance(cap, int) or not isinstance(sent.cap, int):
        return False
    return (cap < least and sent.cap == least) or _SMALLEST <= sent.cap < cap


def _as_warm(mine: Asking, sent: Asking) -> bool:
    """Whether one of the two knobs of chance arrived: some models take one of them alone, and 1 at most."""
    told = [(mine.temperature, sent.temperature), (mine.top_p, sent.top_p)]
    asked = [(left, right) for left, right in told if left is not None]
    beyond = isinstance(mine.temperature, int | float) and mine.temperature > 1
    return not asked or beyond or any(same(left, right) for left, right in asked)


def _members(schema: Any) -> list[str]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return list(properties) if isinstance(properties, dict) else []
