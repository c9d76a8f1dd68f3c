"""Relay: what the client is told against what the upstream said: nothing laundered, nothing lost, nothing made up."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.clauses.chunk import requested_choices
from conformance.contract.clauses.embeddings import vector
from conformance.contract.clauses.tool import repeated
from conformance.contract.evidence import at_content, at_end, at_exchange, at_head, at_path, show
from conformance.contract.kinds import Kind, error_object, failing, inner_status, kind_of_reply, reason_of
from conformance.contract.shape import problems
from conformance.contract.when import CHOICES, serving, stayed, the_reply, usable
from conformance.exchange.answer import Choice, normal_reason
from conformance.exchange.model import Attempt, Endpoint, Exchange, Reply
from conformance.wire.facts import Span
from conformance.wire.jsondoc import parse
from conformance.wire.transcript import End

_CONVERSATION = (*CHOICES, Endpoint.RESPONSES)


def _served(x: Exchange) -> tuple[Attempt, Reply] | None:
    """The serving attempt and its reply, when the client read its own reply to the end.

    An attempt that the gateway itself ended counts only where the member had told its end or an error before.
    """
    attempt = serving(x)
    if attempt is None or attempt.reply is None or not stayed(x):
        return None
    answer = attempt.reply.answer
    if attempt.end is End.HANGUP and not (answer.errors or any(choice.reasons for choice in answer.choices)):
        return None
    return attempt, attempt.reply


def _speaks(x: Exchange) -> tuple[Attempt, Reply] | None:
    """The same for a 2xx of an endpoint that gives choices, on both legs."""
    found = _served(x)
    if found is None or not found[1].ok:
        return None
    asked = found[0].request.endpoint in _CONVERSATION or (found[1].answer.choices and _translated(x))
    return found if x.request.endpoint in _CONVERSATION and asked else None


def _translated(x: Exchange) -> bool:
    """Whether the member speaks another API, and its answer was read."""
    attempt = serving(x)
    return attempt is not None and attempt.request.endpoint is Endpoint.OTHER


def _told_success(x: Exchange) -> bool:
    """Whether the client was told, openly or by a clean end, that all is well."""
    reply = the_reply(x)
    return reply.ok and reply.complete and not reply.answer.errors


def _told(x: Exchange) -> str:
    answer = the_reply(x).answer
    reasons = [reason for choice in answer.choices for reason in choice.reasons]
    done = "and [DONE]" if answer.done else "and no [DONE]" if answer.streamed else ""
    text = "".join(choice.text for choice in answer.choices)
    return f"status {the_reply(x).status}, finish_reason {show(reasons[-1]) if reasons else 'none'} {done}, text {show(text, 60)}".replace(
        " ,", ","
    )


def _error_like(choice: Choice) -> bool:
    told = [reason for reason in choice.reasons if reason != ""] or list(choice.reasons)
    if told and all(normal_reason(reason) is None for reason in told):
        return True
    return choice.empty and any(failing(reason) for reason in choice.native)


def _truncated(x: Exchange) -> bool:
    found = _speaks(x)
    if found is None:
        return False
    answer, reply = found[1].answer, found[1]
    if answer.errors or (answer.told_end and (answer.streamed or reply.complete)):
        return False
    cut_json = not answer.streamed and bool(reply.content) and (not reply.complete or _cut_off(reply))
    return (answer.streamed and bool(answer.choices) and not answer.done) or cut_json


def _cut_off(reply: Reply) -> bool:
    """Whether the content is the beginning of a JSON object, on a body whose framing cannot tell (until close)."""
    broken = reply.doc is not None and not reply.doc.ok
    return broken and reply.content.lstrip().startswith(b"{") and not reply.content.rstrip().endswith(b"}")


@clause(
    id="relay.truncation.told",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="An upstream answer that was cut is not told as a finished one",
    rationale="A truncated answer under stop and [DONE], or under a clean end, is taken for the whole truth.",
    source="rfc9112/incomplete",
    applies=_truncated,
)
def truncation_told(x: Exchange) -> Iterator[Finding]:
    found = _speaks(x)
    made_up = [r for choice in the_reply(x).answer.choices for r in choice.reasons if normal_reason(r) is not None]
    if (_told_success(x) or made_up) and found is not None:
        how = found[0].end.value
        yield at_end(
            the_reply(x),
            "an error event, an error status, or an aborted body",
            f"{_told(x)}; the upstream: {how}, no finish_reason, no [DONE]",
        )


def _laundry(x: Exchange) -> bool:
    found = _speaks(x)
    return (
        found is not None
        and not found[1].answer.errors
        and any(_error_like(choice) for choice in found[1].answer.choices)
    )


@clause(
    id="relay.reason.not-laundered",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="An upstream's failing finish reason does not become a clean end",
    rationale="network_error, error, an empty or unknown reason is a failed generation: as stop it ends an agent's turn mid-loop.",
    source="incident/errors",
    applies=_laundry,
)
def reason_not_laundered(x: Exchange) -> Iterator[Finding]:
    found = _speaks(x)
    assert found is not None
    if not _told_success(x):
        return
    reasons = [reason for choice in the_reply(x).answer.choices for reason in choice.reasons]
    if reasons and all(normal_reason(reason) is None and reason != "" for reason in reasons):
        return  # passed on as it came: that is judged by the finish reason's enum
    upstream = [reason for choice in found[1].answer.choices for reason in (*choice.reasons, *choice.native)]
    yield at_end(the_reply(x), f"an error (the upstream's reason is {show(upstream[-1])})", _told(x))


def _native(x: Exchange) -> bool:
    return (
        stayed(x)
        and the_reply(x).ok
        and x.request.endpoint in CHOICES
        and any(choice.native and choice.reasons for choice in the_reply(x).answer.choices)
    )


@clause(
    id="relay.reason.native-agrees",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="An empty answer whose native reason is a failure has no clean finish reason",
    rationale="Beside native_finish_reason network_error, a stop with nothing in it is a failed generation told as an answer.",
    source="incident/errors",
    applies=_native,
)
def native_agrees(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    for choice in reply.answer.choices:
        told = [reason for reason in choice.native if failing(reason)]
        clean = any(normal_reason(reason) is not None for reason in choice.reasons)
        if choice.empty and told and clean and not reply.answer.errors:
            yield at_end(reply, f"an error (the native reason is {show(told[0])})", _told(x))


def _in_band(x: Exchange) -> bool:
    found = _served(x)
    return found is not None and found[1].ok and bool(found[1].answer.errors)


@clause(
    id="relay.error.told",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="An upstream error inside a 2xx reaches the client as an error",
    rationale="An error object in a 200 or in a stream is a failed generation; told as an empty success nobody retries it.",
    source="incident/errors",
    applies=_in_band,
)
def error_told(x: Exchange) -> Iterator[Finding]:
    found = _served(x)
    if _told_success(x) and found is not None:
        yield at_end(the_reply(x), f"an error (the upstream's says {show(found[1].answer.errors[0])})", _told(x))


def _nothing_said(x: Exchange) -> bool:
    found = _served(x)
    if found is None or not found[1].ok or found[1].answer.errors or _truncated(x):
        return False
    reply = found[1]
    if x.request.endpoint is Endpoint.EMBEDDINGS:
        data = reply.doc.get("data") if reply.doc is not None else None
        return not data
    if x.request.endpoint not in CHOICES or found[0].request.endpoint not in CHOICES:
        return False
    read = (reply.doc is not None and reply.doc.ok) or any(event.doc is not None for event in reply.events)
    if b'"choices"' in reply.content and not reply.answer.choices and not read:
        return False  # a completion stands in bytes that are neither JSON nor events: there is no one right reading
    return not any(choice.reasons or not choice.empty for choice in reply.answer.choices)


@clause(
    id="relay.empty.not-success",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="An upstream 2xx without any answer is not told as a success",
    rationale="An empty body, an HTML page or no choice at all is a failure; a made-up stop or text lands in the history.",
    source="incident/errors",
    applies=_nothing_said,
)
def empty_not_success(x: Exchange) -> Iterator[Finding]:
    found = _served(x)
    if _told_success(x) and found is not None:
        what = found[1].content[:60].decode("utf-8", "replace")
        yield at_end(
            the_reply(x),
            "an error status or an error event",
            f"{_told(x)}; the upstream's body: {show(what) if what else 'empty'}",
        )


#: A gateway's own refusals of what a member said (a guardrail, a bound) are 400, 403, 413, 422 and 451.
_REFUSALS = frozenset({400, 403, 413, 422, 451})
_LARGE = 8 << 20


def _conforms(x: Exchange, reply: Reply) -> bool:
    """Whether an upstream's reply is of the API's own shape, so that there is no ground to refuse it."""
    if reply.message.faults or len(reply.content) > _LARGE or (reply.stream is not None and reply.stream.faults):
        return False
    if x.request.endpoint is Endpoint.EMBEDDINGS:
        found = _vectors(reply)
        encoded = x.request.get("encoding_format") == "base64"
        data = reply.doc.get("data") if reply.doc is not None else None
        data = data if isinstance(data, list) else []
        kinds = {isinstance(item.get("embedding"), str) for item in data if isinstance(item, dict)}
        return bool(found) and kinds == {encoded}
    if x.request.endpoint is Endpoint.RESPONSES:
        return reply.answer.finished
    if x.request.endpoint not in CHOICES or len(reply.answer.choices) != requested_choices(x):
        return False
    stream = bool(reply.events)
    name = (
        "completion" if x.request.endpoint is Endpoint.COMPLETIONS else f"chat-completion{'-chunk' if stream else ''}"
    )
    values = [event.doc.value for event in reply.events if event.doc is not None] if stream else []
    if reply.doc is not None and not stream:
        values = [reply.doc.value]
    return not any(problems(name, value) for value in values if not isinstance(value, dict) or value.get("choices"))


def _success_owed(x: Exchange) -> bool:
    attempt = serving(x)
    if attempt is None or attempt.reply is None or not stayed(x) or the_reply(x).status in _REFUSALS:
        return False
    given_up = attempt.ended_at > x.transcript.ended_at and _names_timeout(the_reply(x))
    return not given_up and usable(x, attempt) and _conforms(x, attempt.reply)


def _names_timeout(reply: Reply) -> bool:
    text = reply.content[:4000].lower()
    return reply.status in (408, 504) or any(
        word in text for word in (b"timeout", b"timed out", b"time-out", b"deadline")
    )


@clause(
    id="relay.success.kept",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="An upstream's whole success does not become an error",
    rationale="The generation is done and paid: told as an error over a split write, a comment or a late [DONE] it is asked for again.",
    source="openai-api/errors",
    applies=_success_owed,
)
def success_kept(x: Exchange) -> Iterator[Finding]:
    reply, attempt = the_reply(x), serving(x)
    assert attempt is not None
    if reply.answer.errors or not reply.ok:
        yield at_head(reply, f"the answer of {attempt.member}", f"status {reply.status}, {_reason(reply)}")


def _reason(reply: Reply) -> str:
    value = reply.answer.errors[0] if reply.answer.errors else reply.doc.value if reply.doc is not None else None
    return show(value)


def _both(x: Exchange) -> tuple[Reply, Reply] | None:
    """Both replies where the upstream's answer was whole and the client's too."""
    found = _speaks(x)
    if found is None or not found[0].succeeded or not the_reply(x).ok or not the_reply(x).answer.finished:
        return None
    return found[1], the_reply(x)


def _shared_out(x: Exchange) -> bool:
    """Whether several members each gave a part: of a batch, or one of the choices. Then none of them is the whole answer."""
    gave = [attempt for attempt in x.attempts or () if attempt.succeeded]
    parts = {show(attempt.request.get("input"), 1 << 20) for attempt in gave}
    return len(gave) > 1 and (len(parts) > 1 or requested_choices(x) > 1)


def _pairs(x: Exchange) -> Iterator[tuple[Choice, Choice | None]]:
    found = _speaks(x)
    if found is None:
        return
    if len(found[1].answer.choices) != requested_choices(x) or _shared_index(found[1]):
        return  # the upstream itself mixed its choices up: there is no one right reading
    mine = {choice.index: choice for choice in the_reply(x).answer.choices}
    for choice in found[1].answer.choices:
        yield choice, mine.get(choice.index)


def _shared_index(reply: Reply) -> bool:
    choices = reply.doc.get("choices") if reply.doc is not None and not reply.events else None
    return isinstance(choices, list) and len(choices) != len(reply.answer.choices)


def _has_text(x: Exchange) -> bool:
    found = _speaks(x)
    return (
        found is not None
        and the_reply(x).ok
        and any(choice.plain or choice.refusal for choice, _ in _pairs(x))
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
    for upstream, mine in _pairs(x):
        refused = mine.refusal or mine.text if mine is not None else ""
        if upstream.refusal and reply.answer.finished and upstream.refusal not in refused:
            yield at_end(reply, f"the refusal {show(upstream.refusal)}", show(refused))
        text = mine.text if mine is not None else ""
        if not upstream.plain or _respoken(upstream, text):
            continue
        if reply.answer.finished and mine is not None and text != upstream.text:
            yield at_end(reply, show(upstream.text), show(text) + _difference(upstream.text, text))
        elif not upstream.text.startswith(text):
            yield at_end(reply, f"a beginning of {show(upstream.text)}", show(text) + _difference(upstream.text, text))


_THOUGHT = re.compile(r"\A\s*<think>.*?</think>\s*", re.S)


def _respoken(upstream: Choice, text: str) -> bool:
    """Whether thoughts in tags were taken out of the text, or a refusal became the text."""
    if upstream.refusal and not upstream.text:
        return text == upstream.refusal
    spoken = _THOUGHT.sub("", upstream.text)
    return spoken != upstream.text and spoken.strip() == text.strip()


def _difference(expected: str, actual: str) -> str:
    for position, (left, right) in enumerate(zip(expected, actual, strict=False)):
        if left != right:
            return f" (differs at character {position})"
    return f" ({len(actual)} characters of {len(expected)})"


@clause(
    id="relay.reason.kept",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The upstream's finish reason reaches the client",
    rationale="A hard-coded stop hides length caps and tool rounds: agents end their turn, cut text passes for whole.",
    source="incident/errors",
    applies=lambda x: _both(x) is not None,
)
def reason_kept(x: Exchange) -> Iterator[Finding]:
    for upstream, mine in _pairs(x):
        if mine is None or not mine.reasons:
            continue
        told = next((normal_reason(reason) for reason in upstream.reasons if normal_reason(reason)), None)
        allowed = {told}
        if upstream.tool_calls or told == "function_call":
            allowed |= {"tool_calls", "function_call"}
        got = normal_reason(mine.reasons[-1])
        if got is not None and got not in allowed:
            yield at_end(the_reply(x), show(told), show(mine.reasons[-1]))


def _tokens(reply: Reply) -> dict[int, list[str]]:
    """The tokens of which a chat reply gives log probabilities, by choice."""
    docs = [event.doc for event in reply.events] or [reply.doc]
    found: dict[int, list[str]] = {}
    for doc in docs:
        choices = doc.get("choices") if doc is not None else None
        for choice in choices if isinstance(choices, list) else []:
            told = choice.get("logprobs") if isinstance(choice, dict) else None
            content = told.get("content") if isinstance(told, dict) else None
            index = choice.get("index") if isinstance(choice, dict) else None
            if not isinstance(content, list) or not isinstance(index, int):
                continue
            for item in content:
                found.setdefault(index, []).append(str(item.get("token")) if isinstance(item, dict) else "")
    return found


def _logprobs_owed(x: Exchange) -> bool:
    both = _both(x)
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
    both = _both(x)
    assert both is not None
    mine = _tokens(both[1])
    for index, expected in _tokens(both[0]).items():
        if mine.get(index, []) != expected:
            told = mine.get(index, [])
            yield at_end(the_reply(x), f"{len(expected)} tokens {show(expected, 60)}", f"{len(told)} {show(told, 60)}")


def _same_json(left: str, right: str) -> bool:
    """Whether two texts are the same, or the same JSON."""
    if left.strip() == right.strip():
        return True
    docs = [parse(text.encode("utf-8", "surrogatepass")) for text in (left, right)]
    return all(doc.ok for doc in docs) and bool(docs[0].value == docs[1].value)


def _clean_calls(choice: Choice) -> bool:
    return bool(choice.tool_calls) and all(call.name and repeated(call.arguments) == 1 for call in choice.tool_calls)


@clause(
    id="relay.tool-calls.equal",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The tool calls that reach the client are those that the upstream sent",
    rationale="A lost id or name, merged or reordered calls run the wrong tool or none.",
    source="openai-api/function-calling",
    applies=lambda x: _both(x) is not None and any(_clean_calls(choice) for choice, _ in _pairs(x)),
)
def tool_calls_equal(x: Exchange) -> Iterator[Finding]:
    for upstream, mine in _pairs(x):
        if not _clean_calls(upstream):
            continue
        calls = mine.tool_calls if mine is not None else ()
        if len(calls) != len(upstream.tool_calls):
            yield at_end(
                the_reply(x),
                f"{len(upstream.tool_calls)} calls",
                f"{len(calls)} calls: {show([call.name for call in calls])}",
            )
            continue
        for expected, actual in zip(upstream.tool_calls, calls, strict=True):
            shared = sum(call.id == expected.id for call in upstream.tool_calls) > 1
            same_id = not expected.id.strip() or shared or actual.id == expected.id
            if not same_id or actual.name != expected.name or not _same_json(expected.arguments, actual.arguments):
                yield at_end(
                    the_reply(x),
                    show([expected.id, expected.name, expected.arguments]),
                    show([actual.id, actual.name, actual.arguments]),
                )


_NUMBERS: tuple[tuple[str, ...], ...] = (
    ("prompt_tokens",),
    ("completion_tokens",),
    ("total_tokens",),
    ("prompt_tokens_details", "cached_tokens"),
    ("completion_tokens_details", "reasoning_tokens"),
    ("input_tokens",),
    ("output_tokens",),
)


def _number(usage: Any, path: tuple[str, ...]) -> int | None:
    for step in path:
        usage = usage.get(step) if isinstance(usage, dict) else None
    return usage if isinstance(usage, int) and not isinstance(usage, bool) else None


def _usage_owed(x: Exchange) -> bool:
    if x.request.endpoint is Endpoint.EMBEDDINGS:
        found = _served(x)
        both = (found[1], the_reply(x)) if found and found[1].ok and the_reply(x).ok else None
    else:
        both = _both(x)
    attempt = serving(x)
    if both is None or attempt is None or attempt.request.endpoint is not x.request.endpoint or _shared_out(x):
        return False
    # Numbers that are not the API's own have no one right reading.
    names = ("input_tokens", "output_tokens") if x.request.endpoint is Endpoint.RESPONSES else ("prompt_tokens",)
    counted = all(_number(both[0].answer.usage, (name,)) is not None for name in names)
    return counted and (not x.request.stream or both[1].answer.usage is not None)


@clause(
    id="relay.usage.kept",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The upstream's usage numbers reach the client unchanged",
    rationale="Numbers that the gateway counts for itself miss cached and reasoning tokens: bills and budgets are wrong.",
    source="openai-api/chat-object",
    applies=_usage_owed,
)
def usage_kept(x: Exchange) -> Iterator[Finding]:
    attempt = serving(x)
    assert attempt is not None and attempt.reply is not None
    upstream, mine = attempt.reply.answer.usage, the_reply(x).answer.usage
    wrong = [
        path
        for path in _NUMBERS
        if _number(upstream, path) is not None and _number(upstream, path) != _number(mine, path)
    ]
    parts = [_number(mine, path) or 0 for path in _NUMBERS[:2]]
    if wrong == [("total_tokens",)] and _number(mine, ("total_tokens",)) == sum(parts):
        return  # a total that was no sum is put right
    if wrong:
        names = ["_".join(path) for path in wrong]
        expected = {name: _number(upstream, path) for name, path in zip(names, wrong, strict=True)}
        actual = {name: _number(mine, path) for name, path in zip(names, wrong, strict=True)}
        yield at_end(the_reply(x), show(expected), show(actual))


def _embedded(x: Exchange) -> bool:
    found = _served(x)
    if x.request.endpoint is not Endpoint.EMBEDDINGS or found is None or not the_reply(x).ok:
        return False
    return not _shared_out(x) and bool(_vectors(found[1]))


@clause(
    id="relay.embedding.equal",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The embeddings that reach the client are those that the upstream sent",
    rationale="A vector that was decoded or cut wrongly is stored and found again for years.",
    source="openai-api/embeddings",
    applies=_embedded,
)
def embedding_equal(x: Exchange) -> Iterator[Finding]:
    attempt = serving(x)
    assert attempt is not None
    upstream, mine = _vectors(attempt.reply), _vectors(x.reply)
    for position, expected in enumerate(upstream):
        actual = mine[position] if position < len(mine) else []
        close = len(expected) == len(actual) and all(
            abs(a - b) <= 1e-6 * max(1.0, abs(a)) for a, b in zip(expected, actual, strict=True)
        )
        if not close:
            yield at_path(
                the_reply(x),
                ("data", position, "embedding"),
                f"{len(expected)} numbers {show(expected, 40)}",
                f"{len(actual)} numbers {show(actual, 40)}",
            )


def _vectors(reply: Reply | None) -> list[list[float]]:
    """The vectors of an embeddings reply, by their indexes where every one has its own."""
    data = reply.doc.get("data") if reply is not None and reply.doc is not None else None
    items = [item for item in (data if isinstance(data, list) else []) if isinstance(item, dict)]
    if {item.get("index") for item in items if isinstance(item.get("index"), int)} == set(range(len(items))):
        items.sort(key=lambda item: int(item["index"]))
    return [found for found in (vector(item.get("embedding")) for item in items) if found]


def _errors(x: Exchange) -> list[Reply]:
    return [a.reply for a in x.attempts or () if a.reply is not None and not a.reply.ok and a.reply.status > 0]


_SERVER = frozenset({500, 502, 503, 504})

#: What a client may see for each upstream status; 5xx may become another 5xx, the rest keeps its class.
_ALLOWED: dict[int, frozenset[int]] = {
    400: frozenset({400, 422}),
    401: frozenset({401, 403, 424, 502, 503}),
    402: frozenset({402, 403, 429, 502, 503}),
    403: frozenset({401, 402, 403, 424, 429, 502, 503}),
    404: frozenset({400, 404, 410, 424, 502, 503}),
    408: frozenset({408, 429}) | _SERVER,
    409: frozenset({409, 429, 502, 503}),
    413: frozenset({400, 413, 422}),
    422: frozenset({400, 422}),
    429: frozenset({402, 403, 429, 503}),
    503: frozenset({429}) | _SERVER,
    504: frozenset({408}) | _SERVER,
    529: frozenset({429}) | _SERVER,
}
_BY_KIND: dict[Kind, frozenset[int]] = {
    Kind.MODEL_NOT_FOUND: frozenset({400, 404, 502, 503}),
    Kind.CONTEXT_LENGTH: frozenset({400, 413, 422}),
    Kind.QUOTA: frozenset({402, 403, 429}),
    Kind.RATE_LIMIT: frozenset({429, 503}),
    Kind.OVERLOADED: frozenset({429, 503, 529}),
    Kind.AUTHENTICATION: frozenset({401, 403, 502, 503}),
    Kind.CONTENT_FILTER: frozenset({400, 403, 422}),
}


def allowed_statuses(reply: Reply) -> frozenset[int]:
    """The statuses that tell a client what an upstream's error reply says."""
    status = reply.status
    allowed = {status} | _ALLOWED.get(status, frozenset())
    if status >= 500:
        allowed |= _SERVER
    elif status not in _ALLOWED:
        allowed |= _SERVER if status < 400 else {400, 502}
    allowed |= _BY_KIND.get(kind_of_reply(reply), frozenset())
    stated = inner_status(reply.doc.value if reply.doc is not None and reply.doc.ok else None)
    return frozenset(allowed | ({stated} if stated else set()))


