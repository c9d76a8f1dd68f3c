"""A scenario's table becomes a Scenario, or an error that says where it is wrong."""

from __future__ import annotations

import datetime
import json
import tomllib
from typing import Any

import jsonschema
import pytest

from conformance.data import data_root
from conformance.driver.model import Behaviour
from conformance.errors import ScenarioError
from conformance.scenario.codec import decode
from conformance.scenario.model import Play, PlayItem, Repeat, Scenario

SCHEMA = jsonschema.Draft202012Validator(json.loads((data_root("schemas") / "scenario.json").read_bytes()))

FULL = """
[[scenario]]
id = "pool.member-retired-404"
title = "One member answers 404; three are healthy"
lane = "pool4"
play.m2 = ["@reset", "authored/x/y | crlf | delay-event:2:300"]
play.default = [{ cassette = "authored/x/z", interaction = 1, transforms = ["bom"] }]
client = { hang_up = "event:2", wait_ms = 20, pause_ms = 1.5, half_close = true }
needs = ["failover"]
exercises = ["pool.failover.answers"]
source = "incident A"
live = true
drivers = ["wire"]
repeat = { alone = 3, load = [4, 16] }

[scenario.request]
endpoint = "chat.completions"
stream = true
messages = [{ role = "user", content = "Hi" }]
headers = { "X-A" = "1" }
api_key = "sk-test-other"
model = "m"
"""


def minimal(**changes: Any) -> dict[str, Any]:
    """A small valid table, with `changes`; a key changed to None is left out."""
    table = {
        "id": "area.what",
        "title": "A fact",
        "request": {"endpoint": "chat.completions"},
        "play": {"default": ["authored/x/y"]},
    }
    return {key: value for key, value in (table | changes).items() if value is not None}


def refused(table: Any) -> ScenarioError:
    """The error that `table` raises."""
    with pytest.raises(ScenarioError) as caught:
        decode(table, where="x.toml")
    return caught.value


def test_every_key_is_read() -> None:
    """Each key of the format reaches its field of the model."""
    scenario = decode(tomllib.loads(FULL)["scenario"][0], where="x.toml")
    assert scenario.request.params == {"stream": True, "messages": [{"role": "user", "content": "Hi"}]}
    assert scenario.request.headers == (("X-A", "1"),)
    assert (scenario.request.api_key, scenario.request.model, scenario.request.raw) == ("sk-test-other", "m", None)
    changed = PlayItem(cassette="authored/x/y", transforms=("crlf", "delay-event:2:300"))
    assert scenario == Scenario(
        id="pool.member-retired-404",
        title="One member answers 404; three are healthy",
        request=scenario.request,
        play=Play(
            members={"m2": (PlayItem(cassette="@reset"), changed)},
            default=(PlayItem(cassette="authored/x/z", interaction=1, transforms=("bom",)),),
        ),
        lane="pool4",
        behaviour=Behaviour(hang_up="event:2", wait_ms=20, pause_ms=1.5, half_close=True),
        needs=frozenset({"failover"}),
        exercises=("pool.failover.answers",),
        source="incident A",
        live=True,
        drivers=("wire",),
        repeat=Repeat(alone=3, load=(4, 16)),
    )
    assert scenario.stream


def test_defaults() -> None:
    """A scenario is for a single lane, not live, without needs and for every driver, unless it says otherwise."""
    scenario = decode(minimal(), where="x.toml")
    assert (scenario.lane, scenario.live, scenario.stream) == ("single", False, False)
    assert (scenario.needs, scenario.drivers, scenario.behaviour) == (frozenset(), (), Behaviour())
    assert scenario.repeat == Repeat(alone=1, load=())


def test_json_says_what_toml_cannot() -> None:
    """Parameters as JSON text are joined to the others and may hold null."""
    request = {"endpoint": "chat.completions", "n": 1, "json": '{"messages": [{"content": null}]}'}
    params = decode(minimal(request=request), where="x").request.params
    assert params == {"n": 1, "messages": [{"content": None}]}


