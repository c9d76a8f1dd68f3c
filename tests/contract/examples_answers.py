"""Examples of the clauses on what an answer holds: increments, words for tokens, counters, ends and scores."""

from __future__ import annotations

import base64
import struct
from typing import Any

from tests.contract.captures import (
    USAGE,
    Ask,
    Capture,
    Try,
    ask,
    call,
    capture,
    chat,
    chunk,
    completion,
    embeddings,
    error,
    opening,
    stream,
    usage_chunk,
    wire,
    words,
)
from tests.contract.example import Example, Examples
from tests.contract.responding import message, response, said, used

STREAM = ask(stream=True)
METERED = ask(stream=True, stream_options={"include_usage": True})
LEGACY = ask("completions")
SO_FAR = words("Hello", "Hello there", "Hello there, friend", "Hello there, friend.")
AGAIN = words("The quick", " brown fox", " jumps", "The quick brown fox jumps", " over.")
TWICE = words(*(piece for piece in ("Hello", " there", ", my", " friend", ".") for _ in range(2)))
THOUGHT_SO_FAR = [
    opening(),
    *(chunk(delta={"reasoning_content": text}) for text in ("The user", "The user wants", "The user wants a greeting")),
    *words("Hi.")[1:],
]
UP = ask(model="up-model")


def tokens(prompt: int, given: int, **more: Any) -> dict[str, Any]:
    """A usage of so many tokens."""
    return {"prompt_tokens": prompt, "completion_tokens": given, "total_tokens": prompt + given, **more}


def events(*items: Any, asked: Ask = STREAM, upstream: Any = None) -> Capture:
    """A stream of those chunks."""
    return capture(asked, wire(stream(*items)), upstream)


def answer(content: Any = "Hello.", asked: Ask | None = None, upstream: Any = None, **more: Any) -> Capture:
    """A chat completion."""
    return capture(asked or ask(), wire(chat(content, **more)), upstream)


def calls(arguments: str, reason: str, given: int) -> dict[str, Any]:
    """A chat completion that calls a function, of so many tokens."""
    one = call(None, id="call_1", name="read", arguments=arguments)
    return chat(None, reason, message={"tool_calls": [one]}, usage=tokens(9, given))


def respond(status: str, cap: int = 16, **more: Any) -> Capture:
    """A response of sixteen tokens."""
    details = {"incomplete_details": {"reason": "max_output_tokens"}} if status == "incomplete" else {}
    given = response(status=status, usage=used(9, 16), **details, **more)
    return capture(ask("responses", max_output_tokens=cap), wire(given))


SHORT = ask(max_tokens=16)
JSON = ask(max_tokens=16, response_format={"type": "json_object"})
FULL = {"usage": tokens(9, 16)}
SPENT = {"usage": tokens(9, 60)}
MUTE = chat("", **SPENT)
ZERO = chat(usage=tokens(0, 0))
OPEN = calls('{"path": "/tmp', "tool_calls", 16)


def scores(*texts: str, top: int = 0, number: float = -0.1) -> dict[str, Any]:
    """Log probabilities of those tokens, each with its alternatives."""
    found = [{"token": text, "logprob": number, "bytes": list(text.encode())} for text in texts]
    return {"content": [{**one, "top_logprobs": [one] * top} for one in found], "refusal": None}


SCORED = ask(logprobs=True, top_logprobs=2)
SCORED_STREAM = ask(logprobs=True, top_logprobs=2, stream=True)
LISTS = {"tokens": ["Hel", "lo."], "token_logprobs": [None, -0.1], "top_logprobs": None, "text_offset": [0, 3]}


def scored(*texts: str, asked: Ask = SCORED, upstream: Any = None, **how: Any) -> Capture:
    """A greeting with the log probabilities of those tokens."""
    return answer(asked=asked, upstream=upstream, choice={"logprobs": scores(*texts, **how)})


def listed(**members: Any) -> Capture:
    """A legacy completion with log probabilities."""
    return capture(ask("completions", logprobs=1), wire(completion(choice={"logprobs": {**LISTS, **members}})))


def thinking(thought: str, told: str | None = "") -> Capture:
    """What the client gets of a member's thoughts: the same, others, or none."""
    mine = thought if told == "" else told
    shown = {} if mine is None else {"reasoning_content": mine}
    return capture(ask(), wire(chat(message=shown)), wire(chat(message={"reasoning_content": thought})))


def encoded(form: str, *values: float) -> str:
    """Numbers as base64, in the form of `struct`."""
    return base64.b64encode(b"".join(struct.pack(form, value) for value in values)).decode()


