"""Examples of the clauses on errors: the envelope, its members, its status."""

from __future__ import annotations

from typing import Any

from tests.contract.captures import Capture, ask, capture, chat, chunk, error, knowing, listing, opening, stream, wire
from tests.contract.example import Example, Examples

OK = wire(chat())
NO_MODEL = error("The model `nope` does not exist.", code="model_not_found")
TOO_LONG = error("This model's maximum context length is 8192 tokens.", code="context_length_exceeded")
QUOTA = error("You exceeded your current quota.", type="insufficient_quota", code="insufficient_quota")
LIMIT = wire(error("Rate limit reached", type="requests"), status=429, headers=("Retry-After: 7",))


def told(body: Any, status: int = 400, upstream: Any = None, **more: Any) -> Capture:
    """An error reply with that body."""
    return capture(ask(), wire(body, status=status, **more), upstream)


def members(**changed: Any) -> Capture:
    """An error whose members are changed; ... takes one away."""
    body = {**error("Bad.")["error"], **changed}
    return told({"error": {name: value for name, value in body.items() if value is not ...}})


def waiting(value: str) -> Capture:
    """A 429 that says how long to wait."""
    return told(error("Rate limit reached"), 429, headers=(f"Retry-After: {value}",))


def busy(wait: str) -> Any:
    """A rate limit that says how long to wait."""
    return wire(error("Rate limit reached", type="requests"), status=429, headers=(f"Retry-After: {wait}",))


def known(reply: Any, **terms: Any) -> Capture:
    """A reply to a request of which more is known."""
    return knowing(capture(ask(), reply), terms=terms)


MODEL = {"id": "nope", "object": "model", "created": 1785402847, "owned_by": "gateway"}


def retrieved(path: str, reply: Any) -> Capture:
    """A single model, asked for by its path."""
    return knowing(capture(listing(path), reply), terms={"known_models": frozenset({"other"})})


def of(body: Any, *statuses: int, upstream: Any = None) -> tuple[Capture, ...]:
    """The same body under each status."""
    return tuple(told(body, status, upstream) for status in statuses)