@pytest.mark.parametrize(
    ("changes", "what", "hint"),
    [
        ({"id": None}, "id: a scenario has no id", "area.what-happens"),
        ({"id": "Pool.X"}, "id: 'Pool.X' is no id", "lower case"),
        ({"id": "pool"}, "id: 'pool' is no id", "dots"),
        ({"titel": "x"}, "unknown key 'titel'", "did you mean 'title'?"),
        ({"title": None}, "title: is missing", ""),
        ({"title": " "}, "title: a text is wanted", ""),
        ({"request": None}, "request: is missing", "endpoint"),
        ({"request": {"endpoint": "chat.completion"}}, "request.endpoint: 'chat.completion'", "'chat.completions'?"),
        ({"request": {"endpoint": "models", "n": 1}}, "request.n: a request of models takes no parameters", ""),
        ({"request": {"endpoint": "completions", "raw": "{", "n": 1}}, "request.n: a raw body takes no", ""),
        ({"request": {"endpoint": "completions", "json": "{"}}, "request.json: this is not JSON", ""),
        ({"request": {"endpoint": "completions", "json": "[]"}}, "request.json: a JSON object", ""),
        ({"request": {"endpoint": "completions", "n": 1, "json": '{"n":1}'}}, "request.json: 'n' belongs", ""),
        ({"request": {"endpoint": "completions", "json": '{"raw":1}'}}, "request.json: 'raw' belongs", ""),
        ({"request": {"endpoint": "completions", "stop": [datetime.date.max]}}, "request.stop.0: ", "quote it"),
        ({"request": {"endpoint": "completions", "top_p": float("nan")}}, "request.top_p: nan has no form", ""),
        ({"request": {"endpoint": "completions", "headers": {"a": 1}}}, "request.headers.a: a text", ""),
        ({"lane": "pool"}, "lane: 'pool' is not known", "did you mean 'pool4'?"),
        ({"play": None}, "play: nothing is played", "live = true"),
        ({"play": {"m1": ["a"]}}, "play: unknown key 'm1'", "m0"),
        ({"play": {"default": "a"}}, "play.default: a list of at least one", "repeats"),
        ({"play": {"default": []}}, "play.default: a list of at least one", ""),
        ({"play": {"default": [1]}}, "play.default.0: a table is wanted", "interaction"),
        ({"play": {"default": ["@rest"]}}, "play.default.0: '@rest' is not known", "did you mean '@reset'?"),
        ({"play": {"default": ["@reset | crlf"]}}, "play.default.0: @reset has no envelope", ""),
        ({"play": {"default": ["../x"]}}, "play.default.0: '../x' is no cassette's name", ""),
        ({"play": {"default": ["a/../x"]}}, "play.default.0: 'a/../x' is no cassette's name", ""),
        ({"play": {"default": ["a |  | crlf"]}}, "play.default.0: a transform is empty", ""),
        ({"play": {"default": [{"cassette": "a", "interaction": -1}]}}, "play.default.0.interaction: a whole", ""),
        (
            {"play": {"default": [{"cassette": "a", "transform": []}]}},
            "play.default.0: unknown key 'transform'",
            "'transforms'",
        ),
        ({"client": {"hangup": "send"}}, "client: unknown key 'hangup'", "did you mean 'hang_up'?"),
        ({"client": {"hang_up": "event:0"}}, "client.hang_up: 'event:0' is no moment", "event:N"),
        ({"client": {"wait_ms": -1}}, "client.wait_ms: a number of milliseconds", ""),
        ({"needs": ["failovr"]}, "needs: 'failovr' is not known", "did you mean 'failover'?"),
        ({"exercises": ["a", "a"]}, "exercises: an item stands twice", ""),
        ({"drivers": "wire"}, "drivers: a list of texts", ""),
        ({"live": 1}, "live: true or false", ""),
        ({"repeat": {"often": 3}}, "repeat: unknown key 'often'", "alone"),
        ({"repeat": {"alone": -1}}, "repeat.alone: a whole number", ""),
        ({"repeat": {"load": [0]}}, "repeat.load: a list of whole numbers", ""),
    ],
)
def test_error_says_where_and_what_to_do(changes: dict[str, Any], what: str, hint: str) -> None:
    """Every mistake is refused with the file, the scenario, the key and a hint."""
    error = refused(minimal(**changes))
    assert error.what.startswith(what)
    assert hint in error.hint
    assert error.where == ("x.toml" if "id" in changes else "x.toml: area.what")


@pytest.mark.parametrize("table", [None, [], "x"])
def test_scenario_that_is_no_table(table: Any) -> None:
    """What is no table is refused, with the way to write one."""
    assert "[[scenario]]" in refused(table).hint


def test_schema_accepts_what_is_read() -> None:
    """The schema for editors accepts the tables that decode accepts."""
    SCHEMA.validate(tomllib.loads(FULL))
    SCHEMA.validate({"scenario": [minimal(), minimal(play=None, live=True)]})


@pytest.mark.parametrize(
    "changes",
    [
        {"id": "Pool.X"},
        {"titel": "x"},
        {"title": None},
        {"request": {}},
        {"lane": "pool"},
        {"play": None},
        {"play": {"m1": ["a"]}},
        {"play": {"default": []}},
        {"play": {"default": ["@rest"]}},
        {"play": {"default": ["../x"]}},
        {"play": {"default": [{"cassette": "a", "transform": []}]}},
        {"client": {"hang_up": "event:0"}},
        {"exercises": ["a", "a"]},
        {"live": 1},
    ],
)
def test_schema_refuses_what_is_refused(changes: dict[str, Any]) -> None:
    """The schema refuses the shapes that decode refuses."""
    assert not SCHEMA.is_valid({"scenario": [minimal(**changes)]})
