"""Chunks: the shape of each event of a chat or legacy completion stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.evidence import at_end, at_event, show
from conformance.contract.shape import problems
from conformance.contract.when import good_stream, is_stream, the_reply
from conformance.exchange.answer import STANDARD_REASONS
from conformance.exchange.model import Endpoint, Exchange, StreamEvent

#: Members that a clause of their own judges; the shape clause leaves them alone.
_OWNED = ("id", "object", "created", "model", "usage", "service_tier")
_OWNED_IN_CHOICE = ("finish_reason", "index")
_OWNED_IN_DELTA = ("role", "content", "tool_calls", "function_call")

_ROLES = ("assistant",)


def _chunks(x: Exchange) -> Iterator[tuple[StreamEvent, dict[str, Any]]]:
    """Every event that is a JSON object and no error."""
    reply = the_reply(x)
    for index, event in enumerate(reply.events):
        value = event.doc.value if event.doc is not None and event.doc.ok else None
        if isinstance(value, dict) and index not in reply.answer.event_errors:
            yield event, value


def _choices(x: Exchange) -> Iterator[tuple[StreamEvent, dict[str, Any]]]:
    for event, value in _chunks(x):
        choices = value.get("choices")
        for choice in choices if isinstance(choices, list) else []:
            if isinstance(choice, dict):
                yield event, choice


def _deltas(x: Exchange) -> Iterator[tuple[StreamEvent, dict[str, Any]]]:
    for event, choice in _choices(x):
        if isinstance(choice.get("delta"), dict):
            yield event, choice["delta"]


def _chat_stream(x: Exchange) -> bool:
    return is_stream(x) and x.request.endpoint is Endpoint.CHAT


def owned(path: tuple[str | int, ...]) -> bool:
    """Whether a clause of its own judges the member at `path` of a chunk."""
    match path:
        case (str() as name, *_):
            if name in _OWNED:
                return True
            if name != "choices" or len(path) < 3:
                return name == "choices"
            rest = path[2:]
            return rest[0] in _OWNED_IN_CHOICE or (rest[0] == "delta" and len(rest) > 1 and rest[1] in _OWNED_IN_DELTA)
    return False


@clause(
    id="chunk.shape",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A chunk has the API's shape",
    rationale="Typed clients read every member by the API's schema; one of another type fails the whole stream.",
    source="openai-spec/chunk",
    applies=is_stream,
)
def shape(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    name = "chat-completion-chunk" if x.request.endpoint is Endpoint.CHAT else "completion"
    for event, value in _chunks(x):
        for problem in problems(name, value):
            if not owned(problem.path):
                where = ".".join(map(str, problem.path)) or "the chunk"
                yield at_event(reply, event, f"{where}: {problem.expected}", problem.actual)
    for event, choice in _choices(x):
        logprobs = choice.get("logprobs")
        if x.request.endpoint is not Endpoint.CHAT or not isinstance(logprobs, dict):
            continue
        if not {"content", "refusal"} & logprobs.keys():
            yield at_event(reply, event, "logprobs with a member `content`", show(logprobs))


@clause(
    id="chunk.object",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A chunk names its object type",
    rationale="Clients tell chunks from errors and whole completions by `object`.",
    source="openai-api/chat-streaming",
    applies=is_stream,
)
def object_type(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    expected = "chat.completion.chunk" if x.request.endpoint is Endpoint.CHAT else "text_completion"
    for event, value in _chunks(x):
        if value.get("object") != expected:
            yield at_event(
                reply, event, show(expected), show(value.get("object")) if "object" in value else "no `object`"
            )


@clause(
    id="chunk.id",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A chunk has a non-empty id",
    rationale="Accumulators and logs key on the id.",
    source="openai-api/chat-streaming",
    applies=is_stream,
)
def chunk_id(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    for event, value in _chunks(x):
        if not (isinstance(value.get("id"), str) and value["id"].strip()):
            yield at_event(
                reply, event, "a non-empty string `id`", show(value.get("id")) if "id" in value else "no `id`"
            )


@clause(
    id="chunk.id.stable",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="All chunks of a stream have one id",
    rationale="Accumulators keyed by id split a message whose id changes.",
    source="openai-api/chat-streaming",
    applies=is_stream,
)
def id_stable(x: Exchange) -> Iterator[Finding]:
    yield from _stable(x, "id")


def is_seconds(value: Any) -> bool:
    """Whether `value` can be a Unix time in whole seconds; what is past the year 5000 counts milliseconds."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 100_000_000_000


