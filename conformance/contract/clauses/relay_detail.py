"""Relay: single facts that go astray on the way, the key that is the gateway's alone and the parameter that was wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.envelope import enveloped, error_of
from conformance.contract.evidence import at_exchange, at_path, show
from conformance.contract.kinds import error_object, reason_of
from conformance.contract.when import serving, stayed, the_reply
from conformance.exchange.model import Attempt, Exchange, Request

#: Fields in which APIs take keys.
_KEY_FIELDS = ("authorization", "api-key", "x-api-key", "x-goog-api-key", "x-auth-token", "ocp-apim-subscription-key")
#: What stands between a key and the rest of a field.
_WORDS = re.compile(rb"[\s,;=:]+")
#: Shorter ones may stand in a field by chance.
_SHORTEST = 6


def _key(value: str) -> str:
    return re.sub("^bearer +", "", value.strip(), flags=re.IGNORECASE)


def _own_key(request: Request) -> str:
    """The key with which the client asked the gateway."""
    found = (_key(request.head.get(name) or "") for name in _KEY_FIELDS)
    return next((key for key in found if len(key) >= _SHORTEST), "")


def _with_another(x: Exchange) -> list[tuple[int, Attempt]]:
    """The dispatches that carry a key which is none of the client's."""
    mine = {_key(x.request.head.get(name) or "") for name in _KEY_FIELDS}
    return [
        (number, attempt)
        for number, attempt in enumerate(x.attempts or ())
        if any(_key(attempt.request.head.get(name) or "") not in {"", *mine} for name in _KEY_FIELDS)
    ]


@clause(
    id="relay.request.client-key",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="The client's key for the gateway does not go to a member that is asked with another key",
    rationale="It opens the gateway to whoever runs or logs the member. A gateway may pass keys through on purpose: a SHOULD.",
    source="openai-api/production-safety",
    applies=lambda x: bool(_own_key(x.request) and x.attempts),
)
def client_key(x: Exchange) -> Iterator[Finding]:
    mine = _own_key(x.request).encode("utf-8", "surrogateescape")
    for number, attempt in _with_another(x):
        names = [line.name for line in attempt.request.head.headers if mine in _WORDS.split(line.value)]
        if names:
            name = names[0].decode("latin-1")
            yield at_exchange(x, "the member's own key alone", f"the client's key in {name}", leg=f"upstream:{number}")


def _blamed(x: Exchange) -> str:
    """The parameter of the client's request that the serving member says is wrong, "" for none."""
    attempt = serving(x)
    reply = attempt.reply if attempt is not None else None
    if reply is None or reply.status not in (400, 422) or reply.doc is None or not reply.doc.ok:
        return ""
    param = (error_object(reply.doc.value) or {}).get("param")
    root = re.match(r"\w+", param) if isinstance(param, str) else None
    return str(param) if root is not None and x.request.get(root.group(0)) is not None else ""


def _as_it_was(x: Exchange) -> bool:
    """Whether the client is told the member's reason in the member's words."""
    attempt = serving(x)
    assert attempt is not None
    assert attempt.reply is not None
    assert attempt.reply.doc is not None
    said = " ".join(reason_of(attempt.reply.doc.value).split())
    told = error_of(x).get("message")
    return isinstance(told, str) and bool(said) and said in " ".join(told.split())


@clause(
    id="relay.error.param-kept",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="The parameter that a member says is wrong is told with the member's reason",
    rationale="Clients mark the field, or leave the parameter out and ask again. How an error is relayed is no norm's: a SHOULD.",
    source="openai-spec/error",
    applies=lambda x: (
        stayed(x) and enveloped(x) and the_reply(x).status in (400, 422) and bool(_blamed(x)) and _as_it_was(x)
    ),
)
def param_kept(x: Exchange) -> Iterator[Finding]:
    told, blamed = error_of(x).get("param"), _blamed(x)
    if told is None or told == "":
        yield at_path(the_reply(x), ("error", "param"), show(blamed), show(told))
