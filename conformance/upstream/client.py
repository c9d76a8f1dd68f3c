"""Clients of the control port: arm a play, take its attempts, look at what is stray. One for asyncio, one without.

Python items in, entries out. An upstream that does not answer raises UpstreamError; input that it rejects raises the
error that it names.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance import errors
from conformance.errors import UpstreamError
from conformance.upstream.items import Item, encode_item
from conformance.upstream.journal import Entry, decode_entry
from conformance.upstream.line import Line

#: How long an answer may take, in seconds, besides the wait that was asked for.
PATIENCE = 10.0
_KINDS = {kind.__name__: kind for kind in (errors.UsageError, errors.ScenarioError, errors.CassetteError)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """How to reach a replay upstream: its control port and token, and the members' ports, u0 first."""

    control_port: int
    token: str
    ports: tuple[int, ...]

    @property
    def members(self) -> tuple[str, ...]:
        """The members' names."""
        return tuple(f"u{index}" for index in range(len(self.ports)))


class ControlClient:
    """The control port for asyncio: connections are kept open, one request on each at a time. Belongs to one loop."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._idle: list[Line] = []

    async def arm(self, nonce: str, members: Mapping[str, Sequence[Item]], default: Sequence[Item] = ()) -> None:
        """Play this to requests that carry `nonce`: a list for each member ("u0"), `default` for the others."""
        await self._call("POST", "/arm", _arm_document(nonce, members, default))

    async def take(self, nonce: str, *, wait_ms: float = 0.0, settle_ms: float = 0.0) -> tuple[Entry, ...]:
        """The attempts of `nonce` in order of arrival, once all have ended and nothing came for `settle_ms`.

        At most `wait_ms` are waited. The nonce is disarmed. Raises UpstreamError when the journal's bound lost any.
        """
        asked = {"nonce": nonce, "wait_ms": wait_ms, "settle_ms": settle_ms}
        return _entries(await self._call("POST", "/take", asked, patience=PATIENCE + wait_ms / 1000), nonce)

    async def stray(self) -> tuple[Entry, ...]:
        """The attempts without a nonce, or with one that was not armed. Raises UpstreamError when any were lost."""
        return _entries(await self._call("GET", "/stray"), "stray")

    async def journal(self) -> tuple[Entry, ...]:
        """Every attempt that is held. Raises UpstreamError when any were lost."""
        return _entries(await self._call("GET", "/journal"), "journal")

    async def health(self) -> dict[str, Any]:
        """The upstream's counts."""
        return await self._call("GET", "/health")

    async def shutdown(self) -> None:
        """End the upstream's process."""
        await self._call("POST", "/shutdown")

    async def aclose(self) -> None:
        """Close the connections."""
        while self._idle:
            self._idle.pop().close()

    async def _call(
        self, method: str, path: str, document: dict[str, Any] | None = None, *, patience: float = PATIENCE
    ) -> dict[str, Any]:
        line = self._kept() or await self._connect()
        asked = "" if document is None else json.dumps(document)
        try:
            status, body = await line.ask(method, path, self.address.token, asked, patience=patience)
        except (OSError, TimeoutError) as error:
            line.close()
            raise _unanswered(self.address, error) from error
        except BaseException:
            line.close()
            raise
        self._idle.append(line)
        return _document(status, body)

    def _kept(self) -> Line | None:
        while self._idle:
            line = self._idle.pop()
            if line.open:
                return line
        return None

    async def _connect(self) -> Line:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(PATIENCE):
                return (await loop.create_connection(Line, "127.0.0.1", self.address.control_port))[1]
        except (OSError, TimeoutError) as error:
            raise _unanswered(self.address, error) from error


class SyncControlClient:
    """The control port without asyncio, one connection for each call; may be used from several threads."""

    def __init__(self, address: Address) -> None:
        self.address = address

    def arm(self, nonce: str, members: Mapping[str, Sequence[Item]], default: Sequence[Item] = ()) -> None:
        """See ControlClient.arm."""
        self._call("POST", "/arm", _arm_document(nonce, members, default))

    def take(self, nonce: str, *, wait_ms: float = 0.0, settle_ms: float = 0.0) -> tuple[Entry, ...]:
        """See ControlClient.take."""
        asked = {"nonce": nonce, "wait_ms": wait_ms, "settle_ms": settle_ms}
        return _entries(self._call("POST", "/take", asked, patience=PATIENCE + wait_ms / 1000), nonce)

    def stray(self) -> tuple[Entry, ...]:
        """See ControlClient.stray."""
        return _entries(self._call("GET", "/stray"), "stray")

    def journal(self) -> tuple[Entry, ...]:
        """See ControlClient.journal."""
        return _entries(self._call("GET", "/journal"), "journal")

    def health(self) -> dict[str, Any]:
        """See ControlClient.health."""
        return self._call("GET", "/health")

    def shutdown(self) -> None:
        """See ControlClient.shutdown."""
        self._call("POST", "/shutdown")

    def _call(
        self, method: str, path: str, document: dict[str, Any] | None = None, *, patience: float = PATIENCE
    ) -> dict[str, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.address.control_port, timeout=patience)
        body = None if document is None else json.dumps(document)
        try:
            connection.request(method, path, body=body, headers={"Authorization": f"Bearer {self.address.token}"})
            response = connection.getresponse()
            return _document(response.status, response.read())
        except (OSError, http.client.HTTPException) as error:
            raise _unanswered(self.address, error) from error
        finally:
            connection.close()


def _arm_document(nonce: str, members: Mapping[str, Sequence[Item]], default: Sequence[Item]) -> dict[str, Any]:
    return {
        "nonce": nonce,
        "members": {name: [encode_item(item) for item in items] for name, items in members.items()},
        "default": [encode_item(item) for item in default],
    }


def _document(status: int, body: bytes) -> dict[str, Any]:
    """The JSON of an answer. Raises the error that it tells of."""
    document: Any = None
    with contextlib.suppress(ValueError):
        document = json.loads(body)
    if not isinstance(document, dict):
        raise UpstreamError(f"the control port answered {status} without a JSON object", where="replay upstream")
    if status == 200:
        return document
    told = document.get("error", {})
    kind = _KINDS.get(told.get("kind"), UpstreamError) if status == 400 else UpstreamError
    raise kind(told.get("what", f"status {status}"), where=told.get("where", ""), hint=told.get("hint", ""))


def _entries(document: dict[str, Any], where: str) -> tuple[Entry, ...]:
    if document["lost"]:
        raise UpstreamError(
            f"the journal was full: {document['lost']} attempts are lost",
            where=where,
            hint="take each nonce when it is done, or raise the journal's bounds",
        )
    return tuple(decode_entry(entry) for entry in document["entries"])


def _unanswered(address: Address, error: Exception) -> UpstreamError:
    return UpstreamError(
        f"the replay upstream does not answer: {error or type(error).__name__}",
        where=f"127.0.0.1:{address.control_port}",
        hint="did its process end?",
    )
