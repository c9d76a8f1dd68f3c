"""Reported error bodies (category a): what was sent, and the envelope that a conforming side sends instead.

Wire data from public reports, named by their ids in the collection; `S-` ids are siblings of the same kinds.
"""

from __future__ import annotations

from typing import Any

from conformance.cassette.model import Envelope
from tests.contract.captures import Ask, Try, ask, chat, error, stream, wire, words
from tests.contract.report import Report

CHAT = ask(stream=False)
STREAM = ask(stream=True)
UNKNOWN = "The model `alias-9` does not exist or you do not have access to it."

ENVELOPE = ("error.envelope.object",)
TYPE = ("error.type.string",)
PARAM = ("error.param.valid",)
CODE = ("error.code.valid",)


def told(status: int, message: str, **more: Any) -> Envelope:
    """An error in the API's envelope."""
    return wire(error(message, **more), status=status)


def page(status: int, text: str, media: str = "text/html") -> Envelope:
    """A page of a proxy."""
    return wire(text.encode(), status=status, media=media)


MISSING = told(404, UNKNOWN, param="model", code="model_not_found")
MISSING_400 = told(400, UNKNOWN, code="model_not_found")
QUOTA = told(429, "You exceeded your current quota.", type="insufficient_quota", code="insufficient_quota")
PAYMENT = told(402, "Insufficient balance.", type="insufficient_quota", code="insufficient_quota")
LIMITED = wire(
    error("Rate limit reached.", type="rate_limit_error", code="rate_limit_exceeded"),
    status=429,
    headers=("Retry-After: 2",),
)
DOWN = told(503, "The provider is not available.", type="server_error", code="provider_unavailable")
BROKEN = told(502, "The upstream answered with an error.", type="server_error", code="upstream_error")
LATE = told(504, "The upstream did not answer in time.", type="server_error", code="upstream_timeout")
TOO_LONG = told(
    400,
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 14429 tokens.",
    param="messages",
    code="context_length_exceeded",
)
REFUSED = told(403, "Access denied.", type="permission_error", code="access_denied")
FILTERED = told(
    400, "The response was filtered due to the prompt triggering the content policy.", code="content_filter"
)


def bad(message: str, **more: Any) -> Envelope:
    """A request that is refused."""
    return told(400, message, **more)


def shown(status: int, value: Any, *clauses: str, right: tuple[Envelope, ...], id: str, **more: Any) -> Report:
    """A report of one error body."""
    return Report(
        id=id, ask=more.pop("ask", CHAT), wrong=wire(value, status=status), clauses=clauses, right=right, **more
    )


_NIM_404 = {"status": 404, "title": "Not Found", "detail": "Function '7f3a': Not found for account 'Qx2'"}
_AWAY = "a norm decides neither the status nor the code of this condition"
_FILTER_TEXT = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."
_NESTED = '{\n  "error": {\n    "code": 429,\n    "message": "You exceeded your current quota, please check your plan and billing details.",\n    "status": "RESOURCE_EXHAUSTED"\n  }\n}\n'
_BAD_ARGUMENT = {
    "error": {
        "code": 400,
        "message": 'Invalid JSON payload received. Unknown name "google": Cannot find field.',
        "status": "INVALID_ARGUMENT",
        "details": [{"@type": "type.googleapis.com/google.rpc.BadRequest"}],
    }
}
_REPR = "litellm.RateLimitError: AzureException RateLimitError - Error code: 429 - {'error': {'code': '429', 'message': 'Please retry after 86400 seconds.'}}\nReceived Model Group=azure-gpt-4o-mini\nAvailable Model Group Fallbacks=None"
_VALIDATION = "240 validation errors:\n  {'type': 'string_type', 'loc': ('body', 'input', 'str'), 'msg': 'Input should be a valid string', 'input': [{'role': 'system', 'content': '...'}]}"

