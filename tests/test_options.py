"""What the caller asked for, as data."""

from __future__ import annotations

import shlex

import pytest

from conformance.errors import UsageError
from conformance.options import capabilities, shown_command, unjudged, words


def test_words_are_repeated_or_comma_separated() -> None:
    """Both spellings mean the same; a word counts once."""
    assert words(["a,b", "c", "b, d"]) == ("a", "b", "c", "d")
    assert words([]) == ()


def test_a_capability_may_have_another_name_or_be_none_that_a_clause_asks_for() -> None:
    """Synonyms and spellings are understood; a promise that no clause speaks of is kept and named."""
    assert capabilities(["Provider_Blind", "retry-after", "breaker"]) == {
        "provider-blind",
        "honours-retry-after",
        "cooldown",
    }
    assert unjudged(capabilities(["failover", "tool-choice"])) == ("tool-choice",)


def test_a_slip_in_a_capability_is_refused() -> None:
    """A capability that does not exist is refused with the nearest one."""
    assert capabilities(["failover,cache"]) == {"failover", "cache"}
    with pytest.raises(UsageError) as caught:
        capabilities(["failovr"])
    assert "failover" in caught.value.hint


@pytest.mark.parametrize(
    ("argument", "shown"),
    [
        ("--target=litellm", "--target=litellm"),
        ("http://user:pw@host:4000/v1?key=abc#f", "http://host:4000/v1?..."),
        ("http://host/v1", "http://host/v1"),
        ("--target=https://user:p@ss@host/v1#key", "--target=https://host/v1?..."),
        ("sk-test-client-0123456789", "..."),
        ("Bearer abcdefgh12345", "..."),
    ],
)
def test_no_secret_is_shown(argument: str, shown: str) -> None:
    """The command in a report has no credentials, no query values and nothing that looks like a key."""
    assert shlex.split(shown_command("conformance", ["run", argument])) == ["conformance", "run", shown]


def test_the_command_is_one_for_a_shell() -> None:
    """What a shell would read otherwise is quoted."""
    assert shown_command("conformance", ["run", "--select", "pool.*"]) == "conformance run --select 'pool.*'"
