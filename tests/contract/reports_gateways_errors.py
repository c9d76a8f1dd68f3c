"""Reports of gateways: errors (g) and what is particular to HTTP (l).

Facts from public issue threads, named by their number in the reports' list; a trailing letter marks a sibling of ours.
"""

from __future__ import annotations

import gzip
import json

from tests.contract.captures import Ask, Try, ask, chat, error, opening, stream, wire, words
from tests.contract.situation import Report, Right, report

_STREAM = ask(stream=True)
_502 = wire(error("The upstream failed.", type="api_error", code="upstream_error"), status=502)
_EXHAUSTED = {
    "error": {
        "message": "Upstream error from Nvidia: ResourceExhausted: Worker local total request limit reached (1)",
        "code": 502,
    }
}
_CONTEXT = {"message": "context length exceeded from messages"}
_TOO_LONG = {"message": "request too long: 121692 input tokens, limit 46112"}
_PAGE = (
    b"<!DOCTYPE html>\n<html><head><title>Attention Required! | Cloudflare</title></head><body><h1>Sorry, you have been"
    b" blocked</h1><p>Cloudflare Ray ID: <strong>8d3f0c1e2a</strong> &bull; Your IP: 203.0.113.7</p></body></html>\n"
)
_BLOCKED = wire(_PAGE, status=403, media="text/html; charset=UTF-8", headers=("Server: cloudflare",))
_RANGE = {"type": "error", "error": {"type": "invalid_request_error", "message": "temperature: range: 0..1"}}
_ZIPPED = gzip.compress(json.dumps(_RANGE).encode(), mtime=0)
_MESSAGES = Ask("/v1/messages", {"model": "claude", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]})
_LIMITED = wire(
    {
        "error": {
            "message": "Provider returned error",
            "code": 429,
            "metadata": {"raw": "it is temporarily rate-limited"},
        }
    },
    status=429,
)
_FILE = Ask("/genai_passthrough/v1beta/files/f1:download?alt=media", None, "GET")
_REDIRECT = wire(
    b"",
    status=302,
    media="",
    headers=("Location: https://internal-gw.example.com/v1/videos", "x-goog-api-key: sk-up-google-canary"),
)