NOT_FOUND = (
    Report(
        id="P-001",
        ask=CHAT,
        right=(
            told(
                404,
                "The model `o3-mini-2025-01-31` does not exist or you do not have access to it.",
                code="model_not_found",
            ),
        ),
    ),
    shown(
        404,
        [{"error": {"code": 404, "message": "Requested entity was not found.", "status": "NOT_FOUND"}}],
        *ENVELOPE,
        id="P-003",
        right=(MISSING, BROKEN, DOWN),
    ),
    shown(
        400,
        {
            "object": "error",
            "message": "Invalid model: mistral-medium-3.5",
            "type": "invalid_model",
            "param": None,
            "code": "1500",
            "raw_status_code": 400,
        },
        *ENVELOPE,
        id="P-005",
        right=(MISSING, bad("Invalid model: mistral-medium-3.5", type="invalid_model", code="1500")),
    ),
    shown(
        400,
        error("Model Not Exist", code="invalid_request_error"),
        "error.model-not-found.code",
        id="P-006",
        right=(MISSING, MISSING_400),
        gates=False,
        why=_AWAY,
    ),
    shown(
        404,
        error('model "ollama" not found, try pulling it first', type="api_error"),
        "error.model-not-found.code",
        id="P-008",
        right=(MISSING,),
        gates=False,
        why=_AWAY,
    ),
    shown(
        400,
        {
            "id": "req-1",
            **error(
                "Unable to access non-serverless model mistralai/Mistral-Small-24B-Instruct-2501.",
                code="model_not_available",
            ),
        },
        "error.model-not-found.code",
        id="P-010",
        right=(MISSING, MISSING_400),
        gates=False,
        why=_AWAY,
    ),
    shown(
        400,
        {"code": "Client specified an invalid argument", "error": "Model not found: grok-2-latest"},
        *ENVELOPE,
        id="P-011",
        right=(MISSING,),
    ),
    shown(404, _NIM_404, *ENVELOPE, id="P-013", right=(MISSING, BROKEN)),
    shown(
        400,
        {"code": 20012, "message": "Model does not exist. Please check it carefully.", "data": None},
        *ENVELOPE,
        id="P-015",
        right=(MISSING, MISSING_400),
    ),
    shown(
        403,
        {"code": 30011, "message": "The selected model requires paid balance.", "data": None},
        *ENVELOPE,
        id="P-015b",
        right=(QUOTA, PAYMENT, REFUSED),
    ),
    shown(
        400,
        error(
            "The requested model 'Qwen/Qwen3-Next-80B-A3B-Thinking' is not supported by any provider you have enabled.",
            param="model",
            code="model_not_supported",
        ),
        "error.model-not-found.code",
        id="P-016",
        right=(MISSING,),
        gates=False,
        why=_AWAY,
    ),
    shown(
        404,
        {"error": {"message": "Model not found: zephyr", "type": "invalid_request_error"}},
        *PARAM,
        *CODE,
        id="S-groq-no-param",
        right=(MISSING,),
    ),
    shown(404, {"error": "model 'x' not found"}, *ENVELOPE, id="S-ollama-native", right=(MISSING,)),
    shown(404, {"detail": "Not Found"}, *ENVELOPE, id="S-fastapi", right=(MISSING,)),
    Report(
        id="S-go-404",
        ask=CHAT,
        wrong=page(404, "404 page not found\n", "text/plain"),
        clauses=("error.content-type", "error.body.json"),
        right=(MISSING, BROKEN),
    ),
    shown(
        500,
        error("The model `alias-9` does not exist", type="server_error", code="model_not_found"),
        "error.model-not-found.status",
        id="S-missing-as-500",
        right=(MISSING,),
    ),
    shown(
        404,
        {"type": "error", "error": {"type": "not_found_error", "message": "model: claude-9"}, "request_id": "req_1"},
        *PARAM,
        *CODE,
        id="S-anthropic-404",
        right=(MISSING, BROKEN),
    ),
    shown(
        404,
        {"error": {"code": 404, "message": "No endpoints found for alias-9."}, "user_id": "user_1"},
        *TYPE,
        *CODE,
        id="S-openrouter-404",
        right=(MISSING, BROKEN),
    ),
)

