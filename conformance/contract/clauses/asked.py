"""When an answer is judged by what its request asked of it, and whose fault it is then: the gateway's, or its member's.

A member that was asked for the same thing and gave the same fault is at fault itself: a gateway is only held to what it
relays. The conditions that such clauses share; no clause stands here.
"""

from __future__ import annotations

from collections.abc import Callable

from conformance.contract.clauses.calling import output_of
from conformance.contract.clauses.legs import refused_before
from conformance.contract.when import serving, stayed
from conformance.exchange.answer import Choice, normal_reason
from conformance.exchange.members import list_in, text_in
from conformance.exchange.model import Endpoint, Exchange, Reply, Request

APIS = (Endpoint.CHAT, Endpoint.RESPONSES)


def answered(x: Exchange) -> bool:
    """Whether a reply is a finished answer of either API. One that no member was asked for is an older one: what that
    member was asked is not known."""
    reply = x.reply
    if reply is None or x.request.endpoint not in APIS or x.attempts == () or not stayed(x):
        return False
    return reply.ok and reply.answer.finished and bool(reply.answer.choices) and not reply.answer.errors


def cut(choice: Choice) -> bool:
    """Whether an answer ended before its own end, by a cap or a filter."""
    return any(normal_reason(reason) in ("length", "content_filter") for reason in choice.reasons)


def refuses(choice: Choice, reply: Reply) -> bool:
    """Whether a choice is a refusal: then nothing else is owed. A response, which has one choice, refuses by a part."""
    if choice.refusal or len(reply.answer.choices) > 1:
        return bool(choice.refusal)
    parts = (part for item in output_of(reply) for part in list_in(item, "content"))
    return any(text_in(part, "type") == "refusal" for part in parts)


def told_by_member(x: Exchange, kept: Callable[[Request], bool], *names: str) -> Reply | None:
    """The serving member's reply, where its request `kept` what the client asked for, is in another API's words, or
    came after the member had refused a parameter of one of `names`. The client's own where the member's cannot be read:
    it may have said the same."""
    attempt = serving(x)
    if attempt is None or attempt.reply is None:
        return None
    number = next(number for number, other in enumerate(x.attempts or ()) if other is attempt)
    if attempt.reply.ok and not attempt.reply.answer.choices:
        return x.reply
    alike = attempt.request.endpoint is not x.request.endpoint or kept(attempt.request)
    return attempt.reply if alike or any(refused_before(x, number, name) for name in names) else None