EXAMPLES: Examples = {
    "error.in-success": Example(
        (
            capture(ask(), OK),
            capture(ask(), wire({**chat(), "error": None})),
            capture(ask(), wire(chat(choice={"error": None}, message={"error": {"code": 0, "message": ""}}))),
        ),
        (
            capture(ask(), wire(error("boom"))),
            capture(ask(), wire({**chat(), "error": {"message": "boom"}})),
            # genkit-ai/genkit#6259, gethouston/houston#1211
            capture(ask(), wire(chat("", choice={"error": {"code": 502, "message": "boom"}}))),
            capture(ask(), wire(chat("", message={"error": "boom"}))),
        ),
    ),
    "error.body.json": Example(
        (told(error("Bad.")),),
        (
            told(b"<html>502 Bad Gateway</html>", 502, media="text/html"),
            told(b"upstream connect error", 503, media="text/plain"),
            told(b"", 500),
            told(b'{"error": {"message": "Bad."', 400),
        ),
    ),
    "error.envelope.object": Example(
        (told(error("Bad.")),),
        (
            told([error("Bad.")]),
            told({"error": "Bad."}),
            told({"message": "Bad.", "code": "x"}),
            told({"detail": "Not Found"}, 404),
            told({"object": "error", "message": "Bad."}),
            told({"error": [{"message": "Bad."}]}),
        ),
    ),
    "error.message.text": Example(
        (members(),),
        (
            members(message=""),
            members(message=...),
            members(message={"a": 1}),
            members(message=None),
            members(message=..., type=..., param=..., code=...),
        ),
    ),
    "error.type.string": Example(
        (members(),), (members(type=None), members(type=...), members(type=""), members(type=400))
    ),
    "error.param.valid": Example(
        (members(), members(param="messages")), (members(param=...), members(param=0), members(param=["x"]))
    ),
    "error.code.valid": Example(
        (members(), members(code="x")), (members(code=...), members(code=429), members(code={"a": 1}))
    ),
    "error.members.no-placeholder": Example(
        (members(), members(message="The value None is not allowed here.")),
        (
            members(code="None"),
            members(param="undefined"),
            members(type="null"),
            members(message="Request failed: undefined"),
        ),
    ),
    "error.status.registered": Example(of(error("Bad."), 400, 429, 503), of(error("Bad."), 529, 520, 499)),
    "error.status.agrees": Example(
        (told(error("Bad.", code="400")), told(error("Bad.", status=503), 503)),
        (told(error("Bad.", code="429"), 500), told(error("Bad.", status=503), 500)),
    ),
    "error.model-not-found.status": Example(of(NO_MODEL, 404, 400, 403), of(NO_MODEL, 500, 401, 429)),
    "error.model-not-found.code": Example(of(NO_MODEL, 404), of(error("The model `nope` does not exist."), 404)),
    "error.context-length.status": Example(of(TOO_LONG, 400, 413), of(TOO_LONG, 500, 429, 502)),
    "error.context-length.code": Example(
        of(TOO_LONG, 400), of(error("This model's maximum context length is 8192 tokens."), 400)
    ),
    "error.quota.status": Example(of(QUOTA, 429, 402), of(QUOTA, 500, 400)),
    "error.rate-limit.retry-after": Example(
        (
            capture(ask(), LIMIT, LIMIT),
            *(capture(ask(), busy(told), busy("20")) for told in ("20", "17", "60", "Fri, 31 Dec 2027 23:59:59 GMT")),
            *(capture(ask(), busy("1"), busy(said)) for said in ("0", "1", "Fri, 31 Dec 2027 23:59:59 GMT")),
            capture(ask(), busy("4"), (busy("20"), busy("4"))),
            capture(ask(), busy("1"), (wire(error("Overloaded."), status=503), busy("20"))),
        ),
        (
            capture(ask(), wire(error("Rate limit reached", type="requests"), status=429), LIMIT),
            *(capture(ask(), busy(told), busy("20")) for told in ("20000", "1", "9")),
            capture(ask(), busy("1"), (busy("20"), busy("4"))),
        ),
    ),
    "error.retry-after.valid": Example(
        tuple(waiting(value) for value in ("7", "0", "Fri, 31 Dec 2027 23:59:59 GMT", "Sat, 31 Dec 2016 23:59:60 GMT")),
        tuple(
            waiting(value)
            for value in ("59.7", "60s", "-1", "soon", "2027-12-31T23:59:59Z", "Sun, 31 Feb 2027 23:59:59 GMT")
        ),
    ),
    "error.auth.status": Example(
        (known(wire(error("Incorrect API key provided."), status=401), key_valid=False),),
        (
            known(wire(error("No."), status=500), key_valid=False),
            known(OK, key_valid=False),
            known(wire(error("No."), status=403), key_valid=False),
        ),
    ),
    "error.unknown-model.status": Example(
        (
            known(wire(NO_MODEL, status=404), known_models=frozenset({"other"})),
            retrieved("/v1/models/nope", wire(NO_MODEL, status=404)),
        ),
        (
            retrieved("/v1/models/nope", wire(MODEL)),
            retrieved("/v1/models/maker%2Fnope?x=1", wire(MODEL)),
            known(wire(NO_MODEL, status=500), known_models=frozenset({"other"})),
            known(OK, known_models=frozenset({"other"})),
        ),
    ),
    "error.not-cancelled": Example(
        (
            told(error("The upstream timed out."), 504),
            told(error("Your subscription was cancelled by its owner."), 403),
            capture(ask(stream=True), wire(stream(opening(), chunk("Hel"), error("It fell silent."), done=False))),
        ),
        (
            told(error("context canceled"), 500),
            told(error("The request was cancelled."), 502),
            told(error("Closed."), 499),
            told(error("Closed.", code="client_closed_request"), 500),
            capture(ask(stream=True), wire(stream(opening(), chunk("Hel"), error("context canceled"), done=False))),
            capture(ask(stream=True), wire(stream(opening(), error("Closed.", type="cancelled"), done=False))),
        ),
    ),
}
