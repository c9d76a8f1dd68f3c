"""Facts about the Responses API: passed through under the alias, numbered, and ended exactly once."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.reference.call import Operation
from conformance.reference.failure import Kind, UpstreamFailed, own_failure
from conformance.reference.responses import ResponseStream, responses_reply
from conformance.reference.sse import SseEvent
from tests.reference.calls import call

OBJECT = {"id": "resp_1", "object": "response", "created_at": 1.5, "status": "completed", "model": "x", "output": []}
CREATED = {"type": "response.created", "response": OBJECT | {"status": "in_progress"}}
ITEM = {"type": "response.output_item.added", "output_index": 4, "item": {"id": "msg_1", "type": "message"}}
DELTA = {"type": "response.output_text.delta", "item_id": "msg_1", "delta": "Hi"}
COMPLETED = {"type": "response.completed", "response": OBJECT}


def asked() -> Any:
    return call(Operation.RESPONSES, input="x", stream=True)


def run(*docs: Any) -> tuple[ResponseStream, list[dict[str, Any]]]:
    stream = ResponseStream(asked())
    return stream, [event for doc in docs for event in stream.feed_doc(doc)]


def test_a_whole_stream_is_numbered() -> None:
    """Sequence numbers rise from 0, items count from 0, and every delta names its item."""
    stream, events = run(
        CREATED, ITEM, DELTA | {"sequence_number": 0}, {"type": "response.output_text.delta", "delta": "!"}, COMPLETED
    )
    assert [event["sequence_number"] for event in events] == [0, 1, 2, 3, 4]
    assert [event.get("output_index") for event in events] == [None, 0, 0, 0, None]
    assert [event.get("item_id") for event in events[2:4]] == ["msg_1", "msg_1"]
    assert events[4]["response"]["model"] == "lane-one"
    assert events[4]["response"]["created_at"] == 1
    assert stream.finished
    assert stream.end() == []


def test_a_second_item_gets_its_own_number() -> None:
    """Items without ids get some; deltas find theirs by the member's index."""
    call_item = {"type": "response.output_item.added", "output_index": 9, "item": {"type": "function_call"}}
    _, events = run(
        CREATED, ITEM, call_item, {"type": "response.function_call_arguments.delta", "output_index": 9, "delta": "{"}
    )
    assert events[2]["item"]["id"].startswith("fc_")
    assert (events[3]["output_index"], events[3]["item_id"]) == (1, events[2]["item"]["id"])


def test_nothing_follows_the_terminal() -> None:
    """A second lifecycle and [DONE] are not passed on."""
    stream, events = run(CREATED, ITEM, DELTA, COMPLETED, CREATED, DELTA, COMPLETED)
    assert len(events) == 4
    assert stream.feed(SseEvent("", b"[DONE]")) == []


@pytest.mark.parametrize(
    "docs",
    [
        [DELTA],
        [CREATED, DELTA],
        [CREATED, {"type": "error", "code": "server_error", "message": "m"}],
        [{"error": {"code": "server_is_overloaded", "message": "m"}}],
        [
            CREATED,
            {
                "type": "response.failed",
                "response": OBJECT | {"status": "failed", "error": {"code": "x", "message": "m"}},
            },
        ],
    ],
)
def test_a_stream_that_fails_before_output_is_a_failure(docs: list[Any]) -> None:
    """No beginning, no item, or an error before anything came."""
    with pytest.raises(UpstreamFailed):
        run(*docs)


def test_a_failure_after_output_is_the_members_terminal() -> None:
    """response.failed after output is passed on as the end."""
    stream, events = run(
        CREATED, ITEM, DELTA, {"type": "response.failed", "response": OBJECT | {"error": {"code": "x", "message": "m"}}}
    )
    assert events[-1]["type"] == "response.failed"
    assert stream.finished


def test_a_cut_stream_gets_a_failed_terminal() -> None:
    """Without a terminal the end raises, and the client is told response.failed with the response's own id."""
    stream, _ = run(CREATED, ITEM, DELTA)
    with pytest.raises(UpstreamFailed):
        stream.end()
    (last,) = stream.failed(own_failure(Kind.BROKEN, "cut"))
    assert (last["type"], last["sequence_number"]) == ("response.failed", 3)
    assert (last["response"]["id"], last["response"]["status"]) == ("resp_1", "failed")
    assert last["response"]["error"] == {"code": "upstream_error", "message": "cut"}


def test_the_last_event_has_the_ids_that_were_given_here() -> None:
    """An item that the member added without an id keeps the one that it got, whatever the last event calls it."""
    bare = {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": ""}
    last = OBJECT | {"status": "completed", "output": [bare | {"id": "fc_late"}]}
    _, events = run(
        CREATED, {"type": "response.output_item.added", "item": bare}, {"type": "response.completed", "response": last}
    )
    assert events[-1]["response"]["output"][0]["id"] == events[1]["item"]["id"] != "fc_late"


def test_a_broken_event_is_a_failure() -> None:
    """An event that is not JSON breaks the stream."""
    with pytest.raises(UpstreamFailed):
        ResponseStream(asked()).feed(SseEvent("response.created", b"{"))


def test_a_reply_is_passed_on_under_the_alias() -> None:
    """Everything but the model stays; id, object and time are what the API says."""
    reply = responses_reply({"id": "", "output": [], "status": "completed", "model": "x"}, asked())
    assert (reply["model"], reply["object"]) == ("lane-one", "response")
    assert reply["id"].startswith("resp_")


@pytest.mark.parametrize("doc", [None, {}, {"error": {"message": "m"}}, {"output": None}])
def test_what_is_no_response_is_a_failure(doc: Any) -> None:
    """No object, no output, or an error."""
    with pytest.raises(UpstreamFailed):
        responses_reply(doc, asked())
