"""Public reports of header fields, early errors and embeddings on their way through a gateway, named by their thread.

Facts from the threads, rebuilt as captures; keys and names are ours.
"""

from __future__ import annotations

from typing import Any

from tests.contract.captures import Try, ask, embeddings, stream, wire
from tests.contract.examples_header import DOWN, FAILED, LIMITED, OK, SHARD, STREAM, headed
from tests.contract.situation import Report, Right, report

UNREACHABLE = wire(status=0, end="reset")
NO_MUST = "RFC 9110 takes it off by a SHOULD."


def sent(client: dict[str, str], dispatched: dict[str, str]) -> dict[str, Any]:
    """A request whose head goes up, wrongly as `dispatched` says, rightly without any of it."""
    asked = ask().headed(*client.items())
    up = ask(model="up-model").headed(*dispatched.items())
    return {
        "request": asked,
        "wrong": OK,
        "up": Try(OK, request=up),
        "right": Right(OK, Try(OK, request=ask(model="up-model"))),
    }


HEADERS: tuple[Report, ...] = (
    *(
        report(name, "relay.header.connection", up=headed(*SHARD), wrong=headed(*lines), right=OK)
        for name, lines in (
            ("http-party/node-http-proxy#1488", SHARD),
            ("http-party/node-http-proxy#446", ("X-Shard: b7",)),
        )
    ),
    *(
        report(name, "relay.header.connection", **sent({"Connection": "close, x-hop", "x-hop": "1"}, {"x-hop": "1"}))
        for name in ("capsem#119", "lint-http#349")
    ),
    report(
        "carapaceproxy#583",
        "relay.header.hop-by-hop",
        up=headed("Keep-Alive: timeout=5, max=83"),
        wrong=headed("Keep-Alive: timeout=5, max=83"),
        right=OK,
        told=NO_MUST,
    ),
    report(
        "cloudflare/pingora#734",
        "relay.header.hop-by-hop",
        **sent({"TE": "trailers", "Connection": "te"}, {"TE": "trailers"}),
        told=NO_MUST,
    ),
    report(
        "spring-cloud/spring-cloud-gateway#1957",
        "relay.header.retry-after",
        up=(LIMITED, OK),
        wrong=headed("Retry-After: 30"),
        right=OK,
        told="On a success the norm gives the field no meaning.",
    ),
)
EARLY: tuple[Report, ...] = tuple(
    report(
        name,
        "stream.error.early",
        request=STREAM,
        up=up,
        wrong=wire(stream(FAILED, done=False)),
        right=wire(FAILED, status=502),
        told="No norm says when a stream has begun.",
    )
    for name, up in (
        ("headroomlabs-ai/headroom#3083", (UNREACHABLE, UNREACHABLE, UNREACHABLE)),
        ("preloop/preloop#121", (DOWN, DOWN)),
    )
)

A, B = "cf-q8w3zd a", "cf-q8w3zd b"
VA, VB = [0.1, 0.2], [0.3, 0.4]
BOTH = ask("embeddings", input=[A, B])
PART = Try(wire(embeddings(VB)), request=ask("embeddings", input=[B], model="up-model"))
TWICE = ask("embeddings", input=[A, A])
ONCE = Try(wire(embeddings(VA)), request=ask("embeddings", input=[A], model="up-model"))
TOKENS = Try(wire(embeddings(VA)), request=ask("embeddings", input=["cf-q8w3zd abc"], model="up-model"))

EMBEDDED: tuple[Report, ...] = (
    *(
        report(name, request=BOTH, up=PART, right=wire(embeddings(VA, VB)), caps="cache")
        for name in ("BerriAI/litellm#41799 (part)", "BerriAI/litellm#29284 (part)")
    ),
    report("equal inputs once", request=TWICE, up=ONCE, right=wire(embeddings(VA, VA))),
    report("tokens as texts", request=ask("embeddings", input=[[101, 2023]]), up=TOKENS, right=wire(embeddings(VA))),
    # Without a memory that is declared, what no member was asked for came from nowhere.
    report(
        "an input is lost",
        "relay.request.fields",
        request=BOTH,
        up=PART,
        wrong=wire(embeddings(VA, VB)),
        right=Right(wire(embeddings(VA, VB)), Try(wire(embeddings(VA, VB)))),
    ),
    report(
        "an input of another",
        "relay.request.fields",
        request=BOTH,
        up=Try(wire(embeddings(VA, VB)), request=ask("embeddings", input=[A, "c"], model="up-model")),
        wrong=wire(embeddings(VA, VB)),
        caps="cache",
    ),
)
RELAYED = HEADERS + EARLY + EMBEDDED