def embedded(vector: Any, upstream: Any = None) -> Capture:
    """An embeddings reply of one vector."""
    return capture(ask("embeddings"), wire(embeddings(vector)), upstream)


def numbered(*indexes: Any) -> Capture:
    """A legacy completion of choices with those indexes."""
    one = completion()["choices"][0]
    choices = [{**one, "index": index} for index in indexes]
    return capture(ask("completions", n=len(indexes)), wire(completion(choices=choices)))


EXAMPLES: Examples = {
    "stream.text.incremental": Example(
        (
            events(*words("Hello", " there", ".")),
            events(*words("ha", "ha", "ha", "ha", "ha", "ha", "ha", "ha", "ha", "ha")),
            events(*words("la ", "la la ", "la la la ", "la la la la ")),
            events(*words("A line of it.\n", "A line of it.\n")),
            events(*words(*"aabbccddeeff")),
            events(*SO_FAR, upstream=wire(stream(*SO_FAR))),
        ),
        (
            events(*SO_FAR),
            events(*AGAIN),
            events(*TWICE),
            events(*THOUGHT_SO_FAR),
            events(*SO_FAR, upstream=wire(stream(*words("Hello", " there", ", friend", ".")))),
        ),
    ),
    "chat.output.present": Example(
        (
            answer(**SPENT),
            answer(None, **SPENT, message={"audio": {"id": "a", "data": "AA=="}}),
            answer(None, **SPENT, message={"images": [{"type": "image_url"}]}),
            answer("", **SPENT, message={"reasoning_content": "Hm."}),
            capture(ask(), wire(MUTE), wire(MUTE)),
        ),
        (
            answer("", **SPENT),
            answer(None, **SPENT),
            events(*words("", ""), usage_chunk(tokens(9, 60)), asked=METERED),
            capture(ask(), wire(MUTE), wire(chat(**SPENT))),
        ),
    ),
    "usage.counted": Example(
        (
            answer(),
            events(*words("Hi"), usage_chunk(), asked=METERED),
            capture(ask("embeddings"), wire(embeddings([0.5]))),
            capture(ask("completions", prompt=""), wire(completion(usage=tokens(0, 2)))),
            capture(ask("responses"), wire(response())),
            capture(ask(), wire(ZERO), wire(ZERO)),
        ),
        (
            capture(ask(), wire(ZERO)),
            answer(usage=tokens(9, 0)),
            answer(usage=tokens(0, 2)),
            events(*words("Hi"), usage_chunk(tokens(0, 2)), asked=METERED),
            capture(ask("responses"), wire(response(usage=used(0, 0)))),
            capture(ask("embeddings"), wire(embeddings([0.5], usage={"prompt_tokens": 0, "total_tokens": 0}))),
            capture(ask(), wire(ZERO), wire(chat())),
        ),
    ),
    "usage.present": Example(
        (answer(), capture(LEGACY, wire(completion())), capture(ask("responses"), wire(response()))),
        (
            answer(usage=None),
            capture(LEGACY, wire({name: value for name, value in completion().items() if name != "usage"})),
            capture(ask("responses"), wire(response(usage=None))),
            answer(usage=None, upstream=wire(chat())),
        ),
    ),
    "bounds.cap.told": Example(
        (
            answer(asked=SHORT, reason="length", **FULL),
            answer(asked=SHORT),
            respond("incomplete"),
            answer(asked=SHORT, upstream=Try(wire(chat(**FULL)), request=UP.with_(max_tokens=16)), **FULL),
        ),
        (
            answer(asked=SHORT, **FULL),
            answer(asked=SHORT, upstream=Try(wire(chat(**FULL)), request=UP), **FULL),
            events(*words("Hi"), usage_chunk(tokens(9, 16)), asked=METERED.with_(max_completion_tokens=16)),
            respond("completed"),
            capture(ask("completions", max_tokens=16), wire(completion(**FULL))),
        ),
    ),
    "bounds.cap.open": Example(
        (
            capture(SHORT, wire(calls('{"path": "/tmp', "length", 16))),
            capture(SHORT, wire(calls('{"path": "/tmp"}', "tool_calls", 16))),
            capture(SHORT, wire(calls('{"path": "/tmp', "tool_calls", 12))),
            answer('{"a": "}', asked=SHORT, **FULL),
            capture(SHORT, wire(OPEN), Try(wire(OPEN), request=UP.with_(max_tokens=16))),
        ),
        (
            capture(SHORT, wire(OPEN)),
            answer('{"a": ["]}', asked=JSON, **FULL),
            respond(
                "completed",
                output=[{"type": "function_call", "id": "f", "call_id": "c", "name": "read", "arguments": '{"path": '}],
            ),
            capture(
                SHORT, wire(OPEN), Try(wire(calls('{"path": "/tmp', "length", 16)), request=UP.with_(max_tokens=16))
            ),
        ),
    ),
    "logprobs.text": Example(
        (
            scored("Hel", "lo."),
            scored(" Hello", ".", "<|end|>"),
            scored("Hi", upstream=wire(chat(choice={"logprobs": scores("Hi")}))),
        ),
        (
            scored("Hel"),
            scored("Bye."),
            scored(),
            capture(
                SCORED_STREAM,
                wire(
                    stream(
                        opening(),
                        chunk("Hel"),
                        chunk("lo.", choice={"logprobs": scores("lo.")}),
                        chunk(reason="stop"),
                    )
                ),
            ),
        ),
    ),
    "logprobs.top": Example(
        (scored("Hello."[:3], "lo.", top=2), scored("Hello.", top=1)),
        (scored("Hello."), scored("Hello.", upstream=wire(chat(choice={"logprobs": scores("Hello.", top=2)})))),
    ),
    "chat.text.no-control-tokens": Example(
        (
            answer(),
            answer("It is `<|im_end|>` in ChatML."),
            answer("<s>not this</s>"),
            answer("It is <|im_end|>.", asked=ask(messages=[{"role": "user", "content": "What is <|im_end|>?"}])),
            answer("Hello.<|im_end|>", upstream=wire(chat("Hello.<|im_end|>"))),
        ),
        (
            answer("Hello.<|im_end|>"),
            answer("Hello.</s>"),
            answer("<|channel|>analysis<|message|>Hm.<|end|>"),
            answer("Hello.<end_of_turn>\n"),
            events(*words("Hello.", "<|eot", "_id|>")),
            answer("Hello.<|im_end|>", upstream=wire(chat())),
        ),
    ),
    "relay.reasoning.once": Example(
        (thinking("Hm, yes."), thinking("Hm, yes.", "Hm, "), thinking("Hm.", "Hm.Hm.Hm.")),
        (thinking("Hm, yes.", "Hm, yes.Hm, yes."), thinking("Hm, yes.", "Hm, Hm, yes.yes.")),
    ),
    "relay.reasoning.kept": Example(
        (
            thinking("Hm, yes."),
            thinking("Hm, yes.", "Hm, yes.Hm, yes."),
            capture(
                ask(),
                wire(chat(message={"reasoning": "Hm."})),
                wire(chat(message={"reasoning_content": "Hm."})),
            ),
        ),
        (thinking("Hm, yes.", None), thinking("Hm, yes.", "Hm")),
    ),
    "embeddings.direction": Example(
        (embedded([0.0, 0.5]), embedded([0.0, 0.0], upstream=wire(embeddings([0.0, 0.0])))),
        (embedded([0.0, 0.0]), embedded([0.0], upstream=wire(embeddings([0.5]))), embedded(encoded("<f", 0.0, 0.0))),
    ),
    "embeddings.float32": Example(
        (
            embedded(encoded("<f", 0.6, 0.8)),
            embedded(encoded("<f", 6.0, 8.0)),
            embedded(encoded("<d", 6.0, 8.0)),
            embedded(encoded("<d", 0.6, 0.8), upstream=wire(embeddings(encoded("<d", 0.6, 0.8)))),
        ),
        (embedded(encoded("<d", 0.6, 0.8)), embedded(encoded(">f", 0.6, 0.8))),
    ),
    "logprobs.negative": Example(
        (scored("Hello."), scored("Hello.", number=0), scored("Hello.", number=-9999.0)),
        (scored("Hello.", number=0.9), scored("Hello.", asked=ask(logprobs=True), number=4)),
    ),
    "completion.index": Example((numbered(0), numbered(0, 1), numbered(1, 0)), (numbered(0, 0), numbered(1, 2))),
    "completion.logprobs.shape": Example(
        (listed(), listed(top_logprobs=[{"Hel": -0.1}]), listed(text_offset=[])),
        (
            capture(LEGACY, wire(completion(choice={"logprobs": scores("Hello.")}))),
            listed(token_logprobs=[-0.1]),
            listed(text_offset=[0, 3, 5]),
        ),
    ),
}

