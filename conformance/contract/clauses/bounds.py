"""The bounds that a request sets to its own answer: where the text ends, how long it is, what it begins with.

A member that was asked for a bound and does not keep it is at fault itself: a gateway is only held to what it relays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.clauses.asked import told_by_member
from conformance.contract.evidence import at_end, show
from conformance.contract.sameness import same
from conformance.contract.when import CHOICES, stayed, the_reply
from conformance.exchange.answer import normal_reason
from conformance.exchange.counted import counts, number
from conformance.exchange.members import texts
from conformance.exchange.model import Endpoint, Exchange, Reply, Request

_CAPS = {
    Endpoint.CHAT: ("max_completion_tokens", "max_tokens"),
    Endpoint.COMPLETIONS: ("max_tokens",),
    Endpoint.RESPONSES: ("max_output_tokens",),
}
#: Servers differ in whether the tokens that end an answer are counted.
_ENDING = 8


def _answered(x: Exchange) -> bool:
    """Whether a reply has choices to be judged. One that no member was asked for is an older one: what that member was
    asked is not known."""
    reply = x.reply
    choices = reply is not None and reply.ok and bool(reply.answer.choices) and not reply.answer.errors
    return stayed(x) and choices and x.attempts != ()


def _told_by_member(x: Exchange, *names: str) -> Reply | None:
    """What the member told that was asked for the same bound, by one of `names`."""
    return told_by_member(x, lambda sent: same(_asked(x.request, names), _asked(sent, names)), *names)


def _asked(request: Request, names: Iterable[str]) -> Any:
    """The first of some parameters that a request has; None without any."""
    return next((request.get(name) for name in names if request.get(name) is not None), None)


def _stops(x: Exchange) -> list[str]:
    return [text for text in texts(x.request.get("stop")) if isinstance(text, str) and text]


def _stopped(x: Exchange) -> bool:
    shown = x.request.get("include_stop_str_in_output") is True or x.request.get("echo") is True
    return x.request.endpoint in CHOICES and _answered(x) and bool(_stops(x)) and not shown


@clause(
    id="bounds.stop.left-out",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The text holds none of the stop texts that were asked for",
    rationale="The API ends the text before a stop text. What follows, and the mark itself, is read as part of the answer.",
    source="openai-api/chat-create",
    applies=_stopped,
)
def stop_left_out(x: Exchange) -> Iterator[Finding]:
    member = _told_by_member(x, "stop")
    said = "".join(choice.text for choice in member.answer.choices) if member is not None else ""
    for choice in the_reply(x).answer.choices:
        for text in _stops(x):
            if _holds(choice.text.rpartition("</think>")[2], text) and text not in said:
                yield at_end(the_reply(x), f"a text that ends before {show(text)}", show(choice.text))


def _holds(said: str, stop: str) -> bool:
    """Whether a text holds a stop text. The API itself has let "..." pass where "." was to stop it: a model may have
    one token for a run of a character."""
    one = re.escape(stop)
    return re.search(f"(?<!{one}){one}(?!{one})" if len(stop) == 1 else one, said) is not None


def _cap(x: Exchange) -> int:
    """The most tokens that the request asks for, of all its choices; 0 for no bound."""
    told = _asked(x.request, _CAPS.get(x.request.endpoint, ()))
    if not isinstance(told, int) or isinstance(told, bool) or told < 1:
        return 0
    prompts = x.request.get("prompt")
    times = [x.request.get(name) for name in ("n", "best_of")]
    most = max([1, *(value for value in times if isinstance(value, int))])
    several = isinstance(prompts, list) and not all(isinstance(item, int) for item in prompts)
    return told * most * (len(prompts) if several else 1)


def _given(reply: Reply | None) -> tuple[int, ...]:
    """How many tokens a reply says were generated: a number, or each of those that it may mean; () where it says none."""
    return counts(reply.answer.usage).get("completion", ()) if reply is not None else ()


def _beside(x: Exchange) -> int:
    """The tokens that a bound may leave out: predictions that were not kept, and thoughts beside the older bound."""
    usage = the_reply(x).answer.usage
    rejected = number(usage, "completion_tokens_details", "rejected_prediction_tokens") or 0
    older = x.request.get("max_completion_tokens") is None and x.request.endpoint is Endpoint.CHAT
    return rejected + (max(counts(usage).get("reasoning", (0,))) if older else 0)


@clause(
    id="bounds.cap.kept",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="No more tokens are generated than were asked for",
    rationale="The bound is what the client pays and waits for: an answer past it is of another request.",
    source="openai-api/chat-create",
    applies=lambda x: _answered(x) and _cap(x) > 0 and bool(_given(x.reply)),
)
def cap_kept(x: Exchange) -> Iterator[Finding]:
    given = min(_given(x.reply)) - _beside(x)
    if given > _cap(x) + _ENDING and given not in _given(_told_by_member(x, *_CAPS[x.request.endpoint])):
        yield at_end(the_reply(x), f"{_cap(x)} tokens at most", f"a usage of {given}")


#: The reasons by which an answer is told to have come to its own end.
_OWN_END = ("stop", "tool_calls", "function_call")


def _one_bound(x: Exchange) -> bool:
    """Whether one bound is set to one choice, which is told whole with its tokens."""
    alone = len(the_reply(x).answer.choices) == 1 and _cap(x) == _asked(x.request, _CAPS.get(x.request.endpoint, ()))
    return alone and the_reply(x).answer.finished and bool(_given(x.reply))


def _ended_at(reply: Reply | None, cap: int) -> bool:
    """Whether an answer is told to have come to its own end with all the tokens that it was given."""
    if reply is None or not _given(reply) or not cap <= min(_given(reply)) <= cap + _ENDING:
        return False  # what is far beyond it was not bound by it
    return any(normal_reason(reason) in _OWN_END for choice in reply.answer.choices for reason in choice.reasons)


@clause(
    id="bounds.cap.told",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="An answer that took all its tokens is told as cut",
    rationale="Clients go on, or ask for more, by the reason: a half answer told as whole is kept. One may end right at the bound: a SHOULD.",
    source="openai-api/chat-create",
    applies=lambda x: _answered(x) and _cap(x) > 0 and _one_bound(x),
)
def cap_told(x: Exchange) -> Iterator[Finding]:
    member = _told_by_member(x, *_CAPS[x.request.endpoint])
    if _ended_at(x.reply, _cap(x)) and not _ended_at(member, _cap(x)):
        reasons = [reason for choice in the_reply(x).answer.choices for reason in choice.reasons]
        yield at_end(the_reply(x), f"length, or incomplete, after {_cap(x)} tokens", show(reasons))


def _open_texts(x: Exchange, reply: Reply) -> list[str]:
    """The arguments, and the text where JSON was asked for, that end in the middle of their JSON."""
    form = x.request.get("response_format", "type") or x.request.get("text", "format", "type")
    texts = [call.arguments for choice in reply.answer.choices for call in choice.tool_calls]
    if form in ("json_object", "json_schema"):
        texts += [choice.text for choice in reply.answer.choices]
    return [text for text in texts if _cut_open(text)]


def _cut_open(text: str) -> bool:
    """Whether a text is the beginning of a JSON object or array, and no more."""
    expected: list[str] = []
    quoted = escaped = False
    for letter in text.strip():
        if quoted:
            quoted = escaped or letter != '"'
            escaped = letter == "\\" and not escaped
        elif letter in "{[":
            expected.append("}" if letter == "{" else "]")
        elif not expected or (letter in "}]" and expected.pop() != letter):
            return False
        else:
            quoted = letter == '"'
    return bool(expected)


@clause(
    id="bounds.cap.open",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="JSON that the bound cut open is not told as finished",
    rationale="The reason is length when the bound was reached: an agent that is told of a finished call parses half a JSON, or repairs it and runs it.",
    source="openai-api/chat-object",
    applies=lambda x: _answered(x) and _cap(x) > 0 and _one_bound(x),
)
def cap_open(x: Exchange) -> Iterator[Finding]:
    member = _told_by_member(x, *_CAPS[x.request.endpoint])
    alike = member is not None and _ended_at(member, _cap(x)) and bool(_open_texts(x, member))
    for text in _open_texts(x, the_reply(x)) if _ended_at(x.reply, _cap(x)) and not alike else ():
        yield at_end(the_reply(x), f"length, or incomplete, after {_cap(x)} tokens", f"finished: {show(text)}")


def _echoes(x: Exchange) -> list[str]:
    """The prompts that are to come back, where they are texts."""
    found = texts(x.request.get("prompt"))
    asked = x.request.endpoint is Endpoint.COMPLETIONS and x.request.get("echo") is True
    return found if asked and found and all(isinstance(text, str) for text in found) else []


@clause(
    id="bounds.echo.first",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A completion with echo begins with its prompt",
    rationale="Who asks for the echo scores the prompt's tokens, or cuts the prompt off: without it the answer is cut instead.",
    source="openai-api/completions",
    applies=lambda x: bool(_echoes(x)) and _answered(x) and the_reply(x).answer.finished,
)
def echo_first(x: Exchange) -> Iterator[Finding]:
    prompts = _echoes(x)
    member = _told_by_member(x, "echo")
    said = {choice.text for choice in member.answer.choices} if member is not None else set()
    each = max(1, len(the_reply(x).answer.choices) // len(prompts))
    for choice in the_reply(x).answer.choices:
        prompt = prompts[min(max(0, choice.index) // each, len(prompts) - 1)]
        if not choice.text.lstrip().startswith(prompt.strip()) and choice.text not in said:
            yield at_end(the_reply(x), f"a text that begins with {show(prompt)}", show(choice.text))
