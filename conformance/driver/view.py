"""What a client library made of a response, as JSON: objects, chunks, and the exception that it raised.

Library objects in, a ClientView out. Knows no network; bounded, so that no huge error body travels into a report.
"""

from __future__ import annotations

import json
from typing import Any

from conformance.driver.tape import HungUp
from conformance.exchange.model import ClientView

#: The most characters of an exception's field that are kept.
MAX_FIELD = 16_384
_FIELDS = ("status_code", "code", "type", "param", "message", "body", "request_id")


class View:
    """Collects what a client got: either one object, or chunks one by one; and at most one exception."""

    def __init__(self) -> None:
        self._got: Any = None
        self._chunks: list[Any] | None = None
        self.error: Exception | None = None

    def keep(self, value: Any) -> None:
        """The reply is one object."""
        self._got = value

    def start_stream(self) -> None:
        """The reply is a stream: its chunks follow."""
        self._chunks = []

    def add(self, chunk: Any) -> int:
        """Keep one chunk; how many there are now. (Dumped only at the end: the client reads at its own pace.)"""
        assert self._chunks is not None
        self._chunks.append(chunk)
        return len(self._chunks)

    def record(self, name: str, version: str) -> ClientView:
        """The facts of the exchange. The way out of a hang-up is the harness's own doing, and no exception."""
        parsed = as_json(self._got) if self._chunks is None else [as_json(chunk) for chunk in self._chunks]
        if self.error is None or _caused_by_hang_up(self.error):
            return ClientView(name=name, version=version, parsed=parsed)
        return ClientView(
            name=name,
            version=version,
            parsed=parsed,
            exception=type(self.error).__name__,
            fields=exception_fields(self.error),
        )


def as_json(value: Any) -> Any:
    """The JSON form of a library's object: its dump when it has one, plain JSON values as they are, else its text."""
    dump = getattr(value, "model_dump", None)
    if dump is not None:
        try:
            return dump(mode="json", by_alias=True, warnings=False)
        except Exception:  # an object made without validation may hold what no dump knows: not the client's failure
            return repr(value)
    if value is None or isinstance(value, (str, int, float, bool, list, dict)):
        return value
    return repr(value)


def exception_fields(error: Exception) -> dict[str, Any]:
    """The public fields that the exception has (each bounded); `message` falls back to its text."""
    fields = {name: _bounded(getattr(error, name)) for name in _FIELDS if hasattr(error, name)}
    fields.setdefault("message", _bounded(str(error)))
    return fields


def _bounded(value: Any) -> Any:
    try:
        text = value if isinstance(value, str) else json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        text = value = repr(value)
    return value if len(text) <= MAX_FIELD else text[:MAX_FIELD]


def _caused_by_hang_up(error: BaseException) -> bool:
    seen: list[BaseException] = []
    at: BaseException | None = error
    while at is not None and at not in seen:
        if isinstance(at, HungUp):
            return True
        seen.append(at)
        at = at.__cause__ or at.__context__
    return False
