"""Facts about streamed chunks: what the client reads does not depend on how a member spells its stream."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.reference.behaviour import Behaviour
from conformance.reference.call import Operation
from conformance.reference.chunks import ChunkStream
from conformance.reference.convert import chunks_of, reply_of
from conformance.reference.failure import Kind, UpstreamFailed, own_failure
from conformance.reference.replies import completion_reply
from conformance.reference.sse import SseEvent
from conformance.reference.steps import Step
from tests.reference.calls import call
from tests.reference.stage import HELLO, USAGE, completion, delta

USAGE_ASKED = {"stream": True, "stream_options": {"include_usage": True}}


def run(*docs: Any, **members: Any) -> list[dict[str, Any]]:
    """Our chunks for a member's whole stream, the last ones included."""
    stream = ChunkStream(call(**{"stream": True, **members}))
    chunks = [chunk for doc in docs for chunk in stream.feed_doc(doc)]
    return chunks + stream.end()


def deltas(*docs: Any, **members: Any) -> list[dict[str, Any]]:
    """The deltas of choice 0."""
    return [chunk["choices"][0]["delta"] for chunk in run(*docs, **members) if chunk["choices"]]


def test_one_frame_holds_all_chunks() -> None:
    """Id, creation time, model and object are the same in every chunk, whatever the member's are."""
    docs = [
        doc | {"id": str(number), "created": 1700000000.5 + number, "model": "x"} for number, doc in enumerate(HELLO)
    ]
    frames = {(chunk["id"], chunk["created"], chunk["model"], chunk["object"]) for chunk in run(*docs)}
    assert len(frames) == 1
    assert next(iter(frames))[1:] == (1700000000, "lane-one", "chat.completion.chunk")


@pytest.mark.parametrize("role", [None, "", "assistant"])
def test_the_role_comes_once_and_first(role: str | None) -> None:
    """Missing, empty or repeated: the client sees assistant in the first delta alone."""
    given = [delta(role=role, content="a"), delta(role=role, content="b"), delta("stop", role=role)]
    assert deltas(*given) == [{"role": "assistant", "content": "a"}, {"content": "b"}, {}]


def test_content_is_a_text() -> None:
    """Null is left out, parts are joined, reasoning has one name."""
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "t"}]}, {"type": "text", "text": "a"}]
    given = [
        delta(role="assistant", content=None),
        delta(content=parts),
        delta(reasoning="u"),
        delta(content=None),
        delta("stop"),
    ]
    assert deltas(*given) == [
        {"role": "assistant", "content": ""},
        {"content": "a", "reasoning_content": "t"},
        {"reasoning_content": "u"},
        {},
    ]


@pytest.mark.parametrize("reason", ["", None])
def test_an_empty_reason_is_no_end(reason: str | None) -> None:
    """Empty or null on every chunk but the last: one terminal comes."""
    chunks = run(delta(reason, content="a"), delta(reason, content="b"), delta("eos"))
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks] == [None, None, "stop"]


def test_nothing_follows_the_reason() -> None:
    """A second reason and late text are dropped; a late usage is kept."""
    chunks = run(*HELLO, delta("stop"), delta(content="late"), {"choices": [], "usage": USAGE}, **USAGE_ASKED)
    assert [bool(chunk["choices"]) for chunk in chunks] == [True, True, True, True, False]


