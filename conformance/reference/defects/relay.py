"""Defects of the relay: what a member said is lost, laundered, re-counted or made up on its way to the client."""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Callable
from typing import Any

from conformance.reference.behaviour import Behaviour, ErrorReply
from conformance.reference.call import Call, Operation
from conformance.reference.defects.entry import defect
from conformance.reference.defects.hooks import Doc, each_choice, each_reply, each_stream_choice, put
from conformance.reference.errors import Refused, failed
from conformance.reference.failure import Kind, own_failure
from conformance.reference.steps import Step


def _skipping(*steps: Step) -> Behaviour:
    return Behaviour(skip=frozenset(steps))


def _made_up(doc: Any, call: Call) -> Any:
    """An answer in the gateway's own words where the member gave none."""
    if call.operation is Operation.CHAT and doc["choices"] == []:
        message = {"role": "assistant", "content": "The upstream gave no answer. Please retry.", "refusal": None}
        doc["choices"] = [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}]
    return doc


def _not_empty(doc: Any, call: Call) -> Any:
    """An answer without text is no answer."""
    if call.operation is Operation.CHAT:
        message = doc["choices"][0]["message"]
        if not any(message.get(name) for name in ("content", "tool_calls", "refusal", "reasoning_content")):
            raise Refused(failed(own_failure(Kind.EMPTY, "The upstream returned an empty response.")))
    return doc


def _texts(edit: Callable[[str], str]) -> Behaviour:
    """A gateway that does `edit` to every text of a chat answer."""

    def in_part(name: str) -> Callable[[Doc], None]:
        def each(choice: Doc) -> None:
            part = choice[name]
            if isinstance(part.get("content"), str):
                part["content"] = edit(part["content"])

        return each

    return Behaviour(doc=each_choice(in_part("message")), chunks=each_stream_choice(in_part("delta")))


def _refusal_said(name: str) -> Callable[[Doc], None]:
    def each(choice: Doc) -> None:
        part = choice[name]
        if part.get("refusal"):
            part["content"] = part.pop("refusal")

    return each


def _chosen_alone(choice: Doc) -> None:
    for item in (choice.get("logprobs") or {}).get("content") or ():
        item["top_logprobs"] = []


def _ascii(text: str) -> str:
    return text.encode("ascii", "replace").decode()


def _trimmed(choice: Doc) -> None:
    if isinstance(content := choice["delta"].get("content"), str):
        choice["delta"]["content"] = content.strip()


def _stop(choice: Doc) -> None:
    choice["finish_reason"] = choice["finish_reason"] and "stop"


def _new_ids(choice: Doc) -> None:
    for part in (choice.get("message", {}), choice.get("delta", {})):
        for call in part.get("tool_calls", ()):
            if call.get("id"):
                call["id"] = f"call_{secrets.token_hex(8)}"


def _recounted(reply: Doc) -> None:
    """Tokens as the words of the visible text."""
    if reply.get("usage"):
        words = sum(len(str(choice["message"]["content"]).split()) for choice in reply["choices"])
        prompt = reply["usage"]["prompt_tokens"]
        reply["usage"] = {"prompt_tokens": prompt, "completion_tokens": words, "total_tokens": prompt + words}


def _status(status: int, *, streams: bool) -> Callable[[ErrorReply, Call], ErrorReply]:
    """An `error` hook: every failure of a member is told as one and the same (with `streams`, to streams alone)."""

    def hook(error: ErrorReply, call: Call) -> ErrorReply:
        if call.answered is None or not (call.stream or not streams):
            return error
        told = {"message": error.doc["error"]["message"], "type": "server_error", "param": None, "code": None}
        return dataclasses.replace(error, status=status, doc={"error": told})

    return hook


def _reason_lost(error: ErrorReply, call: Call) -> ErrorReply:
    if call.answered is not None:
        error.doc["error"]["message"] = "Error from the upstream."
    return error


