"""The linter of the data that ships: scenarios and cassettes fit together, the catalogue, and the incidents."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import jsonschema
import pytest

from conformance.cassette.model import Cassette
from conformance.cassette.redact import find_secrets
from conformance.cassette.store import Library
from conformance.contract.catalog import CATALOG
from conformance.data import data_root
from conformance.driver.registry import DRIVERS
from conformance.scenario.codec import LANES
from conformance.scenario.load import load_scenarios
from conformance.scenario.model import PlayItem, Scenario
from conformance.scenario.request import prepare
from conformance.target.profile import spelt_out
from conformance.upstream.script import Action, script

MAX_TITLE = 90
#: The longest that a play may last, in ms, unless the scenario is about waiting or about going away.
MAX_PLAY_MS = 1_000.0

#: Incident row -> the scenarios that replay it.
INCIDENTS: dict[str, tuple[str, ...]] = {
    "A one member answers 404, three are healthy": ("pool.member-retired-404", "pool.three-retired-404"),
    "A the same under a stream": ("pool.member-retired-404-stream", "pool.three-retired-404-stream"),
    "A a router-exhaustion 404 is recognised": ("pool.member-router-exhausted", "errors.litellm-router-exhausted"),
    "A a genuine model-not-found stays one fast attempt": ("relay-request.unknown-model-not-dispatched",),
    "A a 404 that cannot be rescued has a whole body": ("pool.all-retired-404", "errors.openrouter-no-endpoints"),
    "A a body beyond the peek window is whole": ("pool.all-large-404", "errors.large-404"),
    "A a success is never dispatched again": ("pool.slow-success", "pool.slow-stream", "baseline.pool"),
    "A no retry after bytes reached the client": ("pool.all-cut-after-output",),
    "A a disconnect ends the ladder": ("hangup.pool",),
    "A all members dead is a failure": ("pool.all-retired-404", "pool.all-refused", "pool.all-server-errors"),
    "B content missing at length": ("content.missing-length",),
    "B content null": ("content.null-length", "content.null-stop"),
    "B content as an object": ("content.object",),
    "B a tool call keeps its null content": ("tools.call",),
    "B the alias is the model": ("content.missing-length", "baseline.chat"),
    "C a model that is rejected by name": ("pool.member-invalid-model-id", "pool.member-ollama-404"),
    "E raw upstream bodies in errors": ("errors.quota-json-payload", "errors.gemini-json-in-message"),
    "E an HTML page in an error": ("errors.cloudflare-block", "errors.cloudflare-502-long"),
    "E no reason at all": ("errors.empty-body-500",),
    "E network_error as the only chunk": ("finish.network-error-only-chunk",),
    "E it falls through to the next member": ("pool.member-network-error-chunk", "pool.three-network-error-chunks"),
    "E an instant-empty stop is no error": ("baseline.empty-stop", "baseline.empty-stop-stream"),
    "E tool rounds say tool_calls": ("tools.call-stream", "finish.stop-with-tool-calls-stream"),
    "E length caps are visible": ("baseline.length", "baseline.length-stream"),
    "E an empty-string reason is not terminal": ("finish.empty-string-every-chunk", "finish.empty-string-last"),
    "E nothing after [DONE]": ("finish.text-after-done", "finish.double-done"),
    "E no second done chunk": ("finish.repeated-reason",),
    "E a stream with an empty body": ("finish.empty-stream", "pool.member-empty-stream"),
    "F an upstream's break is no cancellation": ("errors.cancelled-by-provider", "pool.member-cancelled-words"),
    "F no event after the terminal": ("finish.text-after-done",),
    "F no failover after output": ("pool.all-cut-after-output", "pool.all-reset-after-output"),
    "F an error after output is told once": ("finish.error-after-text", "finish.reset-after-text"),
    "F a usage chunk between contents": ("usage.between",),
    "F a diagnostic is no terminal": ("streams.diagnostic", "streams.unknown-event"),
    "F cancelling closes the upstream": ("hangup.before-head", "hangup.after-first-event", "hangup.mid-stream"),
    "F cancelling on a slow consumer": ("hangup.slow-reader",),
    "F an upstream read timeout fails over before output": ("timeouts.pool-no-head", "timeouts.pool-no-first-event"),
    "F kinds survive the stream path: 401": ("relay-request.wrong-key-stream",),
    "F kinds survive the stream path: 429": ("errors.rate-limit-stream",),
    "F kinds survive the stream path: context exceeded": ("errors.context-length-stream",),
    "F kinds survive the stream path: invalid request": ("errors.array-stream",),
    "F kinds survive the stream path: content filter": ("baseline.content-filter-stream",),
    "F one SSE event is bounded": ("weight.endless-event", "streams.big-event"),
}


@cache
def scenarios() -> tuple[Scenario, ...]:
    """The bundled scenarios."""
    return load_scenarios()


@cache
def library() -> Library:
    """The bundled cassettes."""
    return Library()


def items(scenario: Scenario) -> Iterator[PlayItem]:
    """Every item of a scenario's play."""
    for play in [step.play for step in scenario.steps] or [scenario.play]:
        for played in (*play.members.values(), play.default):
            yield from played


