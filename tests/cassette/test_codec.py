"""The codec of cassettes: validation, round trip, agreement with the published schema."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.cassette import dialect
from conformance.cassette.codec import decode, encode
from conformance.cassette.model import Cassette, Envelope, EnvelopeEnd, Frame, Interaction, RecordedRequest
from conformance.data import data_root
from conformance.errors import CassetteError

from .strategies import cassettes

quick = settings(max_examples=50, derandomize=True, deadline=None, database=None)

SCHEMA = jsonschema_rs.Draft202012Validator(json.loads((data_root("schemas") / "cassette.json").read_text()))

BODY = "data: {}\n\ndata: [DONE]\n\n"


def document(**facts: Any) -> dict[str, Any]:
    """A cassette of one interaction, with `facts` of it under metadata."""
    return {
        "version": 1,
        "interactions": [
            {
                "request": {"method": "POST", "uri": "http://m0.test/v1/chat/completions", "body": "{}"},
                "response": {
                    "status": {"code": 200, "message": "OK"},
                    "headers": {"content-type": ["text/event-stream"]},
                    "body": {"string": BODY},
                },
            }
        ],
        "metadata": {"conformance": {"origin": "authored", "interactions": [facts]}},
    }


def plain(value: Any) -> Any:
    """`value` with binary as text, as the schema counts it."""
    if isinstance(value, bytes):
        return "binary"
    if isinstance(value, dict):
        return {key: plain(member) for key, member in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


@quick
@given(cassettes)
def test_round_trip(cassette: Cassette) -> None:
    """What is encoded decodes to an equal cassette, and fits the schema."""
    encoded = encode(cassette)
    assert decode(encoded, name=cassette.name) == cassette
    SCHEMA.validate(plain(encoded))


@quick
@given(cassettes)
def test_round_trip_through_yaml(cassette: Cassette) -> None:
    """The YAML text keeps every byte of every body and head."""
    text = dialect.dump(encode(cassette)).encode("utf-8")
    assert decode(dialect.parse(text), name=cassette.name) == cassette


def test_every_end() -> None:
    """Each end of the closed set is read; without one the envelope is complete."""
    for end in EnvelopeEnd:
        assert decode(document(end=end.value), name="x").interactions[0].envelope.end is end
    assert decode(document(), name="x").interactions[0].envelope.end is EnvelopeEnd.COMPLETE


def test_facts_are_read() -> None:
    """Head, frames, member and arrival come from the metadata, in the wire's own spelling."""
    head = ["HTTP/1.1 200 Fine", "content-TYPE:text/event-stream", "Transfer-Encoding: chunked"]
    facts = document(end="reset", head=head, frames=[[0, 10], [48.5, len(BODY) - 10]], member="m3", at=12.5)
    interaction = decode(facts, name="x").interactions[0]
    assert interaction == Interaction(
        request=RecordedRequest(method="POST", uri="http://m0.test/v1/chat/completions", body=b"{}"),
        envelope=Envelope(
            head=tuple(head),
            body=BODY.encode(),
            frames=(Frame(0.0, 10), Frame(48.5, len(BODY) - 10)),
            end=EnvelopeEnd.RESET,
        ),
        member="m3",
        at=12.5,
    )


def test_top_level_facts() -> None:
    """Title, provider, origin, source, date and redactions are read; an unquoted date counts as text."""
    facts = {
        **{"title": "T", "provider": "openrouter", "origin": "recorded", "source": "S, evidence V"},
        "redactions": [{"where": "response header set-cookie", "kind": "cookie"}],
    }
    text = dialect.dump({**document(), "metadata": {"conformance": facts}})
    text = text.replace("    title: T\n", "    title: T\n    date: 2026-08-25\n")
    cassette = decode(dialect.parse(text.encode()), name="a/b")
    assert (cassette.name, cassette.title, cassette.date) == ("a/b", "T", "2026-08-25")
    assert cassette.redactions == (("response header set-cookie", "cookie"),)


def test_the_order_of_request_headers_survives() -> None:
    """Header lines that a mapping cannot order are kept under metadata."""
    headers = (("a", "1"), ("b", "2"), ("a", "3"))
    request = RecordedRequest(method="GET", uri="http://x.test/", headers=headers)
    envelope = Envelope(head=("HTTP/1.1 204 No Content",), body=b"", frames=())
    cassette = Cassette(name="x", interactions=(Interaction(request=request, envelope=envelope),))
    encoded = encode(cassette)
    assert encoded["metadata"]["conformance"]["interactions"][0]["request_headers"] == [list(line) for line in headers]
    assert decode(encoded, name="x") == cassette


def _changed(path: str, value: Any) -> dict[str, Any]:
    made = document(end="complete", head=["HTTP/1.1 200 OK"], frames=[[0, len(BODY)]])
    *steps, last = [int(step) if step.isdigit() else step for step in path.split("/")]
    place: Any = made
    for step in steps:
        place = place[step]
    place[last] = value
    return made


FACTS = "metadata/conformance/interactions/0/"

