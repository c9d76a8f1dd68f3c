"""A tapped pool under the client library's own transport interface: httpx and httpx2, asynchronous and blocking.

Requests go in as the client library's, leave through httpcore, and come back; core exceptions are translated. Knows no
tape: what is recorded is the backend's matter. No connection is kept alive, no redirect or retry happens here.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Iterator
from typing import Any

from conformance.driver.blocking_tap import SyncTapBackend
from conformance.driver.stack import Stack
from conformance.driver.tap import AsyncTapBackend


def async_client(stack: Stack, ssl_context: ssl.SSLContext | None = None) -> Any:
    """An AsyncClient of the stack whose requests run through the tap; the environment's proxies are not used."""
    http = stack.http

    class Body(http.AsyncByteStream):  # type: ignore[misc, name-defined]
        """A core response's body, exceptions translated."""

        def __init__(self, core_stream: Any) -> None:
            self._stream = core_stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            with stack.translated():
                async for part in self._stream:
                    yield part

        async def aclose(self) -> None:
            with stack.translated():
                await self._stream.aclose()

    class Transport(http.AsyncBaseTransport):  # type: ignore[misc, name-defined]
        """The pools, one for each scheme: the trust store is loaded with the first https request."""

        def __init__(self) -> None:
            self._pools: dict[str, Any] = {}

        async def handle_async_request(self, request: Any) -> Any:
            scheme = request.url.scheme
            if scheme not in self._pools:
                backend = AsyncTapBackend(stack)
                self._pools[scheme] = stack.core.AsyncConnectionPool(**_settings(stack, scheme, ssl_context, backend))
            with stack.translated():
                response = await self._pools[scheme].handle_async_request(_core_request(stack, request))
            return _response(stack, response, Body(response.stream))

        async def aclose(self) -> None:
            for pool in self._pools.values():
                await pool.aclose()

    return http.AsyncClient(transport=Transport(), trust_env=False)


def sync_client(stack: Stack, ssl_context: ssl.SSLContext | None = None) -> Any:
    """A Client of the stack whose requests run through the tap; the environment's proxies are not used."""
    http = stack.http

    class Body(http.SyncByteStream):  # type: ignore[misc, name-defined]
        """A core response's body, exceptions translated."""

        def __init__(self, core_stream: Any) -> None:
            self._stream = core_stream

        def __iter__(self) -> Iterator[bytes]:
            with stack.translated():
                yield from self._stream

        def close(self) -> None:
            with stack.translated():
                self._stream.close()

    class Transport(http.BaseTransport):  # type: ignore[misc, name-defined]
        """The pools, one for each scheme: the trust store is loaded with the first https request."""

        def __init__(self) -> None:
            self._pools: dict[str, Any] = {}

        def handle_request(self, request: Any) -> Any:
            scheme = request.url.scheme
            if scheme not in self._pools:
                backend = SyncTapBackend(stack)
                self._pools[scheme] = stack.core.ConnectionPool(**_settings(stack, scheme, ssl_context, backend))
            with stack.translated():
                response = self._pools[scheme].handle_request(_core_request(stack, request))
            return _response(stack, response, Body(response.stream))

        def close(self) -> None:
            for pool in self._pools.values():
                pool.close()

    return http.Client(transport=Transport(), trust_env=False)


def _settings(stack: Stack, scheme: str, ssl_context: ssl.SSLContext | None, backend: Any) -> dict[str, Any]:
    trust = (ssl_context or stack.http.create_ssl_context()) if scheme == "https" else None
    return {
        "ssl_context": trust,
        "max_connections": None,
        "max_keepalive_connections": 0,
        "retries": 0,
        "network_backend": backend,
    }


def _core_request(stack: Stack, request: Any) -> Any:
    url = request.url
    return stack.core.Request(
        method=request.method,
        url=stack.core.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
        headers=request.headers.raw,
        content=request.stream,
        extensions=request.extensions,
    )


def _response(stack: Stack, response: Any, body: Any) -> Any:
    return stack.http.Response(
        status_code=response.status, headers=response.headers, stream=body, extensions=response.extensions
    )
