"""Examples of the clauses on what is relayed: answers, reasons, usage, errors."""

from __future__ import annotations

from typing import Any

from tests.contract.captures import (
    CLIENT_KEY,
    Ask,
    Capture,
    Try,
    ask,
    call,
    capture,
    chat,
    chunk,
    embeddings,
    error,
    knowing,
    opening,
    stream,
    usage_chunk,
    wire,
    words,
)
from tests.contract.example import Example, Examples
from tests.contract.responding import created, event, message, numbered, response, used

STREAM = ask(stream=True)
METERED = ask(stream=True, stream_options={"include_usage": True})
FAILED = error("The upstream failed.", type="api_error", code="upstream_error")
BAD_GATEWAY = wire(FAILED, status=502)
TOLD = wire(stream(opening(), chunk("One "), FAILED, done=False))
CUT = wire(stream(opening(), chunk("One "), done=False), end="close")
TORN = wire(
    stream(opening(), chunk("One "), b'data: {"choices":[{"delta":{"content":"two "}\n\n', chunk(reason="stop"))
)
FINISHED = wire(stream(opening(), chunk("One "), chunk(reason="stop")))
LAUNDERED = wire(stream(chunk(delta={"content": ""}, choice={"finish_reason": "network_error"})))
EMPTY_STOP = wire(stream(opening(), chunk(reason="stop")))
IN_BAND = wire({"error": {"message": "boom", "code": 502}})
CALLS = {"tool_calls": [call(None, id="call_1", name="f", arguments='{"a":1}')]}
CALLED = wire(chat(None, "tool_calls", message=CALLS))
COUNTED = {
    "prompt_tokens": 9,
    "completion_tokens": 5,
    "total_tokens": 14,
    "prompt_tokens_details": {"cached_tokens": 4},
}
SPOKEN = chat(None, message={"audio": {"id": "audio_1", "data": "AABB", "expires_at": 1785402847, "transcript": "Hi"}})
SOURCE = {
    "type": "url_citation",
    "url_citation": {"url": "https://a.test/1", "title": "A", "start_index": 0, "end_index": 2},
}
CITED = {"annotations": [SOURCE]}
CITED_STREAM = stream(opening(), chunk("Hi", delta=CITED), chunk(reason="stop"))
LONG = error("This model's maximum context length is 8192 tokens.", code="context_length_exceeded")
LIMIT = wire(error("Rate limit reached for requests", type="requests", code="rate_limit_exceeded"), status=429)
EMBED = ask("embeddings")


REFUSAL = wire(chat(None, message={"refusal": "I cannot."}))
REFUSING = (opening(), chunk(delta={"refusal": "I cannot."}), chunk(reason="stop"))
LIMITED = error("Rate limit reached for requests", type="requests", code="rate_limit_exceeded")
BROKEN_OFF = wire(stream(opening(), chunk("One "), LIMITED, done=False))
SURENESS = {"content": [{"token": "Hi", "logprob": -0.1, "bytes": None, "top_logprobs": []}], "refusal": None}
SURE = wire(chat("Hi", choice={"logprobs": SURENESS}))
SURE_STREAM = wire(stream(opening(), chunk("Hi", choice={"logprobs": SURENESS}), chunk(reason="stop")))


def spoken(data: str) -> dict[str, Any]:
    """A chunk of audio."""
    return chunk(delta={"audio": {"id": "audio_1", "data": data}})


def sure(*numbers: float) -> Any:
    """A reply whose one token has the first number, and beside it tokens with the others."""
    others = [{"token": f"t{at}", "logprob": number, "bytes": None} for at, number in enumerate(numbers[1:])]
    item = {"token": "Hi", "logprob": numbers[0], "bytes": None, "top_logprobs": others}
    return wire(chat("Hi", choice={"logprobs": {"content": [item], "refusal": None}}))


def items(*output: Any) -> Any:
    """A response with these items before its message."""
    return wire(response(output=[*output, message()]))


