"""A member's whole JSON answer (chat or legacy completion) becomes the answer that the client gets, or a failure.

Pure; each right step stands under its name, so that a defect can leave it out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.reference.call import Call, Operation
from conformance.reference.failure import Kind, UpstreamFailed, own_failure
from conformance.reference.shape import (
    MESSAGE_MEMBERS,
    common_members,
    created_of,
    error_of,
    finish_reason,
    hides_failure,
    logprobs_of,
    native_reason,
    split_content,
    usage_of,
)
from conformance.reference.steps import Step
from conformance.reference.toolcalls import whole_calls

Doc = dict[str, Any]
OBJECTS = {Operation.CHAT: "chat.completion", Operation.COMPLETIONS: "text_completion"}


def completion_reply(doc: Any, call: Call) -> Doc:
    """Our answer for a member's. Raises UpstreamFailed when it is none."""
    if not isinstance(doc, dict):
        raise UpstreamFailed(own_failure(Kind.BROKEN, "The upstream's answer is not a JSON object."))
    if call.does(Step.REFUSE_ERROR_IN_SUCCESS) and (error := error_of(doc, call)):
        raise error
    reply = dict(doc) if not call.does(Step.KNOWN_MEMBERS) else common_members(doc)
    reply |= {
        "id": call.answer_id if call.does(Step.OWN_ID) else doc.get("id"),
        "object": OBJECTS[call.operation or Operation.CHAT] if call.does(Step.OBJECT) else doc.get("object"),
        "created": created_of(doc.get("created")) if call.does(Step.CREATED) else doc.get("created"),
        "model": call.alias if call.does(Step.MODEL) else doc.get("model"),
        "choices": _choices(doc.get("choices"), call),
    }
    usage = usage_of(doc.get("usage")) if call.does(Step.USAGE) else doc.get("usage")
    reply.pop("usage", None)
    return reply | ({"usage": usage} if usage else {})


def _choices(value: Any, call: Call) -> list[Any]:
    choices = [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
    if not choices and call.does(Step.REFUSE_EMPTY_CHOICES):
        raise UpstreamFailed(own_failure(Kind.EMPTY, "The upstream returned an empty response."))
    if call.choices == 1 and len(choices) > 1 and call.does(Step.COUNT_CHOICES):
        choices = [_merged(choices)]
    if 0 < len(choices) < call.choices and call.does(Step.COUNT_CHOICES):
        raise UpstreamFailed(own_failure(Kind.EMPTY, "The upstream returned fewer choices than were asked for."))
    indexes = [item.get("index") for item in choices]
    keep = sorted(map(str, indexes)) == [str(number) for number in range(len(choices))]
    shaped = []
    for position, item in enumerate(choices):
        choice = _chat_choice(item, call) if call.operation is Operation.CHAT else _text_choice(item, call)
        own = item.get("index") if keep or not call.does(Step.CHOICE_INDEX) else position
        shaped.append({"index": own, **choice})
    return sorted(shaped, key=lambda choice: choice["index"]) if call.does(Step.CHOICE_INDEX) else shaped


def _merged(choices: list[Doc]) -> Doc:
    """One choice from several that a member spread its only answer over."""
    message: Doc = {}
    for choice in choices:
        part = choice.get("message")
        for key, value in (part if isinstance(part, dict) else {}).items():
            if key == "tool_calls" and isinstance(value, list) and isinstance(message.get(key), list):
                message[key] = message[key] + value
            elif value and not message.get(key):
                message[key] = value
    return {**choices[0], "message": message} if message else choices[0]


def _reason(choice: Mapping[str, Any], call: Call, *, tools: bool, empty: bool) -> Any:
    value = choice.get("finish_reason")
    if not call.does(Step.REASON_TABLE):
        return value
    if call.does(Step.REFUSE_BAD_REASON):
        if empty and hides_failure(choice):
            raise UpstreamFailed(own_failure(Kind.EMPTY, "The upstream's answer ended with an error."))
        value = finish_reason(value)
    else:
        try:
            value = finish_reason(value)
        except UpstreamFailed:
            value = "stop"
    return "tool_calls" if tools and value == "stop" and call.does(Step.REASON_TOOL_CALLS) else value


def _chat_choice(choice: Doc, call: Call) -> Doc:
    given = choice.get("message")
    message = chat_message(given if isinstance(given, dict) else {}, call)
    tools = bool(message.get("tool_calls"))
    empty = not (message.get("content") or message.get("reasoning_content") or message.get("refusal") or tools)
    logprobs = logprobs_of(choice.get("logprobs")) if call.does(Step.LOGPROBS) else choice.get("logprobs")
    reason = _reason(choice, call, tools=tools, empty=empty)
    return {"message": message, "logprobs": logprobs, "finish_reason": reason, **native_reason(choice, call)}


def chat_message(given: Doc, call: Call) -> Doc:
    """Our message for a member's: content a string (null only with calls), calls whole, nothing null that is
    optional.
    """
    message = dict(given)
    text, thoughts = split_content(given.get("content"))
    thoughts = next(
        (value for key in ("reasoning_content", "reasoning") if isinstance(value := given.get(key), str)), thoughts
    )
    calls = whole_calls(given.get("tool_calls")) if call.does(Step.TOOL_CALLS) else given.get("tool_calls")
    if call.does(Step.KNOWN_MEMBERS):
        message = {key: value for key, value in given.items() if key in MESSAGE_MEMBERS and value is not None}
    if call.does(Step.ROLE):
        message["role"] = "assistant"
    message |= {"tool_calls": calls} if calls else {}
    function = given.get("function_call")
    has_function = isinstance(function, dict) and bool(function.get("name"))
    if not calls and call.does(Step.TOOL_CALLS):
        message.pop("tool_calls", None)
    if not has_function and call.does(Step.TOOL_CALLS):
        message.pop("function_call", None)
    if call.does(Step.CONTENT_STRING):
        message["content"] = text if text is not None or calls or has_function else ""
        message |= {"reasoning_content": thoughts} if thoughts else {}
        message["refusal"] = given["refusal"] if isinstance(given.get("refusal"), str) else None
    else:
        message |= {"content": given["content"]} if "content" in given else {}
    return message


def _text_choice(choice: Doc, call: Call) -> Doc:
    text = choice.get("text")
    if not isinstance(text, str) and call.does(Step.CONTENT_STRING):
        given = choice.get("message")
        text = split_content(given.get("content") if isinstance(given, dict) else text)[0] or ""
    logprobs = choice.get("logprobs") if isinstance(choice.get("logprobs"), dict) else None
    return {"text": text, "logprobs": logprobs, "finish_reason": _reason(choice, call, tools=False, empty=not text)}
