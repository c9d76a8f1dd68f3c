"""vcrpy's dialect of YAML, text to plain data and back: the C loader and dumper, made safe and bounded. Pure.

No Python object is ever built; the harmless `python/*` tags that vcrpy itself writes are read as plain data. Merge keys
are refused, because nested ones grow without end; aliases share what they name; libyaml bounds the depth.
"""

from __future__ import annotations

import base64
from typing import Any

import yaml

try:
    from yaml import CSafeDumper as _Dumper
    from yaml import CSafeLoader as _Loader
except ImportError:  # PyYAML without libyaml
    from yaml import SafeDumper as _Dumper  # type: ignore[assignment]
    from yaml import SafeLoader as _Loader  # type: ignore[assignment]

_TAG = "tag:yaml.org,2002:"


class _CassetteLoader(_Loader):
    """Safe, without merge keys, without dates (they stay text)."""

    def flatten_mapping(self, node: Any) -> None:
        """Refuse what PyYAML would merge here."""
        for key, _ in node.value:
            if key.tag == _TAG + "merge":
                raise yaml.constructor.ConstructorError(None, None, "merge keys are not read", key.start_mark)


class _CassetteDumper(_Dumper):
    """Plain data only, never an alias; text of several lines as a block."""

    def ignore_aliases(self, data: Any) -> bool:
        """Equal objects are written out each time."""
        return True


def _text_of(loader: Any, node: Any) -> str:
    return str(loader.construct_scalar(node))


def _name_of(loader: Any, node: Any) -> str:
    """A header name of multidict, as vcrpy writes aiohttp's: a call with the name as its one argument."""
    called: list[Any] = loader.construct_sequence(node) if node.id == "sequence" else []
    if len(called) != 1 or not isinstance(called[0], str):
        raise yaml.constructor.ConstructorError(None, None, "a header name of another form", node.start_mark)
    return called[0]


def _list_of(loader: Any, node: Any) -> list[Any]:
    return list(loader.construct_sequence(node, deep=True))


def _bytes_of(loader: Any, node: Any) -> bytes:
    """A binary scalar; what is no base64 is refused, where PyYAML would skip it."""
    try:
        return base64.b64decode("".join(str(node.value).split()), validate=True)
    except ValueError:
        raise yaml.constructor.ConstructorError(None, None, "!!binary without base64", node.start_mark) from None


def _buffer_of(loader: Any, node: Any) -> Any:
    """The content of a file-like request body: the first item of its state."""
    state = loader.construct_mapping(node, deep=True).get("state") or (b"",)
    return state[0] if state else b""


def _represent_text(dumper: Any, text: str) -> Any:
    return dumper.represent_scalar(_TAG + "str", text, style="|" if "\n" in text else None)


for _name in ("python/str", "python/unicode", "timestamp"):
    _CassetteLoader.add_constructor(_TAG + _name, _text_of)
for _name in ("multidict.istr", "multidict._multidict.istr", "multidict._multidict_py.istr"):
    _CassetteLoader.add_constructor(_TAG + "python/object/apply:" + _name, _name_of)
    _CassetteLoader.add_constructor(_TAG + "python/object/new:" + _name, _name_of)
_CassetteLoader.add_constructor(_TAG + "binary", _bytes_of)
_CassetteLoader.add_constructor(_TAG + "python/tuple", _list_of)
_CassetteLoader.add_constructor(_TAG + "python/object/new:_io.BytesIO", _buffer_of)
_CassetteDumper.add_representer(str, _represent_text)


def parse(content: bytes) -> Any:
    """The plain data of one YAML document. Raises ValueError, with line and column, for anything else."""
    try:
        return yaml.load(content, Loader=_CassetteLoader)
    except (yaml.YAMLError, TypeError, AttributeError, LookupError, OverflowError) as error:
        raise ValueError(f"this is not YAML that a cassette may hold: {error}") from None


def dump(document: Any) -> str:
    """The YAML text of plain data (mappings, lists, str, bytes, numbers, None)."""
    return yaml.dump(document, Dumper=_CassetteDumper, sort_keys=False, allow_unicode=True, width=1 << 20)