ERRORS: tuple[Report, ...] = (
    report(
        "G-74",
        "error.in-success",
        up=wire(_EXHAUSTED),
        wrong=wire(_EXHAUSTED),
        right=(
            wire(error("Upstream error: ResourceExhausted: request limit reached (1)", type="api_error"), status=502),
            wire(error("Upstream error: ResourceExhausted: request limit reached (1)", type="api_error"), status=503),
        ),
    ),
    report(
        "G-74-429",
        "relay.status.kept",
        up=_LIMITED,
        wrong=_502,
        right=(
            wire(error("Provider returned error", type="rate_limit_error", code="rate_limit_exceeded"), status=429),
            wire(error("Provider returned error", type="api_error"), status=503),
        ),
    ),
    report(
        "G-75",
        "relay.status.kept",
        "error.envelope.object",
        request=_STREAM,
        up=wire(_CONTEXT, status=400),
        wrong=wire({"message": "Bad Request", "code": "upstream_error"}, status=502),
        right=wire(error("context length exceeded from messages", code="context_length_exceeded"), status=400),
    ),
    report(
        "G-75-status-alone",
        "relay.status.kept",
        request=_STREAM,
        up=wire(_CONTEXT, status=400),
        wrong=wire(error("Bad Request", type="api_error", code="upstream_error"), status=502),
        right=wire(error("context length exceeded from messages"), status=400),
    ),
    report(
        "G-75-in-band",
        "error.context-length.status",
        "relay.error.told",
        request=_STREAM,
        up=wire(stream({"error": {"code": 400, "message": "context length exceeded from messages"}}, done=False)),
        wrong=wire(error("context length exceeded from messages", type="api_error"), status=502),
        right=(
            wire(error("context length exceeded from messages", code="context_length_exceeded"), status=400),
            wire(stream(error("context length exceeded from messages", code="context_length_exceeded"), done=False)),
        ),
    ),
    report(
        "G-75-retried",
        "pool.rejection.once",
        request=_STREAM,
        up=tuple(Try(wire(_CONTEXT, status=400), "m0", 2.0 + 4000.0 * n) for n in range(3)),
        wrong=wire(error("empty_completion", type="api_error", code="empty_completion"), status=400),
        right=Right(
            wire(error("context length exceeded from messages", code="context_length_exceeded"), status=400),
            wire(_CONTEXT, status=400),
        ),
    ),
    report(
        "G-76",
        "error.message.no-address",
        up=Try(wire(_TOO_LONG, status=400), host="internal.provider.test"),
        wrong=wire(
            error(
                'provider "p" (https://internal.provider.test/v1): openai complete: POST '
                '"https://internal.provider.test/v1/chat/completions": 400 Bad Request {"message":"request too long"}',
                type="server_error",
            ),
            status=500,
        ),
        right=wire(
            error("request too long: 121692 input tokens, limit 46112", code="context_length_exceeded"), status=400
        ),
    ),
    report(
        "G-76-status",
        "relay.status.kept",
        up=wire(_TOO_LONG, status=400),
        wrong=wire(error("request too long: 121692 input tokens, limit 46112", type="server_error"), status=500),
        right=wire(error("request too long: 121692 input tokens, limit 46112"), status=400),
    ),
    report(
        "G-76-key-500",
        "relay.status.own-key",
        told="any 5xx is true",
        up=wire(error("Incorrect API key provided.", code="invalid_api_key"), status=401),
        wrong=wire(error("The provider refused.", type="server_error"), status=500),
        right=(
            wire(error("The provider refused the credentials.", type="authentication_error"), status=401),
            _502,
        ),
    ),
    report(
        "G-78",
        "error.members.no-placeholder",
        up=(),
        wrong=wire(
            {
                "error": {
                    "message": "No deployments available for selected model, Try again in 60 seconds.",
                    "type": "None",
                    "param": "None",
                    "code": "429",
                }
            },
            status=429,
        ),
        right=wire(
            error("No member is available, try again in 60 seconds.", type="rate_limit_error", code="429"),
            status=429,
            headers=("Retry-After: 60",),
        ),
    ),
    report(
        "G-80",
        "secret.never-shown",
        request=_FILE,
        up=Try(_REDIRECT, request=Ask(_FILE.endpoint, None, "GET", (("x-goog-api-key", "sk-up-google-canary"),))),
        wrong=_REDIRECT,
        right=wire(b"bytes", media="application/octet-stream"),
    ),
    report(
        "G-81-host",
        "error.message.no-address",
        up=wire(status=0, end="stall"),
        wrong=wire(
            error('Post "https://internal-gw.example.com/v1/videos": context deadline exceeded', type="server_error"),
            status=504,
        ),
        right=wire(error("The upstream did not answer in time.", type="server_error"), status=504),
    ),
    report(
        "G-81-dial",
        "error.message.no-address",
        up=wire(status=0, end="reset"),
        wrong=wire(error("dial tcp 10.0.0.5:18182: connect: connection refused", type="server_error"), status=502),
        right=wire(error("connection refused by the upstream", type="server_error"), status=502),
    ),
    report(
        "G-81-redirect",
        "http.status.final",
        up=_REDIRECT,
        wrong=wire(
            b"", status=302, media="", headers=("Location: https://internal-gw.example.com/v1/chat/completions",)
        ),
        right=_502,
    ),
    report(
        "G-83",
        "error.message.no-html",
        up=_BLOCKED,
        wrong=wire(error(f"APIError: OpenAIException - {_PAGE.decode()}", type="api_error"), status=403),
        right=(
            wire(error("The upstream answered 403 with a page.", type="api_error"), status=502),
            wire(error("The upstream answered 403 with a page.", type="api_error"), status=403),
        ),
    ),
    report(
        "G-83-verbatim",
        "error.body.json",
        "error.content-type",
        up=_BLOCKED,
        wrong=_BLOCKED,
        right=_502,
    ),
    report(
        "G-85",
        "relay.status.own-key",
        told="any 5xx is true",
        up=wire({"error": "Unauthorized"}, status=401),
        wrong=wire(error("Internal server error", type="server_error"), status=500),
        right=wire(error("Unauthorized", type="authentication_error", code="invalid_api_key"), status=401),
    ),
    report(
        "G-85-string",
        "error.envelope.object",
        up=wire({"error": "Unauthorized"}, status=401),
        wrong=wire({"error": "Unauthorized"}, status=401),
        right=wire(error("Unauthorized", type="authentication_error"), status=401),
    ),
    report(
        "G-88",
        "chunk.finish-reason.enum",
        request=_STREAM,
        up=wire(stream(opening(), error("boom", type="server_error"), done=False)),
        wrong=wire(stream(opening(), {**opening(), "choices": [{"index": 0, "delta": {}, "finish_reason": "error"}]})),
        right=wire(stream(opening(), error("boom", type="server_error"), done=False)),
    ),
    report(
        "G-115",
        "error.message.readable",
        up=Try(wire(_ZIPPED, status=400, headers=("Content-Encoding: gzip",)), request=_MESSAGES),
        wrong=wire(error(_ZIPPED.decode("utf-8", "replace"), type="api_error"), status=400),
        right=wire(error("temperature: range: 0..1"), status=400),
    ),
    report(
        "G-115-success",
        "http.content-encoding.honest",
        "json.body.valid",
        up=wire(gzip.compress(json.dumps(chat()).encode(), mtime=0), headers=("Content-Encoding: gzip",)),
        wrong=wire(gzip.compress(json.dumps(chat()).encode(), mtime=0)),
        right=wire(chat()),
    ),
    report(
        "G-116",
        "http.header.single",
        up=wire(chat(), headers=("Access-Control-Allow-Origin: ",)),
        wrong=wire(chat(), headers=("Access-Control-Allow-Origin: *", "Access-Control-Allow-Origin: ")),
        right=(wire(chat(), headers=("Access-Control-Allow-Origin: *",)), wire(chat())),
    ),
    report(
        "G-36",
        "error.envelope.object",
        up=(),
        request=ask(
            messages=[
                {"role": "user", "content": "Search cf-q8w3zd."},
                {
                    "role": "assistant",
                    "tool_calls": [
                        {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
                    ],
                },
                {"role": "tool", "tool_call_id": "call_1", "content": "result"},
            ]
        ),
        wrong=wire(
            {"detail": [{"type": "missing", "loc": ["body", "messages", 2, "content"], "msg": "Field required"}]},
            status=422,
        ),
        right=(wire(error("messages[1].content is required", param="messages"), status=400), wire(chat())),
    ),
    # -- siblings ------------------------------------------------------------------------------------------------------
    report(
        "G-77-plain-text",
        "error.body.json",
        up=wire(b"upstream connect error or disconnect/reset before headers", status=503, media="text/plain"),
        wrong=wire(b"upstream connect error or disconnect/reset before headers", status=503, media="text/plain"),
        right=wire(error("The upstream is not available.", type="server_error"), status=503),
    ),
    report(
        "G-77-empty",
        "error.body.json",
        up=wire(b"", status=500, media=""),
        wrong=wire(b"", status=500, media=""),
        right=_502,
    ),
    report(
        "G-79-429-as-500",
        "relay.status.kept",
        up=wire(error("Rate limit reached", type="requests", code="rate_limit_exceeded"), status=429),
        wrong=wire(error("Rate limit reached", type="server_error"), status=500),
        right=wire(error("Rate limit reached", type="requests", code="rate_limit_exceeded"), status=429),
    ),
    report(
        "G-79-500-as-400",
        "relay.status.kept",
        up=wire(error("Internal error", type="server_error"), status=500),
        wrong=wire(error("Internal error"), status=400),
        right=(
            wire(error("Internal error", type="server_error"), status=500),
            wire(error("Internal error", type="server_error"), status=502),
        ),
    ),
    report(
        "G-79-trace",
        "error.message.no-trace",
        wrong=wire(
            error('Traceback (most recent call last):\n  File "/app/proxy.py", line 41', type="server_error"),
            status=500,
        ),
        right=wire(error("The gateway failed.", type="server_error"), status=500),
    ),
    report(
        "G-82-key-in-message",
        "error.message.no-key",
        "secret.never-shown",
        up=Try(
            wire(error("Incorrect API key provided: sk-up-0canary.", code="invalid_api_key"), status=401),
            key="sk-up-0canary",
        ),
        wrong=wire(error("Incorrect API key provided: sk-up-0canary.", type="authentication_error"), status=401),
        right=wire(error("The upstream refused the credentials.", type="authentication_error"), status=401),
    ),
    report(
        "G-82-masked-key",
        "error.message.no-key",
        up=wire(error("Incorrect API key provided: sk-up-*****************abcd.", code="invalid_api_key"), status=401),
        wrong=wire(
            error("Incorrect API key provided: sk-up-*****************abcd.", type="authentication_error"), status=401
        ),
        right=wire(error("Incorrect API key provided.", type="authentication_error"), status=401),
    ),
    report(
        "G-84-json-in-message",
        "error.message.no-raw-body",
        up=wire(error("Invalid value for temperature.", param="temperature"), status=400),
        wrong=wire(error('Error code: 400 - {"error": {"message": "Invalid value for temperature."}}'), status=400),
        right=wire(error("Invalid value for temperature.", param="temperature"), status=400),
    ),
    report(
        "G-84-python-repr",
        "error.message.no-raw-body",
        up=wire(error("Invalid value for temperature.", param="temperature"), status=400),
        wrong=wire(error("Error code: 400 - {'error': {'message': 'Invalid value for temperature.'}}"), status=400),
        right=wire(error("OpenAI: Invalid value for temperature."), status=400),
    ),
    report(
        "G-89-cancelled",
        "error.not-cancelled",
        up=wire(status=0, end="stall"),
        wrong=wire(error("context canceled", type="server_error"), status=499),
        right=wire(error("The upstream did not answer in time.", type="server_error"), status=504),
    ),
    report(
        "G-114-error-array",
        "error.envelope.object",
        wrong=wire([error("quota")], status=429),
        right=wire(error("quota", type="insufficient_quota", code="insufficient_quota"), status=429),
    ),
    report(
        "G-117-two-lengths",
        "http.framing.consistent",
        wrong=wire(chat(), headers=("Transfer-Encoding: chunked",)),
        right=wire(chat()),
    ),
    report(
        "G-117-html-type",
        "http.content-type.json",
        wrong=wire(chat(), media="text/html"),
        right=(wire(chat(), media="application/json; charset=utf-8"), wire(chat())),
    ),
    report(
        "G-119-stream-for-none",
        "reply.mode.json",
        wrong=wire(stream(*words("Hi"))),
        right=wire(chat("Hi")),
    ),
)
