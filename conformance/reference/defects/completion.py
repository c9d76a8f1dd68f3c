"""Defects of legacy completions."""

from __future__ import annotations

from conformance.reference.behaviour import Behaviour
from conformance.reference.call import Call, Operation
from conformance.reference.defects.entry import defect
from conformance.reference.defects.hooks import Doc, each_choice, each_reply, put

_LEGACY = Operation.COMPLETIONS


def _only_first(doc: Doc) -> None:
    del doc["choices"][1:]


def _as_message(choice: Doc) -> None:
    choice["message"] = {"role": "assistant", "content": choice.pop("text")}


def _native(choice: Doc) -> None:
    if choice["finish_reason"] == "stop":
        choice["finish_reason"] = "eos_token"


def _without_echo(doc: Doc, call: Call) -> Doc:
    """The text that a completion with echo begins with is cut off."""
    prompt = call.doc.get("prompt")
    if call.operation is _LEGACY and call.doc.get("echo") is True and isinstance(prompt, str):
        for choice in doc["choices"]:
            choice["text"] = choice["text"].removeprefix(prompt)
    return doc


TABLE = (
    # raullenchai/Rapid-MLX#733
    defect(
        "completion-echo-cut-off",
        "A completion with echo comes without its prompt",
        "bounds.echo.first relay.text.equal",
        Behaviour(doc=_without_echo),
    ),
    defect(
        "completion-created-text",
        "A legacy completion's created is a text",
        "completion.shape",
        Behaviour(doc=each_reply(put("created", "2026-08-01T00:00:00Z"), _LEGACY)),
    ),
    defect(
        "completion-object-of-chat",
        "A legacy completion's object is chat.completion",
        "completion.object",
        Behaviour(doc=each_reply(put("object", "chat.completion"), _LEGACY)),
    ),
    defect(
        "completion-batch-cut",
        "Of a batch of prompts only the first is answered",
        "completion.choices",
        Behaviour(doc=each_reply(_only_first, _LEGACY)),
    ),
    defect(
        "completion-with-chat-message",
        "A legacy completion's choice holds a message in place of its text",
        "completion.text",
        Behaviour(doc=each_choice(_as_message, _LEGACY)),
    ),
    defect(
        "completion-native-finish-reason",
        "A legacy completion ends with the provider's own word",
        "completion.finish-reason",
        Behaviour(doc=each_choice(_native, _LEGACY)),
    ),
)
