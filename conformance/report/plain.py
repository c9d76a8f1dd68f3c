"""Frozen dataclasses to plain JSON values and back, by their type annotations, strictly.

Knows the field types that reports use (str, int, float, bool, bytes, enums, tuples, dicts, optional ones, dataclasses)
and nothing of reports. A field whose default is empty is left out while it is empty. Bytes are text when that loses
nothing, else base64.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from functools import cache
from math import isfinite
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
Decoder = Callable[[Any, str], Any]
_AS_THEY_ARE = frozenset({str, int, float, bool, NoneType})
_UNCLEAN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


class Misfit(Exception):
    """A plain value does not fit a type: the one argument is a sentence that starts with the value's path."""


def to_plain(value: Any) -> Any:
    """The JSON value for `value`."""
    if value.__class__ in _AS_THEY_ARE:
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str | int | float):
        return value
    if isinstance(value, bytes):
        return bytes_to_plain(value)
    if isinstance(value, Mapping):
        return {str(to_plain(key)): to_plain(item) for key, item in value.items()}
    if isinstance(value, frozenset):
        return sorted(to_plain(item) for item in value)
    if isinstance(value, tuple):
        return [to_plain(item) for item in value]
    made: dict[str, Any] = {}
    for name, default in _defaults(value.__class__):
        item = getattr(value, name)
        if default is MISSING or default or item != default:
            made[name] = item if item.__class__ in _AS_THEY_ARE else to_plain(item)
    return made


def from_plain(kind: Callable[..., T], plain: Any, path: str = "") -> T:
    """The object of type `kind` that `plain` stands for. Raises Misfit for a missing, unknown or mistyped member."""
    decoded: T = _decoder(kind)(plain, path)
    return decoded


def bytes_to_plain(data: bytes) -> str | dict[str, str]:
    """Text when `data` is UTF-8 without control characters but tab and line ends, else {"base64": ...}."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = "\x00"
    return {"base64": base64.b64encode(data).decode()} if _UNCLEAN.search(text) else text


@cache
def _defaults(kind: Callable[..., Any]) -> tuple[tuple[str, Any], ...]:
    """The fields of a dataclass, each with its default value (MISSING when it has none)."""
    if not (isinstance(kind, type) and is_dataclass(kind)):
        raise TypeError(f"{kind} has no plain form")
    return tuple((item.name, _default(item)) for item in fields(kind))


def _default(item: Field[Any]) -> Any:
    return item.default if item.default_factory is MISSING else item.default_factory()


@cache
def _decoder(kind: Any) -> Decoder:
    """The function from plain value and path to a value of type `kind`."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        (inner,) = (argument for argument in arguments if argument is not NoneType)
        decode = _decoder(inner)
        return lambda plain, path: None if plain is None else decode(plain, path)
    if origin is tuple and arguments[-1] is not Ellipsis:
        return _positions(tuple(map(_decoder, arguments)))
    if origin in (tuple, frozenset):
        return _sequence(_decoder(arguments[0]), tuple if origin is tuple else frozenset)
    if origin is dict:
        return _mapping(_decoder(arguments[0]), _decoder(arguments[1]))
    if isinstance(kind, type) and is_dataclass(kind):
        return _record(kind)
    if issubclass(kind, Enum):
        return _member(kind)
    return _bytes if kind is bytes else _scalar(kind)


def _scalar(kind: type[Any]) -> Decoder:
    def decode(plain: Any, path: str) -> Any:
        if kind is float and type(plain) is int:
            return float(plain)
        if type(plain) is not kind or (kind is float and not isfinite(plain)):
            raise Misfit(f"{path or 'the value'} is not of type {kind.__name__}")
        return plain

    return decode


def _bytes(plain: Any, path: str) -> bytes:
    if isinstance(plain, str):
        return plain.encode("utf-8", "surrogatepass")
    if isinstance(plain, dict) and plain.keys() == {"base64"} and isinstance(plain["base64"], str):
        try:
            return base64.b64decode(plain["base64"], validate=True)
        except (binascii.Error, ValueError):
            raise Misfit(f"{path} is not valid base64") from None
    raise Misfit(f"{path} is neither a text nor an object with the one member base64")


def _member(kind: type[Enum]) -> Decoder:
    values = {item.value: item for item in kind}

    def decode(plain: Any, path: str) -> Any:
        if not isinstance(plain, str) or plain not in values:
            raise Misfit(f"{path} is not one of {', '.join(map(str, values))}")
        return values[plain]

    return decode


def _sequence(decode_item: Decoder, make: Callable[[Any], Any]) -> Decoder:
    def decode(plain: Any, path: str) -> Any:
        if not isinstance(plain, list):
            raise Misfit(f"{path} is not an array")
        return make([decode_item(item, f"{path}[{number}]") for number, item in enumerate(plain)])

    return decode


def _positions(decode_each: tuple[Decoder, ...]) -> Decoder:
    """A tuple of so many items, each of its own type."""

    def decode(plain: Any, path: str) -> Any:
        if not isinstance(plain, list) or len(plain) != len(decode_each):
            raise Misfit(f"{path} is not an array of {len(decode_each)}")
        pairs = zip(decode_each, plain, strict=True)
        return tuple(decode_item(item, f"{path}[{number}]") for number, (decode_item, item) in enumerate(pairs))

    return decode


def _mapping(decode_key: Decoder, decode_item: Decoder) -> Decoder:
    def decode(plain: Any, path: str) -> Any:
        if not isinstance(plain, dict):
            raise Misfit(f"{path} is not an object")
        return {decode_key(key, path): decode_item(item, f"{path}.{key}") for key, item in plain.items()}

    return decode


def _record(kind: Callable[..., Any]) -> Decoder:
    hints = get_type_hints(kind)
    defaults = dict(_defaults(kind))
    required = {name for name, default in defaults.items() if default is MISSING}

    def decode(plain: Any, path: str) -> Any:
        if not isinstance(plain, dict):
            raise Misfit(f"{path or 'the line'} is not an object")
        for problem, names in (("unknown", plain.keys() - defaults.keys()), ("missing", required - plain.keys())):
            if names:
                raise Misfit(f"{path or 'the line'}: {problem} member {', '.join(sorted(names))}")
        return kind(**{n: _decoder(hints[n])(item, f"{path}.{n}" if path else n) for n, item in plain.items()})

    return decode
