"""Reports of gateways: failover, retries and cooldown (category a), what is left of them in one exchange.

Facts from public issue threads, named by their number in the reports' list; a trailing letter marks a sibling of ours.
"""

from __future__ import annotations

from tests.contract.captures import Ask, Try, ask, chat, chunk, embeddings, error, opening, stream, wire, words
from tests.contract.situation import Report, Right, report

_OK = wire(chat())
_STREAM = ask(stream=True)
_WORDS = wire(stream(*words("Hel", "lo.")))
_FAILED = "pool.failover.answers"


def _fail(status: int, message: str = "The upstream is not available.", **more: object) -> object:
    return wire(error(message, type="server_error", **more), status=status)


_RATE = wire(
    error("Rate limit exceeded: free-models-per-day", type="rate_limit_error", code="rate_limit_exceeded"),
    status=429,
    headers=("X-RateLimit-Remaining: 0",),
)
_429 = wire(error("Rate limit reached for requests", type="requests", code="rate_limit_exceeded"), status=429)
_503 = _fail(503)
_502 = _fail(502)
_GONE = wire({"error": {"message": "No endpoints found for maker/model:free.", "code": 404}}, status=404)
_NOT_FOUND = wire(
    error("The model `gpt-4` does not exist", code="model_not_found"),
    status=404,
)
_MESSAGES = Ask("/v1/messages", {"model": "claude", "max_tokens": 64, "messages": [{"role": "user", "content": "Hi"}]})
_OVERLOADED = wire(
    stream(("error", {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}), done=False)
)
_CLAUDE = wire(
    stream(
        ("message_start", {"type": "message_start", "message": {"id": "msg_1", "role": "assistant", "content": []}}),
        (
            "content_block_delta",
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello."}},
        ),
        ("message_delta", {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
        ("message_stop", {"type": "message_stop"}),
        done=False,
    )
)
_ORG = wire(
    {"type": "error", "error": {"type": "permission_error", "message": "oauth_not_allowed_for_organization"}},
    status=403,
)
_REFUSED = wire(status=0, end="reset")
_SILENT = wire(status=0, end="close")
_CUT_AT_ONCE = wire(stream(done=False), end="close")
_CUT = wire(stream(opening(), chunk("One "), chunk("two "), done=False), end="close")
_TOLD = stream(
    opening(), chunk("One "), chunk("two "), error("The upstream closed the stream.", type="api_error"), done=False
)
_RESPONSE = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1785402847,
    "status": "completed",
    "model": "alias-1",
    "error": None,
    "incomplete_details": None,
    "instructions": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "temperature": 1.0,
    "tool_choice": "auto",
    "tools": [],
    "top_p": 1.0,
    "output": [
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "Hello.", "annotations": []}],
        }
    ],
    "usage": {
        "input_tokens": 9,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 2,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 11,
    },
}
_LIMIT = wire(error("The usage limit has been reached", type="usage_limit_reached"), status=429)

