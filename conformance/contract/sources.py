"""The norms that clauses quote, by key: where each stands, when it was read. Clauses name the key, never the text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Source:
    """A norm or a public report: its name, its address, and the date on which it was read."""

    title: str
    url: str
    read: str


_API = "https://platform.openai.com/docs/api-reference/"
_SPEC = "https://github.com/openai/openai-openapi"
_RFC9110 = "https://www.rfc-editor.org/rfc/rfc9110.html#section-"
_RFC9112 = "https://www.rfc-editor.org/rfc/rfc9112.html#section-"
_RFC8259 = "https://www.rfc-editor.org/rfc/rfc8259.html#section-"
_HTML = "https://html.spec.whatwg.org/multipage/server-sent-events.html"
_DAY = "2026-11-29"


def _api(title: str, page: str) -> Source:
    return Source(f"OpenAI API reference: {title}", _API + page, _DAY)


SOURCES: dict[str, Source] = {
    "openai-api/chat-object": _api("the chat completion object", "chat/object"),
    "openai-api/chat-create": _api("create chat completion", "chat/create"),
    "openai-api/chat-streaming": _api("the chat completion chunk object", "chat/streaming"),
    "openai-api/completions": _api("the completion object", "completions/object"),
    "openai-api/embeddings": _api("the embedding object", "embeddings/object"),
    "openai-api/embeddings-create": _api("create embeddings", "embeddings/create"),
    "openai-api/models": _api("models", "models/list"),
    "openai-api/responses": _api("the response object", "responses/object"),
    "openai-api/responses-cancel": _api("cancel a response", "responses/cancel"),
    "openai-api/responses-streaming": _api("streaming events", "responses-streaming"),
    "openai-api/authentication": _api("authentication", "authentication"),
    "openai-api/errors": Source("OpenAI API: error codes", "https://platform.openai.com/docs/guides/error-codes", _DAY),
    "openai-api/function-calling": Source(
        "OpenAI API: function calling", "https://platform.openai.com/docs/guides/function-calling", _DAY
    ),
    "openai-api/production-safety": Source(
        "OpenAI API: best practices for API key safety",
        "https://help.openai.com/en/articles/5112595-best-practices-for-api-key-safety",
        _DAY,
    ),
    "openai-spec/error": Source("OpenAI OpenAPI document: schema Error", _SPEC, _DAY),
    "openai-spec/chat": Source("OpenAI OpenAPI document: CreateChatCompletionResponse", _SPEC, _DAY),
    "openai-spec/chunk": Source("OpenAI OpenAPI document: CreateChatCompletionStreamResponse", _SPEC, _DAY),
    "openai-spec/response-usage": Source("OpenAI OpenAPI document: ResponseUsage", _SPEC, _DAY),
    "openai-spec/output-text": Source("OpenAI OpenAPI document: OutputTextContent", _SPEC, _DAY),
    "openai-sdk/streaming": Source(
        "openai-python: the stream decoder",
        "https://github.com/openai/openai-python/blob/main/src/openai/_streaming.py",
        _DAY,
    ),
    "openai-sdk/accumulation": Source(
        "openai-python: joining deltas",
        "https://github.com/openai/openai-python/blob/main/src/openai/lib/streaming/_deltas.py",
        _DAY,
    ),
    "openai-sdk/embeddings": Source(
        "openai-python: reading base64 embeddings",
        "https://github.com/openai/openai-python/blob/main/src/openai/resources/embeddings.py",
        _DAY,
    ),
    "openai-sdk/errors": Source(
        "openai-python: handling errors", "https://github.com/openai/openai-python#handling-errors", _DAY
    ),
    "openai-sdk/retries": Source(
        "openai-python: whether, and after how long, a call is sent again",
        "https://github.com/openai/openai-python/blob/main/src/openai/_base_client.py",
        _DAY,
    ),
    "rfc9110/status": Source("RFC 9110, section 15: status codes", _RFC9110 + "15", _DAY),
    "rfc9110/retries": Source("RFC 9110, section 9.2.2: idempotent methods", _RFC9110 + "9.2.2", _DAY),
    "rfc9110/content-type": Source("RFC 9110, section 8.3: Content-Type", _RFC9110 + "8.3", _DAY),
    "rfc9110/content-encoding": Source("RFC 9110, section 8.4: Content-Encoding", _RFC9110 + "8.4", _DAY),
    "rfc9110/field-order": Source("RFC 9110, section 5.3: field order", _RFC9110 + "5.3", _DAY),
    "rfc9110/connection": Source("RFC 9110, section 7.6.1: Connection", _RFC9110 + "7.6.1", _DAY),
    "rfc9110/redirect": Source("RFC 9110, section 15.4: redirection", _RFC9110 + "15.4", _DAY),
    "rfc9110/retry-after": Source("RFC 9110, section 10.2.3: Retry-After", _RFC9110 + "10.2.3", _DAY),
    "rfc9112/message": Source("RFC 9112, section 2: message", _RFC9112 + "2", _DAY),
    "rfc9112/fields": Source("RFC 9112, section 5: field syntax", _RFC9112 + "5", _DAY),
    "rfc9112/body-length": Source("RFC 9112, section 6.3: message body length", _RFC9112 + "6.3", _DAY),
    "rfc9112/incomplete": Source("RFC 9112, section 8: handling incomplete messages", _RFC9112 + "8", _DAY),
    "fetch/preflight": Source(
        "Fetch Standard, 4.8: CORS-preflight fetch", "https://fetch.spec.whatwg.org/#cors-preflight-fetch-0", _DAY
    ),
    "rfc8259/grammar": Source("RFC 8259, section 2: JSON grammar", _RFC8259 + "2", _DAY),
    "rfc8259/objects": Source("RFC 8259, section 4: objects", _RFC8259 + "4", _DAY),
    "rfc8259/strings": Source("RFC 8259, section 8.2: Unicode characters", _RFC8259 + "8.2", _DAY),
    "rfc8259/encoding": Source("RFC 8259, section 8.1: character encoding", _RFC8259 + "8.1", _DAY),
    "whatwg/event-stream": Source(
        "HTML Standard, 9.2.5: parsing an event stream", _HTML + "#parsing-an-event-stream", _DAY
    ),
    "whatwg/interpretation": Source(
        "HTML Standard, 9.2.6: interpreting an event stream", _HTML + "#event-stream-interpretation", _DAY
    ),
    "incident/pool-failover": Source("incident A: a pool that does not fail over", "docs/incidents.md#a", _DAY),
    "incident/content-null": Source("incident B: content null reaches every SDK", "docs/incidents.md#b", _DAY),
    "incident/quarantine": Source("incident C: a dead model retried on every call", "docs/incidents.md#c", _DAY),
    "incident/scheduler": Source("incident D: a scheduler that starves a slot", "docs/incidents.md#d", _DAY),
    "incident/errors": Source("incident E: errors that leak or are laundered", "docs/incidents.md#e", _DAY),
    "incident/streams": Source("incident F: stream lifecycle", "docs/incidents.md#f", _DAY),
    "target/declaration": Source("the target's own declaration of what it promises", "docs/capabilities.md", _DAY),
    "report/isolation": Source(
        "public report: one client's answer given to another", "https://github.com/BerriAI/litellm/issues/25447", _DAY
    ),
    "report/isolation-key": Source(
        "public report: one caller's key used for the next", "https://github.com/BerriAI/litellm/issues/36794", _DAY
    ),
}
