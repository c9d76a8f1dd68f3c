"""Facts about tool calls: whole ones, and deltas from members that count and name them in their own ways."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.reference.toolcalls import ToolCallDeltas, once, whole_calls


def joined(*deltas: list[dict[str, Any]]) -> list[tuple[int, str, str]]:
    """(index, name, joined arguments) of each call that the client would read from the member's deltas."""
    state, calls = ToolCallDeltas(), {}
    for delta in deltas:
        for ours in state.feed(delta):
            if "id" in ours:
                assert ours["id"].strip()
                assert ours["type"] == "function"
                calls[ours["index"]] = [ours["function"]["name"], ours["function"]["arguments"]]
            else:
                assert set(ours) == {"index", "function"}
                assert set(ours["function"]) == {"arguments"}
                calls[ours["index"]][1] += ours["function"]["arguments"]
    return [(index, name, arguments) for index, (name, arguments) in calls.items()]


def opener(name: str, arguments: Any = "", **members: Any) -> list[dict[str, Any]]:
    return [{"type": "function", "function": {"name": name, "arguments": arguments}, **members}]


def more(arguments: Any, **members: Any) -> list[dict[str, Any]]:
    return [{"function": {"arguments": arguments}, **members}]


TWO = [(0, "f", '{"a":1}'), (1, "g", '{"b":2}')]
CASES = {
    "by-index": (
        opener("f", id="a", index=0),
        more('{"a":1}', index=0),
        opener("g", id="b", index=1),
        more('{"b":2}', index=1),
    ),
    "index-always-zero": (opener("f", '{"a":1}', id="a", index=0), opener("g", '{"b":2}', id="b", index=0)),
    "no-ids": (opener("f", '{"a":1}', index=0), opener("g", '{"b":2}', index=0)),
    "no-index": (opener("f", id="a"), more('{"a":1}'), opener("g", id="b"), more('{"b":2}')),
    "first-index-one": (opener("f", '{"a":1}', id="a", index=1), opener("g", '{"b":2}', id="b", index=3)),
    "blank-later": (
        opener("f", id="a", index=0),
        [{"index": 0, "id": " ", "function": {"name": "", "arguments": '{"a":1}'}}],
        opener("g", id="b", index=1),
        [{"index": 1, "id": "", "function": {"name": None, "arguments": '{"b":2}'}}],
    ),
    "id-repeated": (
        opener("f", '{"a"', id="a", index=0),
        opener("f", ":1}", id="a", index=0),
        opener("g", '{"b":2}', id="b", index=1),
    ),
    "objects": (opener("f", {"a": 1}, id="a", index=0), opener("g", {"b": 2}, id="b", index=1)),
    "arguments-twice": (
        opener("f", '{"a":1}', id="a", index=0),
        more('{"a":1}', index=0),
        opener("g", '{"b":2}', id="b", index=1),
    ),
    "name-late": (
        [{"index": 0, "id": "a", "function": {"arguments": '{"a"'}}],
        opener("f", ":1}", index=0),
        opener("g", '{"b":2}', id="b", index=1),
    ),
    "one-delta": (opener("f", '{"a":1}', id="a", index=0) + opener("g", '{"b":2}', id="b", index=1),),
}


@pytest.mark.parametrize("name", CASES)
def test_deltas_join_to_the_same_calls(name: str) -> None:
    """However a member numbers, names and cuts its calls, the client reads two calls, dense from 0."""
    assert joined(*CASES[name]) == TWO


@pytest.mark.parametrize("value", [None, [], "x", [None], [{}], [{"index": 0, "function": None}]])
def test_what_names_no_call_gives_no_delta(value: Any) -> None:
    """Null, empty and nameless deltas are not passed on."""
    state = ToolCallDeltas()
    assert state.feed(value) == []
    assert not state.any


def test_whole_calls_are_complete() -> None:
    """Ids are there and distinct, arguments are texts, and calls without a name are none."""
    given = [
        {"id": "a", "function": {"name": "f", "arguments": {"x": 1}}},
        {"id": "a", "function": {"name": "g", "arguments": None}},
        {"function": {"arguments": "{}"}},
        None,
    ]
    first, second = whole_calls(given)
    assert first == {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}}
    assert second["id"].startswith("call_")
    assert second["function"]["arguments"] == "{}"


def test_arguments_come_once() -> None:
    """A text that is repeated as a whole is told once; anything else stays as it is."""
    assert once('{"a":1}{"a":1}{"a":1}') == '{"a":1}'
    for text in ('{"a":1}', '{"a":1}{"b":1}', "{", "", "plain"):
        assert once(text) == text


def test_custom_calls_are_calls() -> None:
    """A custom tool's call keeps its kind and its free text, whole and in deltas."""
    given = [{"id": "a", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}]
    assert whole_calls(given) == given
    state = ToolCallDeltas()
    first = [{"index": 0, "id": "a", "type": "custom", "custom": {"name": "sql", "input": "sel"}}]
    assert state.feed(first) == first
    more = [{"index": 0, "custom": {"input": "ect 1"}}]
    assert state.feed(more) == more


def test_deep_arguments_are_only_text() -> None:
    """Arguments nested past any parser's depth are passed on, not parsed to death."""
    deep = "[" * 100_000
    assert once(deep) == deep