WRONG = [
    ("interactions", {"a": 1}, "interactions"),
    ("interactions/0", 5, "interactions[0]"),
    ("interactions/0/request", None, "request"),
    ("interactions/0/response", None, "response"),
    ("interactions/0/request/uri", "", "uri"),
    ("interactions/0/request/uri", "http://[::1/v1", "uri"),
    ("interactions/0/request/uri", "http://m0.test/v1\r\nX: y", "uri"),
    ("interactions/0/request/method", "POST /v1", "method"),
    ("interactions/0/request/headers", {"a": {"b": 1}}, "headers.a"),
    ("interactions/0/request/headers", {"a": "x\r\nb: y"}, "headers.a"),
    ("interactions/0/response/headers", {"a\n": "x"}, "headers"),
    ("interactions/0/response/headers", [["a\n", "x"]], "headers[0][0]"),
    ("interactions/0/response/status/message", "OK\r\na: b", "status.message"),
    ("interactions/0/response/status/code", "ok", "status.code"),
    ("interactions/0/response/status/code", 404, "head[0]"),
    ("interactions/0/response/body/string", 1.5, "body.string"),
    ("interactions/0/response/body/string", "short", "frames"),
    ("version", 2, "version"),
    ("metadata/conformance/origin", "made up", "origin"),
    ("metadata/conformance/tilte", "x", "conformance"),
    ("metadata/conformance/title", ["x"], "title"),
    ("metadata/conformance/interactions", [], "conformance.interactions"),
    ("metadata/conformance/redactions", [3], "redactions[0]"),
    (FACTS + "end", "explode", "end"),
    (FACTS + "frame", [], "interactions[0]"),
    (FACTS + "frames", [[0, 3]], "frames"),
    (FACTS + "frames", [[5, 1], [4, len(BODY) - 1]], "frames[1]"),
    (FACTS + "frames", [[0, True]], "frames[0][1]"),
    (FACTS + "frames", [[float("nan"), len(BODY)]], "frames[0][0]"),
    (FACTS + "frames", [[-1, len(BODY)]], "frames[0][0]"),
    (FACTS + "frames", [[0]], "frames[0]"),
    (FACTS + "head", ["HTTP/1.1 200 OK\nX: y"], "head[0]"),
    (FACTS + "head", ["HTTP/1.1 200 \u20ac"], "head[0]"),
    (FACTS + "head", [], "head"),
    (FACTS + "at", "soon", "at"),
]


@pytest.mark.parametrize(("path", "value", "place"), WRONG)
def test_what_is_wrong_is_told_with_its_place(path: str, value: Any, place: str) -> None:
    """A malformed cassette is refused, and the message names the place."""
    with pytest.raises(CassetteError) as raised:
        decode(_changed(path, value), name="some/name")
    assert raised.value.where.startswith("some/name")
    assert raised.value.where.endswith(place)


def test_a_misspelled_key_is_suggested() -> None:
    """An unknown key's message names the nearest known one."""
    with pytest.raises(CassetteError, match="did you mean 'title'"):
        decode(_changed("metadata/conformance/tilte", "x"), name="x")


@pytest.mark.parametrize("data", [{}, [], None, {"http_interactions": []}, "text"])
def test_other_documents_are_no_cassettes(data: Any) -> None:
    """A document without interactions is refused with a hint."""
    with pytest.raises(CassetteError, match="not a cassette"):
        decode(data, name="x")


@pytest.mark.parametrize("origin", ["recorded", ""])
def test_the_placeholder_needs_an_author(origin: str) -> None:
    """Only an authored cassette may carry {{nonce}} in a response."""
    made = _changed("interactions/0/response/body/string", "data: {{nonce}}\n\n")
    del made["metadata"]["conformance"]["interactions"]
    assert decode(made, name="x").origin == "authored"
    made["metadata"]["conformance"]["origin"] = origin
    with pytest.raises(CassetteError, match="nonce"):
        decode(made, name="x")


_anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def _places(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for step, inner in steps for place in _places(inner, (*path, step)))]


@quick
@given(st.data())
def test_no_document_breaks_the_codec(data: st.DataObject) -> None:
    """Any change gives a cassette or a CassetteError; what the schema refuses, the codec refuses too."""
    made = document(end="complete", head=["HTTP/1.1 200 OK"], frames=[[0, len(BODY)]], member="m0", at=1)
    place = data.draw(st.sampled_from(_places(made)[1:]))
    target: Any = made
    for step in place[:-1]:
        target = target[step]
    target[place[-1]] = data.draw(_anything)
    try:
        decode(copy.deepcopy(made), name="x")
    except CassetteError:
        return
    assert SCHEMA.is_valid(made)


@pytest.mark.parametrize(
    "path", sorted(Path(__file__).parent.joinpath("data").glob("*.yaml")), ids=lambda path: path.stem
)
def test_captured_examples_load(path: Path) -> None:
    """Captures of both legs load, fit the schema and survive a round trip."""
    parsed = dialect.parse(path.read_bytes())
    SCHEMA.validate(plain(parsed))
    cassette = decode(parsed, name=path.stem)
    assert decode(encode(cassette), name=path.stem) == cassette
    assert all(bool(each.member) == path.stem.startswith("upstream") for each in cassette.interactions)