QUOTAS = (
    shown(
        429,
        {"error": {"message": _NESTED, "code": 429, "status": "Too Many Requests"}},
        "error.message.no-raw-body",
        id="P-018",
        right=(QUOTA, LIMITED, DOWN),
    ),
    shown(
        402,
        {"error": {"message": "Insufficient credits.", "code": 402, "metadata": {"limit_source": "credits"}}},
        *CODE,
        *TYPE,
        id="P-020",
        right=(PAYMENT, QUOTA, DOWN),
    ),
    shown(
        403,
        {
            "error": {
                "message": "Your account acct-91 is not active, organization org-12ab exceeded current quota",
                "type": "exceeded_current_quota_error",
            }
        },
        *PARAM,
        *CODE,
        id="P-021",
        right=(QUOTA, PAYMENT),
    ),
    shown(
        429,
        {
            "error": {
                "message": "Error from provider: Provider returned error",
                "code": 429,
                "metadata": {"raw": '{"error":{"message":"Your account org-1 is suspended"}}'},
            }
        },
        *CODE,
        *TYPE,
        id="P-022",
        right=(DOWN, QUOTA, LIMITED),
    ),
    shown(
        429,
        {"error": {"code": "1113", "message": "余额不足或无可用资源包,请充值。"}},
        *TYPE,
        *PARAM,
        id="P-023",
        right=(
            QUOTA,
            told(429, "余额不足或无可用资源包,请充值。", type="insufficient_quota", code="insufficient_quota"),
        ),
    ),
    Report(
        id="P-025",
        ask=CHAT,
        wrong=wire(
            {
                "type": "error",
                "error": {"type": "api_error", "message": "insufficient balance (1008)"},
                "request_id": "r",
            },
            status=500,
        ),
        clauses=(*PARAM, *CODE),
        upstream=(
            Try(
                wire(
                    {"type": "error", "error": {"type": "api_error", "message": "insufficient balance (1008)"}},
                    status=500,
                ),
                request=Ask("messages", {"model": "up-model", "max_tokens": 9, "messages": []}),
            ),
        ),
        right=(QUOTA, PAYMENT, DOWN),
    ),
    shown(
        429,
        {
            "error": {
                "http_code": "429",
                "message": "insufficient balance (1008)",
                "type": "insufficient_balance_error",
            },
            "request_id": "id-1",
        },
        *CODE,
        *PARAM,
        id="P-026",
        right=(DOWN, QUOTA),
    ),
    shown(
        500,
        error("Insufficient balance", type="api_error", code="insufficient_balance"),
        "error.quota.status",
        id="S-balance-as-500",
        right=(PAYMENT, QUOTA),
        gates=False,
        why="the API has no norm for the status of an empty balance",
    ),
    shown(
        402,
        {"error": {"message": "Insufficient Balance", "type": "unknown_error", "param": None, "code": 402}},
        *CODE,
        id="S-numeric-402",
        right=(PAYMENT,),
    ),
)

LIMITS = (
    Report(
        id="P-028",
        ask=CHAT,
        right=(
            told(
                429,
                "Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 228450.",
                type="tokens",
                code="rate_limit_exceeded",
            ),
        ),
    ),
    Report(
        id="P-030",
        ask=CHAT,
        wrong=wire(
            {"error": {"code": "429", "message": "Rate limit is exceeded. Try again in 2 seconds."}},
            status=429,
            headers=("apim-request-id: 1", "x-ratelimit-remaining-tokens: 1014"),
        ),
        clauses=(*TYPE, *PARAM),
        right=(LIMITED,),
    ),
    Report(
        id="P-030b",
        ask=CHAT,
        wrong=bad("Server responded with status 429. Rate limit is exceeded. Try again in 2 seconds."),
        upstream=(wire({"error": {"code": "429", "message": "Rate limit is exceeded."}}, status=429),),
        clauses=("relay.status.kept",),
        right=(LIMITED, DOWN),
        direct=False,
        why="without the upstream leg a 400 is as good as any",
    ),
    shown(
        429,
        {"error": {"message": "exception parsing response", "code": 429, "status": "Too Many Requests"}},
        *CODE,
        *TYPE,
        id="P-031",
        right=(LIMITED,),
    ),
    shown(
        429,
        {
            "object": "error",
            "message": "Rate limit exceeded",
            "type": "rate_limited",
            "param": None,
            "code": "1300",
            "raw_status_code": 429,
        },
        *ENVELOPE,
        id="P-033",
        right=(LIMITED, told(429, "Rate limit exceeded", type="rate_limited", code="1300")),
    ),
    shown(
        200,
        {
            **chat(None),
            "usage": {"completion_tokens": 0, "prompt_tokens": 0, "total_tokens": 0},
            "error": {"message": "Provider returned error", "code": 429, "metadata": {"raw": "error code: 1015"}},
        },
        "error.in-success",
        id="P-035",
        right=(LIMITED, DOWN),
    ),
    shown(
        429,
        {
            "error": {
                "message": "We're receiving too many requests at the moment.",
                "type": "rate_limit_reached_error",
            }
        },
        *CODE,
        *PARAM,
        id="P-036",
        right=(LIMITED,),
    ),
    shown(
        429,
        {
            "code": "The caller does not have permission",
            "error": "Too many tokens for team t-1 and model grok-4-0709. Tokens per Minute (actual/limit): 65605/16000.",
        },
        *ENVELOPE,
        id="P-038",
        right=(told(429, "Too many tokens per minute.", type="tokens", code="rate_limit_exceeded"),),
    ),
    shown(
        429,
        error(_REPR, type="throttling_error", code="429"),
        "error.message.no-raw-body",
        id="P-040",
        right=(LIMITED,),
    ),
    Report(
        id="S-cloudflare-1015",
        ask=CHAT,
        wrong=page(429, "error code: 1015", "text/plain; charset=UTF-8"),
        clauses=("error.content-type", "error.body.json"),
        right=(LIMITED, DOWN),
    ),
    shown(
        429,
        {"errors": [{"code": "rate_limit", "message": "Consumption limit reached"}], "trace": "t", "status_code": 429},
        *ENVELOPE,
        id="S-watsonx-429",
        right=(LIMITED,),
    ),
)

