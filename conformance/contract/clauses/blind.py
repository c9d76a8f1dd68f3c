"""Blindness and isolation: what a client must not learn, about the provider, the keys, or another client."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.evidence import at_content, at_event, at_path, show
from conformance.contract.when import ok, replied, the_reply, upstream_known
from conformance.exchange.model import Endpoint, Exchange, StreamEvent
from conformance.wire.facts import Span

#: Not inside a UUID, whose groups may end in "cf".
_NONCE = re.compile(rb"(?<![0-9A-Fa-f-])cf-[a-z0-9]{6,}")

#: Members that single providers add; each names or betrays its provider.
_VENDOR = (
    "provider",
    "provider_name",
    "native_finish_reason",
    "x_groq",
    "provider_specific_fields",
    "amazon-bedrock-invocationMetrics",
    "prompt_filter_results",
    "content_filter_results",
    "x_metadata",
)

#: Response fields of single providers.
_VENDOR_FIELDS = (
    "openai-organization",
    "openai-processing-ms",
    "openai-version",
    "x-groq-region",
    "x-ms-region",
    "apim-request-id",
    "x-goog-api-key",
    "anthropic-organization-id",
    "x-request-cost",
    "x-provider",
    "x-amzn-requestid",
    "x-or-provider",
)

#: Fields of proxies and networks: a gateway has its own, and only a member's value tells of the member.
_EDGE_FIELDS = (
    "set-cookie",
    "cf-ray",
    "via",
    "x-served-by",
    "x-amz-cf-id",
    "x-azure-ref",
    "x-envoy-upstream-service-time",
)


def _objects(x: Exchange) -> Iterator[tuple[StreamEvent | None, dict[str, Any]]]:
    reply = the_reply(x)
    if reply.doc is not None and reply.doc.ok and isinstance(reply.doc.value, dict) and not reply.events:
        yield None, reply.doc.value
    for event in reply.events:
        if event.doc is not None and event.doc.ok and isinstance(event.doc.value, dict):
            yield event, event.doc.value


def _generates(x: Exchange) -> bool:
    return (
        ok(x)
        and x.request.model is not None
        and x.request.endpoint in (Endpoint.CHAT, Endpoint.COMPLETIONS, Endpoint.EMBEDDINGS, Endpoint.RESPONSES)
    )


@clause(
    id="blind.model.alias",
    level=Level.MUST,
    basis=Basis.POLICY,
    title="The model of the reply is the alias that the client asked for",
    rationale="The API itself answers with a dated name; a target that promises blindness shows its alias and nothing else.",
    source="target/declaration",
    applies=_generates,
    capabilities=("provider-blind",),
)
def model_alias(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    for event, value in _objects(x):
        inner = value.get("response")
        for holder in (value, inner if isinstance(inner, dict) else {}):
            model = holder.get("model")
            if isinstance(model, str) and model != x.request.model:
                yield (
                    at_path(reply, ("model",), show(x.request.model), show(model))
                    if event is None
                    else at_event(reply, event, show(x.request.model), show(model))
                )


def _identities(x: Exchange) -> list[bytes]:
    found = set(x.terms.identities)
    alias = (x.request.model or "").encode("utf-8", "surrogatepass")
    for attempt in x.attempts or ():
        if attempt.request.model:
            found.add(attempt.request.model.encode("utf-8", "surrogatepass"))
        if attempt.request.host:
            found.add(attempt.request.host.encode("utf-8", "surrogatepass"))
        told = attempt.reply.doc.get("model") if attempt.reply is not None and attempt.reply.doc is not None else None
        if isinstance(told, str):
            found.add(told.encode("utf-8", "surrogatepass"))
    return sorted(name for name in found if len(name) >= 6 and name not in alias and name not in x.request.body)


_PROVIDER = re.compile(
    rb"\b(openrouter|groq|anthropic|gemini|vertex_?ai|bedrock|azure|mistral|deepseek|together_?ai|fireworks|cohere|cerebras|sambanova"
    rb"|nvidia|perplexity|moonshot|zhipu|ollama|vllm|openai)((?:exception|error)?)\b",
    re.I,
)


def _providers(x: Exchange) -> list[bytes]:
    """Names of providers in an error: those that stand in the upstream's words too, or in an exception's name."""
    reply = the_reply(x)
    if reply.ok and not reply.answer.errors:
        return []
    upstream = [attempt.request.host.encode("utf-8", "surrogatepass") for attempt in x.attempts or ()]
    upstream += [attempt.reply.content for attempt in x.attempts or () if attempt.reply is not None]
    said, asked = b"\n".join(upstream).lower(), x.request.body.lower()
    return [
        match.group(0)
        for match in _PROVIDER.finditer(reply.content)
        if match.group(1).lower() not in asked and (match.group(2) or match.group(1).lower() in said)
    ]


#: Members whose text the model wrote: a model may speak of itself, and what it says has to arrive unchanged.
_GENERATED = (
    "content",
    "text",
    "delta",
    "reasoning",
    "reasoning_content",
    "refusal",
    "arguments",
    "transcript",
    "embedding",
)


def _without_generated(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: _without_generated(item)
            for name, item in value.items()
            if not (name in _GENERATED and isinstance(item, str))
        }
    return [_without_generated(item) for item in value] if isinstance(value, list) else value


def _told_by_gateway(x: Exchange) -> bytes:
    """The content without the model's own words; the whole content where it is not made of JSON objects."""
    reply = the_reply(x)
    objects = [value for _, value in _objects(x)]
    read = (reply.doc is not None and reply.doc.ok) or all(
        event.done or event.doc is not None for event in reply.events
    )
    if not objects or not read:
        return reply.content
    comments = b"\n".join(comment.text for comment in reply.stream.comments) if reply.stream is not None else b""
    names = b"\n".join(event.event.type.encode() for event in reply.events)
    told = json.dumps([_without_generated(value) for value in objects], ensure_ascii=False)
    return b"\n".join((comments, names, told.encode("utf-8", "surrogatepass")))