def response_events(*output: Any) -> Any:
    """The same, streamed: its last event alone tells the items."""
    last = [event("response.completed", response=response(output=[*output, message()]))]
    return wire(stream(*((one["type"], one) for one in numbered([created(), *last])), done=False))


def to(path: str, **body: Any) -> Ask:
    """A request in another API's words."""
    return Ask(path, body)


PAIR = ask("embeddings", input=["cf-q8w3zd a", "cf-q8w3zd b"])
BATCHES = [
    Try(wire(embeddings([0.5])), "m0", 2.0, ask("embeddings", input=["cf-q8w3zd a"])),
    Try(wire(embeddings([0.25])), "m0", 3.0, ask("embeddings", input="cf-q8w3zd b")),
]
GEMINI_VECTORS = Try(
    wire({"embeddings": [{"values": [0.5]}, {"values": [0.25]}]}),
    request=to(
        "/v1beta/models/g:batchEmbedContents",
        requests=[{"content": {"parts": [{"text": f"cf-q8w3zd {name}"}]}} for name in "ab"],
    ),
)
OLLAMA_VECTORS = Try(wire({"embeddings": [[0.5], [0.25]]}), request=to("/api/embed", input=PAIR.value["input"]))
OLDER_VECTOR = Try(wire({"embedding": [0.5]}), request=to("/api/embeddings", model="up", prompt="cf-q8w3zd"))
COHERE_VECTORS = Try(
    wire({"embeddings": {"float": [[0.5], [0.25]]}}), request=to("/v2/embed", texts=PAIR.value["input"])
)
TWO = wire({**chat("A."), "choices": [chat("A.")["choices"][0], {**chat("B.")["choices"][0], "index": 1}]})
PLAIN = {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14, "prompt_tokens_details": {"cached_tokens": 4}}
RESPONSE = ask("responses")
CACHED = {**used(9, 2), "input_tokens_details": {"cached_tokens": 4}}
SEARCHING = ask("responses", tools=[{"type": "web_search_preview"}])
SEARCHED = items({"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}})
THINKING = ask("responses", include=["reasoning.encrypted_content"], store=False)
THOUGHT = items({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA"})
DRAWING = ask("responses", tools=[{"type": "image_generation"}], stream=True)
DRAWN = {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "iVBORw0KGgo="}
REFUSED_KEY = wire(error("Incorrect API key provided.", code="invalid_api_key"), status=401)


def relayed(upstream: Any, reply: Any, request: Any = None) -> Capture:
    """What a gateway made of one member's envelope."""
    return capture(request or ask(), reply, upstream)


def calling(**changed: Any) -> Any:
    """A reply with that one call, changed."""
    reason = changed.pop("reason", "tool_calls")
    return wire(
        chat(
            None,
            reason,
            message={"tool_calls": [call(None, **{"id": "call_1", "name": "f", "arguments": '{"a":1}', **changed})]},
        )
    )


def unreachable(reply: Any) -> Capture:
    """A request for a model whose one member's port is closed."""
    terms = {"members": ("m0",), "closed": frozenset({"m0"}), "known_models": frozenset({"alias-1"})}
    return knowing(capture(ask(), reply, ()), terms=terms)


EXAMPLES: Examples = {
    "relay.truncation.told": Example(
        (
            relayed(CUT, TOLD, STREAM),
            relayed(CUT, CUT, STREAM),
            relayed(wire(chat(), headers=("Content-Length: 9000",), framing=" "), BAD_GATEWAY),
        ),
        (
            relayed(CUT, FINISHED, STREAM),
            relayed(CUT, wire(stream(opening(), chunk("One "), chunk(reason="stop"), FAILED, done=False)), STREAM),
            relayed(CUT, wire(stream(opening(), chunk("One "), done=False)), STREAM),
            relayed(wire(b'{"id":"c","choices":[{"index":0,"mess', framing="close", end="close"), wire(chat(""))),
            relayed(wire(response(status="queued", output=[])), wire(response(output=[])), RESPONSE),
        ),
    ),
    "relay.malformed.told": Example(
        (
            relayed(TORN, TOLD, STREAM),
            relayed(TORN, BAD_GATEWAY, STREAM),
            relayed(TORN, TORN, STREAM),
            relayed(TORN, wire(stream(opening(), chunk("One "), chunk("two "), chunk(reason="stop"))), STREAM),
        ),
        (relayed(TORN, FINISHED, STREAM),),
    ),
    "relay.reason.not-laundered": Example(
        (
            relayed(LAUNDERED, BAD_GATEWAY, STREAM),
            relayed(LAUNDERED, wire(stream(FAILED, done=False)), STREAM),
            relayed(LAUNDERED, LAUNDERED, STREAM),  # passed on as it came: the enum clause has its say
        ),
        (
            relayed(LAUNDERED, EMPTY_STOP, STREAM),
            relayed(wire(chat("", "error")), wire(chat(""))),
            relayed(
                wire(stream(opening(choice={"native_finish_reason": "network_error"}), chunk(reason="stop"))),
                EMPTY_STOP,
                STREAM,
            ),
        ),
    ),
    "relay.reason.native-agrees": Example(
        (
            capture(ask(), wire(chat("Hi", choice={"native_finish_reason": "STOP"}))),
            capture(ask(), wire(chat("", choice={"native_finish_reason": "end_turn"}))),
        ),
        (
            capture(ask(), wire(chat("", choice={"native_finish_reason": "network_error"}))),
            capture(
                STREAM,
                wire(
                    stream(opening(), chunk(reason="stop", choice={"native_finish_reason": "MALFORMED_FUNCTION_CALL"}))
                ),
            ),
        ),
    ),
    "relay.error.told": Example(
        (
            relayed(IN_BAND, BAD_GATEWAY),
            relayed(wire(stream(FAILED, done=False)), wire(stream(FAILED, done=False)), STREAM),
        ),
        (relayed(IN_BAND, wire(chat(""))), relayed(wire(stream(FAILED, done=False)), EMPTY_STOP, STREAM)),
    ),
    "relay.empty.not-success": Example(
        (
            relayed(wire(b""), BAD_GATEWAY),
            relayed(wire(status=0, end="reset"), BAD_GATEWAY),
            relayed(wire(stream(chunk(choices=[]))), BAD_GATEWAY, STREAM),
        ),
        (
            relayed(wire(b""), wire(chat(""))),
            relayed(wire(status=0, end="reset"), wire(chat(""))),
            relayed(wire(status=0, end="stall"), EMPTY_STOP, STREAM),
            relayed(wire(b"<html>Welcome</html>", media="text/html"), wire(chat("<html>Welcome</html>"))),
            relayed(wire({**chat(), "choices": []}), wire(chat("The upstream said nothing."))),
            relayed(wire(stream(chunk(choices=[]))), EMPTY_STOP, STREAM),
            relayed(wire(embeddings()), wire(embeddings()), EMBED),
        ),
    ),
    "relay.success.kept": Example(
        (
            relayed(wire(chat()), wire(chat())),
            relayed(FINISHED, FINISHED, STREAM),
            relayed(wire(embeddings([0.5])), wire(embeddings([0.5])), EMBED),
        ),
        (
            relayed(wire(chat()), BAD_GATEWAY),
            relayed(FINISHED, wire(stream(opening(), FAILED, done=False)), STREAM),
            relayed(wire(embeddings([0.5])), wire(FAILED, status=500), EMBED),
        ),
    ),
    "relay.text.equal": Example(
        (
            relayed(wire(chat("é")), wire(chat("é"))),
            relayed(wire(stream(*words("Hel", "lo."))), wire(stream(*words("Hello."))), STREAM),
            relayed(CUT, TOLD, STREAM),
        ),
        (
            relayed(wire(chat("é")), wire(chat("Ã©"))),
            relayed(wire(chat(None, message={"refusal": "I cannot."})), wire(chat(""))),
            relayed(wire(stream(*words("Hel", "lo."))), wire(stream(*words("Hel"))), STREAM),
            relayed(wire(stream(*words("Hel", "lo."))), wire(stream(*words("Hel", "Hel", "lo."))), STREAM),
            relayed(CUT, wire(stream(opening(), chunk("One two "), FAILED, done=False)), STREAM),
        ),
    ),
    "relay.refusal.kept": Example(
        (
            relayed(REFUSAL, REFUSAL),
            relayed(wire(stream(*REFUSING)), wire(stream(*REFUSING)), STREAM),
        ),
        (
            relayed(REFUSAL, wire(chat("I cannot."))),
            relayed(wire(stream(*REFUSING)), wire(stream(*words("I cannot."))), STREAM),
        ),
    ),
    "relay.logprobs.kept": Example(
        (
            relayed(SURE, SURE, ask(logprobs=True)),
            relayed(SURE_STREAM, SURE_STREAM, ask(stream=True, logprobs=True)),
            relayed(sure(-0.5, -7.25), sure(-0.50001, -7.25), ask(logprobs=True, top_logprobs=1)),
            relayed(sure(-0.5, -7.25), sure(-0.5), ask(logprobs=True)),
            relayed(sure(-0.5, -7.25, -9.0), sure(-0.5, -7.25), ask(logprobs=True, top_logprobs=1)),
        ),
        (
            relayed(sure(-0.5), sure(-0.6), ask(logprobs=True)),
            relayed(sure(-0.0004), sure(0), ask(logprobs=True)),
            relayed(sure(-0.5, -7.25), sure(-0.5), ask(logprobs=True, top_logprobs=1)),
            relayed(sure(-0.5, -7.25), sure(-0.5, -7.5), ask(logprobs=True, top_logprobs=1)),
            relayed(SURE, wire(chat("Hi")), ask(logprobs=True)),
            relayed(SURE_STREAM, wire(stream(*words("Hi"))), ask(stream=True, logprobs=True)),
        ),
    ),
    "relay.annotations.kept": Example(
        (
            relayed(wire(chat("Hi", message=CITED)), wire(chat("Hi", message=CITED))),
            relayed(wire(CITED_STREAM), wire(CITED_STREAM), STREAM),
        ),
        (
            relayed(wire(chat("Hi", message=CITED)), wire(chat("Hi"))),
            relayed(wire(CITED_STREAM), wire(stream(*words("Hi"))), STREAM),
        ),
    ),
    "relay.audio.kept": Example(
        (
            relayed(wire(SPOKEN), wire(SPOKEN)),
            relayed(
                wire(stream(opening(), spoken("AA"), spoken("BB"), chunk(reason="stop"))),
                wire(stream(opening(), spoken("AABB"), chunk(reason="stop"))),
                STREAM,
            ),
        ),
        (
            relayed(wire(SPOKEN), wire(chat(""))),
            relayed(
                wire(stream(opening(), spoken("AA"), spoken("BB"), chunk(reason="stop"))),
                wire(stream(opening(), spoken("AA"), chunk(reason="stop"))),
                STREAM,
            ),
        ),
    ),
    "relay.reason.kept": Example(
        (
            relayed(wire(chat("1 2", "length")), wire(chat("1 2", "length"))),
            relayed(wire(chat("1 2", "max_tokens")), wire(chat("1 2", "length"))),
        ),
        (
            relayed(wire(chat("1 2", "length")), wire(chat("1 2", "stop"))),
            relayed(calling(reason="length"), CALLED),
            relayed(calling(reason="content_filter"), CALLED),
            relayed(wire(stream(*words("1", reason="content_filter"))), wire(stream(*words("1"))), STREAM),
        ),
    ),
    "relay.tool-calls.equal": Example(
        (relayed(CALLED, CALLED), relayed(CALLED, calling(arguments='{"a":1} '))),
        (
            relayed(CALLED, calling(arguments="{}")),
            relayed(CALLED, calling(name="g")),
            relayed(CALLED, calling(id="call_9")),
            relayed(CALLED, wire(chat("I would call f."))),
        ),
    ),
    "relay.usage.kept": Example(
        (
            relayed(wire(chat(usage=COUNTED)), wire(chat(usage=COUNTED))),
            relayed(
                wire(stream(*words("Hi"), usage_chunk(COUNTED))),
                wire(stream(*words("Hi"), usage_chunk(COUNTED))),
                METERED,
            ),
        ),
        (
            relayed(wire(chat(usage=COUNTED)), wire(chat())),
            relayed(
                wire(chat(usage=COUNTED)), wire(chat(usage={**COUNTED, "prompt_tokens_details": {"cached_tokens": 0}}))
            ),
            relayed(
                wire(stream(*words("Hi"), usage_chunk(COUNTED))), wire(stream(*words("Hi"), usage_chunk())), METERED
            ),
            relayed(
                wire(embeddings([0.5])), wire(embeddings([0.5], usage={"prompt_tokens": 0, "total_tokens": 0})), EMBED
            ),
            relayed(BATCHES, wire(embeddings([0.5], [0.25], usage={"prompt_tokens": 2, "total_tokens": 2})), PAIR),
            relayed([Try(wire(chat("A.")), request=ask()), Try(wire(chat("B.")), "m1", 3.0, ask())], TWO, ask(n=2)),
            relayed(wire(response(usage=CACHED)), wire(response(usage=used(9, 2))), RESPONSE),
            relayed(wire(response(usage=used(9, 2, thought=1))), wire(response(usage=used(9, 2))), RESPONSE),
            *(
                relayed(
                    wire(chat(usage={**COUNTED, f"{side}_tokens_details": {f"{name}_tokens": 3}})),
                    wire(chat(usage=PLAIN)),
                )
                for side, name in (
                    ("prompt", "audio"),
                    ("completion", "audio"),
                    ("completion", "accepted_prediction"),
                    ("completion", "rejected_prediction"),
                )
            ),
        ),
    ),
    "relay.embedding.equal": Example(
        (
            relayed(GEMINI_VECTORS, wire(embeddings([0.5], [0.25])), PAIR),
            relayed(OLLAMA_VECTORS, wire(embeddings([0.5], [0.25])), PAIR),
            relayed(COHERE_VECTORS, wire(embeddings([0.5], [0.25])), PAIR),
            relayed(OLDER_VECTOR, wire(embeddings([0.5])), EMBED),
            relayed(BATCHES, wire(embeddings([0.5], [0.25])), PAIR),
            relayed(BATCHES[:1], wire(embeddings([0.5], [0.75])), PAIR),  # the other one is from a cache
            relayed(wire(embeddings([0.5, 0.25])), wire(embeddings([0.5, 0.25])), EMBED),
            relayed(
                wire(embeddings([0.5, 0.25])),
                wire(embeddings("AAAAPwAAgD4=")),
                ask("embeddings", encoding_format="base64"),
            ),
        ),
        (
            relayed(GEMINI_VECTORS, wire(embeddings([0.25], [0.5])), PAIR),
            relayed(OLLAMA_VECTORS, wire(embeddings([0.5], [0.5])), PAIR),
            relayed(COHERE_VECTORS, wire(embeddings([0.25], [0.5])), PAIR),
            relayed(BATCHES, wire(embeddings([0.25], [0.5])), PAIR),
            relayed(BATCHES[:1], wire(embeddings([0.75], [0.5])), PAIR),
            relayed(wire(embeddings([0.5, 0.25])), wire(embeddings([0.5])), EMBED),
            relayed(
                wire(embeddings([0.5], [0.25])), wire(embeddings([0.25], [0.5])), ask("embeddings", input=["a", "b"])
            ),
        ),
    ),
    "relay.items.kept": Example(
        (
            relayed(SEARCHED, SEARCHED, SEARCHING),
            relayed(THOUGHT, THOUGHT, THINKING),
            relayed(response_events(DRAWN), response_events(DRAWN), DRAWING),
        ),
        (
            relayed(SEARCHED, wire(response()), SEARCHING),
            relayed(THOUGHT, wire(response()), THINKING),
            relayed(THOUGHT, items({"type": "reasoning", "id": "rs_1", "summary": []}), THINKING),
            relayed(items(DRAWN), items({**DRAWN, "result": ""}), DRAWING.with_(stream=False)),
            relayed(response_events(DRAWN), response_events(), DRAWING),
        ),
    ),
    "relay.status.own-key": Example(
        (relayed(REFUSED_KEY, BAD_GATEWAY), relayed(REFUSED_KEY, REFUSED_KEY)),
        (relayed(REFUSED_KEY, wire(FAILED, status=500)),),
    ),
    "relay.status.kept": Example(
        (
            relayed(LIMIT, LIMIT),
            relayed(LIMIT, wire(FAILED, status=503)),
            relayed(wire(FAILED, status=500), BAD_GATEWAY),
            relayed(wire(error("Bad."), status=400), wire(error("Bad."), status=422)),
            relayed(wire(status=0, end="reset"), BAD_GATEWAY),
            relayed(wire(status=0, end="stall"), wire(error("The upstream timed out."), status=408)),
            unreachable(wire(FAILED, status=503)),
        ),
        (
            relayed(wire(status=0, end="reset"), wire(error("Bad."), status=400)),
            relayed(wire(status=0, end="stall"), wire(error("No such model."), status=404)),
            unreachable(wire(error("Bad."), status=400)),
            relayed(wire(error("Bad."), status=400), BAD_GATEWAY),
            relayed(LIMIT, wire(FAILED, status=500)),
            relayed(wire(FAILED, status=500), wire(error("Bad."), status=400)),
            relayed(wire(error("No."), status=401), wire(chat("No."))),
        ),
    ),
    "relay.error.reason-kept": Example(
        (
            relayed(
                wire(error("Invalid value for temperature."), status=400),
                wire(error("OpenAI: Invalid value for temperature."), status=400),
            ),
        ),
        (relayed(wire(error("Invalid value for temperature."), status=400), wire(error("Bad request."), status=400)),),
    ),
    "relay.error.kind-kept": Example(
        (
            relayed(BROKEN_OFF, BROKEN_OFF, STREAM),
            relayed(
                BROKEN_OFF, wire(stream(opening(), chunk("One "), error("Too many requests."), done=False)), STREAM
            ),
            relayed(LIMIT, wire(stream(LIMITED, done=False)), STREAM),
            relayed((wire(LONG, status=400), LIMIT), wire(stream(LONG, done=False)), STREAM),
        ),
        (
            relayed(BROKEN_OFF, TOLD, STREAM),
            relayed(BROKEN_OFF, wire(stream(opening(), chunk("One "), done=False), end="close"), STREAM),
            relayed(LIMIT, wire(stream(FAILED, done=False)), STREAM),
            relayed((wire(LONG, status=400), LIMIT), wire(stream(FAILED, done=False)), STREAM),
        ),
    ),
    "relay.error.code-kept": Example(
        (relayed(wire(LONG, status=400), wire(LONG, status=400)),),
        (relayed(wire(LONG, status=400), wire(error("Too long."), status=400)),),
    ),
}


def dealt(*attempts: Try) -> Capture:
    """A pool of which the keys and the models are known."""
    assigned = tuple((name, f"sk-up-{name}", f"big-{name}") for name in ("m0", "m1"))
    return knowing(capture(ask(), OK, attempts), terms={"assigned": assigned})


TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
OK = wire(chat())
USER_ITEM = {"role": "user", "content": "cf-q8w3zd"}
HISTORY: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "cf-q8w3zd"},
    {"role": "assistant", "content": None, "tool_calls": [call(None, id="c", name="f", arguments="{}")]},
    {"role": "tool", "tool_call_id": "c", "content": "r"},
]
REFUSES = wire(error("Unrecognized request argument supplied: stream_options"), status=400)


def sent(asked: dict[str, Any], *members: dict[str, Any], reply: Any = OK) -> Capture:
    """A request with the members `asked`, and what each member was asked for."""
    tries = [Try(OK, f"m{n}", 2.0 + n, ask(model="up-model", **item)) for n, item in enumerate(members)]
    return capture(ask(**asked), reply, tries)


LOOKUP = {"name": "lookup", "parameters": {"type": "object", "properties": {}}}
AS_TOOL = {"type": "function", "function": {**LOOKUP, "strict": False}}
CHOSEN = {"functions": [LOOKUP], "function_call": {"name": "lookup"}}


def spoiled(asked: dict[str, Any], up: dict[str, Any], answer: Any, reply: Any) -> Capture:
    """A request whose member answered `answer`."""
    return capture(ask(**asked), reply, Try(answer, request=ask(model="up-model", **up)))


def turns(*messages: dict[str, Any], reply: Any = OK) -> Capture:
    """The history, and the messages that the member got instead, with its answer, which is passed on."""
    return spoiled({"messages": HISTORY}, {"messages": list(messages)}, reply, reply)


def thought(asked: dict[str, Any], sent: dict[str, Any]) -> Capture:
    """The history with members in its tool turn, and with those that the member got."""
    both = [[*HISTORY[:2], {**HISTORY[2], **more}, HISTORY[3]] for more in (asked, sent)]
    return spoiled({"messages": both[0]}, {"messages": both[1]}, OK, OK)


SEALED = [{"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAAtest"}, USER_ITEM]


def sent_items(*asked: dict[str, Any], sent: list[dict[str, Any]]) -> Capture:
    """A Responses request of those items, and the items that the member was sent."""
    upstream = Try(wire(response()), request=ask("responses", model="up-model", input=sent))
    return capture(ask("responses", input=list(asked)), wire(response()), upstream)


_WITHOUT_CONTENT = (*HISTORY[:2], {"role": "assistant", "tool_calls": HISTORY[2]["tool_calls"]}, HISTORY[3])


EXAMPLES |= {
    "relay.request.fields": Example(
        (
            sent({"stop": ["END"], "max_tokens": 7}, {"stop": "END", "max_completion_tokens": 7}),
            sent({"temperature": 0, "seed": 7, "tools": [TOOL]}, {"temperature": 0.0, "seed": 7, "tools": [TOOL]}),
            sent({"functions": [TOOL["function"]]}, {"tools": [TOOL]}),
        ),
        (
            sent({"stop": ["END"]}, {}),
            sent({"max_tokens": 7}, {"max_tokens": 70}),
            sent({"max_tokens": 9, "max_completion_tokens": 7}, {"max_tokens": 9}),
            sent({"tools": [TOOL]}, {"tools": []}),
            sent({"temperature": 0}, {"temperature": 0}, {}),
        ),
    ),
    "relay.request.key": Example(
        (dealt(Try(OK, key="sk-up-m0")), dealt(Try(OK, key=CLIENT_KEY)), dealt(Try(OK, key=""))),
        (
            dealt(Try(BAD_GATEWAY, key="sk-up-m0"), Try(OK, "m1", 9.0, key="sk-up-m0")),
            dealt(Try(OK, key="sk-up-elsewhere")),
        ),
    ),
    "relay.request.model": Example(
        (
            dealt(Try(OK, key="sk-up-m0", request=ask(model="big-m0"))),
            dealt(Try(OK, key="sk-up-m0", request=ask(model="alias-1"))),
        ),
        (
            dealt(Try(BAD_GATEWAY), Try(OK, "m1", 9.0, request=ask(model="big-m0"))),
            dealt(Try(OK, request=ask(model="big-m7"))),
        ),
    ),
    "relay.request.messages": Example(
        (
            turns(*HISTORY),
            turns({"role": "developer", "content": "Be brief."}, *HISTORY[1:]),
            turns({"role": "system", "content": "More."}, *HISTORY),
            turns(*_WITHOUT_CONTENT),
        ),
        (
            turns(*HISTORY[1:]),
            turns(HISTORY[0], HISTORY[2], HISTORY[1], HISTORY[3]),
            turns(*_WITHOUT_CONTENT, reply=wire(error("message[2].content is required"), status=400)),
            turns(*HISTORY[:2], {"role": "assistant", "content": None}, HISTORY[3]),
            turns(HISTORY[0], {"role": "user", "content": "cf-q8w3"}, *HISTORY[2:]),
        ),
    ),
    "relay.request.accepted": Example(
        (
            knowing(capture(ask(top_p=0), OK, Try(OK)), terms={"request_valid": True}),
            knowing(capture(ask(top_p=0), wire(LIMITED, status=429), ()), terms={"request_valid": True}),
        ),
        (
            knowing(
                capture(ask(top_p=0), wire(error("top_p must be > 0."), status=400), ()), terms={"request_valid": True}
            ),
        ),
    ),
    "relay.request.null-content": Example(
        (turns(*HISTORY), turns(*HISTORY[:2], {**HISTORY[2], "content": ""}, HISTORY[3])),
        (turns(*_WITHOUT_CONTENT),),
    ),
    "relay.request.thoughts": Example(
        (
            thought({"reasoning_content": "Hm."}, {"reasoning_content": "Hm."}),
            thought({"reasoning_content": "Hm."}, {"reasoning": "Hm."}),
            sent_items(*SEALED, sent=SEALED),
        ),
        (thought({"reasoning_content": "Hm."}, {}), sent_items(*SEALED, sent=SEALED[1:])),
    ),
    "relay.request.nothing-added": Example(
        (
            sent({}, {"user": "u-1"}),
            sent({}, {}),
            # Deprecated parameters under the names that replaced them.
            sent({"functions": [LOOKUP]}, {"tools": [AS_TOOL], "tool_choice": "auto", "parallel_tool_calls": False}),
            sent(CHOSEN, {"tools": [AS_TOOL], "tool_choice": {"type": "function", "function": {"name": "lookup"}}}),
            sent({"functions": [LOOKUP], "function_call": "none"}, {"tools": [AS_TOOL], "tool_choice": "none"}),
            sent({"max_tokens": 7}, {"max_completion_tokens": 7}),
            sent({"user": "u-1"}, {"prompt_cache_key": "u-1", "safety_identifier": "u-1"}),
        ),
        (
            sent({}, {"dry_multiplier": 0.8}),
            sent({}, {"reasoning_effort": "high"}),
            sent({}, {"tools": [AS_TOOL]}),
            sent({"functions": [LOOKUP]}, {"tools": [AS_TOOL, AS_TOOL]}),
            sent({"functions": [LOOKUP]}, {"tools": [{"type": "function", "function": {"name": "other"}}]}),
            sent({"functions": [LOOKUP]}, {"tools": [AS_TOOL], "tool_choice": "required"}),
            sent(CHOSEN, {"tools": [AS_TOOL], "tool_choice": "none"}),
            sent({"user": "u-1"}, {"prompt_cache_key": "gw-7"}),
        ),
    ),
    "relay.request.defaults": Example(
        (
            sent({}, {}),
            sent({}, {"temperature": 1.0, "n": 1, "stop": None}),
            sent({"max_tokens": 7}, {"max_completion_tokens": 7}),
            sent({"functions": [LOOKUP]}, {"tools": [AS_TOOL], "parallel_tool_calls": False}),
        ),
        (
            sent({}, {"parallel_tool_calls": False}),
            sent({}, {"max_tokens": 256}),
            sent({}, {"temperature": 0.7}),
            sent({}, {"n": 2}),
        ),
    ),
    "relay.request.not-spoiled": Example(
        (
            spoiled(
                {}, {"user": "u-1"}, wire(error("Bad message."), status=400), wire(error("Bad message."), status=400)
            ),
            spoiled(
                {}, {"store": True}, wire(error("messages is too short"), status=422), wire(error("x"), status=400)
            ),
        ),
        (
            spoiled({}, {"stream_options": {"include_usage": True}}, REFUSES, REFUSES),
            spoiled(
                {},
                {"user": "u-1"},
                wire(error("Extra inputs are not permitted", param="user"), status=422),
                wire(error("x"), status=400),
            ),
        ),
    ),
}
