"""Answers of other APIs (Anthropic, Gemini, Bedrock, Ollama, Cohere) become the facts that the OpenAI API's do."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.exchange.answer import Answer, normal_reason
from conformance.exchange.dialects import answer_of_dialect, vendor_error


def _whole(value: Any) -> Answer:
    found = answer_of_dialect([value], (), streamed=False)
    assert found is not None
    return found


def _streamed(*values: Any) -> Answer:
    found = answer_of_dialect(list(values), (), streamed=True)
    assert found is not None
    return found


def _delta(index: int, **delta: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": delta}


_START = {"type": "message_start", "message": {"content": []}}
_TEXT = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
_TOOL = {
    "type": "content_block_start",
    "index": 1,
    "content_block": {"type": "tool_use", "id": "t1", "name": "f", "input": {}},
}


def test_a_message_is_text_calls_and_a_reason() -> None:
    """Text blocks are joined, thinking stands apart, an input is the JSON of the arguments."""
    answer = _whole(
        {
            "type": "message",
            "content": [
                {"type": "thinking", "thinking": "Hm."},
                {"type": "text", "text": "Hel"},
                {"type": "text", "text": "lo."},
                {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}},
            ],
            "stop_reason": "tool_use",
            "usage": {"input_tokens": 9, "output_tokens": 2},
        }
    )
    (choice,) = answer.choices
    assert (choice.text, choice.reasoning, choice.plain) == ("Hello.", "Hm.", True)
    assert [(call.id, call.name, call.arguments) for call in choice.tool_calls] == [("t1", "f", '{"a": 1}')]
    assert [normal_reason(reason) for reason in choice.reasons] == ["tool_calls"]
    assert answer.finished
    assert answer.usage == {"input_tokens": 9, "output_tokens": 2}


def test_message_events_are_joined() -> None:
    """Deltas of one block belong together; message_stop is the end."""
    answer = _streamed(
        _START,
        _TEXT,
        _delta(0, type="text_delta", text="Hel"),
        _delta(0, type="text_delta", text="lo."),
        _TOOL,
        _delta(1, type="input_json_delta", partial_json='{"a":'),
        _delta(1, type="input_json_delta", partial_json="1}"),
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_stop"},
    )
    (choice,) = answer.choices
    assert choice.text == "Hello."
    assert [call.arguments for call in choice.tool_calls] == ['{"a":1}']
    assert (answer.finished, answer.done, answer.told_end) == (True, 1, True)


def test_a_cut_message_tells_no_end() -> None:
    """A stream that breaks off has output, and neither reason nor end."""
    answer = _streamed(_START, _TEXT, _delta(0, type="text_delta", text="Hel"))
    assert (answer.output, answer.finished, answer.told_end) == (True, False, False)


@pytest.mark.parametrize(
    ("reason", "expected"),
    [("end_turn", "stop"), ("max_tokens", "length"), ("pause_turn", "stop"), ("refusal", "content_filter")],
)
def test_stop_reasons_are_the_apis(reason: str, expected: str) -> None:
    """Anthropic's reasons mean reasons of the OpenAI API."""
    answer = _whole({"type": "message", "content": [], "stop_reason": reason})
    assert [normal_reason(told) for told in answer.choices[0].reasons] == [expected]


def test_unknown_blocks_are_not_plain() -> None:
    """What a gateway may render in its own way is not compared as text."""
    answer = _whole({"type": "message", "content": [{"type": "server_tool_use"}], "stop_reason": "end_turn"})
    assert not answer.choices[0].plain


def test_candidates_are_choices() -> None:
    """Parts are joined, thoughts stand apart, a function call is a tool call without id."""
    parts = [{"text": "Hm.", "thought": True}, {"text": "Hello."}, {"functionCall": {"name": "f", "args": {"a": 1}}}]
    answer = _whole({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]})
    (choice,) = answer.choices
    assert (choice.text, choice.reasoning) == ("Hello.", "Hm.")
    assert [(call.id, call.name, call.arguments) for call in choice.tool_calls] == [("", "f", '{"a": 1}')]
    assert answer.finished


def test_candidates_are_joined_over_events() -> None:
    """Each event adds parts; the last has the reason."""
    answer = _streamed(
        {"candidates": [{"content": {"parts": [{"text": "Hel"}]}}]},
        {
            "candidates": [{"content": {"parts": [{"text": "lo."}]}, "finishReason": "MAX_TOKENS"}],
            "usageMetadata": {"a": 1},
        },
    )
    assert answer.choices[0].text == "Hello."
    assert [normal_reason(reason) for reason in answer.choices[0].reasons] == ["length"]
    assert answer.usage == {"a": 1}


def test_a_blocked_prompt_is_a_content_filter() -> None:
    """No candidate and a block reason is an end, not an empty answer."""
    answer = _whole({"candidates": [], "promptFeedback": {"blockReason": "SAFETY"}})
    assert [normal_reason(reason) for reason in answer.choices[0].reasons] == ["content_filter"]