LAUNDERED = (
    # Portkey-AI/gateway#1797, maximhq/bifrost#5546: a dead stream under a clean end
    defect(
        "cut-stream-as-finished",
        "A member's stream that is cut ends cleanly, with [DONE]",
        "relay.truncation.told stream.terminal.present timeout.idle.told",
        _skipping(Step.REFUSE_UNFINISHED, Step.REFUSE_CUT_BODY),
    ),
    # incident F, failoverbench: a malformed chunk
    defect(
        "malformed-event-left-out",
        "An event of the member that is no JSON is left out, and the rest is told as finished",
        "relay.malformed.told",
        _skipping(Step.REFUSE_BROKEN_EVENT),
        "finish.torn-chunk",
    ),
    # incident E: network_error became an empty stop
    defect(
        "failed-reason-as-stop",
        "A member's finish reason that tells a failure becomes stop",
        "relay.reason.not-laundered pool.exhausted.told",
        _skipping(Step.REFUSE_BAD_REASON),
    ),
    # earendil-works/pi#8511
    defect(
        "native-reason-beside-stop",
        "A member's stop is passed on with the native reason that contradicts it",
        "relay.reason.not-laundered relay.reason.native-agrees blind.members.vendor pool.exhausted.told",
        _skipping(Step.REFUSE_BAD_REASON, Step.HIDE_NATIVE_REASON),
        shown_by="finish.native-network-error",
    ),
    # diegosouzapw/OmniRoute#8210
    defect(
        "error-chunk-dropped",
        "An error inside a member's success is dropped",
        "relay.error.told pool.exhausted.told relay.error.kind-kept",
        _skipping(Step.REFUSE_ERROR_IN_SUCCESS),
    ),
    # genkit-ai/genkit#6259
    defect(
        "error-in-choice-dropped",
        "An error beside a member's choice is dropped, and its end told as a clean one",
        "relay.error.told",
        _skipping(Step.REFUSE_ERROR_IN_CHOICE),
        "errors.error-in-choice",
    ),
    # diegosouzapw/OmniRoute#3424: error text as assistant content
    defect(
        "empty-answer-made-up",
        "Where a member gives no choice the gateway answers in its own words",
        "relay.empty.not-success pool.exhausted.told",
        Behaviour(doc=_made_up, skip=frozenset({Step.REFUSE_EMPTY_CHOICES, Step.COUNT_CHOICES})),
    ),
    # incident E: an instant-empty stop is never an error
    defect(
        "empty-stop-as-error",
        "An answer that stops without text is told as an error",
        "relay.success.kept",
        Behaviour(doc=_not_empty),
        shown_by="baseline.empty-stop",
    ),
    # incident F
    defect(
        "warning-ends-stream",
        "A warning between two texts ends the stream with an error",
        "relay.success.kept",
        _skipping(Step.GO_ON_AFTER_WARNING),
        shown_by="streams.diagnostic-at-once",
    ),
    # incident F
    defect(
        "usage-chunk-ends-stream",
        "A usage chunk between two texts ends the stream, and the rest is dropped",
        "stream.terminal.present",
        _skipping(Step.GO_ON_AFTER_USAGE, Step.REFUSE_UNFINISHED),
        shown_by="usage.between",
    ),
)

