"""Facts about defects as such: well-formed entries, found by name, and visible on the wire."""

from __future__ import annotations

import re

import pytest

from conformance.errors import UsageError
from conformance.reference.defects import DEFECTS, find_defect
from tests.reference.stage import HELLO, play, staged, stream


@pytest.mark.parametrize("name", DEFECTS)
def test_an_entry_is_well_formed(name: str) -> None:
    """A written name, a fact as its title, and at least one clause that it violates."""
    defect = DEFECTS[name]
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
    assert "should" not in defect.title
    assert defect.violates


def test_a_wrong_name_is_answered_with_a_near_one() -> None:
    """The error suggests what was meant."""
    assert find_defect("stream-without-done").name == "stream-without-done"
    with pytest.raises(UsageError) as caught:
        find_defect("stream-with-done")
    assert caught.value.hint.startswith("did you mean stream-without-done")


@pytest.mark.parametrize(("name", "near"), [("nope", ""), ("", ""), ("doubled", ""), ("content", "content-null")])
def test_a_wrong_name_is_told_where_the_names_are(name: str, near: str) -> None:
    """With or without a near name the error tells how to list them all; a part of a name is near, too."""
    with pytest.raises(UsageError) as caught:
        find_defect(name)
    assert caught.value.hint.endswith("`conformance defects` lists them")
    assert near in caught.value.hint


def test_a_skipped_step_shows_on_the_wire() -> None:
    """The stream of that defect ends without [DONE]."""

    async def work() -> None:
        async with staged(stream(*HELLO), behaviour=find_defect("stream-without-done").behaviour) as client:
            answer = await client.chat(stream=True)
            assert answer.whole
            assert "[DONE]" not in answer.events

    play(work)


def test_a_framing_shows_on_the_wire() -> None:
    """The body of that defect lacks its last chunk."""

    async def work() -> None:
        async with staged(stream(*HELLO), behaviour=find_defect("body-without-last-chunk").behaviour) as client:
            answer = await client.chat(stream=True)
            assert not answer.whole
            assert answer.events[-1] == "[DONE]"

    play(work)