POOL: tuple[Report, ...] = (
    report("G-01", _FAILED, caps="failover", up=_429, wrong=_429, right=Right(_OK, (_429, _OK))),
    report(
        "G-01-403",  # the refusal of one request: to pass it on and to try another member are both conforming
        caps="failover",
        up=_fail(403, "provider refused model"),
        right=(_fail(403, "provider refused model"), Right(_OK, (_fail(403, "provider refused model"), _OK))),
    ),
    report("G-03", _FAILED, caps="failover,retries", up=_RATE, wrong=_RATE, right=Right(_OK, (_RATE, _OK))),
    report(
        "G-05",
        _FAILED,
        caps="failover",
        up=(Try(_REFUSED, "d1", 2.0), Try(_REFUSED, "d1", 8.0), Try(_REFUSED, "d1", 20.0)),
        wrong=_fail(500, "Connection error."),
        right=(Right(_OK, (_REFUSED, _OK)), Right(_OK, _OK)),
    ),
    report("G-06", caps="failover", right=Right(_OK, (_fail(500), _fail(500), _OK))),
    report(
        "G-08",
        _FAILED,
        caps="failover",
        request=ask("responses", prompt_cache_key="session-1"),
        up=_LIMIT,
        wrong=_LIMIT,
        right=Right(wire(_RESPONSE), (_LIMIT, wire(_RESPONSE))),
    ),
    report(
        "G-10",
        "error.in-success",
        up=_NOT_FOUND,
        wrong=wire({"error": {"message": "type invalid_request_error, code model_not_found", "type": "one_api_error"}}),
        right=_NOT_FOUND,
    ),
    report(
        "G-10-429",
        "error.in-success",
        up=_429,
        wrong=wire({"error": {"message": "type requests, code rate_limit_exceeded", "type": "one_api_error"}}),
        right=_429,
    ),
    report(
        "G-11",
        caps="failover",
        up=_fail(403, "this model is not for you"),
        right=_fail(403, "this model is not for you"),
    ),
    report(
        "G-13",
        "pool.attempts.bounded",
        caps="retries",
        request=ask("completions"),
        up=tuple(Try(_503, name, 2.0 + n) for n, name in enumerate(("c967", "c1056", "c1047", *("c1033",) * 12))),
        wrong=_503,
        right=Right(_503, (_503, _503, _503)),
    ),
    report(
        "G-14-before-output",
        _FAILED,
        caps="failover",
        request=_STREAM,
        up=_CUT_AT_ONCE,
        wrong=wire(stream(error("transfer length not satisfied", type="api_error"), done=False)),
        right=Right(_WORDS, (_CUT_AT_ONCE, _WORDS)),
    ),
    report("G-14-after-output", caps="failover", request=_STREAM, up=_CUT, right=wire(_TOLD)),
    report(
        "G-14-stall",
        "relay.truncation.told",
        caps="failover",
        request=_STREAM,
        up=wire(stream(opening(), chunk("One "), done=False), end="stall"),
        wrong=wire(stream(opening(), chunk("One "))),
        right=wire(stream(opening(), chunk("One "), error("timeout reading data", type="api_error"), done=False)),
    ),
    report(
        "G-15",
        _FAILED,
        caps="failover",
        request=_STREAM,
        up=Try(_OVERLOADED, request=_MESSAGES),
        wrong=_fail(500, "Overloaded"),
        right=Right(
            wire(stream(*words("Hello."))), (Try(_OVERLOADED, request=_MESSAGES), Try(_CLAUDE, "m1", 9.0, _MESSAGES))
        ),
    ),
    report(
        "G-16",
        _FAILED,
        caps="failover",
        up=Try(_ORG, request=_MESSAGES),
        wrong=_fail(403, "The account may not use this model."),
        right=Right(_OK, (Try(_ORG, request=_MESSAGES), _OK)),
    ),
    report(
        "G-118",
        _FAILED,
        caps="failover",
        request=ask(max_tokens=5),
        up=_SILENT,
        wrong=_fail(504, "upstream request timeout"),
        right=(Right(_OK, (_SILENT, Try(_OK, "m0", 9.0))), Right(_OK, (_SILENT, _OK))),
    ),
    # -- siblings ------------------------------------------------------------------------------------------------------
    report("G-02a-retired-404", _FAILED, caps="failover", up=_GONE, wrong=_NOT_FOUND, right=Right(_OK, (_GONE, _OK))),
    report("G-02b-5xx", _FAILED, caps="failover", up=_503, wrong=_502, right=Right(_OK, (_503, _OK))),
    report(
        "G-02c-same-member",
        _FAILED,
        caps="failover,retries",
        up=(Try(_503, "m0", 2.0), Try(_503, "m0", 300.0), Try(_503, "m0", 900.0)),
        wrong=_503,
        right=Right(_OK, (Try(_503, "m0", 2.0), Try(_503, "m0", 300.0), Try(_OK, "m1", 900.0))),
    ),
    report(
        "G-02d-all-down",  # every member was asked: the last failure is what there is to say
        caps="failover",
        up=(_503, _429, _fail(500)),
        right=(_503, _429, _502, wire(error("All members failed.", type="server_error"), status=504)),
    ),
    report(
        "G-04-401",
        _FAILED,
        caps="failover",
        up=_fail(401, "Incorrect API key provided"),
        wrong=_fail(502),
        right=Right(_OK, (_fail(401, "Incorrect API key provided"), _OK)),
    ),
    report(
        "G-04-402",
        _FAILED,
        caps="failover",
        up=_fail(402, "Insufficient credits"),
        wrong=_fail(402, "Insufficient credits"),
        right=Right(_OK, (_fail(402, "Insufficient credits"), _OK)),
    ),
    report(
        "G-07-no-failover-declared",  # a gateway is judged on its own promises
        up=_429,
        right=(_429, _503),
    ),
    report(
        "G-07-client-fault",
        caps="failover",
        up=wire(error("Invalid value for temperature.", param="temperature"), status=400),
        right=wire(error("Invalid value for temperature.", param="temperature"), status=400),
    ),
    report(
        "G-09-context",
        caps="failover",
        up=wire(
            error("This model's maximum context length is 8192 tokens.", code="context_length_exceeded"), status=400
        ),
        right=wire(
            error("This model's maximum context length is 8192 tokens.", code="context_length_exceeded"), status=400
        ),
    ),
    report(
        "G-09-retry-of-400",
        "pool.rejection.once",
        caps="retries",
        up=tuple(Try(wire(error("Invalid value for temperature."), status=400), "m0", 2.0 + 300 * n) for n in range(3)),
        wrong=wire(error("Invalid value for temperature."), status=400),
        right=Right(
            wire(error("Invalid value for temperature."), status=400),
            wire(error("Invalid value for temperature."), status=400),
        ),
    ),
    report(
        "G-12-after-success",
        "pool.success.final",
        caps="failover",
        up=(_OK, Try(_OK, "m1", 400.0)),
        wrong=_OK,
        right=Right(_OK, _OK),
    ),
    report(
        "G-12-hedged",  # both were on their way before either had answered
        caps="failover",
        request=_STREAM,
        up=(Try(_WORDS, "m0", 2.0), Try(_WORDS, "m1", 10.0)),
        right=_WORDS,
    ),
    report(
        "G-12-embeddings",
        _FAILED,
        caps="failover",
        request=ask("embeddings"),
        up=_503,
        wrong=_503,
        right=Right(wire(embeddings([0.1, 0.2])), (_503, wire(embeddings([0.1, 0.2])))),
    ),
)
