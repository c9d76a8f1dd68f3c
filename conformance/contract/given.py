"""Whether a JSON value has the shape that a request's own JSON Schema gives: the schemas of strangers, read with care.

Bounded: so many steps and no more, no pattern is run, nothing is fetched. Lenient: what is not looked at counts as met
(patterns, formats, conditions), and a schema that is not one, or needs another document, decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

import jsonschema_rs
from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError
from referencing import Registry

from conformance.contract.shape import described

#: How many keywords are looked at, a list's items counted.
MAX_STEPS = 20_000

_META = jsonschema_rs.Draft202012Validator({"$ref": "https://json-schema.org/draft/2020-12/schema"})
_LOOKED_AT = (
    *("$ref", "type", "enum", "const", "allOf", "anyOf"),
    *("properties", "required", "additionalProperties", "prefixItems", "items", "minItems", "maxItems"),
    *("minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
)

_left: ContextVar[list[int]] = ContextVar("_left")

_Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]


class _Spent(Exception):
    """The steps are used up."""


def _counted(keyword: str, plain: _Keyword) -> _Keyword:
    def check(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[ValidationError] | None:
        left = _left.get()
        left[0] -= 1 + (len(wanted) if isinstance(wanted, dict | list) else 0)
        if left[0] < 0:
            raise _Spent
        if instance is None and schema.get("nullable") is True:
            return None
        if keyword == "additionalProperties" and "patternProperties" in schema:
            return None
        return plain(validator, wanted, instance, schema)

    return check


def _met(validator: Any, wanted: Any, instance: Any, schema: Any) -> None:
    return None


def _looking() -> Any:
    plain = Draft202012Validator.VALIDATORS
    looked = {name: _counted(name, plain[name]) for name in _LOOKED_AT}
    # One of several and any of them are alike where not every keyword is looked at.
    looked["oneOf"] = looked["anyOf"]
    extend: Any = validators.extend
    return extend(Draft202012Validator, {**dict.fromkeys(plain, _met), **looked})


_VALIDATOR = _looking()


def misfit(schema: Any, value: Any) -> str:
    """What keeps `value` from having the shape, in words; "" where it has it, or where nobody can tell."""
    token = _left.set([MAX_STEPS])
    try:
        if not isinstance(schema, dict) or not _META.is_valid(schema):
            return ""
        registry: Registry[Any] = Registry()
        error = next(_VALIDATOR(schema, registry=registry).iter_errors(value), None)
        return "" if error is None else _worded(error)
    except Exception:  # a stranger's schema: whatever it breaks, it decides nothing
        return ""
    finally:
        _left.reset(token)


def _worded(error: ValidationError) -> str:
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path)
    where = path.removeprefix(".")[:80] or "the value"
    wanted: Any = error.validator_value
    if error.validator == "required" and isinstance(error.instance, dict):
        lost = next((name for name in wanted if name not in error.instance), "")
        return f"{where} lacks {lost[:60]}"
    if error.validator == "additionalProperties" and isinstance(error.instance, dict):
        known = error.schema.get("properties", {}) if isinstance(error.schema, dict) else {}
        more = next((name for name in error.instance if name not in known), "")
        return f"{where} has {more[:60]}, which the schema has not"
    return f"{where} is {described(error.instance)}, against {error.validator}"
