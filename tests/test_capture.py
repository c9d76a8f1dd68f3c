"""Captured cassettes become exchanges and verdicts; the four pairs show that judging tells wrong from right."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.capture import exchanges
from conformance.cassette.model import Cassette
from conformance.cassette.store import load
from conformance.cli import main
from conformance.errors import CassetteError
from conformance.exchange.model import Exchange
from conformance.exchange.prompts import nonce_of

CAPTURES = Path(__file__).parent / "captures"

#: The pair, what its gateway declares, and the clause that the wrong one is about.
PAIRS = {
    "error-as-array": ("", "error.envelope.object"),
    "network-error-laundered": ("", "relay.reason.not-laundered"),
    "retired-member-kills-alias": ("failover", "pool.failover.answers"),
    "truncated-stream-told-as-complete": ("", "relay.truncation.told"),
}
every_pair = pytest.mark.parametrize("pair", PAIRS)


def words(pair: str, side: str) -> list[str]:
    """The command line that judges one side of a pair."""
    folder, (capabilities, _) = CAPTURES / pair, PAIRS[pair]
    upstream = folder / f"upstream-{side}.yaml"
    line = ["judge", str(folder / f"client-{side}.yaml"), "--format", "json"]
    line += ["--upstream", str(upstream)] if upstream.exists() else []
    return line + (["--capabilities", capabilities] if capabilities else [])


def exchange(pair: str, side: str) -> Exchange:
    """The one exchange of a side."""
    folder = CAPTURES / pair
    upstream = folder / f"upstream-{side}.yaml"
    legs = load(folder / f"client-{side}.yaml"), load(upstream) if upstream.exists() else None
    (one,) = exchanges(*legs, frozenset())
    return one


@every_pair
def test_the_wrong_one_is_violated(pair: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What the gateway did wrong ends with 1, and the clause that is about it says so."""
    assert main(words(pair, "wrong")) == 1
    (case,) = json.loads(capsys.readouterr().out)["cases"]
    assert PAIRS[pair][1] in {one["clause"] for one in case["verdicts"] if one["outcome"] == "violated"}


@every_pair
def test_the_right_one_holds(pair: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What a conforming gateway sends ends with 0: nothing is violated, and something was judged."""
    assert main(words(pair, "right")) == 0
    (case,) = json.loads(capsys.readouterr().out)["cases"]
    assert case["held"]
    assert not {"violated", "faulty"} & {one["outcome"] for one in case.get("verdicts", [])}


def test_a_promise_that_was_not_made() -> None:
    """Without the declared capability, the retired member's 404 breaks no promise of failover."""
    line = words("retired-member-kills-alias", "wrong")
    assert main([*line[:-2], "--clauses", "pool.failover.*"]) != 1


def test_attempts_are_in_order() -> None:
    """The upstream leg's interactions are the attempts, with their member, their time and their end."""
    attempts = exchange("retired-member-kills-alias", "right").attempts
    assert attempts is not None
    assert [attempt.reply.status for attempt in attempts if attempt.reply] == [404, 200]
    assert len({attempt.member for attempt in attempts}) == 2
    assert sorted(attempts, key=lambda attempt: attempt.at) == list(attempts)


def test_a_truncated_leg_is_not_whole() -> None:
    """The end that the cassette tells is the end that the attempt had."""
    attempts = exchange("truncated-stream-told-as-complete", "wrong").attempts
    assert attempts is not None
    assert [attempt.reply.complete for attempt in attempts if attempt.reply] == [False]


def test_nothing_is_known_without_the_upstream_leg() -> None:
    """The client leg alone tells nothing about dispatches, which is not the same as no dispatch."""
    client = load(CAPTURES / "retired-member-kills-alias" / "client-wrong.yaml")
    assert [one.attempts for one in exchanges(client, None, frozenset())] == [None]


def test_several_client_interactions() -> None:
    """Each is an exchange of its own, and gets the attempts that carry its nonce."""
    pairs = ["retired-member-kills-alias", "network-error-laundered"]
    clients = [load(CAPTURES / pair / "client-wrong.yaml").interactions[0] for pair in pairs]
    upstreams = [load(CAPTURES / pair / "upstream-wrong.yaml").interactions[0] for pair in pairs]
    client = Cassette(name="both", interactions=tuple(clients))
    upstream = Cassette(name="up", interactions=tuple(reversed(upstreams)))
    made = exchanges(client, upstream, frozenset())
    assert [one.name for one in made] == ["both#0", "both#1"]
    assert [one.nonce for one in made] == [nonce_of(one.request.body) for one in clients]
    assert [[attempt.reply.status for attempt in one.attempts or () if attempt.reply] for one in made] == [[404], [200]]


def test_an_empty_client_leg() -> None:
    """There is nothing to judge in a cassette without interactions: that is an error, not a pass."""
    with pytest.raises(CassetteError, match="no interaction"):
        exchanges(Cassette(name="empty", interactions=()), None, frozenset())
