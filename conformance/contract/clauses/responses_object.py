"""What a response object that came to its end has to tell besides its output: of its tokens, its texts, why it stopped.

Judged on the JSON response and on that of a stream's last event. A member that leaves it out itself is at fault itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.clauses.inherited import own
from conformance.contract.clauses.responses_course import ended
from conformance.contract.evidence import at_event, at_path, show
from conformance.contract.when import the_reply
from conformance.exchange.members import list_in, object_in
from conformance.exchange.model import Exchange, StreamEvent

#: openai-api/responses: the closed set of reasons.
_REASONS = ("max_output_tokens", "content_filter")
_DETAILS = {"input_tokens_details": "cached_tokens", "output_tokens_details": "reasoning_tokens"}
#: What the API's schema requires of every response besides what makes it one; the first three are never null.
_NEVER_NULL = ("tools", "tool_choice", "parallel_tool_calls")
_ECHOED = (*_NEVER_NULL, "error", "incomplete_details", "instructions", "metadata", "temperature", "top_p")

Path = tuple[str | int, ...]


def _finding(x: Exchange, event: StreamEvent | None, path: Path, expected: str, actual: str) -> Finding:
    if event is None:
        return at_path(the_reply(x), path, expected, actual)
    return at_event(the_reply(x), event, expected, actual)


def _counted(response: dict[str, Any]) -> dict[str, Any]:
    return object_in(response, "usage")


@clause(
    id="responses.usage.details",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="The usage of a response breaks its tokens down",
    rationale="Both objects are required: typed clients refuse the response, or fail when they read the cached and the reasoning tokens.",
    source="openai-spec/response-usage",
    applies=lambda x: any(_counted(response) for _, response in ended(x)),
)
@own
def usage_details(x: Exchange) -> Iterator[Finding]:
    for event, response in ended(x):
        usage = _counted(response)
        for name, counter in _DETAILS.items() if usage else ():
            if not isinstance(usage.get(name), dict):
                expected = f"usage.{name}: an object with {counter}"
                actual = show(usage[name]) if name in usage else "absent"
                yield _finding(x, event, ("usage", name), expected, actual)


def _texts(response: dict[str, Any]) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Each output text of a response, with its path."""
    for number, item in enumerate(list_in(response, "output")):
        parts = list_in(item, "content") if isinstance(item, dict) and item.get("type") == "message" else []
        for place, part in enumerate(parts):
            if isinstance(part, dict) and part.get("type") == "output_text":
                yield ("output", number, "content", place), part


@clause(
    id="responses.text.annotations",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="An output text has its annotations, be it none",
    rationale="The array is required: typed clients iterate over it, and refuse the message, or fail, without it.",
    source="openai-spec/output-text",
    applies=lambda x: any(True for _, response in ended(x) for _ in _texts(response)),
)
@own
def text_annotations(x: Exchange) -> Iterator[Finding]:
    for event, response in ended(x):
        for path, part in _texts(response):
            if not isinstance(part.get("annotations"), list):
                actual = show(part["annotations"]) if "annotations" in part else "absent"
                yield _finding(x, event, (*path, "annotations"), "annotations: an array", actual)


@clause(
    id="responses.incomplete.reason",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A response says why it is incomplete, exactly when it is",
    rationale="Clients raise the bound, or tell of the filter, by the reason; of a completed response with one they take the text for cut.",
    source="openai-api/responses",
    applies=lambda x: any(response.get("status") != "failed" for _, response in ended(x)),
)
@own
def incomplete_reason(x: Exchange) -> Iterator[Finding]:
    path = ("incomplete_details",)
    for event, response in ended(x):
        details, status = response.get("incomplete_details"), response.get("status")
        reason = details.get("reason") if isinstance(details, dict) else details
        if status == "incomplete" and reason not in _REASONS:
            yield _finding(x, event, path, f"a reason: {' or '.join(_REASONS)}", show(details))
        elif status == "completed" and reason is not None:
            yield _finding(x, event, path, "incomplete_details: null of a completed response", show(details))


@clause(
    id="responses.members",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="A response tells how it was asked for: its tools, its sampling and the rest",
    rationale="The schema requires these members and strict clients refuse a response without. Others never read them: a SHOULD.",
    source="openai-api/responses",
    applies=lambda x: bool(ended(x)),
)
@own
def members(x: Exchange) -> Iterator[Finding]:
    for event, response in ended(x):
        absent = [name for name in (*_ECHOED, "status") if name not in response]
        null = [f"{name} null" for name in _NEVER_NULL if name in response and response[name] is None]
        if absent or null:
            actual = "; ".join([*(f"{name} absent" for name in absent), *null])
            yield _finding(x, event, (), "every member that the API's schema requires", actual)