def leaves(scenario: Scenario) -> bool:
    """Whether its client hangs up, or may be taken for gone."""
    behaviours = (one.behaviour for one in scenario.steps or (scenario,))
    return any(behaviour.hang_up or behaviour.half_close for behaviour in behaviours)


def played(scenario: Scenario) -> Iterator[PlayItem]:
    """Every item of a scenario's play that has an envelope."""
    return (item for item in items(scenario) if not item.cassette.startswith("@"))


def cassettes() -> list[Cassette]:
    """Every bundled cassette, loaded."""
    return [library().get(name) for name in library().names()]


def test_there_are_enough() -> None:
    """The suite is not empty by accident: ids are unique by loading, and there are at least ninety scenarios."""
    assert len(scenarios()) >= 90


@pytest.mark.parametrize("path", sorted(data_root("scenarios").glob("*.toml")), ids=lambda path: path.name)
def test_files_fit_their_schema(path: Path) -> None:
    """Each scenario file is valid by the schema that editors use, and its ids start with the file's name."""
    document = tomllib.loads(path.read_text())
    schema = json.loads((data_root("schemas") / "scenario.json").read_bytes())
    jsonschema.Draft202012Validator(schema).validate(document)
    assert {table["id"].split(".")[0] for table in document["scenario"]} == {path.stem}


def test_titles_state_facts() -> None:
    """A title is one short sentence, without "should", and no other scenario's."""
    titles = Counter(scenario.title for scenario in scenarios())
    assert [title for title, count in titles.items() if count > 1] == []
    for title in titles:
        assert len(title) <= MAX_TITLE, title
        assert not re.search(r"\bshould\b", title, re.IGNORECASE), title
        assert not title.endswith("."), title


def test_every_play_can_be_played() -> None:
    """Each item's cassette, interaction and transforms exist and give a script that ends in time."""
    for scenario in scenarios():
        patient = leaves(scenario) or scenario.needs & {"idle-timeout", "first-token-timeout"}
        for item in played(scenario):
            recorded = library().get(item.cassette).interactions
            assert item.interaction < len(recorded), (scenario.id, item)
            steps = script(recorded[item.interaction].envelope, transforms=item.transforms, nonce="cf-linter0").steps
            assert patient or steps[-1].at <= MAX_PLAY_MS, (scenario.id, steps[-1].at)
            assert patient or steps[-1].action is not Action.STALL, (scenario.id, item)


def test_waiting_plays_are_declared() -> None:
    """A member that never answers is played only where the client goes away or the target promises a timeout."""
    for scenario in scenarios():
        if any(item.cassette == "@hang" for item in items(scenario)):
            assert leaves(scenario) or "first-token-timeout" in scenario.needs, scenario.id


