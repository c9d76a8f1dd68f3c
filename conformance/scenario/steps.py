"""The steps of a sequence as they are written, each laid over what the scenario says for all of them.

A step's table and the scenario's become whole tables of request, play and client; "0.3 cooldown" a Wait. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from conformance.scenario.model import Wait, Window
from conformance.scenario.place import Place, suggestion

#: The keys of a step.
STEP_KEYS = (
    "request", "play", "client", "after", "times", "gap_ms", "together", "nonce", "lane",
)  # fmt: skip
#: A sequence sends at most so many requests in one step.
MAX_TIMES = 200
#: What of a scenario's request still holds for a step that sends raw bytes.
_OUTER = ("endpoint", "model", "headers", "api_key")
_TIMES = re.compile(r"(\d{1,3}) per failure")
_WAIT = re.compile(r"(\d{1,3}(?:\.\d{1,3})?) ([a-z-]+)")


def merged(shared: Mapping[str, Any], step: Mapping[str, Any], place: Place) -> dict[str, Mapping[str, Any]]:
    """The step's request, play and client as whole tables: its members replace the scenario's, one level deep."""
    whole: dict[str, Mapping[str, Any]] = {
        key: {**_table(shared, key, place), **_table(step, key, place.at(key))} for key in ("request", "play", "client")
    }
    headers = {
        **_table(_table(shared, "request", place), "headers", place),
        **_table(_table(step, "request", place), "headers", place.at("request.headers")),
    }
    if headers:
        whole["request"] = {**whole["request"], "headers": headers}
    if "raw" in _table(step, "request", place):
        raw = whole["request"]
        whole["request"] = {**{key: raw[key] for key in _OUTER if key in raw}, "raw": raw["raw"]}
    return whole


def wait(value: Any, place: Place) -> Wait:
    """The wait that a number of ms, or a text like "0.3 cooldown", means. Raises ScenarioError."""
    if isinstance(value, str):
        found = _WAIT.fullmatch(value)
        if found is None:
            raise place.wrong(f"{value!r} is no time", 'a number of ms, or a multiple of a window: "0.3 cooldown"')
        if found[2] not in set(Window):
            raise place.wrong(f"{found[2]!r} is no window", suggestion(found[2], Window))
        return Wait(amount=float(found[1]), window=Window(found[2]))
    return Wait(amount=place.milliseconds({"after": value}, "after"))


def times(step: Mapping[str, Any], place: Place) -> tuple[int, bool]:
    """How often the step's request is sent, and whether that is for each failure. Raises ScenarioError."""
    written = step.get("times", 1)
    found = _TIMES.fullmatch(written) if isinstance(written, str) else None
    number = int(found[1]) if found is not None else place.count({"times": written}, "times")
    if not 1 <= number <= MAX_TIMES:
        raise place.at("times").wrong(f"a whole number from 1 to {MAX_TIMES} is wanted", 'or "4 per failure"')
    return number, found is not None


def same_nonce(step: Mapping[str, Any], number: int, place: Place) -> bool:
    """Whether the step carries the nonce of the request before. Raises ScenarioError."""
    place.at("nonce").one_of(word := place.text(step, "nonce", default="own"), ("own", "same"))
    if word == "same" and not number:
        raise place.at("nonce").wrong("no request comes before the first step", "write it on a later step")
    if word == "same" and place.flag(step, "together"):
        raise place.at("nonce").wrong("requests that are sent at once cannot share a nonce", "drop together")
    return word == "same"


def _table(tables: Mapping[str, Any], key: str, place: Place) -> Mapping[str, Any]:
    value = tables.get(key, {})
    return place.table(value, "a table")
