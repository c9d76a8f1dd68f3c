"""The control port: HTTP/1.1 with JSON on loopback, by which a run arms plays and takes the journal.

    POST /arm {nonce, members: {u0: [item...]}, default: [item...]}      -> {}
    POST /take {nonce, wait_ms, settle_ms}                               -> {entries, lost}, and the nonce is disarmed
    GET /journal, GET /stray                                             -> {entries, lost}
    GET /health -> counts         POST /shutdown -> {}, then the process ends

Every request carries `Authorization: Bearer <token>` (401 otherwise). Bad input gives 400 with kind, what, where, hint.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import re
from collections.abc import Awaitable, Callable
from typing import Any

from conformance.errors import ConformanceError, ScenarioError, UsageError
from conformance.upstream.items import Item, decode_item
from conformance.upstream.journal import encode_entry
from conformance.upstream.server import Taken, Upstream
from conformance.wire.http1 import RequestReader, read_request

MAX_WAIT = 600.0
_AUTHORIZATION = re.compile(rb"(?i)\nauthorization:[ \t]*([^\r\n]*)")
_PHRASES = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 405: "Method Not Allowed"}

#: The status and the JSON text.
Answer = tuple[int, str]


class Control:
    """What the control port does, from JSON objects to JSON texts; `stop` is called when a shutdown is asked for."""

    def __init__(self, upstream: Upstream, token: str, stop: Callable[[], None]) -> None:
        self._upstream, self._stop = upstream, stop
        self._authorization = f"Bearer {token}".encode()
        self._routes: dict[str, tuple[str, Callable[[dict[str, Any]], str | Awaitable[str]]]] = {
            "/arm": ("POST", self._arm),
            "/take": ("POST", self._take),
            "/journal": ("GET", lambda _: _encode_taken(upstream.journal())),
            "/stray": ("GET", lambda _: _encode_taken(upstream.stray())),
            "/health": ("GET", lambda _: json.dumps(upstream.health())),
            "/shutdown": ("POST", self._shutdown),
        }

    def answer(self, request: bytes) -> Answer | Awaitable[Answer]:
        """The status and JSON text for a raw request; awaitable when it has to wait."""
        head, _, body = request.partition(b"\r\n\r\n")
        given = _AUTHORIZATION.search(head)
        if not hmac.compare_digest(given[1] if given else b"", self._authorization):
            return 401, _error("UsageError", "the control port wants its bearer token", "authorization")
        try:
            if b"transfer-encoding" in head.lower():
                body = read_request(request).body
            found = self._call(head, body)
        except Exception as error:
            return _failed(error)
        return (200, found) if isinstance(found, str) else self._awaited(found)

    def _call(self, head: bytes, body: bytes) -> str | Awaitable[str]:
        given, _, rest = head.decode("latin-1").partition(" ")
        path = rest.partition(" ")[0].partition("?")[0]
        if path not in self._routes:
            hint = f"there are {', '.join(self._routes)}"
            raise ScenarioError(f"there is no {path}", where="control port", hint=hint)
        method, function = self._routes[path]
        if given != method:
            raise ScenarioError(f"{path} takes {method}, not {given}", where="control port")
        return function(_json_object(body) if body else {})

    async def _awaited(self, found: Awaitable[str]) -> Answer:
        try:
            return 200, await found
        except Exception as error:
            return _failed(error)

    def _arm(self, asked: dict[str, Any]) -> str:
        members = asked.get("members", {})
        if not isinstance(members, dict):
            raise ScenarioError("members is an object of lists", where="arm")
        lists = {name: _items(items, f"members.{name}") for name, items in members.items()}
        self._upstream.arm(_nonce(asked), lists, _items(asked.get("default", []), "default"))
        return "{}"

    def _take(self, asked: dict[str, Any]) -> str | Awaitable[str]:
        nonce, wait, quiet = _nonce(asked), _seconds(asked, "wait_ms"), _seconds(asked, "settle_ms")
        if not quiet and self._upstream.settled(nonce):
            return _encode_taken(self._upstream.take_now(nonce))
        return self._take_later(nonce, wait, quiet)

    async def _take_later(self, nonce: str, wait: float, quiet: float) -> str:
        return _encode_taken(await self._upstream.take(nonce, wait=wait, quiet=quiet))

    def _shutdown(self, asked: dict[str, Any]) -> str:
        asyncio.get_running_loop().call_soon(self._stop)
        return "{}"


class ControlProtocol(asyncio.Protocol):
    """One connection to the control port: requests in order, each answered before the next is looked at."""

    def __init__(self, control: Control) -> None:
        self._control = control
        self._reader = RequestReader()
        self._busy: asyncio.Task[None] | None = None
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        """Whoever waited is gone."""
        self._transport = None
        if self._busy is not None:
            self._busy.cancel()

    def data_received(self, data: bytes) -> None:
        """Answer what is whole."""
        self._reader.feed(data)
        self._serve()

    def _serve(self) -> None:
        while self._busy is None and self._transport is not None:
            request = self._reader.take()
            if request is None:
                return
            answer = self._control.answer(request)
            if isinstance(answer, tuple):
                self._write(answer)
            else:
                self._busy = asyncio.ensure_future(self._write_later(answer))

    async def _write_later(self, answer: Awaitable[Answer]) -> None:
        self._write(await answer)
        self._busy = None
        self._serve()

    def _write(self, answer: Answer) -> None:
        status, text = answer
        body = text.encode()
        phrase = _PHRASES.get(status, "Error")
        head = f"HTTP/1.1 {status} {phrase}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        if self._transport is not None:
            self._transport.write(head.encode() + body)
            if self._reader.broken:
                self._transport.close()


def _encode_taken(taken: Taken) -> str:
    return f'{{"entries":[{",".join(map(encode_entry, taken.attempts))}],"lost":{taken.lost}}}'


def _failed(error: Exception) -> Answer:
    """A caller's mistake is a 400, ours a 500; both say what, where and what to do."""
    if isinstance(error, ConformanceError):
        status = 400 if isinstance(error, UsageError) else 503
        return status, _error(type(error).__name__, error.what, error.where, error.hint)
    return 500, _error("UpstreamError", f"{type(error).__name__}: {error}", "replay upstream", "report this")


def _error(kind: str, what: str, where: str, hint: str = "") -> str:
    return json.dumps({"error": {"kind": kind, "what": what, "where": where, "hint": hint}})


def _json_object(body: bytes) -> dict[str, Any]:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ScenarioError(f"the body is no JSON: {error}", where="control port") from None
    if not isinstance(document, dict):
        raise ScenarioError("the body is no JSON object", where="control port")
    return document


def _nonce(asked: dict[str, Any]) -> str:
    nonce = asked.get("nonce")
    if not isinstance(nonce, str):
        raise ScenarioError("there is no nonce", where="control port", hint="cf- and at least six of a-z and 0-9")
    return nonce


def _items(items: Any, where: str) -> list[Item]:
    if not isinstance(items, list):
        raise ScenarioError("a list of items is wanted", where=where)
    return [decode_item(item) for item in items]


def _seconds(asked: dict[str, Any], name: str) -> float:
    ms = asked.get(name, 0)
    if isinstance(ms, bool) or not isinstance(ms, int | float) or not 0 <= ms <= MAX_WAIT * 1000:
        raise ScenarioError(f"{name} is no number of ms from 0 to {MAX_WAIT * 1000:.0f}", where="take")
    return ms / 1000
