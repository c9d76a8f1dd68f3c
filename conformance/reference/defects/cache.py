"""Defects of the response cache: a key that is too short, and answers kept that are none (incident F)."""

from __future__ import annotations

from collections.abc import Callable

from conformance.reference.behaviour import Behaviour
from conformance.reference.cache import Recording, ResponseCache
from conformance.reference.call import Call
from conformance.reference.defects.entry import defect
from conformance.reference.jsontext import encode_json
from conformance.reference.steps import Step


class _AnyCaller(ResponseCache):
    """Who asks is no part of the key."""

    def identity(self, call: Call) -> list[str]:
        return []


class _LastMessage(ResponseCache):
    """What was said before the last message is no part of the key."""

    def text(self, call: Call) -> str:
        messages = call.doc.get("messages")
        last = messages[-1:] if isinstance(messages, list) else messages
        return encode_json(call.doc | {"messages": last}).decode()


class _AnySpelling(ResponseCache):
    """The key knows neither case nor white space."""

    def text(self, call: Call) -> str:
        return " ".join(call.text.lower().split())


class _KeepsBroken(ResponseCache):
    """What came of an answer that broke is kept."""

    def broken(self, recording: Recording) -> None:
        recording.whole()


class _AllIsWell(ResponseCache):
    """What is kept says that it came to its own end."""

    def keep(self, key: bytes, body: bytes, *, stream: bool) -> None:
        super().keep(key, body.replace(b'"finish_reason":"length"', b'"finish_reason":"stop"'), stream=stream)


def _keyed(wanted: Callable[[str], bool]) -> type[ResponseCache]:
    """A cache whose key holds the wanted members of the body alone."""

    class Keyed(ResponseCache):
        def text(self, call: Call) -> str:
            return encode_json({name: value for name, value in call.doc.items() if wanted(name)}).decode()

    return Keyed


def _kept_error(body: bytes, status: int, call: Call) -> bytes:
    if status >= 400 and call.recording is not None and not call.stream:
        call.recording.add(body)
        call.recording.whole()
    return body


_PROMPT = frozenset({"model", "messages", "input", "prompt", "temperature", "stream", "stream_options"})

TABLE = (
    # incident F: model, prompt and temperature made the key
    defect(
        "cache-key-of-the-prompt",
        "The cache's key is the model, the prompt and the temperature",
        "cache.key",
        Behaviour(cache=_keyed(lambda name: name in _PROMPT)),
        "cache.tools cache.limits cache.formats",
    ),
    defect(
        "cache-key-of-the-last-message",
        "Of the messages the cache's key holds the last alone",
        "cache.key",
        Behaviour(cache=_LastMessage),
        "cache.messages",
    ),
    defect(
        "cache-key-of-any-spelling",
        "The cache's key is the request in lower case, with each white space as one blank",
        "cache.key",
        Behaviour(cache=_AnySpelling),
        "cache.words",
    ),
    defect(
        "cache-key-without-caller",
        "The cache's key leaves out who asks",
        "cache.key",
        Behaviour(cache=_AnyCaller),
        "cache.callers",
    ),
    defect(
        "cache-key-without-model",
        "The cache's key leaves the model out",
        "cache.key blind.model.alias",
        Behaviour(cache=_keyed(lambda name: name != "model")),
        "cache.models",
    ),
    defect(
        "cache-before-the-key",
        "What is kept is given to whoever asks, before the key is looked at",
        "cache.key error.auth.status",
        Behaviour(cache=_AnyCaller, skip=frozenset({Step.KEY_FIRST})),
        "cache.wrong-key",
    ),
    defect(
        "error-kept",
        "An error is kept, and given as a success to the next who asks the same",
        "cache.errors-not-stored error.in-success",
        Behaviour(body=_kept_error),
        "cache.error cache.error-in-success",
    ),
    defect(
        "broken-stream-kept",
        "What came of a stream that broke is kept as its answer",
        "cache.errors-not-stored",
        Behaviour(cache=_KeepsBroken),
        "cache.broken-stream",
    ),
    # BerriAI/litellm#32068
    defect(
        "kept-reason-laundered",
        "An answer from memory that was cut by its limit says that it came to its own end",
        "cache.answer.same",
        Behaviour(cache=_AllIsWell),
        "cache.cut-answer",
    ),
    defect(
        "cache-key-without-form",
        "A kept answer comes in the form in which it was kept, whatever form is asked for",
        "cache.stream-form reply.mode.json reply.mode.stream http.content-type.json",
        Behaviour(cache=_keyed(lambda name: name not in ("stream", "stream_options"))),
        "cache.stream-after-text cache.text-after-stream",
    ),
)
