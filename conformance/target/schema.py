"""Checks a target's tables against their schema, and words what is wrong for the person who wrote them.

Reads the schemas, each once. Knows nothing of what the keys mean.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from conformance.data import data_root
from conformance.errors import TargetError

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError


def validate(table: Mapping[str, Any], *, where: str, schema: str = "target") -> None:
    """Raises TargetError at the first thing in `table` that schemas/`schema`.json does not allow; `where` names it."""
    errors = sorted(
        _validator(schema).iter_errors(dict(table)), key=lambda error: (len(error.path), str(list(error.path)))
    )
    if errors:
        raise _explain(errors[0], where)


def closest(word: str, known: Iterable[str]) -> str:
    """Advice for a word that is not known: the nearest known one, or all of them."""
    names = sorted(known)
    near = difflib.get_close_matches(word, names, n=1, cutoff=0.5)
    return f"did you mean {near[0]!r}?" if near else f"known are: {', '.join(names)}"


def _explain(error: ValidationError, where: str) -> TargetError:
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path).lstrip(".")
    place = f"{where}: {path}" if path else where
    schema = error.schema if isinstance(error.schema, Mapping) else {}
    if error.validator == "additionalProperties" and isinstance(error.instance, Mapping):
        known = schema.get("properties", {})
        unknown = next(key for key in error.instance if key not in known)
        return TargetError(f"unknown key {unknown!r}", where=place, hint=closest(unknown, known))
    if error.validator == "enum" and isinstance(error.instance, str):
        choices = [str(value) for value in schema.get("enum", ())]
        return TargetError(
            f"{error.instance!r} is none of the known values", where=place, hint=closest(error.instance, choices)
        )
    if error.validator == "pattern" and isinstance(error.instance, str) and not error.instance.strip():
        return TargetError("the text is empty", where=place, hint=str(schema.get("description", "")))
    return TargetError(error.message, where=place, hint=str(schema.get("description", "")))


@lru_cache
def _validator(name: str) -> Draft202012Validator:
    from jsonschema import Draft202012Validator

    schema = json.loads((data_root("schemas") / f"{name}.json").read_text(encoding="utf-8"))
    return Draft202012Validator(schema)
