"""Facts about embeddings: the client's encoding, the order of its inputs, one vector for each."""

from __future__ import annotations

import base64
import struct
from typing import Any

import pytest

from conformance.reference.call import Operation
from conformance.reference.embeddings import embeddings_reply
from conformance.reference.failure import UpstreamFailed
from tests.reference.calls import call

VECTOR = [0.5, -0.25]
PACKED = base64.b64encode(struct.pack("<2f", *VECTOR)).decode()


def reply(data: Any, **members: Any) -> dict[str, Any]:
    """Our list for a member's data."""
    doc = {"object": "list", "data": data, "model": "x", "usage": {"prompt_tokens": 2, "total_tokens": 2}}
    return embeddings_reply(doc, call(Operation.EMBEDDINGS, **{"input": "a", **members}))


@pytest.mark.parametrize("given", [VECTOR, PACKED])
def test_the_encoding_is_the_clients(given: Any) -> None:
    """Floats by default and when asked for, base64 when asked for, whatever the member chose."""
    for asked, told in [({}, VECTOR), ({"encoding_format": "float"}, VECTOR), ({"encoding_format": "base64"}, PACKED)]:
        assert reply([{"index": 0, "embedding": given}], **asked)["data"][0]["embedding"] == told


def test_the_order_is_the_inputs() -> None:
    """Entries are sorted by their index, and counted when they have none."""
    data = [{"index": 1, "embedding": [1.0]}, {"index": 0, "embedding": [0.0]}]
    assert [item["embedding"] for item in reply(data, input=["a", "b"])["data"]] == [[0.0], [1.0]]
    data = [{"embedding": [0.0]}, {"embedding": [1.0]}]
    assert [item["index"] for item in reply(data, input=["a", "b"])["data"]] == [0, 1]


def test_the_frame_is_ours() -> None:
    """The list carries the alias and the member's count."""
    assert {key: value for key, value in reply([{"embedding": VECTOR}]).items() if key != "data"} == {
        "object": "list",
        "model": "lane-one",
        "usage": {"prompt_tokens": 2, "total_tokens": 2},
    }


@pytest.mark.parametrize(
    "data",
    [
        [],
        None,
        [{}],
        [{"embedding": []}],
        [{"embedding": ["x"]}],
        [{"embedding": "%%"}],
        [{"embedding": VECTOR}] * 2,
        [{"embedding": [1e300]}],
    ],
)
def test_what_is_no_vector_for_each_input_is_a_failure(data: Any) -> None:
    """None, too many, or what cannot be a vector of 32-bit floats."""
    with pytest.raises(UpstreamFailed):
        reply(data)


@pytest.mark.parametrize(("given", "count"), [("a", 1), (["a", "b"], 2), ([1, 2, 3], 1), ([[1], [2]], 2)])
def test_inputs_are_counted(given: Any, count: int) -> None:
    """A text and a list of tokens are one input; a list of either is as many as it holds."""
    assert call(Operation.EMBEDDINGS, input=given).inputs == count


def test_an_error_in_a_success_is_a_failure() -> None:
    """An error object in place of data fails the member."""
    with pytest.raises(UpstreamFailed):
        embeddings_reply({"error": {"message": "m"}}, call(Operation.EMBEDDINGS, input="a"))
    with pytest.raises(UpstreamFailed):
        embeddings_reply([], call(Operation.EMBEDDINGS, input="a"))