def test_closed_ports_are_named() -> None:
    """A port is closed only for a named member: as a default it would close those of every lane."""
    for scenario in scenarios():
        assert all(item.cassette != "@refuse" for item in scenario.play.default), scenario.id


def test_every_interaction_is_used() -> None:
    """Each interaction of each cassette is played by a scenario."""
    used = {(item.cassette, item.interaction) for scenario in scenarios() for item in played(scenario)}
    held = {(cassette.name, index) for cassette in cassettes() for index in range(len(cassette.interactions))}
    assert sorted(held - used) == []


def test_plays_name_members_of_their_lane() -> None:
    """Every member of a lane has something to play, unless nothing is played at all."""
    for scenario in scenarios():
        covered = bool(scenario.play.default) or set(scenario.play.members) == set(LANES[scenario.lane])
        assert covered or (scenario.live and not list(items(scenario))), scenario.id


def test_exercised_clauses_exist() -> None:
    """Each exercised clause is in the catalogue; a policy clause only where the scenario needs its capability."""
    for scenario in scenarios():
        for identity in scenario.exercises:
            assert identity in CATALOG, (scenario.id, identity)
            capabilities = CATALOG[identity].capabilities
            assert not capabilities or capabilities & spelt_out(scenario.needs), (scenario.id, identity)


def test_every_scenario_exercises_something() -> None:
    """A scenario that need not show anything shows nothing."""
    assert [scenario.id for scenario in scenarios() if not scenario.exercises] == []


def test_live_scenarios_need_no_upstream() -> None:
    """A live scenario exercises nothing that only the upstream leg can show."""
    for scenario in scenarios():
        if scenario.live:
            upstream = [
                name for name in scenario.exercises if name.split(".")[0] in ("relay", "pool", "timeout", "isolation")
            ]
            assert upstream == [], scenario.id


def test_drivers_exist() -> None:
    """A scenario's drivers are in the registry; a raw body goes only to drivers that send bytes."""
    for scenario in scenarios():
        assert set(scenario.drivers) <= set(DRIVERS), scenario.id
        if scenario.request.raw is not None:
            assert scenario.drivers, scenario.id
            assert set(scenario.drivers) <= {"wire", "httpx"}, scenario.id


def test_requests_carry_the_nonce() -> None:
    """Each request with a play carries its nonce, unless it is wrong in a way that leaves no prompt."""
    bare = {scenario.id for scenario in scenarios() if not _carries_nonce(scenario)}
    assert {identity for identity in bare if not identity.startswith("models.")} == {
        "relay-request.empty-body",
        "relay-request.missing-messages",
        "http.preflight",
        "http.unserved-path",
    }


def _carries_nonce(scenario: Scenario) -> bool:
    return b"cf-linter0" in prepare(scenario.request, alias="lane-000", nonce="cf-linter0")[3]


def test_cassettes_are_told_apart() -> None:
    """Each cassette names its provider and its date, and has a title that no other has."""
    titles = Counter(cassette.title for cassette in cassettes())
    assert [title for title, count in titles.items() if count > 1] == []
    for cassette in cassettes():
        assert cassette.provider, cassette.name
        assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", cassette.date), cassette.name


def test_no_cassette_holds_a_nonce() -> None:
    """Nothing in an envelope looks like a nonce: it would be taken for another request's."""
    for cassette in cassettes():
        for interaction in cassette.interactions:
            assert re.search(rb"cf-[a-z0-9]{6,}", interaction.envelope.body) is None, cassette.name


def test_no_secret_in_scenarios() -> None:
    """No scenario holds what looks like a secret; canaries and test keys do not."""
    for path in sorted(data_root("scenarios").glob("*.toml")):
        assert find_secrets(path.read_bytes()) == [], path.name


@pytest.mark.parametrize(
    ("row", "replayed"), INCIDENTS.items(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_incidents_are_covered(row: str, replayed: tuple[str, ...]) -> None:
    """Each row of the incidents has a scenario."""
    known = {scenario.id for scenario in scenarios()}
    assert replayed
    assert set(replayed) <= known, row