AUTHS = (
    Report(
        id="P-041",
        ask=CHAT,
        wrong=told(
            401,
            "Incorrect API key provided: sk-proj-****abcdMxYA. You can find your API key at https://platform.openai.com/account/api-keys.",
            code="invalid_api_key",
        ),
        clauses=("error.message.no-key",),
        right=(DOWN, told(401, "Incorrect API key provided.", code="invalid_api_key")),
        direct=False,
        why="an endpoint may show the caller a piece of the caller's own key",
    ),
    Report(
        id="P-043",
        ask=CHAT,
        right=(
            told(401, "Authentication Fails (no such user)", type="authentication_error", code="invalid_request_error"),
        ),
    ),
    Report(
        id="P-045",
        ask=CHAT,
        wrong=page(
            403,
            '<p data-translate="blocked_why_detail">This website is using a security service.</p>'
            '<span class="cf-footer-item">Cloudflare Ray ID: <strong>9c1</strong></span>',
        ),
        clauses=("error.content-type", "error.body.json"),
        right=(REFUSED, DOWN),
    ),
    shown(
        403,
        {"error": "403 Forbidden", "status": 403, "details": {"error": {"message": "openai error: undefined"}}},
        *ENVELOPE,
        id="P-046",
        right=(REFUSED, DOWN),
    ),
    shown(
        429,
        {
            "success": False,
            "error": {
                "message": "azure-openai error: The system is currently experiencing high demand. Please retry after 20 seconds.",
                "code": "RATE_LIMITED",
                "timestamp": "2025-12-21T01:27:42.111Z",
            },
            "status": 429,
        },
        *TYPE,
        *PARAM,
        id="P-046b",
        right=(LIMITED, DOWN),
    ),
    shown(403, error("openai error: undefined"), "error.members.no-placeholder", id="S-undefined", right=(REFUSED,)),
    shown(
        401,
        {"detail": "Unauthorized"},
        *ENVELOPE,
        id="S-mistral-401",
        right=(told(401, "Unauthorized", type="authentication_error", code="invalid_api_key"), DOWN),
    ),
    shown(
        401,
        {"message": "Wrong API Key", "type": "invalid_request_error", "param": "api_key", "code": "wrong_api_key"},
        *ENVELOPE,
        id="S-cerebras-401",
        right=(told(401, "Wrong API Key", param="api_key", code="wrong_api_key"), DOWN),
    ),
    Report(
        id="S-empty-401",
        ask=CHAT,
        wrong=wire(b"", status=401, media=""),
        clauses=("error.body.json",),
        right=(told(401, "Incorrect API key provided.", code="invalid_api_key"), DOWN),
    ),
)

LENGTHS = (
    Report(
        id="P-048",
        ask=CHAT,
        right=(
            told(
                400,
                "This model's maximum context length is 4097 tokens. However, your messages resulted in 4294 tokens.",
                param="messages",
                code="context_length_exceeded",
            ),
        ),
    ),
    shown(
        500,
        {
            "error": {
                "code": 500,
                "message": "the request exceeds the available context size. try increasing the context size",
                "type": "exceed_context_size_error",
                "n_prompt_tokens": 1407,
                "n_ctx": 256,
            }
        },
        "error.context-length.status",
        *CODE,
        id="P-050",
        right=(
            TOO_LONG,
            wire(
                error("the request exceeds the available context size", code="context_length_exceeded", n_ctx=256),
                status=400,
            ),
        ),
    ),
    shown(
        413,
        error("Request body too large for gpt-4.1 model. Max size: 8000 tokens.", code="tokens_limit_reached"),
        "error.context-length.code",
        id="P-051",
        right=(TOO_LONG,),
        gates=False,
        why="the API's text names no status or code for a token cap",
    ),
    shown(
        400,
        {
            "object": "error",
            "message": "This model's maximum context length is 4096 tokens.",
            "type": "BadRequestError",
            "param": None,
            "code": 400,
        },
        *ENVELOPE,
        id="S-vllm-context",
        right=(TOO_LONG,),
    ),
    shown(
        500,
        error("prompt is too long: 1284668 tokens > 1000000 maximum", type="server_error", code="internal"),
        "error.context-length.status",
        id="S-context-500",
        right=(TOO_LONG,),
    ),
    shown(
        422,
        {
            "error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096",
            "error_type": "validation",
        },
        *ENVELOPE,
        id="S-tgi-422",
        right=(TOO_LONG, bad("`inputs` tokens + `max_new_tokens` must be <= 4096")),
    ),
)

