"""Whether a JSON value has a shape of the OpenAI API, and what is wrong with it where: the one door to JSON Schema.

`jsonschema_rs` decides (about a microsecond); only for a misfit does `jsonschema` explain. The schemas' texts come from
`contract.schemas`. Total: any value gives problems or none, never an exception; at most MAX_PROBLEMS of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

import jsonschema_rs
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from conformance.contract.schemas import schemas

MAX_PROBLEMS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapeProblem:
    """One misfit: at `path`, `expected` ("a string or null") and `actual` ("absent", "an array of 2 items"), in words.

    `path` may end in a member that is absent. `keyword` is the JSON Schema keyword that was not met.
    """

    path: tuple[str | int, ...]
    expected: str
    actual: str
    keyword: str

    @property
    def pointer(self) -> str:
        """The path as people write it: choices[0].message.content."""
        text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path)
        return text.removeprefix(".") or "the whole value"


def fits(schema: str, value: Any) -> bool:
    """Whether `value` (plain Python, as a JSON parser gives it) has the shape called `schema`."""
    try:
        return _decider(schema).is_valid(value)
    except (ValueError, TypeError, OverflowError):  # NaN, lone surrogates, extreme nesting: not for serde
        try:
            return next(_explainer(schema).iter_errors(value), None) is None
        except RecursionError:  # raised while a misfit was being worded
            return False


def problems(schema: str, value: Any) -> tuple[ShapeProblem, ...]:
    """What keeps `value` from having the shape called `schema`, at most MAX_PROBLEMS; () when it fits.

    `schema` is a file's stem under schemas/openai ("chat-completion-chunk"). Raises KeyError for an unknown one.
    """
    if fits(schema, value):
        return ()
    found: dict[ShapeProblem, None] = {}
    with suppress(RecursionError):  # the explainer's own messages walk the value
        found.update(dict.fromkeys(islice(_explained(_explainer(schema).iter_errors(value)), MAX_PROBLEMS * 4)))
    whole = ShapeProblem(path=(), expected=f"the shape {schema}", actual=described(value), keyword="schema")
    return tuple(found)[:MAX_PROBLEMS] or (whole,)


@cache
def _decider(schema: str) -> jsonschema_rs.Draft202012Validator:
    registry = jsonschema_rs.Registry([(text["$id"], text) for text in schemas().values()])
    return jsonschema_rs.Draft202012Validator(schemas()[schema], registry=registry)


@cache
def _explainer(schema: str) -> Draft202012Validator:
    resources = [(text["$id"], DRAFT202012.create_resource(text)) for text in schemas().values()]
    registry: Registry[Any] = Registry().with_resources(resources)
    return Draft202012Validator(schemas()[schema], registry=registry)


def _explained(errors: Iterator[ValidationError]) -> Iterator[ShapeProblem]:
    for error in errors:
        yield from _one(error)


def _one(error: ValidationError) -> Iterator[ShapeProblem]:
    keyword = str(error.validator)
    path = tuple(error.absolute_path)
    value: Any = error.instance
    if keyword == "required":
        required: Any = error.validator_value
        for name in required:
            if name not in value:
                yield ShapeProblem(path=(*path, name), expected="a value", actual="absent", keyword=keyword)
    elif keyword in ("anyOf", "oneOf") and error.context:
        yield from _explained(iter(_nearest_branch(error)))
    else:
        yield ShapeProblem(path=path, expected=_expected(error), actual=described(value), keyword=keyword)


def _nearest_branch(error: ValidationError) -> list[ValidationError]:
    """The errors of the alternative that the value came closest to: it fails deepest, then in the fewest ways."""
    branches: dict[Any, list[ValidationError]] = {}
    for inner in error.context or ():
        branches.setdefault(inner.schema_path[0], []).append(inner)
    return max(branches.values(), key=lambda branch: (max(len(inner.absolute_path) for inner in branch), -len(branch)))


_NAMES = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "a boolean",
    "object": "an object",
    "array": "an array",
    "null": "null",
}


def _expected(error: ValidationError) -> str:
    """What the keyword asks for, in words."""
    wanted: Any = error.validator_value
    match error.validator:
        case "type":
            return _alternatives([_NAMES[name] for name in ([wanted] if isinstance(wanted, str) else wanted)])
        case "const":
            return json.dumps(wanted)
        case "enum":
            return "one of " + ", ".join(json.dumps(value) for value in wanted)
        case "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties":
            return _sized(str(error.validator), wanted)
        case "minimum":
            return f"at least {wanted}"
        case "maximum":
            return f"at most {wanted}"
        case "pattern":
            return f"a string that matches {wanted}"
    return " ".join(error.message.split())[:200]


def _sized(keyword: str, bound: int) -> str:
    if keyword == "minLength" and bound == 1:
        return "a string that is not empty"
    thing = {"Length": "character", "Items": "item", "Properties": "member"}[keyword[3:]]
    return f"at {'least' if keyword.startswith('min') else 'most'} {bound} {thing}{'' if bound == 1 else 's'}"


def _alternatives(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def described(value: Any) -> str:
    """A JSON value in at most about 80 characters: scalars as they are spelled, containers by their size."""
    if isinstance(value, dict):
        return f"an object of {len(value)} member{'' if len(value) == 1 else 's'}"
    if isinstance(value, list):
        return f"an array of {len(value)} item{'' if len(value) == 1 else 's'}"
    if isinstance(value, str):
        return json.dumps(value if len(value) <= 60 else value[:60] + "…")
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10**40:
        return "an integer of more than 40 digits"
    return json.dumps(value)
