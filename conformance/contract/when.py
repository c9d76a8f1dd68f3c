"""The conditions under which clauses apply, each named once: on the request, the reply, its end, the upstream leg."""

from __future__ import annotations

import re
from collections.abc import Callable

from conformance.exchange.assemble import endpoint_of
from conformance.exchange.model import Attempt, Endpoint, Exchange, Reply, Request, StreamEvent
from conformance.wire.transcript import End

CHOICES = (Endpoint.CHAT, Endpoint.COMPLETIONS)
_OUTPUT = ("content", "tool_calls", "refusal", "reasoning", "reasoning_content", "function_call")


def replied(x: Exchange) -> bool:
    """A response head with a status came."""
    return x.reply is not None and x.reply.status > 0


def the_reply(x: Exchange) -> Reply:
    """The reply of an exchange to which `replied` applies."""
    assert x.reply is not None
    return x.reply


def stayed(x: Exchange) -> bool:
    """A response came and the client read it to its end (it did not hang up)."""
    return replied(x) and x.hangup is None


def ok(x: Exchange) -> bool:
    """The status is 2xx."""
    return replied(x) and the_reply(x).ok


def failed(x: Exchange) -> bool:
    """The status is an error, 4xx or 5xx, and the client read it to its end."""
    return stayed(x) and the_reply(x).status >= 400


#: The API's further operations, by what stands behind the version (or a deployment) in their paths.
_FURTHER = re.compile(
    r"/(?:v1|openai|deployments/[^/]+)/(?:audio|images|moderations|files|batches|uploads|fine_tuning|vector_stores"
    r"|assistants|threads|responses|chat/completions|conversations|containers|evals|videos)(?:/|$)"
)
#: Of those, the ones that answer with something else than JSON.
_NOT_JSON = re.compile(r"/audio(?:/|$)|/content$")
#: What tells that a request is one of another provider's API under a like path.
_OTHERS = ("anthropic-version", "x-goog-api-key")


def path_of(request: Request) -> str:
    """The path that a request names, without its query and a last slash."""
    return request.target.split("?", 1)[0].rstrip("/")


def speaks_openai(request: Request) -> bool:
    """Whether nothing in a request's head is of another provider's API."""
    return not any(request.head.get(name) for name in _OTHERS)


def further(request: Request) -> bool:
    """Whether a path is one of the API's operations without clauses of their own: audio, images, files, batches."""
    named = endpoint_of(request.target) is Endpoint.OTHER and _FURTHER.search(path_of(request)) is not None
    return named and speaks_openai(request)


def further_json(request: Request) -> bool:
    """Whether it is one of those that answer with a JSON object."""
    return further(request) and _NOT_JSON.search(path_of(request)) is None


#: What says that a path, or a method of it, is not served.
UNSERVED = frozenset({404, 405, 501})


def api_failure(x: Exchange) -> bool:
    """The same, from a path of the API (whatever the method); HEAD has no body and OPTIONS is not the API's.

    A further operation that is not served at all is no failure of it: error.unserved.envelope is about that.
    """
    if not failed(x) or x.request.method in ("HEAD", "OPTIONS"):
        return False
    named = endpoint_of(x.request.target) is not Endpoint.OTHER
    return named or (further(x.request) and the_reply(x).status not in UNSERVED)


def whole(x: Exchange) -> bool:
    """The response came whole by its own framing."""
    return stayed(x) and the_reply(x).complete


def is_json(x: Exchange) -> bool:
    """A whole 2xx reply to a request that asked for no stream, read as one valid JSON object."""
    reply = x.reply
    return (
        whole(x)
        and reply is not None
        and reply.ok
        and not x.request.stream
        and reply.doc is not None
        and reply.doc.ok
        and isinstance(reply.doc.value, dict)
    )


def json_of(*endpoints: Endpoint) -> Callable[[Exchange], bool]:
    """The condition: a JSON success of one of `endpoints`, without an in-band error."""

    def condition(x: Exchange) -> bool:
        return x.request.endpoint in endpoints and is_json(x) and not the_reply(x).answer.errors

    return condition


