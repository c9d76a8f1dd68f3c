"""The door to JSON Schema: shapes that fit, problems in words, and that both engines always agree."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from conformance.contract.schemas import schemas
from conformance.contract.shape import MAX_PROBLEMS, ShapeProblem, _decider, _explainer, described, fits, problems

quick = settings(max_examples=120, derandomize=True, deadline=None, database=None)

USAGE = {"prompt_tokens": 11, "completion_tokens": 2, "total_tokens": 13}
TOKEN = {"token": "Hi", "logprob": -0.5, "bytes": [72, 105], "top_logprobs": [{"token": "Hi", "logprob": -0.5}]}
CHOICE = {"index": 0, "message": {"role": "assistant", "content": "Hello."}, "finish_reason": "stop"}
CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
RESPONSE = {
    **{"id": "resp_1", "object": "response", "created_at": 1785402847.5, "model": "m", "status": "completed"},
    "output": [
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "x"}]},
        {
            **{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"},
            "content": [{"type": "output_text", "text": "Hello.", "annotations": []}],
        },
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": "{}"},
        {"type": "a_later_kind", "anything": 1},
    ],
    "usage": {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3, "input_tokens_details": {"cached_tokens": 0}},
    **{"error": None, "incomplete_details": None, "service_tier": "default"},
}


def chat(**changes: Any) -> dict[str, Any]:
    """A chat completion."""
    base = {"id": "c-1", "object": "chat.completion", "created": 1785402847, "model": "m", "choices": [CHOICE]}
    return copy.deepcopy({**base, "usage": USAGE, **changes})


def chunk(delta: dict[str, Any], reason: str | None = None, **changes: Any) -> dict[str, Any]:
    """A chunk with one choice."""
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
    base = {"id": "c-1", "object": "chat.completion.chunk", "created": 1785402847, "model": "m", "choices": [choice]}
    return copy.deepcopy({**base, **changes})


def failure(**changes: Any) -> dict[str, Any]:
    """An error envelope."""
    return {"error": {"message": "m", "type": "t", "param": None, "code": None, **changes}}


def event(kind: str, **members: Any) -> dict[str, Any]:
    """An event of a streamed response."""
    return {"type": kind, "sequence_number": 0, **members}


ITEM = {"item_id": "msg_1", "output_index": 0, "content_index": 0}

FITTING: list[tuple[str, Any]] = [
    ("chat-completion", chat()),
    ("chat-completion", chat(usage=None, service_tier=None, system_fingerprint=None, provider="extra")),
    ("chat-completion", chat(choices=[{**CHOICE, "logprobs": {"content": [TOKEN], "refusal": None}}])),
    (
        "chat-completion",
        chat(choices=[{**CHOICE, "message": {"role": "assistant", "content": None, "tool_calls": [CALL]}}]),
    ),
    ("chat-completion-chunk", chunk({"role": "assistant", "content": ""})),
    ("chat-completion-chunk", chunk({}, "stop", usage=None, service_tier="default", obfuscation="aa")),
    ("chat-completion-chunk", chunk({}, choices=[], usage=USAGE)),
    ("chat-completion-chunk", chunk({"tool_calls": [{"index": 0, "function": {"arguments": "{"}}]})),
    ("chat-completion-chunk", chunk({}, choices=[{"index": 0, "delta": {"content": "x"}}])),
    (
        "completion",
        {
            **{"id": "cmpl-1", "object": "text_completion", "created": 1, "model": "m", "usage": USAGE},
            "choices": [{"index": 0, "text": "x", "finish_reason": "length", "logprobs": {"tokens": ["x"]}}],
        },
    ),
    (
        "embedding-list",
        {
            **{"object": "list", "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}},
            "data": [
                {"object": "embedding", "index": 0, "embedding": [0.5, -1, 2e-9]},
                {"object": "embedding", "index": 1, "embedding": "AACAPwAAAAA="},
            ],
        },
    ),
    ("model", {"id": "m", "object": "model", "created": 0, "owned_by": "o"}),
    ("model-list", {"object": "list", "data": [{"id": "m", "object": "model", "created": 0, "owned_by": "o"}]}),
    ("error", {"error": {"message": "No.", "type": "invalid_request_error", "param": None, "code": None}}),
    ("response", RESPONSE),
    ("response-stream-event", event("response.completed", response=RESPONSE)),
    ("response-stream-event", event("response.output_item.added", output_index=0, item=RESPONSE["output"][1])),
    ("response-stream-event", event("response.output_text.delta", **ITEM, delta="x", logprobs=[])),
    (
        "response-stream-event",
        event("response.function_call_arguments.done", item_id="fc_1", output_index=0, arguments="{}"),
    ),
    ("response-stream-event", event("error", message="Broke.", code=None, param=None)),
    ("response-stream-event", event("response.a.later.kind")),
]

MISFITS: list[tuple[str, Any, str, str, str]] = [
    ("chat-completion", chat(id=""), "id", "a string that is not empty", '""'),
    ("chat-completion", chat(object="chat.completion.chunk"), "object", '"chat.completion"', '"chat.completion.chunk"'),
    ("chat-completion", chat(created="1"), "created", "an integer", '"1"'),
    ("chat-completion", chat(created=-1), "created", "at least 0", "-1"),
    ("chat-completion", chat(created=True), "created", "an integer", "true"),
    ("chat-completion", chat(model=None), "model", "a string", "null"),
    ("chat-completion", chat(choices=[]), "choices", "at least 1 item", "an array of 0 items"),
    ("chat-completion", chat(choices=None), "choices", "an array", "null"),
    ("chat-completion", chat(usage=[]), "usage", "an object or null", "an array of 0 items"),
    ("chat-completion", chat(usage={**USAGE, "total_tokens": 1.5}), "usage.total_tokens", "an integer", "1.5"),
    ("chat-completion", chat(system_fingerprint=4), "system_fingerprint", "a string or null", "4"),
    (
        "chat-completion",
        chat(choices=[{**CHOICE, "message": {"role": "assistant"}}]),
        "choices[0].message.content",
        "a value",
        "absent",
    ),
    (
        "chat-completion",
        chat(choices=[{**CHOICE, "message": {"role": "assistant", "content": [{"type": "text"}]}}]),
        "choices[0].message.content",
        "a string or null",
        "an array of 1 item",
    ),
    (
        "chat-completion",
        chat(choices=[{**CHOICE, "finish_reason": "network_error"}]),
        "choices[0].finish_reason",
        'one of "stop", "length", "tool_calls", "content_filter", "function_call"',
        '"network_error"',
    ),
    (
        "chat-completion",
        chat(choices=[{**CHOICE, "logprobs": {"content": [{**TOKEN, "bytes": [256]}]}}]),
        "choices[0].logprobs.content[0].bytes[0]",
        "at most 255",
        "256",
    ),
    (
        "chat-completion-chunk",
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": {}}}]}),
        "choices[0].delta.tool_calls[0].function.arguments",
        "a string",
        "an object of 0 members",
    ),
    (
        "chat-completion-chunk",
        chunk({"tool_calls": [{"id": "call_1"}]}),
        "choices[0].delta.tool_calls[0].index",
        "a value",
        "absent",
    ),
    ("error", failure(message=""), "error.message", "a string that is not empty", '""'),
    ("error", failure(code=404), "error.code", "a string or null", "404"),
    ("error", failure(type=None), "error.type", "a string", "null"),
    ("error", {"error": {"message": "m", "type": "t", "code": None}}, "error.param", "a value", "absent"),
    ("error", [{"error": {}}], "the whole value", "an object", "an array of 1 item"),
    ("model-list", {"object": "list", "data": [{}]}, "data[0].owned_by", "a value", "absent"),
    ("response", {**RESPONSE, "output": [{"type": "message"}]}, "output[0].content", "a value", "absent"),
    ("response-stream-event", event("response.output_text.delta", **ITEM), "delta", "a value", "absent"),
    ("response-stream-event", event("response.created", response={}), "response.id", "a value", "absent"),
]


@pytest.mark.parametrize("name", sorted(schemas()))
def test_schemas_are_valid(name: str) -> None:
    """Each schema is valid under the 2020-12 metaschema, says what it is, and allows members it does not know."""
    schema = schemas()[name]
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"urn:gateway-conformance:openai:{name}"
    assert "Facts:" in schema["description"]
    assert "additionalProperties" not in {key for key in schema if schema[key] is False}


@pytest.mark.parametrize(("name", "value"), FITTING)
def test_what_fits(name: str, value: Any) -> None:
    """Well-formed answers, with members nobody knows, have no problems."""
    assert problems(name, value) == ()
    assert fits(name, value)


@pytest.mark.parametrize(("name", "value", "pointer", "expected", "actual"), MISFITS)
def test_what_does_not_fit(name: str, value: Any, pointer: str, expected: str, actual: str) -> None:
    """A misfit is told with its place, what was expected and what was there."""
    told = [(problem.pointer, problem.expected, problem.actual) for problem in problems(name, value)]
    assert (pointer, expected, actual) in told


def test_one_problem_each() -> None:
    """Each absent member is told once."""
    found = problems("error", {"error": {}})
    assert [problem.path for problem in found] == [("error", name) for name in ("message", "type", "param", "code")]
    assert {problem.keyword for problem in found} == {"required"}


def test_problems_are_bounded() -> None:
    """However much is wrong, the list stays short."""
    assert len(problems("chat-completion-chunk", chunk({}, choices=[{}] * 1000))) == MAX_PROBLEMS


def test_values_that_no_json_engine_likes() -> None:
    """Not-a-number, lone surrogates, very long numbers and extreme nesting never raise."""
    nest: Any = 1
    for _ in range(20_000):
        nest = [nest]
    for odd in (float("nan"), float("inf"), 10**400, -(10**30), "\ud800", nest):
        assert problems("error", odd)
        assert problems("error", {"error": odd})
        assert problems("error", failure(message="\ud800", more=odd)) == ()
        assert all(
            len(problem.actual) < 100
            for problem in problems("chat-completion", {**chat(), "created": odd, "choices": odd})
        )


def test_described_is_short() -> None:
    """Values are worded in bounded length."""
    assert described("x" * 1000) == json.dumps("x" * 60 + "…")
    assert described({"a": 1}) == "an object of 1 member"
    assert described(10**50) == "an integer of more than 40 digits"


def test_the_nearest_alternative_is_explained() -> None:
    """Where a schema offers alternatives, the one that the value came closest to is told."""
    from conformance.contract.shape import _explained

    alternatives = {
        "anyOf": [
            {"type": "string"},
            {"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"type": "integer"}}}}},
        ]
    }
    errors = Draft202012Validator(alternatives).iter_errors({"a": {"b": "x"}})
    assert list(_explained(errors)) == [
        ShapeProblem(path=("a", "b"), expected="an integer", actual='"x"', keyword="type")
    ]


def _places(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for step, inner in steps for place in _places(inner, (*path, step)))]


_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["stop", "function"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["index", "x", "type"]), inner),
    max_leaves=4,
)


def _mutated(data: st.DataObject, value: Any) -> Any:
    """`value` with one member replaced or removed."""
    made = copy.deepcopy(value)
    place = data.draw(st.sampled_from(_places(made)))
    if not place:
        return data.draw(_json)
    target: Any = made
    for step in place[:-1]:
        target = target[step]
    if data.draw(st.booleans()):
        del target[place[-1]]
    else:
        target[place[-1]] = data.draw(_json)
    return made


def _agree(name: str, value: Any) -> None:
    explained = next(_explainer(name).iter_errors(value), None) is None
    try:
        decided = _decider(name).is_valid(value)
    except ValueError:
        decided = explained
    assert decided == explained == (problems(name, value) == ())


@pytest.mark.parametrize(("name", "value"), [*FITTING, *((name, value) for name, value, *_ in MISFITS)])
def test_the_engines_agree_on_the_corpus(name: str, value: Any) -> None:
    """The fast engine and the explaining one decide alike on every example, under every schema."""
    for each in schemas():
        _agree(each, value)


@quick
@given(st.data())
def test_the_engines_agree_on_mutations(data: st.DataObject) -> None:
    """They decide alike on examples with one or two members changed or gone."""
    name, value = data.draw(st.sampled_from(FITTING))
    value = _mutated(data, value)
    _agree(name, value)
    _agree(name, _mutated(data, value))
