"""A scenario's request as drivers send it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.errors import ScenarioError
from conformance.scenario.model import ScenarioRequest
from conformance.scenario.request import PATHS, prepare

NONCE = "cf-abc123"
MARK = f"Ticket {NONCE}: "


def sent(endpoint: str, **params: Any) -> dict[str, Any]:
    """The parameters that are sent for `params`."""
    request = ScenarioRequest(endpoint=endpoint, params=params)
    method, path, filled, body = prepare(request, alias="lane-000", nonce=NONCE)
    assert (method, path) == PATHS[endpoint]
    assert json.loads(body) == filled
    assert filled["model"] == "lane-000"
    return filled


def test_last_user_message_carries_the_nonce() -> None:
    """The nonce stands before the text of the last user message, and nowhere else."""
    messages = [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "First."},
        {"role": "assistant", "content": "Yes?"},
        {"role": "user", "content": "Second."},
        {"role": "tool", "content": "42", "tool_call_id": "call_1"},
    ]
    filled = sent("chat.completions", messages=messages)
    assert filled["messages"][3]["content"] == MARK + "Second."
    assert [m["content"] for m in filled["messages"] if NONCE in m["content"]] == [MARK + "Second."]


def test_first_text_part_carries_the_nonce() -> None:
    """In a list of parts the first text part is marked, a picture before it is left alone."""
    parts = [{"type": "image_url", "image_url": {"url": "data:,"}}, {"type": "text", "text": "What is it?"}]
    filled = sent("chat.completions", messages=[{"role": "user", "content": parts}])
    assert filled["messages"][0]["content"] == [parts[0], {"type": "text", "text": MARK + "What is it?"}]


@pytest.mark.parametrize(
    ("endpoint", "params", "marked"),
    [
        ("embeddings", {"input": "cat"}, MARK + "cat"),
        ("embeddings", {"input": ["cat", "dog"]}, [MARK + "cat", "dog"]),
        ("embeddings", {"input": [1, 2]}, [1, 2]),
        ("completions", {"prompt": "Once"}, MARK + "Once"),
        ("completions", {"prompt": ["Once", "Twice"]}, [MARK + "Once", "Twice"]),
        ("responses", {"input": "Hello"}, MARK + "Hello"),
        (
            "responses",
            {"input": [{"role": "user", "content": [{"type": "input_text", "text": "Hi"}]}]},
            [{"role": "user", "content": [{"type": "input_text", "text": MARK + "Hi"}]}],
        ),
        ("chat.completions", {"messages": "hello"}, MARK + "hello"),
        (
            "chat.completions",
            {"messages": [{"role": "system", "content": "Only."}]},
            [{"role": "system", "content": MARK + "Only."}],
        ),
        ("chat.completions", {"messages": [{"role": "user", "content": 12}]}, [{"role": "user", "content": 12}]),
        ("chat.completions", {"messages": None}, None),
    ],
)
def test_prompt_of_every_form(endpoint: str, params: dict[str, Any], marked: Any) -> None:
    """Each form of prompt is marked at its first text; one without a text is sent as it is."""
    (key,) = params
    assert sent(endpoint, **params)[key] == marked


def test_scenario_is_not_changed() -> None:
    """Preparing a request leaves the scenario's own parameters alone: it is sent many times."""
    params = {"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]}
    prepare(ScenarioRequest(endpoint="chat.completions", params=params), alias="a", nonce=NONCE)
    assert params == {"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]}


def test_body_is_compact_utf8() -> None:
    """The body is compact JSON with its text unescaped, the model first."""
    request = ScenarioRequest(endpoint="completions", params={"prompt": "日本", "n": 1})
    body = prepare(request, alias="a", nonce=NONCE)[3]
    assert body == f'{{"model":"a","prompt":"{MARK}日本","n":1}}'.encode()


def test_model_of_the_request_replaces_the_alias() -> None:
    """A scenario about an unknown model sends that model."""
    request = ScenarioRequest(endpoint="completions", params={"prompt": "x"}, model="no-such-model")
    assert prepare(request, alias="a", nonce=NONCE)[2]["model"] == "no-such-model"


def test_raw_body_has_its_placeholders_filled() -> None:
    """A raw body is sent as it is written, except for its two placeholders, and brings no parameters."""
    request = ScenarioRequest(endpoint="chat.completions", raw='{"model": "{{model}}", "x": "{{nonce}}"')
    method, path, params, body = prepare(request, alias="a", nonce=NONCE)
    assert (method, path, params) == ("POST", "/chat/completions", {})
    assert body == b'{"model": "a", "x": "cf-abc123"'


def test_get_carries_no_body() -> None:
    """A GET has neither parameters nor a body; a model's path holds its name, escaped where a path needs it."""
    assert prepare(ScenarioRequest(endpoint="models"), alias="a", nonce=NONCE) == ("GET", "/models", {}, b"")
    retrieve = ScenarioRequest(endpoint="models.retrieve")
    assert prepare(retrieve, alias="openai:lane 1/x", nonce=NONCE)[1] == "/models/openai:lane%201%2Fx"


def test_unknown_endpoint() -> None:
    """An endpoint outside the API is a scenario's error, with the known ones named."""
    with pytest.raises(ScenarioError, match=r"no endpoint 'chat'.*chat\.completions"):
        prepare(ScenarioRequest(endpoint="chat"), alias="a", nonce=NONCE)