def _search(raw: bytes, names: list[bytes]) -> Iterator[tuple[int, bytes]]:
    for name in names:
        at = raw.find(name)
        if at >= 0:
            yield at, name


@clause(
    id="blind.identity.body",
    level=Level.MUST,
    basis=Basis.POLICY,
    title="No member's model name, host or provider name stands in the body",
    rationale="Clients that learn the member depend on it: the pool can no longer change behind the alias.",
    source="target/declaration",
    applies=lambda x: replied(x) and (upstream_known(x) or bool(x.terms.identities)),
    capabilities=("provider-blind",),
)
def identity_body(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    told = _told_by_gateway(x)
    for at, name in _search(reply.content, [name for name in (*_identities(x), *_providers(x)) if name in told]):
        around = Span(max(0, at - 40), min(len(reply.content), at + len(name) + 40))
        yield at_content(reply, around, "nothing that names the member", show(name.decode("utf-8", "replace")))


@clause(
    id="blind.identity.headers",
    level=Level.MUST,
    basis=Basis.POLICY,
    title="No response field names the provider",
    rationale="Organisation, region and request id fields of a provider tell who served as plainly as its name.",
    source="target/declaration",
    applies=replied,
    capabilities=("provider-blind",),
)
def identity_headers(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    names = _identities(x)
    relayed = {
        (line.name.lower(), line.value)
        for attempt in x.attempts or ()
        if attempt.reply is not None
        for line in attempt.reply.message.head.headers
        if not REDACTED.fullmatch(line.value)  # two cookies that a recorder took out are not one
    }
    for line in reply.message.head.headers:
        name = line.name.decode("latin-1").lower()
        vendor = name in _VENDOR_FIELDS or (name in _EDGE_FIELDS and (line.name.lower(), line.value) in relayed)
        if vendor or any(name in line.value for name in names):
            yield Finding(
                expected="no field of a provider",
                actual=show((line.name + b": " + line.value).decode("latin-1")),
                span=line.span,
                at=reply.arrivals.of(line.span),
                excerpt=line.name + b": " + line.value,
            )


@clause(
    id="blind.members.vendor",
    level=Level.MUST,
    basis=Basis.POLICY,
    title="No member of the reply is a single provider's own",
    rationale="A provider's extra members are its finger-print, and clients start to depend on them.",
    source="target/declaration",
    applies=replied,
    capabilities=("provider-blind",),
)
def members_vendor(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    for event, value in _objects(x):
        choices = value.get("choices")
        error = value.get("error")
        holders = [value, *(choices if isinstance(choices, list) else []), error if isinstance(error, dict) else {}]
        for holder in holders:
            for name in _VENDOR:
                if isinstance(holder, dict) and name in holder:
                    actual = f"{name}: {show(holder[name])}"
                    yield (
                        at_path(reply, (name,), f"no `{name}`", actual)
                        if event is None
                        else at_event(reply, event, f"no `{name}`", actual)
                    )


def bearer(value: str | None) -> bytes:
    """The key of an Authorization field, or of one that holds a key alone."""
    parts = (value or "").split(None, 1)
    token = parts[1] if len(parts) == 2 and parts[0].lower() == "bearer" else (value or "")
    return token.strip().encode()


#: What recorders write in place of a key.
REDACTED = re.compile(rb"\W*(redact(?:ed?)?|filtered|removed|masked|hidden|dummy|secret|x+)?\W*", re.I)


#: Fields that carry a key, up or, echoed, down.
_KEY_FIELDS = ("authorization", "api-key", "x-api-key", "x-goog-api-key")


def secrets_of(x: Exchange) -> list[bytes]:
    """The byte strings that must not reach this client: what the terms say, the keys the gateway sent up, and those
    that a member's head echoes.
    """
    mine = bearer(x.request.head.get("authorization"))
    found = set(x.terms.secrets)
    for attempt in x.attempts or ():
        heads = (attempt.request.head, attempt.reply.message.head if attempt.reply is not None else None)
        for name in _KEY_FIELDS:
            found |= {bearer(head.get(name)) for head in heads if head is not None} - {b""}
    return sorted(token for token in found if len(token) >= 6 and token != mine and not REDACTED.fullmatch(token))


@clause(
    id="secret.never-shown",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="No upstream key reaches the client",
    rationale="A key that one client can read is everybody's: in a header that was copied, an echo, or an error.",
    source="openai-api/production-safety",
    applies=lambda x: replied(x) and bool(secrets_of(x)),
)
def never_shown(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    raw = x.transcript.raw
    for at, token in _search(raw, secrets_of(x)):
        span = Span(at, at + len(token))
        yield Finding(
            expected="no upstream key",
            actual=f"{len(token)} bytes of one, starting {show(token[:6].decode('latin-1'))}",
            span=span,
            at=reply.arrivals.of(span),
            excerpt=raw[max(0, at - 40) : at],
        )


@clause(
    id="isolation.nonce",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A reply holds nothing of another request",
    rationale="A shared buffer, cache or connection that mixes two clients' bytes gives one client's data to another.",
    source="report/isolation",
    applies=lambda x: replied(x) and bool(x.nonce),
)
def isolation(x: Exchange) -> Iterator[Finding]:
    reply = the_reply(x)
    mine = [x.nonce.encode(), x.request.body]
    mine += [attempt.reply.content for attempt in x.attempts or () if attempt.reply is not None]
    for match in _NONCE.finditer(reply.content):
        # A style sheet's class can look like a nonce: ours have a digit, and what this request's own member said is its own.
        foreign = re.search(rb"\d", match.group(0)[3:]) and not any(match.group(0) in known for known in mine)
        if foreign:
            yield at_content(reply, Span(match.start(), match.end()), x.nonce, match.group(0).decode())
            return
