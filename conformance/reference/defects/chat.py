"""Defects of whole chat completions: the object, its choices, the message."""

from __future__ import annotations

from conformance.reference.behaviour import Behaviour
from conformance.reference.defects.entry import defect
from conformance.reference.defects.hooks import Doc, each_choice, each_reply, put, without
from conformance.reference.steps import Step


def _quarter(doc: Doc) -> None:
    doc["created"] += 0.25


def _same_index(choice: Doc) -> None:
    choice["index"] = 0


def _doubled(doc: Doc) -> None:
    """The calls, or else the whole answer, come again in a choice of their own."""
    doc["choices"].append(doc["choices"][0] | {"index": len(doc["choices"])})


def _no_content(choice: Doc) -> None:
    if not choice["message"].get("content"):
        choice["message"].pop("content", None)


def _null_content(choice: Doc) -> None:
    if not choice["message"].get("content"):
        choice["message"]["content"] = None


def _part(choice: Doc) -> None:
    text = choice["message"].get("content")
    if text:
        choice["message"]["content"] = [{"type": "text", "text": text}]


def _thought(choice: Doc) -> None:
    message = choice["message"]
    if message.get("content"):
        message["reasoning_content"], message["content"] = message["content"], ""


def _null_calls(choice: Doc) -> None:
    choice["message"].setdefault("tool_calls", None)


def _shouted(choice: Doc) -> None:
    choice["finish_reason"] = choice["finish_reason"].upper()


def _legacy(choice: Doc) -> None:
    tokens = (choice.get("logprobs") or {}).get("content") or ()
    if tokens:
        numbers = [token["logprob"] for token in tokens]
        choice["logprobs"] = {"tokens": [token["token"] for token in tokens], "token_logprobs": numbers}


def _model_role(choice: Doc) -> None:
    choice["message"]["role"] = "model"


TABLE = (
    # pydantic/pydantic-ai#2499
    defect(
        "reply-tier-of-the-provider",
        "A chat completion has a service_tier that the API does not know",
        "chat.service-tier",
        Behaviour(doc=each_reply(put("service_tier", "standard"))),
    ),
    defect(
        "reply-fingerprint-number",
        "A chat completion's system_fingerprint is a number",
        "chat.shape",
        Behaviour(doc=each_reply(put("system_fingerprint", 17))),
    ),
    # QwenLM/qwen-code#9884
    defect(
        "reply-object-of-a-chunk",
        "A chat completion's object is that of a chunk",
        "chat.object",
        Behaviour(doc=each_reply(put("object", "chat.completion.chunk"))),
    ),
    defect(
        "reply-id-missing",
        "A chat completion has no id",
        "chat.id",
        Behaviour(doc=each_reply(without("id"))),
    ),
    # mlcommons/modelbench#1287
    defect(
        "reply-created-float",
        "A chat completion's created is a float",
        "chat.created",
        Behaviour(doc=each_reply(_quarter)),
    ),
    defect(
        "reply-model-null",
        "A chat completion's model is null",
        "chat.model",
        Behaviour(doc=each_reply(put("model", None))),
    ),
    defect(
        "reply-without-choices",
        "A success has an empty array of choices",
        "chat.choices.present relay.empty.not-success pool.exhausted.told",
        Behaviour(skip=frozenset({Step.REFUSE_EMPTY_CHOICES})),
    ),
    defect(
        "choices-share-index-0",
        "All choices have the index 0",
        "chat.choices.index relay.text.equal",
        Behaviour(doc=each_choice(_same_index)),
    ),
    defect(
        "choice-too-many",
        "A reply has one choice more than was asked for",
        "chat.choices.count",
        Behaviour(doc=each_reply(_doubled)),
    ),
    defect(
        "message-role-of-the-provider",
        "The message's role is model",
        "chat.message.role",
        Behaviour(doc=each_choice(_model_role)),
    ),
    # incident B: the member left the content out
    defect(
        "content-left-out",
        "A message without text has no content member",
        "chat.message.content-present",
        Behaviour(doc=each_choice(_no_content)),
    ),
    # incident B: the gateway made null of the missing content
    defect(
        "content-null",
        "A message without text has the content null",
        "chat.message.content-string",
        Behaviour(doc=each_choice(_null_content)),
    ),
    # incident B: an object, null and a string across probes
    defect(
        "content-as-it-came",
        "The member's content is passed on whatever its type",
        "chat.message.content-string chat.message.content-present chunk.delta.content-type relay.reasoning.kept",
        Behaviour(skip=frozenset({Step.CONTENT_STRING})),
        "content.null-length content.missing-length",
    ),
    defect(
        "content-in-parts",
        "The message's content is a list of parts",
        "chat.message.content-string",
        Behaviour(doc=each_choice(_part)),
    ),
    # incident B: the whole budget went into hidden reasoning
    defect(
        "answer-in-reasoning",
        "The answer stands in the reasoning, and the content is empty",
        "chat.message.answer-in-content relay.text.equal",
        Behaviour(doc=each_choice(_thought)),
    ),
    defect(
        "message-tool-calls-null",
        "A message without tool calls has tool_calls null",
        "chat.message.optional-not-null",
        Behaviour(doc=each_choice(_null_calls)),
    ),
    # QwenLM/qwen-code#9884
    defect(
        "finish-reason-in-capitals",
        "The finish reason is written in capitals",
        "chat.finish-reason.enum tool.finish-reason tool.arguments.json",
        Behaviour(doc=each_choice(_shouted)),
    ),
    # abetlen/llama-cpp-python#1787
    defect(
        "logprobs-in-legacy-form",
        "Log probabilities come in the legacy form",
        "chat.logprobs.shape relay.logprobs.kept",
        Behaviour(doc=each_choice(_legacy)),
    ),
)
