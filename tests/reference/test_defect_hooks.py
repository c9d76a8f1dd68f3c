"""Facts about the makers of hooks: what they change, and what they leave alone."""

from __future__ import annotations

from conformance.reference.behaviour import ErrorReply, Moment
from conformance.reference.call import Operation
from conformance.reference.defects import find_defect, hooks
from conformance.reference.errors import envelope
from conformance.reference.http import ResponseHead
from tests.reference.calls import call


def test_a_reply_is_edited_for_its_operation_alone() -> None:
    """The edit reaches chat replies; another operation's reply and bytes go on as they are."""
    hook = hooks.each_reply(hooks.put("id", ""))
    assert hook({"id": "x"}, call()) == {"id": ""}
    assert hook({"id": "x"}, call(Operation.EMBEDDINGS)) == {"id": "x"}
    assert hook(b"{}", call()) == b"{}"


def test_every_choice_is_edited() -> None:
    """Whole choices and those of chunks; an error and the usage chunk have none."""
    edit = hooks.without("text")
    assert hooks.each_choice(edit)({"choices": [{"text": "a"}, {"text": "b"}]}, call()) == {"choices": [{}, {}]}
    chunks: list[hooks.Doc] = [{"choices": [{"text": "a"}]}, {"choices": []}, {"error": {"text": "c"}}]
    assert hooks.each_stream_choice(edit)(chunks, call(stream=True)) == [
        {"choices": [{}]},
        {"choices": []},
        {"error": {"text": "c"}},
    ]


def test_frames_are_edited_at_one_moment_or_always() -> None:
    """A hook of one moment leaves the frames of the others alone."""
    doubled = hooks.at(Moment.LAST, lambda frames: frames * 2)
    assert doubled([b"a"], Moment.LAST, call()) == [b"a", b"a"]
    assert doubled([b"a"], Moment.CHUNKS, call()) == [b"a"]
    assert hooks.each_frame(bytes.upper)([b"a", b"b"], Moment.ERROR, call()) == [b"A", b"B"]


def test_an_error_object_is_edited_in_its_envelope() -> None:
    """Status and envelope stay."""
    told = hooks.each_error(hooks.without("param"))(ErrorReply(status=400, doc=envelope("m", "t")), call())
    assert told == ErrorReply(status=400, doc={"error": {"message": "m", "type": "t", "code": None}})


def test_field_lines_are_added_and_left_out() -> None:
    """By name; those of the member only when it answered."""
    asked, fields = call(), (("content-type", "application/json"), ("x-request-id", "r"))
    assert hooks.with_field("via", "a")(fields, 200, asked) == (*fields, ("via", "a"))
    assert hooks.without_field("x-request-id")(fields, 200, asked) == fields[:1]
    assert hooks.with_member_field("via")(fields, 200, asked) == fields
    asked.answered = ResponseHead(status=200, headers=(("via", "b"), ("server", "c")))
    assert hooks.with_member_field("via")(fields, 200, asked) == (*fields, ("via", "b"))


def test_the_media_type_of_a_success_is_changed() -> None:
    """An error keeps its own, and so does a success of another media type."""
    hook = hooks.with_media("text/event-stream", "application/json")
    fields = (("content-type", "text/event-stream; charset=utf-8"),)
    assert hook(fields, 200, call()) == (("content-type", "application/json"),)
    assert hook(fields, 500, call()) == fields


def test_a_text_is_overtaken_by_the_end_alone() -> None:
    """Texts keep their order among themselves, over any cut into parts; the last one follows the finish reason."""

    def chunk(text: str, reason: str | None = None) -> hooks.Doc:
        return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": reason}]}

    late = find_defect("text-after-finish-reason").behaviour.chunks
    asked = call(stream=True)
    first, second, end = chunk("a"), chunk("b"), chunk("", "stop")
    assert late([first], asked) == []
    assert late([second, end], asked) == [first, end, second]
    assert late([{"error": {}}], asked) == [{"error": {}}]
