"""Facts about JSON answers: what a member may get wrong and the client still gets right, and what is no answer."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.reference.call import Operation
from conformance.reference.failure import UpstreamFailed
from conformance.reference.replies import completion_reply
from tests.reference.calls import call
from tests.reference.stage import completion


def shaped(doc: Any, **members: Any) -> dict[str, Any]:
    """Our reply to a chat request with `members`."""
    return completion_reply(doc, call(**members))


def message(content: Any = "Hello", reason: Any = "stop", **members: Any) -> dict[str, Any]:
    """The message of our reply to a member's."""
    found: dict[str, Any] = shaped(completion(content, reason, **members))["choices"][0]["message"]
    return found


def test_the_frame_is_ours() -> None:
    """Model, id and object are the gateway's; what only one provider has is gone."""
    doc = completion() | {
        "provider": "Vendor",
        "x_groq": {},
        "service_tier": "standard",
        "system_fingerprint": "fp_ollama",
    }
    reply = shaped(doc)
    assert set(reply) == {"id", "object", "created", "model", "choices", "usage"}
    assert (reply["model"], reply["object"]) == ("lane-one", "chat.completion")
    assert reply["id"].startswith("chatcmpl-")
    kept = shaped(completion() | {"service_tier": "default", "system_fingerprint": "fp_44709d6fcb"})
    assert (kept["service_tier"], kept["system_fingerprint"]) == ("default", "fp_44709d6fcb")


@pytest.mark.parametrize(
    ("given", "told"), [(1757876416.56, 1757876416), ("yesterday", None), (None, None), (True, None)]
)
def test_created_is_whole_seconds(given: Any, told: int | None) -> None:
    """A fraction is cut; what is no time becomes now."""
    created = shaped(completion() | {"created": given})["created"]
    assert type(created) is int
    assert created == told if told else created > 1_700_000_000


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, ""),
        ("x", "x"),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "ab"),
        ({"type": "text", "text": "a"}, "a"),
        (["a", {"type": "thinking", "thinking": [{"type": "text", "text": "t"}]}], "a"),
    ],
)
def test_content_is_a_text(content: Any, told: str) -> None:
    """Null, parts and objects become one text."""
    assert message(content)["content"] == told


def test_missing_content_is_an_empty_text() -> None:
    """Hidden reasoning that ate the budget leaves no content: the client gets an empty text."""
    doc = completion(reason="length")
    del doc["choices"][0]["message"]["content"]
    assert shaped(doc)["choices"][0]["message"]["content"] == ""


def test_content_is_null_only_beside_calls() -> None:
    """A tool-call message keeps its null; empty call members go."""
    calls = [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    assert message(None, "tool_calls", tool_calls=calls)["content"] is None
    assert message(None, "stop", function_call={"name": "f", "arguments": "{}"})["content"] is None
    empty = message(None, tool_calls=None, function_call={"name": "", "arguments": ""}, annotations=None)
    assert empty == {"role": "assistant", "content": "", "refusal": None}


def test_reasoning_has_one_name() -> None:
    """Whatever a member calls it, the client finds it under reasoning_content."""
    assert message(reasoning="t")["reasoning_content"] == "t"
    assert message(reasoning_content="t")["reasoning_content"] == "t"
    assert message([{"type": "thinking", "thinking": "t"}])["reasoning_content"] == "t"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("eos", "stop"),
        ("STOP", "stop"),
        ("MAX_TOKENS", "length"),
        ("tool_use", "tool_calls"),
        ("SAFETY", "content_filter"),
    ],
)
def test_reasons_become_the_apis(given: str, told: str) -> None:
    """Every spelling of a known reason is the API's."""
    assert shaped(completion(reason=given))["choices"][0]["finish_reason"] == told


def test_calls_end_with_tool_calls() -> None:
    """A stop beside calls is told as tool_calls; a cap stays a cap."""
    calls = [{"id": "c1", "function": {"name": "f", "arguments": {"a": 1}}}]
    assert shaped(completion(None, "stop", tool_calls=calls))["choices"][0]["finish_reason"] == "tool_calls"
    assert shaped(completion(None, "length", tool_calls=calls))["choices"][0]["finish_reason"] == "length"


@pytest.mark.parametrize("reason", ["network_error", "error", "", "whatever", None, 7])
def test_an_unknown_reason_is_a_failure(reason: Any) -> None:
    """No reason is laundered into stop."""
    with pytest.raises(UpstreamFailed):
        shaped(completion(reason=reason))


