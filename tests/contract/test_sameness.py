"""Sameness: what a gateway may spell otherwise says the same, and nothing else does."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.contract.sameness import contained, same, same_message

_CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
_RESPELT = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (1, 1.0),
        ("END", ["END"]),
        (["END"], "END"),
        ({"a": 1, "b": None}, {"a": 1}),
        ([1, {"a": [2]}], [1.0, {"a": [2]}]),
    ],
)
def test_spellings_of_one_value_are_the_same(left: Any, right: Any) -> None:
    """Numbers by value, null members as none, a lone text as a list of it."""
    assert same(left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [(1, True), (0, False), (0, None), ("1", 1), (["a", "b"], "a"), ({"a": 1}, {"a": 1, "b": 2}), ([], None)],
)
def test_other_values_differ(left: Any, right: Any) -> None:
    """true is not 1, nothing is not 0, and a member more is another object."""
    assert not same(left, right)


def test_contained_allows_more_and_not_less() -> None:
    """A structure may be spelled out, not shortened."""
    assert contained({"a": [{"b": 1}]}, {"a": [{"b": 1, "strict": False}], "c": 2})
    assert not contained({"a": [{"b": 1}]}, {"a": [{"c": 1}]})
    assert not contained([1, 2], [1])


@pytest.mark.parametrize(
    ("asked", "sent"),
    [
        ({"role": "system", "content": "x"}, {"role": "developer", "content": "x"}),
        (
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
            {"role": "user", "content": "a\nb"},
        ),
        ({"role": "user", "content": "x", "name": None}, {"role": "user", "content": "x"}),
        (
            {"role": "assistant", "tool_calls": [_CALL]},
            {"role": "assistant", "content": None, "tool_calls": [_RESPELT]},
        ),
        (
            {"role": "assistant", "content": None, "tool_calls": [_CALL]},
            {"role": "assistant", "content": "", "tool_calls": [_CALL]},
        ),
        ({"role": "assistant", "content": None, "tool_calls": [_CALL]}, {"role": "assistant", "tool_calls": [_CALL]}),
        ({"role": "user", "content": "x"}, {"role": "user", "content": "x", "cache_control": {"type": "ephemeral"}}),
    ],
)
def test_a_message_arrives_whole(asked: Any, sent: Any) -> None:
    """Roles that mean the same, joined parts, null members, respelled arguments and additions keep a message whole."""
    assert same_message(asked, sent)


@pytest.mark.parametrize(
    ("asked", "sent"),
    [
        ({"role": "user", "content": "a b"}, {"role": "user", "content": "ab"}),
        ({"role": "user", "content": "x"}, {"role": "assistant", "content": "x"}),
        ({"role": "assistant", "content": None, "tool_calls": [_CALL]}, {"role": "assistant", "content": None}),
        ({"role": "tool", "tool_call_id": "c", "content": "r"}, {"role": "tool", "content": "r"}),
        (
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "u"}}]},
            {"role": "user", "content": ""},
        ),
        ({"role": "user", "content": "x", "name": "n"}, {"role": "user", "content": "x"}),
        ({"role": "assistant", "content": "", "tool_calls": [_CALL]}, {"role": "assistant", "tool_calls": [_CALL]}),
        ({"role": "user", "content": None}, {"role": "user"}),
        ("x", {"role": "user"}),
    ],
)
def test_a_message_that_lost_something_is_another(asked: Any, sent: Any) -> None:
    """A changed text or role, a lost key, call, id, image or name is seen."""
    assert not same_message(asked, sent)


def test_a_deprecated_turn_may_arrive_as_the_one_that_replaced_it() -> None:
    """A function's call as a tool's, its result as a tool's, with what they say."""
    said = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": '{"a": 1}'}}
    assert same_message(said, {"role": "assistant", "content": None, "tool_calls": [_RESPELT]})
    assert same_message(said, said)
    other = {"id": "c", "type": "function", "function": {"name": "g", "arguments": '{"a":1}'}}
    for calls in ([other], [_RESPELT, other], [], ["f"]):
        assert not same_message(said, {"role": "assistant", "content": None, "tool_calls": calls})
    result = {"role": "function", "name": "f", "content": "18"}
    assert same_message(result, {"role": "tool", "tool_call_id": "c", "content": "18"})
    assert not same_message(result, {"role": "tool", "tool_call_id": "c", "content": "19"})
    assert not same_message({"role": "tool", "tool_call_id": "c", "content": "18"}, result)