@pytest.mark.parametrize("value", [{}, None, 7, [], {"type": "ping"}, {"choices": []}, {"message": {"content": "x"}}])
def test_other_shapes_are_none(value: Any) -> None:
    """What is neither of both APIs is left to the readers of ours."""
    assert answer_of_dialect([value], (), streamed=False) is None


@pytest.mark.parametrize(
    "value",
    [
        {"type": "message", "content": None, "stop_reason": {"a": 1}},
        {"type": "message", "content": [None, 7, {"type": "text", "text": 7}, {"type": "tool_use", "input": []}]},
        {"type": "content_block_delta", "index": "x", "delta": 7},
        {"candidates": [None, {"index": True, "content": {"parts": [None, {"functionCall": {"args": 7}}]}}]},
        {"promptFeedback": 7},
    ],
)
def test_any_value_is_read(value: Any) -> None:
    """A member of another type than the API's raises nothing."""
    assert answer_of_dialect([value], (), streamed=True) is not None


def test_a_converse_answer_is_one_choice() -> None:
    """Texts are joined, thoughts stand apart, an input is the JSON of the arguments; what is unknown is not plain."""
    blocks = [
        {"reasoningContent": {"reasoningText": {"text": "Hm."}}},
        {"text": "Hel"},
        {"text": "lo."},
        {"toolUse": {"toolUseId": "t1", "name": "f", "input": {"a": 1}}},
    ]
    usage = {"inputTokens": 9, "outputTokens": 2}
    body = {"output": {"message": {"content": blocks}}, "stopReason": "tool_use", "usage": usage}
    answer = _whole(body)
    (choice,) = answer.choices
    assert (choice.text, choice.reasoning, choice.plain, answer.usage) == ("Hello.", "Hm.", True, usage)
    assert [(call.id, call.name, call.arguments) for call in choice.tool_calls] == [("t1", "f", '{"a": 1}')]
    assert not _whole({"output": {"message": {"content": [{"image": {}}]}}}).choices[0].plain


@pytest.mark.parametrize(
    ("reason", "expected"),
    [("max_tokens", "length"), ("guardrail_intervened", "content_filter"), ("content_filtered", "content_filter")],
)
def test_converse_reasons_are_the_apis(reason: str, expected: str) -> None:
    """Bedrock's reasons mean reasons of the OpenAI API."""
    answer = _whole({"output": {"message": {"content": []}}, "stopReason": reason})
    assert [normal_reason(told) for told in answer.choices[0].reasons] == [expected]


def test_lines_of_an_ollama_stream_are_joined() -> None:
    """`done` ends it, with a reason and the counters; without it no end is told."""
    said = [{"message": {"content": text, "thinking": "Hm"}, "done": False} for text in ("Hel", "lo.")]
    call = {"function": {"name": "f", "arguments": {"a": 1}}}
    last = {"message": {"content": "", "tool_calls": [call]}, "done": True, "done_reason": "length", "eval_count": 2}
    answer = _streamed(*said, last)
    (choice,) = answer.choices
    assert (choice.text, choice.reasoning, choice.reasons) == ("Hello.", "HmHm", ("length",))
    assert [(call.id, call.name, call.arguments) for call in choice.tool_calls] == [("", "f", '{"a": 1}')]
    assert (answer.finished, answer.done, answer.usage) == (True, 1, last)
    assert not _streamed(*said).told_end
    assert _whole({"message": {"content": "Hi"}, "done": True}).finished
    cut = _whole(said[0])
    assert (cut.finished, cut.streamed, cut.told_end) == (False, True, False)


def test_a_cohere_answer_is_one_choice() -> None:
    """Texts are joined; what it plans beside its calls may be told as text or not."""
    part = {"type": "text", "text": "Hello."}
    answer = _whole({"message": {"content": [part]}, "finish_reason": "MAX_TOKENS", "usage": {"tokens": {}}})
    assert (answer.choices[0].text, normal_reason(answer.choices[0].reasons[0])) == ("Hello.", "length")
    calls = [{"id": "t1", "function": {"name": "f", "arguments": '{"a":1}'}}]
    planned = _whole({"message": {"tool_plan": "Hm.", "tool_calls": calls}, "finish_reason": "TOOL_CALL"}).choices[0]
    assert [(call.id, call.arguments) for call in planned.tool_calls] == [("t1", '{"a":1}')]
    assert not planned.plain


@pytest.mark.parametrize(
    "value",
    [
        None,
        7,
        {},
        {"message": 7},
        {"choices": [{}], "code": 500, "message": "a"},
        {"code": 0, "message": "ok"},
        {"code": 200, "msg": "ok"},
        {"code": True, "message": "a"},
        {"code": [1], "message": "a"},
        {"base_resp": {"status_code": 0, "status_msg": "success"}},
        {"message": "a", "id": "c"},
        {"success": False},
        {"success": True, "errors": [1]},
        {"Response": {"Error": []}},
    ],
)
def test_what_is_no_error_of_a_vendor(value: Any) -> None:
    """An error has one of the closed forms: a code with words, words alone, or a list of errors beside a failure."""
    assert vendor_error(value) is None