FILTERS = (
    Report(
        id="P-053",
        ask=CHAT,
        wrong=wire(
            {
                "error": {
                    "inner_error": {"code": "ResponsibleAIPolicyViolation"},
                    "code": "content_filter",
                    "message": _FILTER_TEXT + " Please read our documentation: \r\nhttps://go.microsoft.com/fwlink/",
                    "param": "prompt",
                    "type": None,
                }
            },
            status=400,
        ),
        clauses=TYPE,
        right=(
            FILTERED,
            wire(error(_FILTER_TEXT, param="prompt", code="content_filter", innererror={"code": "x"}), status=400),
        ),
    ),
)

OUTAGES = (
    shown(
        503,
        {
            "error": {
                "code": 503,
                "message": "The model is overloaded. Please try again later.",
                "status": "UNAVAILABLE",
            }
        },
        *TYPE,
        *CODE,
        id="P-055",
        right=(DOWN, LIMITED),
    ),
    shown(
        429,
        {
            "error": {
                "message": "The engine is currently overloaded, please try again later",
                "type": "engine_overloaded_error",
            }
        },
        *PARAM,
        *CODE,
        id="P-056",
        right=(DOWN, LIMITED),
    ),
    Report(
        id="P-058",
        ask=STREAM,
        wrong=wire(stream({"error": {"message": "Compute error."}, "message": "Compute error."}, done=False)),
        clauses=("stream.error.shape",),
        right=(
            wire(stream(error("Compute error.", type="server_error", code="compute_error"), done=False)),
            wire(stream(*words("He")[:2], error("Compute error.", type="server_error"), done=False)),
            BROKEN,
        ),
        answers=False,
        why="the second right answer has output that this member did not send",
    ),
    Report(
        id="P-060",
        ask=CHAT,
        wrong=page(
            504, "<html><body><h1>504 Gateway Time-out</h1>\nThe server didn't respond in time.\n</body></html>\n"
        ),
        clauses=("error.content-type", "error.body.json"),
        right=(LATE, BROKEN, DOWN),
    ),
    Report(
        id="P-061",
        ask=CHAT,
        wrong=page(
            502,
            "<html>\n<head><title>502 Bad Gateway</title></head>\n<body>\n<center><h1>502 Bad Gateway</h1></center>\n<hr><center>cloudflare</center>\n",
        ),
        clauses=("error.content-type", "error.body.json"),
        right=(BROKEN, DOWN),
    ),
    Report(
        id="P-061b",
        ask=CHAT,
        wrong=told(
            502,
            '<!DOCTYPE html>\n\n <html class="no-js" lang="en-US">\n<head>\n<title>host | 502: Bad gateway</title>',
            type="server_error",
        ),
        clauses=("error.message.no-html",),
        upstream=(page(502, '<!DOCTYPE html>\n\n <html class="no-js" lang="en-US">'),),
        right=(BROKEN,),
    ),
    Report(
        id="P-063",
        ask=CHAT,
        wrong=wire(
            {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}, "request_id": "req-1"},
            status=529,
        ),
        clauses=(*PARAM, *CODE),
        upstream=(
            Try(
                wire({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, status=529),
                request=Ask("messages", {"model": "up-model", "max_tokens": 9, "messages": []}),
            ),
        ),
        right=(DOWN, told(503, "Overloaded", type="server_error", code="overloaded"), LIMITED),
    ),
    Report(
        id="S-html-200",
        ask=CHAT,
        wrong=page(200, "<html><body>502 Bad Gateway</body></html>"),
        clauses=("http.content-type.json", "json.body.valid"),
        right=(BROKEN, DOWN),
    ),
    Report(
        id="S-json-page",
        ask=CHAT,
        wrong=wire(b"<html><body>502 Bad Gateway</body></html>", status=502),
        clauses=("error.body.json",),
        right=(BROKEN,),
    ),
)