def is_stream(x: Exchange) -> bool:
    """A 2xx reply that is a stream of events, to a chat or completion request that asked for one."""
    reply = x.reply
    return (
        x.request.endpoint in CHOICES and x.request.stream and ok(x) and reply is not None and reply.stream is not None
    )


def has_output(event: StreamEvent) -> bool:
    """Whether an event of a chat or completion stream carries text, reasoning or a piece of a tool call."""
    choices = event.doc.get("choices") if event.doc is not None else None
    for choice in choices if isinstance(choices, list) else []:
        delta = choice.get("delta") if isinstance(choice, dict) else None
        if isinstance(delta, dict) and any(delta.get(name) for name in _OUTPUT):
            return True
        if isinstance(choice, dict) and choice.get("text"):
            return True
    return False


def ended_stream(x: Exchange) -> bool:
    """Such a stream, read to its own clean end (the body is whole by its framing)."""
    return is_stream(x) and whole(x)


def good_stream(x: Exchange) -> bool:
    """Such a stream, ended without an error event."""
    return ended_stream(x) and not the_reply(x).answer.errors


def upstream_known(x: Exchange) -> bool:
    """The upstream leg is held."""
    return x.attempts is not None


def _said(reply: Reply | None) -> list[tuple[int, str, tuple[str, ...]]]:
    choices = reply.answer.choices if reply is not None else ()
    return [
        (choice.index, choice.text.strip(), tuple(call.arguments for call in choice.tool_calls)) for choice in choices
    ]


def serving(x: Exchange) -> Attempt | None:
    """The attempt whose answer the client is owed: of those that succeeded the one whose words the client got (members
    that were asked side by side), else the last; else the last with a reply, else the last."""
    if not x.attempts:
        return None
    succeeded = [attempt for attempt in x.attempts if attempt.succeeded]
    if len(succeeded) > 1 and x.reply is not None:
        mine = _said(x.reply)
        return next((attempt for attempt in succeeded if _said(attempt.reply) == mine), succeeded[-1])
    if succeeded:
        return succeeded[0]
    for attempt in reversed(x.attempts):
        if attempt.reply is not None:
            return attempt
    return x.attempts[-1]


def usable(x: Exchange, attempt: Attempt) -> bool:
    """Whether a gateway has no reason to ask again: a whole success, in the mode and media type that were asked for."""
    reply = attempt.reply
    if reply is None or not attempt.succeeded or attempt.request.endpoint is not x.request.endpoint:
        return False
    if x.request.endpoint is Endpoint.EMBEDDINGS and not (reply.doc is not None and reply.doc.get("data")):
        return False
    if not all(choice.plain for choice in reply.answer.choices):
        return False  # content that is no text is not the API's: a gateway may not be able to read it
    media = "text/event-stream" if attempt.request.stream else "application/json"
    return reply.media_type == media and bool(reply.events) == attempt.request.stream


def reached_late(x: Exchange, attempt: Attempt) -> bool:
    """Whether a member read its request only when the gateway may have given it up already: on a starved machine a
    request lies in the kernel for longer than the gateway waits.
    """
    limit, attempts = x.terms.first_token_timeout_ms, x.attempts or ()
    number = next((n for n, other in enumerate(attempts) if other is attempt), 0)
    return limit is not None and attempt.at - (_free(attempts[number - 1]) if number else 0.0) > limit


def _free(attempt: Attempt) -> float:
    """When a gateway was free to ask another member: one that fell silent kept it until the gateway left."""
    silent = attempt.end in (End.STALL, End.HANGUP) and attempt.peer_closed_at is not None
    return max(attempt.ended_at, attempt.peer_closed_at or 0.0) if silent else attempt.ended_at


def leg_of(x: Exchange, attempt: Attempt) -> str:
    """The leg's name of an attempt, for findings."""
    return f"upstream:{(x.attempts or ()).index(attempt)}"


def broken_upstream(x: Exchange) -> bool:
    """The serving attempt gave a 2xx and then broke: cut, stalled, reset, unreadable, or without telling an end."""
    attempt = serving(x)
    if attempt is None:
        return False
    reply = attempt.reply
    if reply is None or (attempt.end in (End.RESET, End.STALL, End.CLOSE) and not reply.complete):
        return True
    return reply.ok and not attempt.succeeded
