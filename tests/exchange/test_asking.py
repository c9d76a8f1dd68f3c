"""Requests of several APIs are read as one form: what the model is told, its tools, its bounds."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.exchange.asking import Asking, Dialect, asking
from tests.contract.captures import Ask, capture, chat, exchange, wire


def _asking(path: str, body: Any) -> Asking | None:
    return asking(exchange(capture(Ask(path, body), wire(chat()))).request)


def _read(path: str, body: Any) -> Asking:
    found = _asking(path, body)
    assert found is not None
    return found


_CHAT = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "Be kind."},
        {
            "role": "user",
            "content": [{"type": "text", "text": "See"}, {"type": "image_url", "image_url": {"url": "x"}}],
        },
        {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": "47"},
    ],
    "tools": [{"type": "function", "function": {"name": "f"}}],
    "tool_choice": {"type": "function", "function": {"name": "f"}},
    "stop": "END",
    "max_tokens": 5,
    "temperature": 0.5,
}


def test_a_chat_request_is_read() -> None:
    """Texts, results of tools, images, tools and bounds."""
    found = _read("chat.completions", _CHAT)
    assert (found.dialect, found.texts, found.results, found.media) == (Dialect.CHAT, ("Be kind.", "See"), ("47",), 1)
    assert found.calls == ("{}",)
    assert (found.tools, found.choice, found.stop, found.cap, found.temperature) == (("f",), "=f", ("END",), 5, 0.5)


def test_a_responses_request_is_read() -> None:
    """Instructions and input are texts, what functions gave is a result."""
    items = [{"role": "user", "content": "Hi"}, {"type": "function_call_output", "call_id": "c", "output": "47"}]
    body = {"instructions": "Be kind.", "input": items, "tools": [{"type": "function", "name": "f"}]}
    found = _read("responses", {**body, "max_output_tokens": 5, "tool_choice": "required"})
    assert (found.texts, found.results, found.tools, found.cap) == (("Be kind.", "Hi"), ("47",), ("f",), 5)
    assert found.choice == "required"
    more = [
        {"type": "additional_tools", "tools": [{"type": "custom", "name": "run"}]},
        {"type": "custom_tool_call", "call_id": "c", "name": "run", "input": "ls"},
        {"type": "custom_tool_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "a b"}]},
        {"type": "message", "role": "user", "content": [{"type": "input_file", "file_id": "x"}]},
    ]
    found = _read("responses", {"input": more})
    assert (found.tools, found.calls, found.results, found.media) == (("run",), ("ls",), ("a b",), 1)
    assert _read("responses", {"input": "Hi"}).texts == ("Hi",)


@pytest.mark.parametrize(
    ("path", "body", "dialect"),
    [
        pytest.param(
            "/v1/messages",
            {
                "messages": [{"role": "user", "content": [{"type": "image", "source": {}}]}],
                "tools": [{"name": "f", "input_schema": {}}],
                "tool_choice": {"type": "any"},
                "stop_sequences": ["END"],
                "max_tokens": 5,
            },
            Dialect.ANTHROPIC,
        ),
        pytest.param(
            "/v1beta/models/g:generateContent",
            {
                "contents": [{"parts": [{"inlineData": {"data": "x"}}]}],
                "tools": [{"functionDeclarations": [{"name": "f"}]}],
                "toolConfig": {"functionCallingConfig": {"mode": "ANY"}},
                "generationConfig": {"stopSequences": ["END"], "maxOutputTokens": 5},
            },
            Dialect.GEMINI,
        ),
        pytest.param(
            "/model/m/converse",
            {
                "messages": [{"role": "user", "content": [{"image": {"format": "png"}}]}],
                "toolConfig": {"tools": [{"toolSpec": {"name": "f"}}], "toolChoice": {"any": {}}},
                "inferenceConfig": {"stopSequences": ["END"], "maxTokens": 5},
            },
            Dialect.CONVERSE,
        ),
        pytest.param(
            "/api/chat",
            {
                "messages": [{"role": "user", "content": "Hi", "images": ["x"]}],
                "tools": [{"type": "function", "function": {"name": "f"}}],
                "tool_choice": "required",
                "options": {"stop": ["END"], "num_predict": 5},
            },
            Dialect.OLLAMA,
        ),
    ],
)
def test_other_apis_say_the_same(path: str, body: Any, dialect: Dialect) -> None:
    """Tools, bounds and images are found where each API has them."""
    found = _read(path, body)
    assert (found.dialect, found.tools, found.choice) == (dialect, ("f",), "required")
    assert (found.stop, found.cap, found.media) == (("END",), 5, 1)


@pytest.mark.parametrize("body", [{"messages": "x"}, {"input": ["x"]}, [], {"messages": []}])
def test_what_is_of_no_api_is_not_read(body: Any) -> None:
    """A moderation, a body that is no object, or a path of nobody's is none."""
    assert _asking("/v1/moderations", body) is None
