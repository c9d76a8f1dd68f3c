"""What answer a Responses API reply gives, from its JSON object or its typed events.

The API's `output` items become one choice, its `status` a reason, so that the relay clauses can compare both legs.
"""

from __future__ import annotations

from typing import Any

from conformance.exchange.answer import Answer, Choice, ToolCall

#: openai-api/responses-streaming: the events after which nothing of a response follows.
TERMINAL_EVENTS = frozenset({"response.completed", "response.incomplete", "response.failed"})


def answer_of_response(value: Any) -> Answer:
    """The answer of a JSON `response` object."""
    if not isinstance(value, dict):
        return Answer()
    error = value.get("error")
    status = value.get("status")
    errors = () if error is None and status != "failed" else (error if error is not None else {"status": status},)
    choice = _choice(value)
    finished = not errors and status in ("completed", "incomplete")
    return Answer(choices=(choice,), errors=errors, usage=value.get("usage"), finished=finished)


def answer_of_response_events(values: list[tuple[str, Any]], *, done: int) -> Answer:
    """The answer of a Responses stream: (event type, JSON value or None) of each event, in order."""
    errors: list[Any] = []
    indexes: list[int] = []
    texts: list[str] = []
    final: dict[str, Any] | None = None
    for position, (kind, value) in enumerate(values):
        if not isinstance(value, dict):
            continue
        name = str(value.get("type", kind))
        if name == "error" or (value.get("error") is not None and "response" not in value):
            errors.append(value.get("error", value))
            indexes.append(position)
        elif name == "response.output_text.delta" and isinstance(value.get("delta"), str) and final is None:
            texts.append(value["delta"])
        elif name in TERMINAL_EVENTS and final is None:
            response = value.get("response")
            final = response if isinstance(response, dict) else {}
            if name == "response.failed":
                errors.append(final.get("error") or {"status": "failed"})
                indexes.append(position)
    told = _choice(final) if final else None
    choice = Choice(
        index=0,
        text="".join(texts) or (told.text if told else ""),
        tool_calls=told.tool_calls if told else (),
        reasons=told.reasons if told else (),
    )
    return Answer(
        choices=(choice,) if values else (),
        errors=tuple(errors),
        event_errors=tuple(indexes),
        usage=final.get("usage") if final else None,
        done=done,
        finished=final is not None and not errors,
        streamed=True,
    )


def _choice(response: dict[str, Any]) -> Choice:
    texts: list[str] = []
    calls: list[ToolCall] = []
    output = response.get("output")
    for item in output if isinstance(output, list) else []:
        if not isinstance(item, dict):
            continue
        if item.get("type") == "function_call":
            calls.append(
                ToolCall(
                    index=len(calls),
                    id=str(item.get("call_id", "")),
                    name=str(item.get("name", "")),
                    arguments=str(item.get("arguments", "")),
                )
            )
        content = item.get("content")
        for part in content if isinstance(content, list) else []:
            if isinstance(part, dict) and part.get("type") == "output_text" and isinstance(part.get("text"), str):
                texts.append(part["text"])
    return Choice(index=0, text="".join(texts), tool_calls=tuple(calls), reasons=_reasons(response, called=bool(calls)))


def _reasons(response: dict[str, Any], *, called: bool) -> tuple[str, ...]:
    """What the chat API would name the end that the status tells."""
    details = response.get("incomplete_details")
    filtered = isinstance(details, dict) and details.get("reason") == "content_filter"
    told = {
        "completed": "tool_calls" if called else "stop",
        "incomplete": "content_filter" if filtered else "length",
    }.get(str(response.get("status")))
    return (told,) if told else ()