def test_calls_end_with_tool_calls() -> None:
    """A stop after a call is told as tool_calls; the legacy stub beside it is dropped."""
    item = {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    chunks = run(delta(tool_calls=[item]), delta("stop", function_call={"name": "", "arguments": ""}))
    assert chunks[0]["choices"][0]["delta"] == {"role": "assistant", "tool_calls": [item]}
    assert (chunks[1]["choices"][0]["delta"], chunks[1]["choices"][0]["finish_reason"]) == ({}, "tool_calls")


@pytest.mark.parametrize(
    "docs",
    [
        [*HELLO, {"choices": [], "usage": USAGE}],
        [*HELLO[:-1], HELLO[-1] | {"usage": USAGE}],
        [doc | {"usage": USAGE} for doc in HELLO],
        [HELLO[0], {"choices": [], "usage": USAGE}, *HELLO[1:], {"choices": [], "usage": None}],
        [*HELLO, {"id": "usage-1", "usage": USAGE | {"multiplier": 2}}],
    ],
)
def test_usage_comes_once_and_last(docs: list[dict[str, Any]]) -> None:
    """Asked for, it comes in one chunk without choices at the end, null before; else nowhere."""
    chunks = run(*docs, **USAGE_ASKED)
    assert [chunk["usage"] for chunk in chunks] == [None] * 4 + [USAGE]
    assert chunks[-1]["choices"] == []
    assert not any("usage" in chunk for chunk in run(*docs))


@pytest.mark.parametrize(
    "doc",
    [
        {"error": {"message": "m"}},
        {"choices": [], "error": {"code": 502, "message": "m"}},
        delta("error") | {"error": {"message": "m"}},
        delta("network_error"),
        {"type": "error", "error": {"type": "overloaded_error"}},
        {"object": "error", "message": "m"},
    ],
)
def test_an_error_is_no_ending(doc: Any) -> None:
    """An error in any spelling breaks the stream, before and after output."""
    for before in ([], HELLO[:2], HELLO):
        stream = ChunkStream(call(stream=True))
        for item in before:
            stream.feed_doc(item)
        if before == HELLO and doc == delta("network_error"):
            continue  # a reason after the reason is dropped
        with pytest.raises(UpstreamFailed):
            stream.feed_doc(doc)


@pytest.mark.parametrize(
    "doc", [None, 7, {"type": "ping"}, {"warning": "w"}, {"choices": None}, {"error": None, "choices": []}]
)
def test_what_says_nothing_is_passed_over(doc: Any) -> None:
    """Pings, diagnostics and records of other kinds neither end nor break a stream."""
    assert [item.get("content") for item in deltas(HELLO[0], doc, *HELLO[1:])] == ["", "Hel", "lo", None]


def test_a_stream_is_whole_with_its_reasons() -> None:
    """Without a reason on every choice that was asked for, the end raises; [DONE] alone is not enough."""
    stream = ChunkStream(call(stream=True))
    stream.feed_doc(HELLO[1])
    stream.feed(SseEvent("", b" [DONE] "))
    assert stream.done
    with pytest.raises(UpstreamFailed):
        stream.end()
    with pytest.raises(UpstreamFailed):
        run(*HELLO, n=2)


def test_a_broken_event_breaks_the_stream() -> None:
    """An event that is not JSON is a failure; a ping's text is not."""
    stream = ChunkStream(call(stream=True))
    assert stream.feed(SseEvent("ping", b"now")) == []
    with pytest.raises(UpstreamFailed):
        stream.feed(SseEvent("", b'{"choices": [{'))


def test_output_commits() -> None:
    """The role commits nothing; text, reasoning, a call or an honest end does."""
    for doc, commits in [
        (HELLO[0], False),
        (delta(content="x"), True),
        (delta(reasoning="x"), True),
        (delta("stop"), True),
    ]:
        stream = ChunkStream(call(stream=True))
        stream.feed_doc(doc)
        assert stream.committed is commits


def test_choices_keep_their_numbers() -> None:
    """With n of 2 both are told apart; with n of 1 every chunk is choice 0."""
    docs = [
        {"choices": [{"index": index, "delta": {"content": str(index)}, "finish_reason": "stop"}]} for index in (0, 1)
    ]
    assert [chunk["choices"][0]["index"] for chunk in run(*docs, n=2)] == [0, 1]
    assert [chunk["choices"][0]["index"] for chunk in run(docs[1])] == [0]


def test_legacy_streams_have_texts() -> None:
    """Text pieces under text_completion, without role or delta."""
    stream = ChunkStream(call(Operation.COMPLETIONS, prompt="x", stream=True))
    docs = [
        {"choices": [{"index": 0, "text": text, "finish_reason": reason}]}
        for text, reason in [("a", None), ("", "stop")]
    ]
    chunks = [chunk for doc in docs for chunk in stream.feed_doc(doc)]
    assert [(chunk["object"], chunk["choices"][0]["text"]) for chunk in chunks] == [
        ("text_completion", "a"),
        ("text_completion", ""),
    ]


def test_a_reply_and_its_chunks_say_the_same() -> None:
    """JSON told as a stream, and a stream told as JSON, hold the same message, reason and usage."""
    calls = [{"id": f"c{n}", "type": "function", "function": {"name": "f", "arguments": '{"n":1}'}} for n in range(2)]
    reply = completion_reply(completion("Hi", "tool_calls", tool_calls=calls), call())
    asked = call(**USAGE_ASKED)
    stream = ChunkStream(asked)
    chunks = [chunk for doc in chunks_of(reply) for chunk in stream.feed_doc(doc)]
    assert stream.end()[0]["usage"] == reply["usage"]
    back = completion_reply(reply_of(chunks, stream.usage, asked), asked)
    assert back["choices"] == reply["choices"]
    assert back["usage"] == reply["usage"]


def test_a_step_can_be_left_out() -> None:
    """A behaviour that skips a step shows the member's own spelling."""
    careless = Behaviour(skip=frozenset({Step.MODEL, Step.REASON_TABLE, Step.ROLE_ONCE}))
    stream = ChunkStream(call(behaviour=careless, stream=True))
    chunks = [
        chunk for doc in (delta(role="assistant"), delta("eos", role="assistant")) for chunk in stream.feed_doc(doc)
    ]
    assert chunks[0]["model"] == "up-model-0"
    assert chunks[1]["choices"][0] | {"logprobs": 0} == {
        "index": 0, "delta": {"role": "assistant"}, "logprobs": 0, "finish_reason": "eos"
    }  # fmt: skip


def test_a_broken_stream_ends_with_one_error() -> None:
    """What the client is told after output is the API's envelope."""
    (doc,) = ChunkStream(call(stream=True)).failed(own_failure(Kind.BROKEN, "m"))
    assert doc == {"error": {"message": "m", "type": "server_error", "param": None, "code": "upstream_error"}}
