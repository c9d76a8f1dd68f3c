"""Facts about the response cache: its key is the whole request, and only whole answers are kept."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.reference.cache import Recording, ResponseCache, digest
from conformance.reference.call import Call, Operation
from conformance.reference.rules import CacheRule
from tests.reference.calls import call
from tests.reference.clock import HandClock

MESSAGES = [{"role": "user", "content": "Say hello."}]


def made(**changes: float) -> tuple[ResponseCache, HandClock]:
    clock = HandClock()
    return ResponseCache(CacheRule(**changes), clock), clock


def asked(headers: dict[str, str] | None = None, **doc: Any) -> Call:
    one = call(**{"messages": MESSAGES, **doc})
    one.headers = headers or {}
    return one


@pytest.mark.parametrize(
    "doc",
    [
        {"temperature": 0.1},
        {"max_tokens": 16},
        {"stop": ["END"]},
        {"top_p": 0.5},
        {"reasoning_effort": "low"},
        {"response_format": {"type": "json_object"}},
        {"tools": [{"type": "function", "function": {"name": "lookup"}}]},
        {"user": "alice"},
        {"stream": True},
        {"some_new_field": 1},
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,A"}}]}]},
    ],
)
def test_each_field_makes_another_key(doc: dict[str, Any]) -> None:
    """Known or not: what is in the request is in the key."""
    cache, _ = made()
    assert cache.key(asked()) != cache.key(asked(**doc))
    assert cache.key(asked(**doc)) == cache.key(asked(**doc))


@pytest.mark.parametrize("name", ["authorization", "openai-organization", "openai-project", "x-api-key", "cookie"])
def test_each_identity_makes_another_key(name: str) -> None:
    """Who asks is in the key; what no one is told apart by is not."""
    cache, _ = made()
    assert cache.key(asked({name: "one"})) != cache.key(asked({name: "two"}))
    assert cache.key(asked({"user-agent": "one"})) == cache.key(asked({"user-agent": "two"}))


def test_operations_have_keys_of_their_own_and_responses_none() -> None:
    """The same body on another path is another request; a response of /responses can be referred to later."""
    cache, _ = made()
    keys = [cache.key(call(operation, input="hi")) for operation in Operation]
    assert len(set(keys)) == len(Operation)
    assert keys[list(Operation).index(Operation.RESPONSES)] is None


def test_what_cannot_be_encoded_has_no_key() -> None:
    """A lone surrogate bypasses the cache; neighbours are told apart by length."""
    assert digest(["\ud800"]) is None
    assert digest(["ab", "c"]) != digest(["a", "bc"])


def test_an_answer_is_found_until_it_is_too_old() -> None:
    """In its bytes and its form."""
    cache, clock = made(seconds=60.0)
    cache.keep(b"k", b"data: 1\n\n", stream=True)
    clock.pass_by(59.9)
    found = cache.find(b"k")
    assert found is not None
    assert (found.body, found.stream) == (b"data: 1\n\n", True)
    clock.pass_by(0.1)
    assert cache.find(b"k") is None
    assert cache.find(b"other") is None


def test_the_longest_unused_answer_makes_room() -> None:
    """Being found counts as a use."""
    cache, _ = made(entries=2)
    for name in (b"a", b"b"):
        cache.keep(name, name, stream=False)
    cache.find(b"a")
    cache.keep(b"c", b"c", stream=False)
    assert [name for name in (b"a", b"b", b"c") if cache.find(name)] == [b"a", b"c"]


def test_a_recording_is_kept_when_it_is_whole() -> None:
    """Not before, and never one that broke, or that is too long."""
    cache, _ = made(bytes=8)
    recording = Recording(cache=cache, key=b"k", stream=True)
    assert recording.add(b"abc") == b"abc"
    assert cache.find(b"k") is None
    recording.add(b"def")
    recording.whole()
    assert cache.find(b"k").body == b"abcdef"  # type: ignore[union-attr]
    broken = Recording(cache=cache, key=b"b", stream=True)
    broken.add(b"abc")
    cache.broken(broken)
    long = Recording(cache=cache, key=b"l", stream=True)
    for piece in (b"abcde", b"fghij", b"k"):
        long.add(piece)
    for one in (broken, long):
        one.whole()
        assert cache.find(one.key) is None
        assert one.pieces == []