#: Right answers that look like wrong ones: nothing that gates may be violated on any of them.
ODD: dict[str, Capture] = {
    "a song whose lines repeat": events(*words(*(["Row, row, row your boat\n"] * 6))),
    "a refrain in one write": events(*words("Let it be, ", "let it be.", "\n", "Let it be, let it be.\n", " Amen.")),
    "a count, digit by digit": events(*words("1", "12", "123", "1234", "12345")),
    "a word that is spelled": events(*words(*(letter for letter in "aabbccddee"))),
    "each token twice, with blanks": events(*words(" very", " very", " much", " much", " so", " so")),
    "a stream that says nothing": events(*words()),
    "another choice says the same": events(
        *(chunk("Hello there, friend.", choice={"index": n}) for n in (0, 1)),
        *(chunk(reason="stop", choice={"index": n}) for n in (0, 1)),
        asked=ask(stream=True, n=2),
    ),
    "the stop text was the first token": answer("", asked=ask(stop=["\n"]), usage=tokens(9, 60)),
    "a prediction that was not kept": answer(
        "", asked=ask(prediction={"type": "content", "content": "x"}), usage=tokens(9, 60)
    ),
    "thoughts alone": answer("", usage=tokens(9, 60, completion_tokens_details={"reasoning_tokens": 60})),
    "an empty answer of one token": answer("", usage=tokens(9, 1)),
    "an answer of a filter": answer("", reason="content_filter", usage=tokens(9, 60)),
    "thoughts up to the bound": answer("", asked=SHORT, reason="length", usage=tokens(9, 16)),
    "the end right at the bound": answer(asked=SHORT, usage=tokens(9, 16)),
    "no usage": answer(usage=None),
    "a member that did not count": capture(
        ask(), wire(ZERO), wire(chat(usage={"prompt_tokens": None, "completion_tokens": None}))
    ),
    "an older answer that costs nothing": capture(ask(), wire(ZERO), ()),
    "an echo, and nothing more": capture(
        ask("completions", prompt="cf-q8w3zd", echo=True, max_tokens=0),
        wire(completion("cf-q8w3zd", "length", usage=tokens(4, 0))),
    ),
    "a count of nothing said": answer("", usage=tokens(9, 0)),
    "running totals": events(
        *({**item, "usage": tokens(9, n)} for n, item in enumerate(words("Hello", " there."))),
        asked=ask(stream=True, stream_options={"continuous_usage_stats": True}),
    ),
    "an error beside a usage of zeros": capture(ask(), wire({**error(), "usage": tokens(0, 0)}, status=400)),
    "a legacy prompt of tokens": capture(ask("completions", prompt=[1, 2]), wire(completion(usage=tokens(0, 2)))),
    "two choices up to the bound": capture(
        ask(max_tokens=16, n=2),
        wire(
            chat(
                choices=[
                    {"index": n, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}
                    for n in (0, 1)
                ],
                usage=tokens(9, 16),
            )
        ),
    ),
    "a call without arguments up to the bound": capture(SHORT, wire(calls("", "tool_calls", 16))),
    "a bound that the member refused": answer(
        asked=SHORT,
        usage=tokens(9, 16),
        upstream=(
            Try(wire(error("Unknown parameter: 'max_tokens'.", param="max_tokens"), status=400), request=SHORT),
            Try(wire(chat(usage=tokens(9, 16))), "m0", 30.0, ask(model="up-model")),
        ),
    ),
    "a character of two tokens": answer(
        "é!",
        asked=SCORED,
        choice={
            "logprobs": {
                "content": [
                    {"token": "\\xc3", "logprob": -0.1, "bytes": [195], "top_logprobs": []},
                    {"token": "\\xa9", "logprob": -0.1, "bytes": [169], "top_logprobs": []},
                    {"token": "!", "logprob": -0.1, "bytes": [33], "top_logprobs": []},
                ],
                "refusal": None,
            }
        },
    ),
    "choices in another order": numbered(2, 0, 1),
    "an item that is added with its name alone": capture(
        ask("responses", stream=True), wire(stream(*said("Hello", "."), done=False))
    ),
    "an incomplete item of a completed response": capture(
        ask("responses"), wire(response(output=[message(status="incomplete")]))
    ),
    "usage of a queued response": capture(
        ask("responses", background=True), wire(response(status="queued", output=[], usage=None))
    ),
    "reasoning that was not wanted": capture(
        ask(reasoning={"exclude": True}), wire(chat()), wire(chat(message={"reasoning_content": "Hm."}))
    ),
    "an empty text's vector of zeros": capture(ask("embeddings", input=""), wire(embeddings([0.0, 0.0]))),
    "a usage that the member lacks": answer(usage=USAGE, upstream=wire(chat(usage=None))),
}