INVALID = (
    shown(
        400,
        [_BAD_ARGUMENT],
        *ENVELOPE,
        id="P-065",
        right=(
            bad('Invalid JSON payload received. Unknown name "google": Cannot find field.', code="invalid_argument"),
        ),
    ),
    Report(
        id="P-066",
        ask=CHAT,
        wrong=wire(
            {
                "error": {
                    "message": "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
                    "type": "invalid_request_error",
                    "code": "tool_use_failed",
                    "failed_generation": '<function=brave_search>{"query": "Hello!"}</function>',
                }
            },
            status=400,
            headers=("x-ratelimit-limit-requests: 14400", "x-request-id: req-1"),
        ),
        clauses=PARAM,
        right=(
            bad(
                "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
                code="tool_use_failed",
                failed_generation="<function=brave_search>",
            ),
        ),
    ),
    shown(
        400,
        {
            "object": "error",
            "message": '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
            "type": "BadRequestError",
            "param": None,
            "code": 400,
        },
        *ENVELOPE,
        id="P-068",
        right=(bad('"auto" tool choice requires --enable-auto-tool-choice', param="tool_choice"),),
    ),
    shown(
        400,
        {"error": {"code": 400, "message": "'type' of tool must be 'function'", "type": "invalid_request_error"}},
        *CODE,
        *PARAM,
        id="P-070",
        ask=ask("responses"),
        right=(bad("'type' of tool must be 'function'", param="tools[0].type"),),
    ),
    shown(
        404,
        {
            "error": {
                "message": "No endpoints found that support tool use. To learn more about provider routing, visit: https://openrouter.ai/docs/provider-routing",
                "code": 404,
            }
        },
        *CODE,
        *TYPE,
        id="P-071",
        right=(bad("No endpoints found that support tool use.", param="tools", code="unsupported_parameter"),),
    ),
    shown(
        400,
        {
            "code": "Client specified an invalid argument",
            "error": "Argument not supported on this model: presencePenalty",
        },
        *ENVELOPE,
        id="P-073",
        right=(
            bad(
                "Argument not supported on this model: presence_penalty",
                param="presence_penalty",
                code="unsupported_parameter",
            ),
        ),
    ),
    shown(
        400,
        {
            "errors": [
                {
                    "code": "invalid_input_argument",
                    "message": 'Invalid input argument for Model \'mistralai/mistral-medium-2505\': \n{"object":"error","message":""}',
                    "more_info": "https://cloud.ibm.com/apidocs/watsonx-ai#text-chat",
                }
            ],
            "trace": "id",
            "status_code": 400,
        },
        *ENVELOPE,
        id="P-075",
        right=(bad("Invalid input argument for the model.", code="invalid_input_argument"),),
    ),
    shown(
        400,
        {
            "error": {
                "message": "Invalid JSON data: Failed to deserialize the JSON body into the target type: messages[N]: missing field `tool_call_id`",
                "type": "invalid_request_error",
                "code": "json_parse_error",
            }
        },
        *PARAM,
        id="P-076",
        right=(bad("Invalid JSON data: messages[N]: missing field `tool_call_id`", code="json_parse_error"),),
    ),
    shown(
        400,
        error(_VALIDATION, type="Bad Request", code="400"),
        "error.message.no-raw-body",
        id="P-078",
        ask=ask("responses"),
        right=(bad("input: a string was expected", param="input"),),
    ),
    shown(
        422,
        {"detail": [{"type": "missing", "loc": ["body", "messages"], "msg": "Field required", "input": {}}]},
        *ENVELOPE,
        id="S-fastapi-422",
        right=(
            bad("messages: field required", param="messages"),
            told(422, "messages: field required", param="messages"),
        ),
    ),
    shown(
        400,
        {"error": {"message": "", "type": "invalid_request_error", "param": None, "code": None}},
        "error.message.text",
        id="S-empty-message",
        right=(bad("The request is not valid."),),
    ),
    shown(400, {"error": None, "message": "bad"}, *ENVELOPE, id="S-null-error", right=(bad("bad"),)),
    shown(400, "Bad Request", *ENVELOPE, id="S-bare-string", right=(bad("bad"),)),
)

REPORTS = NOT_FOUND + QUOTAS + LIMITS + AUTHS + LENGTHS + FILTERS + OUTAGES + INVALID