@clause(
    id="chunk.created",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A chunk's created is an integer of seconds",
    rationale="Typed clients read an integer: a float, a text or nothing fails the whole stream.",
    source="openai-api/chat-streaming",
    applies=is_stream,
)
def created(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    for event, value in _chunks(x):
        number = value.get("created")
        if not is_seconds(number):
            yield at_event(reply, event, "an integer `created`", show(number) if "created" in value else "no `created`")


@clause(
    id="chunk.created.stable",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="All chunks of a stream have one created time",
    rationale="The API gives every chunk the same time; clients that read the last one get another order.",
    source="openai-api/chat-streaming",
    applies=is_stream,
)
def created_stable(x: Exchange) -> Iterator[Finding]:
    yield from _stable(x, "created")


@clause(
    id="chunk.model",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A chunk names its model",
    rationale="Clients take the model from the first chunk for billing and logs.",
    source="openai-api/chat-streaming",
    applies=is_stream,
)
def model(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    for event, value in _chunks(x):
        if not (isinstance(value.get("model"), str) and value["model"]):
            yield at_event(
                reply,
                event,
                "a non-empty string `model`",
                show(value.get("model")) if "model" in value else "no `model`",
            )


@clause(
    id="chunk.model.stable",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="All chunks of a stream name one model",
    rationale="A model that changes within a stream shows that two sources were mixed.",
    source="openai-api/chat-streaming",
    applies=is_stream,
)
def model_stable(x: Exchange) -> Iterator[Finding]:
    yield from _stable(x, "model")


def _stable(x: Exchange, name: str) -> Iterator[Finding]:
    reply = the_reply(x)
    first: Any = None
    for event, value in _chunks(x):
        current = value.get(name)
        if current in (None, "") or isinstance(current, bool):
            continue
        if first is None:
            first = current
        elif current != first:
            yield at_event(reply, event, f"{name} {show(first)}", show(current))


@clause(
    id="chunk.choices",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A chunk has an array of choices",
    rationale="SDKs iterate `choices` of every chunk, the usage chunk's empty one included.",
    source="openai-api/chat-streaming",
    applies=is_stream,
)
def choices_present(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    for event, value in _chunks(x):
        choices = value.get("choices")
        if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
            yield at_event(
                reply,
                event,
                "`choices`: an array of objects",
                show(choices) if "choices" in value else f"no `choices`: {show(value)}",
            )


@clause(
    id="chunk.choice.index",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="Every choice in a chunk has an index below n",
    rationale="The index says to which answer a delta belongs; a wrong one mixes or multiplies answers.",
    source="openai-api/chat-streaming",
    applies=is_stream,
)
def choice_index(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    count = requested_choices(x)
    for event, choice in _choices(x):
        index = choice.get("index")
        if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < count:
            yield at_event(
                reply,
                event,
                f"an integer `index` from 0 to {count - 1}",
                show(index) if "index" in choice else "no `index`",
            )


def requested_choices(x: Exchange) -> int:
    """How many choices the request asks for (1 unless `n` is a larger integer; times the prompts of a legacy request)."""
    n = x.request.get("n")
    count = n if isinstance(n, int) and not isinstance(n, bool) and n > 0 else 1
    prompts = x.request.get("prompt")
    if (
        x.request.endpoint is Endpoint.COMPLETIONS
        and isinstance(prompts, list)
        and prompts
        and isinstance(prompts[0], str | list)
    ):
        count *= len(prompts)
    return count


@clause(
    id="chunk.choice.count",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A whole stream carries as many choices as were asked for",
    rationale="With n above 1, texts that share an index are interleaved into one answer and the others are lost.",
    source="openai-api/chat-create",
    applies=lambda x: good_stream(x) and bool(the_reply(x).answer.choices),
)
def choice_count(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    count = requested_choices(x)
    seen = {choice.index for choice in reply.answer.choices}
    if any(index not in seen for index in range(min(count, len(seen) + 1))):
        yield at_end(reply, f"choices 0 to {count - 1}", f"choices {', '.join(map(str, sorted(seen)))}")


@clause(
    id="chunk.finish-reason.enum",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A chunk's finish reason is null or one of the API's values",
    rationale='An empty text reads as the end, an unknown value fails enum readers: "", "error", "eos", "STOP".',
    source="openai-api/chat-streaming",
    applies=is_stream,
)
def finish_reason(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    for event, choice in _choices(x):
        reason = choice.get("finish_reason")
        if reason is not None and (not isinstance(reason, str) or reason not in STANDARD_REASONS):
            yield at_event(reply, event, f"null or one of {', '.join(sorted(STANDARD_REASONS))}", show(reason))


@clause(
    id="chunk.role.valid",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A delta's role is assistant or absent",
    rationale='Readers that check the role refuse "" and null, and lose the stream with the first chunk.',
    source="openai-api/chat-streaming",
    applies=_chat_stream,
)
def role_valid(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    for event, delta in _deltas(x):
        if "role" in delta and delta["role"] not in _ROLES:
            yield at_event(reply, event, '"assistant", or no role', show(delta["role"]))


@clause(
    id="chunk.role.first",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="The first delta of a choice has the role",
    rationale="The API sends the role once, first; accumulators build the message from it.",
    source="openai-api/chat-streaming",
    applies=lambda x: _chat_stream(x) and any(True for _ in _deltas(x)),
)
def role_first(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    seen: set[Any] = set()
    for event, choice in _choices(x):
        index = choice.get("index")
        delta = choice.get("delta")
        if not isinstance(delta, dict) or not isinstance(index, int) or index in seen:
            continue
        seen.add(index)
        if "role" not in delta:
            yield at_event(reply, event, f"role assistant in the first delta of choice {index}", show(delta))


@clause(
    id="chunk.delta.content-type",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A delta's content is a text",
    rationale="Clients concatenate it: a list of parts, an object or a number raises or prints garbage.",
    source="openai-spec/chunk",
    applies=_chat_stream,
)
def delta_content(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    for event, delta in _deltas(x):
        if not isinstance(delta.get("content"), str | None):
            yield at_event(reply, event, "a string (or null, or absent)", show(delta["content"]))


@clause(
    id="chunk.delta.not-null",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A delta without tool calls has no tool_calls member",
    rationale="The schema knows an array and an object, no null: validating clients lose the whole stream.",
    source="openai-spec/chunk",
    applies=_chat_stream,
)
def delta_not_null(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    for event, delta in _deltas(x):
        if "tool_calls" in delta and not isinstance(delta["tool_calls"], list):
            yield at_event(reply, event, "tool_calls absent or an array", show(delta["tool_calls"]))
        # The deprecated member: many servers send null, and no client is known to read it so.
        if not isinstance(delta.get("function_call"), dict | None):
            yield at_event(reply, event, "function_call absent or an object", show(delta["function_call"]))
