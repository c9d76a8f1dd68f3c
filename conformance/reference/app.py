"""The gateway as an ASGI application: routes, and the life of one exchange from the request's arrival to the last
byte.

Everything between is decided elsewhere (intake, pool, relay). The client is watched all the time: when it goes, the
upstream connection is closed at once.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Coroutine
from typing import Any

from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from conformance.reference.accept import Accepted
from conformance.reference.behaviour import FAITHFUL, Behaviour
from conformance.reference.browser import is_preflight, preflight_fields
from conformance.reference.cache import Recording, Stored
from conformance.reference.call import Call, Operation
from conformance.reference.config import Config
from conformance.reference.delivery import send_error, send_json, send_kept, send_nothing, send_stream
from conformance.reference.errors import Refused, refuse
from conformance.reference.hangup import ClientGone, while_there
from conformance.reference.intake import (
    check_key,
    check_method,
    fields_of,
    find_lane,
    no_such_model,
    read_body,
    read_request,
)
from conformance.reference.pool import answer
from conformance.reference.relay import json_answer, own_answer
from conformance.reference.rules import Clock
from conformance.reference.steps import Step

log = logging.getLogger("conformance.reference")
#: Seconds that a member has to end a response that was used whole, before the connection is closed.
DRAIN = 1.0


def build_app(config: Config, behaviour: Behaviour = FAITHFUL, clock: Clock = time.monotonic) -> Starlette:
    """The gateway that `config` describes; one application may serve on any number of ports. `clock` is what its
    memory of members and answers goes by.
    """
    gateway = _Gateway(config, behaviour, clock)
    routes = [Route(f"/v1{operation.value}", gateway.door(operation)) for operation in Operation]
    routes += [
        Route("/v1/models", gateway.door(None, "models")),
        Route("/v1/models/{model:path}", gateway.door(None, "model")),
        Route("/health", gateway.door(None, "health")),
        Route("/{path:path}", gateway.door(None, "nothing")),
    ]
    return Starlette(routes=routes)


class _Gateway:
    """The configuration, the behaviour and the memory shared by all exchanges of one application."""

    def __init__(self, config: Config, behaviour: Behaviour, clock: Clock) -> None:
        self._config = config
        self._behaviour = behaviour
        self._shared: dict[str, Any] = {}
        self._health = behaviour.health(config, clock)
        self._cache = behaviour.cache(config.cache, clock) if config.cache is not None else None
        self._started = int(time.time())

    def door(self, operation: Operation | None, page: str = "") -> ASGIApp:
        """The application behind one route."""

        async def serve(scope: Scope, receive: Receive, send: Send) -> None:
            call = Call(
                config=self._config,
                behaviour=self._behaviour,
                shared=self._shared,
                health=self._health,
                operation=operation,
                method=scope["method"],
                path=scope["path"],
                headers=fields_of(scope),
            )
            try:
                if is_preflight(call) and page != "nothing" and call.does(Step.PREFLIGHT):
                    await send_nothing(preflight_fields(call), send)
                elif operation is None:
                    await self._page(call, page, scope["path_params"].get("model", ""), send)
                else:
                    await self._dispatched(call, receive, send)
            except ClientGone:
                return
            except Refused as refused:
                await send_error(call, refused, send)
            except Exception:
                log.exception("internal error")
                await send_error(call, refuse(500, "The gateway failed.", code="internal_error"), send)

        return _Endpoint(serve)

    async def _page(self, call: Call, page: str, model: str, send: Send) -> None:
        """What the gateway answers by itself."""
        if page == "nothing":
            raise refuse(404, f"Unknown request URL: {call.method} {call.path[:200]}.", code="unknown_url")
        check_method(call, "GET, HEAD")
        if page == "health":
            return await send_json(own_answer(call, {"status": "ok"}), send)
        check_key(call)
        entries = [self._entry(alias) for alias in self._config.lanes if page == "models" or alias == model]
        if page == "models":
            return await send_json(own_answer(call, {"object": "list", "data": entries}), send)
        if not entries:
            raise no_such_model(model)
        await send_json(own_answer(call, entries[0]), send)

    def _entry(self, alias: str) -> dict[str, Any]:
        return {"id": alias, "object": "model", "created": self._started, "owned_by": "gateway"}

    async def _dispatched(self, call: Call, receive: Receive, send: Send) -> None:
        """What a member answers."""
        check_method(call, "POST")
        if call.does(Step.KEY_FIRST):
            check_key(call)
        read_request(call, await read_body(call, receive))
        lane = find_lane(call)
        async with call.behaviour.around(call):
            stored = self._kept(call)
            if stored is not None:
                return await send_kept(call, stored, send)
            check_key(call)
            if not call.does(Step.CLOSE_ON_HANGUP):
                accepted = await _answered(call, send, answer(call, lane))
            else:
                accepted = await while_there(
                    receive, _answered(call, send, answer(call, lane)), call.behaviour.hangup_poll
                )
            if accepted.stream is None or accepted.stream.done:
                await accepted.reply.finish(DRAIN)
            else:
                accepted.reply.close()

    def _kept(self, call: Call) -> Stored | None:
        """The answer that is kept for this request; where there is none, this one's will be taken down."""
        key = self._cache.key(call) if self._cache is not None else None
        if self._cache is None or key is None:
            return None
        call.recording = Recording(cache=self._cache, key=key, stream=call.stream)
        return self._cache.find(key)


class _Endpoint:
    """Starlette takes an object, unlike a function, for an ASGI application that gets every method."""

    def __init__(self, serve: ASGIApp) -> None:
        self._serve = serve

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._serve(scope, receive, send)


async def _answered(call: Call, send: Send, asked: Coroutine[Any, Any, Accepted]) -> Accepted:
    """Ask, and send the answer to its last byte."""
    accepted = await asked
    try:
        if accepted.parts is None:
            await send_json(json_answer(call, accepted), send)
        else:
            await send_stream(call, accepted, send)
    except BaseException:
        accepted.close()
        raise
    return accepted