CHANGED = (
    # katanemo/plano#980: characters lost where they are cut
    defect(
        "text-outside-ascii-replaced",
        "Every character outside ASCII becomes a question mark",
        "relay.text.equal",
        _texts(_ascii),
    ),
    # katanemo/plano#980, xberg-io/liter-llm#152
    defect(
        "reads-decoded-apart",
        "Each read from a member is decoded alone, so that a character cut between two is lost",
        "relay.text.equal",
        _skipping(Step.WHOLE_CHARACTERS),
        shown_by="content.unicode-split-characters",
    ),
    defect(
        "refusal-as-content",
        "A member's refusal becomes the content",
        "relay.refusal.kept",
        Behaviour(doc=each_choice(_refusal_said("message")), chunks=each_stream_choice(_refusal_said("delta"))),
        shown_by="baseline.refusal baseline.refusal-stream",
    ),
    defect(
        "deltas-trimmed",
        "White space at the ends of a delta is lost",
        "relay.text.equal",
        Behaviour(chunks=each_stream_choice(_trimmed)),
    ),
    # incident E: stop was hard-coded
    defect(
        "finish-reason-hard-coded-stop",
        "Every answer ends with stop",
        "relay.reason.kept tool.finish-reason chat.message.answer-in-content bounds.cap.told bounds.cap.open "
        "tool.arguments.json",
        Behaviour(doc=each_choice(_stop), chunks=each_stream_choice(_stop)),
        shown_by="baseline.length baseline.length-stream content.null-length",
    ),
    defect(
        "tool-call-ids-renewed",
        "Tool calls get ids of the gateway's own",
        "relay.tool-calls.equal",
        Behaviour(doc=each_choice(_new_ids), chunks=each_stream_choice(_new_ids)),
    ),
    defect(
        "logprobs-dropped",
        "Log probabilities that were asked for are dropped",
        "relay.logprobs.kept logprobs.present",
        Behaviour(doc=each_choice(put("logprobs", None)), chunks=each_stream_choice(put("logprobs", None))),
    ),
    defect(
        "alternatives-dropped",
        "Of the log probabilities that were asked for only the chosen token's are left",
        "relay.logprobs.kept logprobs.top",
        Behaviour(doc=each_choice(_chosen_alone), chunks=each_stream_choice(_chosen_alone)),
        shown_by="baseline.logprobs baseline.logprobs-stream",
    ),
    # BerriAI/litellm#36168
    defect(
        "usage-recounted",
        "The gateway counts the tokens of an answer for itself",
        "relay.usage.kept",
        Behaviour(doc=each_reply(_recounted)),
    ),
)

ERRORS = (
    # coddy-project/coddy-agent#322
    defect(
        "every-failure-as-500",
        "Every failure of a member is told as one server error",
        "relay.status.kept error.context-length.status error.context-length.code error.quota.status "
        "error.model-not-found.status relay.error.code-kept pool.exhausted.telling relay.status.own-key",
        Behaviour(error=_status(500, streams=False)),
    ),
    # incident F: kinds must survive the stream path
    defect(
        "kinds-lost-for-streams",
        "To a client that asked for a stream every failure of a member is one server error",
        "relay.status.kept error.context-length.status error.context-length.code relay.error.code-kept",
        Behaviour(error=_status(502, streams=True)),
        shown_by="errors.rate-limit-stream errors.context-length-stream errors.array-stream",
    ),
    # GewoonJaap/codex-openai-wrapper#53
    defect(
        "reason-lost",
        "Of a member's reason nothing reaches the client",
        "relay.error.reason-kept",
        Behaviour(error=_reason_lost),
    ),
)


def _stop_shown(doc: Any, call: Call) -> Any:
    """The stop text that ended a choice is put behind it."""
    stops = call.doc.get("stop")
    stop = stops[0] if isinstance(stops, list) and stops else stops
    if call.operation is Operation.CHAT and isinstance(stop, str):
        for choice in doc["choices"]:
            choice["message"]["content"] = f"{choice['message']['content']}{stop}"
    return doc


def _mute(choice: Doc) -> None:
    for name in ("message", "delta"):
        choice.get(name, {}).pop("audio", None)


def _uncited(choice: Doc) -> None:
    for name in ("message", "delta"):
        choice.get(name, {}).pop("annotations", None)


TABLE = (
    # huggingface/text-generation-inference#1724
    defect(
        "stop-text-shown",
        "The stop text that was asked for stands at the end of the answer",
        "bounds.stop.left-out relay.text.equal",
        Behaviour(doc=_stop_shown),
        "bounds.stop",
    ),
    # openai-php/client#627, majiayu000/litellm-rs#511
    defect(
        "audio-dropped",
        "The audio of an answer is left out",
        "relay.audio.kept chat.output.present",
        Behaviour(doc=each_choice(_mute), chunks=each_stream_choice(_mute)),
    ),
    # openai/openai-agents-python#4252
    defect(
        "citations-dropped",
        "The sources that a member cites are left out",
        "relay.annotations.kept",
        Behaviour(doc=each_choice(_uncited), chunks=each_stream_choice(_uncited)),
    ),
    *LAUNDERED,
    *CHANGED,
    *ERRORS,
)