def test_an_instant_stop_is_an_answer() -> None:
    """An empty answer under a standard reason is one, unless the native reason tells of a failure."""
    assert shaped(completion(""))["choices"][0]["message"]["content"] == ""
    doc = completion("")
    doc["choices"][0]["native_finish_reason"] = "network_error"
    with pytest.raises(UpstreamFailed):
        shaped(doc)


@pytest.mark.parametrize(
    "doc",
    [
        None,
        [],
        "x",
        {},
        {"choices": []},
        {"choices": [None]},
        {"error": {"message": "m"}},
        completion() | {"error": "m"},
    ],
)
def test_what_holds_no_answer_is_a_failure(doc: Any) -> None:
    """No object, no choice, or an error beside the choices."""
    with pytest.raises(UpstreamFailed):
        shaped(doc)


def test_choices_are_numbered() -> None:
    """As many as asked for, in order of their index; indexes that repeat are counted anew."""
    doc = completion()
    doc["choices"] = [doc["choices"][0] | {"index": 1}, doc["choices"][0] | {"index": 0}]
    assert [choice["index"] for choice in shaped(doc, n=2)["choices"]] == [0, 1]
    doc["choices"] = [choice | {"index": 0} for choice in doc["choices"]]
    assert [choice["index"] for choice in shaped(doc, n=2)["choices"]] == [0, 1]
    with pytest.raises(UpstreamFailed):
        shaped(doc, n=3)


def test_an_answer_spread_over_choices_is_one() -> None:
    """Text in one choice and calls in the next are one choice's when one was asked for."""
    doc = completion("text", "tool_calls")
    calls = [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    doc["choices"].append(
        {"index": 1, "message": {"role": "assistant", "tool_calls": calls}, "finish_reason": "tool_calls"}
    )
    (choice,) = shaped(doc)["choices"]
    assert (choice["message"]["content"], len(choice["message"]["tool_calls"])) == ("text", 1)


@pytest.mark.parametrize(
    ("usage", "told"),
    [
        ({"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 9}, (1, 2, 9)),
        ({"prompt_tokens": 1, "completion_tokens": 2, "cost": 0.1}, (1, 2, 3)),
        ({"prompt_tokens": 1, "completion_tokens": None, "total_tokens": 4}, (1, 3, 4)),
        ({"prompt_tokens": None, "completion_tokens": None, "total_tokens": 0}, (0, 0, 0)),
        ({"prompt_tokens": None, "completion_tokens": None, "total_tokens": 8}, None),
        ({"prompt_tokens": "1", "completion_tokens": 2}, None),
        (None, None),
        ([], None),
    ],
)
def test_usage_is_the_members_or_none(usage: Any, told: tuple[int, int, int] | None) -> None:
    """Numbers stay as the member counted them; what cannot be known is left out."""
    found = shaped(completion() | {"usage": usage}).get("usage")
    assert (tuple(found.values()) if found else None) == told


def test_usage_details_are_kept() -> None:
    """The details' counters go on, without what is null."""
    usage = {
        "prompt_tokens": 1,
        "completion_tokens": 2,
        "prompt_tokens_details": {"cached_tokens": 1, "audio_tokens": None},
    }
    assert shaped(completion() | {"usage": usage})["usage"]["prompt_tokens_details"] == {"cached_tokens": 1}


def test_logprobs_have_the_chat_form() -> None:
    """The legacy form becomes the content form; the right form stays."""
    doc = completion()
    doc["choices"][0]["logprobs"] = {"tokens": ["H"], "token_logprobs": [-0.5], "top_logprobs": [{"H": -0.5}]}
    entry = {"token": "H", "logprob": -0.5, "bytes": [72]}
    assert shaped(doc)["choices"][0]["logprobs"]["content"] == [entry | {"top_logprobs": [entry]}]
    doc["choices"][0]["logprobs"] = {"content": [entry]}
    assert shaped(doc)["choices"][0]["logprobs"] == {"content": [entry]}


def test_a_legacy_completion_has_texts() -> None:
    """Text in place of a message, one choice for each prompt."""
    doc = {
        "choices": [
            {"text": "a", "index": 0, "finish_reason": "stop"},
            {"text": None, "index": 1, "finish_reason": "eos"},
        ]
    }
    reply = completion_reply(doc, call(Operation.COMPLETIONS, prompt=["x", "y"]))
    assert reply["object"] == "text_completion"
    assert [(choice["text"], choice["finish_reason"]) for choice in reply["choices"]] == [("a", "stop"), ("", "stop")]
