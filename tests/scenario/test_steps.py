"""A sequence's steps are whole: what they do not say for themselves is what the scenario says for all of them."""

from __future__ import annotations

import json
import tomllib

import jsonschema
import pytest

from conformance.data import data_root
from conformance.driver.model import Behaviour
from conformance.errors import ScenarioError
from conformance.scenario.codec import decode
from conformance.scenario.model import PlayItem, Scenario, StepLane, Wait, Window

SCHEMA = jsonschema.Draft202012Validator(json.loads((data_root("schemas") / "scenario.json").read_bytes()))

SHARED = """
[[scenario]]
id = "area.fact"
title = "A fact"
lane = "pool2"
request.endpoint = "chat.completions"
request.temperature = 0.5
request.messages = [{ role = "user", content = "Hi" }]
request.headers = { X-A = "1" }
play.default = ["a/hello"]
play.m1 = ["a/other"]
client = { pause_ms = 5 }
"""


def scenario(steps: str) -> Scenario:
    """The scenario with these steps; it fits the schema, too."""
    document = tomllib.loads(SHARED + steps)
    SCHEMA.validate(document)
    return decode(document["scenario"][0], where="x.toml")


def refused(steps: str) -> ScenarioError:
    """The error that these steps are."""
    with pytest.raises(ScenarioError) as caught:
        decode(tomllib.loads(SHARED + steps)["scenario"][0], where="x.toml")
    return caught.value


def test_a_step_that_says_nothing_is_the_scenario() -> None:
    """Request, play and client are the scenario's; sent once, with a nonce and in the lane of its own."""
    made = scenario("steps = [{}]")
    (step,) = made.steps
    assert (step.request, step.play, step.behaviour) == (made.request, made.play, made.behaviour)
    assert (step.after, step.times, step.together, step.same_nonce, step.lane) == (
        Wait(), 1, False, False, StepLane.OWN,
    )  # fmt: skip


def test_a_step_replaces_one_level_deep() -> None:
    """A parameter, a header, a member's list and the client's pace are replaced or added each for itself."""
    (step,) = scenario(
        "[[scenario.steps]]\n"
        'request = { temperature = 1, seed = 7, api_key = "sk-test-other", headers = { X-B = "2" } }\n'
        'play.m0 = ["@reset"]\n'
        'client = { hang_up = "head" }\n'
    ).steps
    assert step.request.params["temperature"] == 1
    assert step.request.params["messages"][0]["content"] == "Hi"
    assert (step.request.params["seed"], step.request.api_key) == (7, "sk-test-other")
    assert step.request.headers == (("X-A", "1"), ("X-B", "2"))
    assert step.play.members == {"m0": (PlayItem(cassette="@reset"),), "m1": (PlayItem(cassette="a/other"),)}
    assert step.play.default == (PlayItem(cassette="a/hello"),)
    assert step.behaviour == Behaviour(hang_up="head", pause_ms=5)


def test_raw_bytes_replace_the_parameters() -> None:
    """A step that sends raw bytes has no parameters of the scenario, but its headers."""
    (step,) = scenario("steps = [{ request = { raw = '{' } }]").steps
    assert (step.request.raw, step.request.params, step.request.headers) == ("{", {}, (("X-A", "1"),))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("250", Wait(amount=250.0)),
        ('"0.3 cooldown"', Wait(amount=0.3, window=Window.COOLDOWN)),
        ('"1.1 quarantine"', Wait(amount=1.1, window=Window.QUARANTINE)),
        ('"1 retry-after"', Wait(amount=1.0, window=Window.RETRY_AFTER)),
    ],
)
def test_waits_are_ms_or_multiples_of_a_window(written: str, meant: Wait) -> None:
    """A number is ms; a text is a multiple of a window that the target declares."""
    made = scenario(f"steps = [{{}}, {{ after = {written} }}]")
    assert made.steps[1].after == meant
    assert made.windows == ({meant.window} if meant.window else set())


def test_repetition_and_lanes() -> None:
    """How often, how far apart or at once, in which lane, with which nonce."""
    made = scenario(
        'steps = [{ times = 3, gap_ms = 20 }, { times = 4, together = true, lane = "sibling" }, { nonce = "same" }]'
    )
    first, second, third = made.steps
    (failing,) = scenario("steps = [{ times = '4 per failure' }]").steps
    assert (failing.times, failing.per_failure, first.per_failure) == (4, True, False)
    assert (first.times, first.gap_ms, second.times, second.together) == (3, 20.0, 4, True)
    assert (second.lane, made.places, third.same_nonce) == (StepLane.SIBLING, {StepLane.SIBLING}, True)


@pytest.mark.parametrize(
    ("steps", "what"),
    [
        ("steps = []", "a list of tables is wanted"),
        ("steps = {}", "a list of tables is wanted"),
        ("steps = [3]", "steps.0: a table is wanted"),
        ("steps = [{ time = 2 }]", "unknown key 'time'"),
        ("steps = [{ times = '4 times' }]", "a whole number"),
        ("steps = [{ times = 0 }]", "a whole number from 1 to 200"),
        ("steps = [{ after = '0.3 cool' }]", "'cool' is no window"),
        ("steps = [{ after = 'soon' }]", "'soon' is no time"),
        ("steps = [{ after = -1 }]", "a number of milliseconds"),
        ("steps = [{ nonce = 'same' }]", "no request comes before"),
        ("steps = [{}, { nonce = 'same', together = true }]", "cannot share a nonce"),
        ("steps = [{}, { lane = 'third' }]", "'third' is not known"),
        ("steps = [{ play.m2 = ['@reset'] }]", "unknown key 'm2'"),
        ("steps = [{}]\nlive = true", "a sequence needs an upstream"),
    ],
)
def test_mistakes_are_refused(steps: str, what: str) -> None:
    """Every mistake is refused with the step and the key."""
    assert what in str(refused(steps))


@pytest.mark.parametrize("steps", ["steps = []", "steps = [{ times = 0 }]", "steps = [{ after = '1 day' }]"])
def test_the_schema_refuses_them_too(steps: str) -> None:
    """Editors see the same mistakes."""
    assert not SCHEMA.is_valid(tomllib.loads(SHARED + steps))
