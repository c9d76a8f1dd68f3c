"""Defects of what an answer holds: deltas that are no increments, tokens without words, and how these are counted."""

from __future__ import annotations

from conformance.reference.behaviour import Behaviour
from conformance.reference.call import Call, Operation
from conformance.reference.defects.entry import defect
from conformance.reference.defects.hooks import Doc, each_choice, each_reply, each_stream_choice, without


def _so_far(chunks: list[Doc], call: Call) -> list[Doc]:
    """Each delta is the whole text so far."""
    texts: dict[int, str] = call.memo.setdefault("so far", {})
    for chunk in chunks if call.operation is Operation.CHAT else ():
        for choice in chunk.get("choices", ()):
            piece = choice["delta"].get("content")
            if isinstance(piece, str) and piece and not choice.get("logprobs"):
                texts[choice["index"]] = texts.get(choice["index"], "") + piece
                choice["delta"]["content"] = texts[choice["index"]]
    return chunks


def _mute(choice: Doc) -> None:
    if choice["finish_reason"] == "stop":
        choice["message"]["content"] = ""


def _uncounted(doc: Doc) -> None:
    if doc.get("usage"):
        doc["usage"] = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}


def _told_whole(choice: Doc) -> None:
    """An answer of text that the bound cut stopped by itself."""
    if choice["finish_reason"] == "length" and choice["message"].get("content"):
        choice["finish_reason"] = "stop"


def _called_whole(choice: Doc) -> None:
    """A call that the bound cut is a call."""
    if choice["finish_reason"] == "length" and choice["message"].get("tool_calls"):
        choice["finish_reason"] = "tool_calls"


def _scores(choice: Doc) -> list[Doc]:
    content = (choice.get("logprobs") or {}).get("content")
    return content if isinstance(content, list) else []


def _first_score(choice: Doc) -> None:
    del _scores(choice)[1:]


def _probabilities(choice: Doc) -> None:
    for token in _scores(choice):
        token["logprob"] = 0.9


def _first_index(choice: Doc) -> None:
    choice["index"] = 0


def _chat_scores(choice: Doc) -> None:
    """Log probabilities of a legacy completion have the chat form."""
    found = choice.get("logprobs")
    if found:
        pairs = zip(found["tokens"], found["token_logprobs"], strict=True)
        content = [{"token": token, "logprob": number, "bytes": None, "top_logprobs": []} for token, number in pairs]
        choice["logprobs"] = {"content": content, "refusal": None}


def _marked(choice: Doc) -> None:
    """The mark that ends the turn is left in the text."""
    text = choice["message"].get("content")
    if isinstance(text, str) and text.endswith("."):
        choice["message"]["content"] += "<|im_end|>"


def _thought_twice(choice: Doc) -> None:
    thought = choice["delta"].get("reasoning_content")
    if isinstance(thought, str):
        choice["delta"]["reasoning_content"] = thought * 2


def _thoughtless(choice: Doc) -> None:
    choice["delta"].pop("reasoning_content", None)


TABLE = (
    # QwenLM/qwen-code#3896
    defect(
        "stream-text-so-far",
        "Each delta of a stream holds the whole text so far",
        "stream.text.incremental relay.text.equal",
        Behaviour(chunks=_so_far),
    ),
    # QuantumNous/new-api#2469
    defect(
        "chat-answer-lost",
        "An answer that stopped comes without its text, and with its tokens counted",
        "chat.output.present relay.text.equal",
        Behaviour(doc=each_choice(_mute)),
    ),
    # BerriAI/litellm#8349
    defect(
        "usage-of-zeros",
        "The usage of a chat completion is all zeros",
        "usage.counted relay.usage.kept",
        Behaviour(doc=each_reply(_uncounted)),
    ),
    # simonw/llm#1698
    defect(
        "usage-left-out",
        "A chat completion has no usage",
        "usage.present relay.usage.kept",
        Behaviour(doc=each_reply(without("usage"))),
    ),
    # jundot/omlx#2817
    defect(
        "length-told-as-stop",
        "A text that the bound cut is told as finished",
        "bounds.cap.told relay.reason.kept",
        Behaviour(doc=each_choice(_told_whole)),
    ),
    # earendil-works/pi#8501
    defect(
        "cut-call-told-as-call",
        "A call that the bound cut in its arguments is told as finished",
        "bounds.cap.open bounds.cap.told tool.arguments.json relay.reason.kept",
        Behaviour(doc=each_choice(_called_whole)),
    ),
    # oobabooga/textgen#5339
    defect(
        "logprobs-of-the-first-token",
        "Only the first token has a log probability",
        "logprobs.text relay.logprobs.kept",
        Behaviour(doc=each_choice(_first_score)),
        "baseline.logprobs",
    ),
    defect(
        "logprobs-as-probabilities",
        "Log probabilities are told as probabilities",
        "logprobs.negative relay.logprobs.kept",
        Behaviour(doc=each_choice(_probabilities)),
        "baseline.logprobs",
    ),
    # InternLM/lmdeploy#2395
    defect(
        "completion-indexes-alike",
        "Every choice of a legacy completion has the index 0",
        "completion.index relay.text.equal relay.reason.kept",
        Behaviour(doc=each_choice(_first_index, Operation.COMPLETIONS)),
    ),
    # ggml-org/llama.cpp#11346
    defect(
        "completion-logprobs-in-chat-form",
        "Log probabilities of a legacy completion have the chat form",
        "completion.logprobs.shape",
        Behaviour(doc=each_choice(_chat_scores, Operation.COMPLETIONS)),
        "completions.logprobs",
    ),
    # ModelTC/LightLLM#130
    defect(
        "chat-end-token-in-text",
        "The token that ends a turn stands in the text",
        "chat.text.no-control-tokens relay.text.equal",
        Behaviour(doc=each_choice(_marked)),
    ),
    defect(
        "reasoning-doubled",
        "Each piece of a member's reasoning is told twice",
        "relay.reasoning.once",
        Behaviour(chunks=each_stream_choice(_thought_twice)),
    ),
    # BerriAI/litellm#8799
    defect(
        "reasoning-dropped",
        "A member's reasoning is not passed on",
        "relay.reasoning.kept",
        Behaviour(chunks=each_stream_choice(_thoughtless)),
    ),
)