def _all_failed(x: Exchange) -> bool:
    if x.request.endpoint in (Endpoint.MODELS, Endpoint.MODEL):
        return False  # a gateway may know its models without asking
    return stayed(x) and bool(_errors(x)) and not any(attempt.succeeded for attempt in x.attempts or ())


@clause(
    id="relay.status.kept",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="An upstream error reaches the client under a status of its kind",
    rationale="Clients retry by status: a 400 told as 5xx is retried for ever, a 429 told as 400 never, a 200 is an answer.",
    source="openai-api/errors",
    applies=_all_failed,
)
def status_kept(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    allowed: frozenset[int] = frozenset().union(*(allowed_statuses(error) for error in _errors(x)))
    if len(_errors(x)) < len(x.attempts or ()):
        allowed |= _SERVER
    if reply.status in allowed or (reply.ok and reply.events and reply.answer.errors):
        return
    if reply.ok and 300 <= _errors(x)[-1].status < 400:
        return  # the gateway followed the redirect, out of the capture's sight
    told = ", ".join(str(error.status) for error in _errors(x))
    yield at_head(
        reply, f"one of {', '.join(map(str, sorted(allowed)))} (the upstream answered {told})", f"status {reply.status}"
    )


def _reason_owed(x: Exchange) -> bool:
    if not _all_failed(x) or the_reply(x).status < 400:
        return False
    last = _errors(x)[-1]
    text = _upstream_reason(last)
    if _blind(x) and (last.status not in (400, 422) or kind_of_reply(last) is Kind.MODEL_NOT_FOUND):
        return False  # what is the member's own matter stays inside; what is wrong with the request is the client's
    return last.status not in (401, 402, 403) and 8 <= len(text) <= 400 and not text.startswith(("{", "["))


def _blind(x: Exchange) -> bool:
    return "provider-blind" in x.declares


def _retold(reason: str, text: str, *, reworded: bool) -> bool:
    """Whether `text` begins a reason as it stands or, with names taken out of it, has one of its longer words."""
    words = [word for word in re.findall(r"[^\W\d_]{5,}", reason.lower()) if word in text.lower()]
    return bool(reason) and (reason[:40] in text or (reworded and bool(words)))


def _upstream_reason(reply: Reply) -> str:
    return " ".join(reason_of(reply.doc.value if reply.doc is not None and reply.doc.ok else None).split())


@clause(
    id="relay.error.reason-kept",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="The upstream's reason reaches the client",
    rationale="Without the reason nobody can tell a bad request from an outage. Redaction can be on purpose: a SHOULD.",
    source="incident/errors",
    applies=_reason_owed,
)
def reason_text_kept(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    text = " ".join(reason_of(reply.doc.value if reply.doc is not None and reply.doc.ok else None).split())
    reasons = [_upstream_reason(error) for error in _errors(x)]
    if not any(_retold(reason, text, reworded=_blind(x)) for reason in reasons):
        yield at_content(reply, Span(0, min(240, len(reply.content))), show(reasons[-1]), show(text))


#: Codes that clients branch on; openai-api/errors and the official clients name them.
_CODES = frozenset(
    {
        "context_length_exceeded",
        "content_filter",
        "rate_limit_exceeded",
        "insufficient_quota",
        "model_not_found",
        "invalid_api_key",
    }
)


#: The API's other name for a refused prompt.
_SAME_CODE = {"content_filter": "content_policy_violation"}


def _code(reply: Reply) -> str | None:
    found = error_object(reply.doc.value if reply.doc is not None and reply.doc.ok else None) or {}
    value = found.get("code")
    return value if isinstance(value, str) and value in _CODES else None


def _code_owed(x: Exchange) -> bool:
    if not _all_failed(x) or len(_errors(x)) != len(x.attempts or ()):
        return False
    code = _code(_errors(x)[-1])
    if code == "rate_limit_exceeded":  # openai-sdk/errors: a 429 or 503 is retried by its status alone
        return the_reply(x).status not in (429, 503)
    return code in ("context_length_exceeded", "content_filter", "insufficient_quota")


@clause(
    id="relay.error.code-kept",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A code that clients branch on survives the gateway",
    rationale="Agents compact on context_length_exceeded and stop on insufficient_quota; without the code they retry.",
    source="openai-api/errors",
    applies=_code_owed,
)
def code_kept(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    codes = {_code(error) for error in _errors(x)}
    codes |= {"content_policy_violation"} & {_SAME_CODE.get(code) for code in codes if code}
    found = error_object(reply.doc.value if reply.doc is not None and reply.doc.ok else None) or {}
    event = next((error for error in reply.answer.errors if isinstance(error, dict)), {})
    if not any(isinstance(code, str) and code in codes for code in (found.get("code"), event.get("code"))):
        path: tuple[str | int, ...] = ("error", "code")
        told = show(found.get("code")) if found else "no error object"
        if reply.doc is None:
            yield at_exchange(x, show(_code(_errors(x)[-1])), told)
        else:
            yield at_path(reply, path, show(_code(_errors(x)[-1])), told)
