"""A scenario's TOML table becomes a Scenario, or a ScenarioError that says which key of which scenario is wrong.

Pure: knows no file. The same format is described for editors by schemas/scenario.json.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from conformance.driver.model import Behaviour
from conformance.scenario import steps as sequence
from conformance.scenario.model import Play, PlayItem, Repeat, Scenario, ScenarioRequest, SequenceStep, StepLane
from conformance.scenario.place import Place
from conformance.scenario.request import PATHS
from conformance.target.profile import CAPABILITIES

#: The kinds of lane, each with its members.
LANES: dict[str, tuple[str, ...]] = {"single": ("m0",), "pool2": ("m0", "m1"), "pool4": ("m0", "m1", "m2", "m3")}
#: The words of a play that need no envelope.
SPECIALS = ("@refuse", "@close", "@reset", "@hang")
#: The keys of a request that are not parameters of the API.
REQUEST_KEYS = ("endpoint", "model", "raw", "json", "headers", "api_key")

_KEYS = (
    "id", "title", "request", "lane", "play", "client", "needs", "exercises", "source", "live", "drivers", "repeat",
    "steps",
)  # fmt: skip
_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*)+")
_HANG_UP = re.compile(r"send|head|event:[1-9]\d*")
_CASSETTE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(?:[./][A-Za-z0-9_-]+)*")


def decode(table: Any, *, where: str) -> Scenario:
    """The scenario that one `[[scenario]]` table holds; `where` names the file in messages.

    Raises ScenarioError with the file, the scenario, the key and a hint.
    """
    fields = Place(where).table(table, "[[scenario]]")
    identity = _identity(fields, Place(where))
    place = Place(f"{where}: {identity}")
    place.table(fields, "[[scenario]]", _KEYS)
    lane = place.at("lane").one_of(place.text(fields, "lane", default="single"), LANES)
    live = place.flag(fields, "live")
    play = _play(fields.get("play", {}), LANES[lane], place.at("play"))
    steps = _steps(fields, LANES[lane], place)
    if not (live or play.default or play.members or steps):
        raise place.at("play").wrong("nothing is played", "give play.default, or live = true")
    if live and steps:
        raise place.at("live").wrong("a sequence needs an upstream that plays", "drop live, or steps")
    needs = place.texts(fields, "needs")
    return Scenario(
        id=identity,
        title=place.text(fields, "title"),
        request=_request(fields.get("request"), place.at("request")),
        play=play,
        lane=lane,
        behaviour=_behaviour(fields.get("client", {}), place.at("client")),
        needs=frozenset(place.at("needs").one_of(capability, CAPABILITIES) for capability in needs),
        exercises=place.texts(fields, "exercises"),
        source=place.text(fields, "source", default=""),
        live=live,
        drivers=place.texts(fields, "drivers"),
        repeat=_repeat(fields.get("repeat", {}), place.at("repeat")),
        steps=steps,
    )


def _steps(fields: Mapping[str, Any], members: tuple[str, ...], place: Place) -> tuple[SequenceStep, ...]:
    tables = fields.get("steps", [])
    if not isinstance(tables, list) or ("steps" in fields and not tables):
        raise place.at("steps").wrong("a list of tables is wanted", "[[scenario.steps]], at least one")
    return tuple(
        _step(fields, table, number, members, place.at(f"steps.{number}")) for number, table in enumerate(tables)
    )


def _step(shared: Mapping[str, Any], table: Any, number: int, members: tuple[str, ...], place: Place) -> SequenceStep:
    fields = place.table(table, '{ after = "0.3 cooldown", times = 4 }', sequence.STEP_KEYS)
    whole = sequence.merged(shared, fields, place)
    play = _play(whole["play"], members, place.at("play"))
    if not (play.default or play.members):
        raise place.at("play").wrong("nothing is played", "give play.default, here or for the whole scenario")
    times, per_failure = sequence.times(fields, place)
    return SequenceStep(
        request=_request(whole["request"], place.at("request")),
        play=play,
        behaviour=_behaviour(whole["client"], place.at("client")),
        after=sequence.wait(fields.get("after", 0), place.at("after")),
        times=times,
        per_failure=per_failure,
        gap_ms=place.milliseconds(fields, "gap_ms"),
        together=place.flag(fields, "together"),
        same_nonce=sequence.same_nonce(fields, number, place),
        lane=StepLane(place.at("lane").one_of(place.text(fields, "lane", default="own"), StepLane)),
    )


def _repeat(table: Any, place: Place) -> Repeat:
    fields = place.table(table, "{ alone = 3, load = [4, 16] }", ("alone", "load"))
    load = fields.get("load", [])
    whole = isinstance(load, list) and all(isinstance(n, int) and not isinstance(n, bool) and n > 0 for n in load)
    if not whole:
        raise place.at("load").wrong("a list of whole numbers from 1 on is wanted")
    return Repeat(alone=place.count(fields, "alone") or 1, load=tuple(load))


def play_item(written: Any, place: Place) -> PlayItem:
    """The item that a string ("authored/x | crlf | delay-event:2:300", "@reset") or a table means.

    Raises ScenarioError.
    """
    if isinstance(written, str):
        cassette, *transforms = (part.strip() for part in written.split(" | "))
        return _checked(PlayItem(cassette=cassette, transforms=tuple(transforms)), place)
    example = '"authored/openai/chat-hello | crlf", or { cassette = "...", interaction = 1, transforms = [] }'
    fields = place.table(written, example, ("cassette", "interaction", "transforms"))
    item = PlayItem(
        cassette=place.text(fields, "cassette"),
        interaction=place.count(fields, "interaction"),
        transforms=place.texts(fields, "transforms", unique=False),
    )
    return _checked(item, place)


def _checked(item: PlayItem, place: Place) -> PlayItem:
    if item.cassette.startswith("@"):
        place.one_of(item.cassette, SPECIALS)
        if item.transforms or item.interaction:
            raise place.wrong(f"{item.cassette} has no envelope to change")
    elif not _CASSETTE.fullmatch(item.cassette):
        raise place.wrong(f"{item.cassette!r} is no cassette's name", 'as "authored/openai/chat-hello"')
    if not all(item.transforms):
        raise place.wrong("a transform is empty", "' | ' stands between two names")
    return item


def _identity(table: Mapping[str, Any], place: Place) -> str:
    identity = table.get("id")
    if not isinstance(identity, str) or not _ID.fullmatch(identity):
        what = "a scenario has no id" if identity is None else f"{identity!r} is no id"
        raise place.at("id").wrong(what, 'write it as "area.what-happens": lower case, dots and hyphens')
    return identity


def _request(table: Any, place: Place) -> ScenarioRequest:
    fields = place.table(table, '{ endpoint = "chat.completions", messages = [...] }')
    endpoint = place.at("endpoint").one_of(place.text(fields, "endpoint"), PATHS)
    params = {key: value for key, value in fields.items() if key not in REQUEST_KEYS}
    params |= _json_params(fields, params, place)
    place.json_value(params)
    raw = place.optional_text(fields, "raw")
    if params and (raw is not None or PATHS[endpoint][0] != "POST"):
        sender = "a raw body" if raw is not None else f"a request of {endpoint}"
        raise place.at(next(iter(params))).wrong(f"{sender} takes no parameters")
    return ScenarioRequest(
        endpoint=endpoint,
        params=params,
        model=place.optional_text(fields, "model"),
        raw=raw,
        headers=_headers(fields.get("headers", {}), place.at("headers")),
        api_key=place.optional_text(fields, "api_key"),
    )


def _json_params(table: Mapping[str, Any], params: Mapping[str, Any], place: Place) -> dict[str, Any]:
    """The parameters that are written as JSON text, for what TOML cannot say (null)."""
    text = place.optional_text(table, "json")
    if text is None:
        return {}
    place = place.at("json")
    try:
        value = json.loads(text)
    except ValueError as error:
        raise place.wrong(f"this is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise place.wrong("a JSON object is wanted")
    for key in value:
        if key in params or key in REQUEST_KEYS:
            raise place.wrong(f"{key!r} belongs beside it, once")
    return value


def _headers(table: Any, place: Place) -> tuple[tuple[str, str], ...]:
    fields = place.table(table, '{ "X-Trace" = "1" }')
    return tuple((name, place.text(fields, name, default="")) for name in fields)


def _play(table: Any, members: tuple[str, ...], place: Place) -> Play:
    fields = place.table(table, 'play.default = ["authored/openai/chat-hello"]', (*members, "default"))
    lists = {key: _items(value, place.at(key)) for key, value in fields.items()}
    return Play(members={key: lists[key] for key in members if key in lists}, default=lists.get("default", ()))


def _items(value: Any, place: Place) -> tuple[PlayItem, ...]:
    if not isinstance(value, list) or not value:
        raise place.wrong("a list of at least one item is wanted", "the last item repeats")
    return tuple(play_item(item, place.at(str(position))) for position, item in enumerate(value))


def _behaviour(table: Any, place: Place) -> Behaviour:
    fields = place.table(table, '{ hang_up = "event:2" }', ("hang_up", "wait_ms", "pause_ms", "half_close"))
    hang_up = place.text(fields, "hang_up", default="")
    if hang_up and not _HANG_UP.fullmatch(hang_up):
        raise place.at("hang_up").wrong(f"{hang_up!r} is no moment", "one of send, head, event:N")
    return Behaviour(
        hang_up=hang_up,
        wait_ms=place.milliseconds(fields, "wait_ms"),
        pause_ms=place.milliseconds(fields, "pause_ms"),
        half_close=place.flag(fields, "half_close"),
    )
