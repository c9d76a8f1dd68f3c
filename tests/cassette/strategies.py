"""Cassettes made by hypothesis: every end, head and body form that the model can hold."""

from __future__ import annotations

import itertools

from hypothesis import strategies as st

from conformance.cassette.model import Cassette, Envelope, EnvelopeEnd, Frame, Interaction, RecordedRequest

_words = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=30)
_tokens = st.sampled_from(["content-type", "Content-Type", "X-A", "x-a", "accept", "Set-Cookie"])
_values = st.text(st.characters(max_codepoint=255, exclude_characters="\n"), max_size=20)
_bodies = st.one_of(
    st.binary(max_size=60),
    _words.map(lambda text: text.encode("utf-8")),
    st.lists(st.sampled_from(["data: {}", "", " x", "data: [DONE]", "\r", "\t", "é", "# -", "'\""]), max_size=6).map(
        lambda lines: "\n".join(lines).encode("utf-8")
    ),
).filter(lambda body: b"{{nonce}}" not in body)
_times = st.floats(min_value=0, max_value=1e6, allow_nan=False)


@st.composite
def envelopes(draw: st.DrawFn) -> Envelope:
    """Any envelope whose frames sum to its body."""
    body = draw(_bodies)
    cuts = sorted(draw(st.sets(st.integers(1, len(body) - 1), max_size=4))) if len(body) > 1 else []
    borders = [0, *cuts, len(body)] if body else []
    sizes = [end - start for start, end in itertools.pairwise(borders)]
    times = sorted(draw(st.lists(_times, min_size=len(sizes), max_size=len(sizes))))
    lines = draw(st.lists(st.tuples(_tokens, _values), max_size=4))
    code = draw(st.integers(100, 999))
    head = (f"HTTP/1.1 {code} {draw(_values)}", *(f"{name}: {value}" for name, value in lines))
    return Envelope(
        head=head if body else draw(st.sampled_from([head, ()])),
        body=body,
        frames=tuple(Frame(at, size) for at, size in zip(times, sizes, strict=True)),
        end=draw(st.sampled_from(EnvelopeEnd)),
    )


requests = st.builds(
    RecordedRequest,
    method=st.sampled_from(["GET", "POST"]),
    uri=st.sampled_from(["http://m0.test/v1/chat/completions", "https://u.test/v1/models?limit=1"]),
    headers=st.lists(st.tuples(_tokens, _values), max_size=5).map(tuple),
    body=_bodies,
)

interactions = st.builds(
    Interaction,
    request=requests,
    envelope=envelopes(),
    member=st.sampled_from(["", "m0", "m11"]),
    at=st.none() | _times,
)

cassettes = st.builds(
    Cassette,
    name=st.just("made"),
    interactions=st.lists(interactions, max_size=3).map(tuple),
    title=_words,
    provider=st.sampled_from(["", "openrouter"]),
    origin=st.sampled_from(["", "recorded", "authored"]),
    source=_words,
    date=st.sampled_from(["", "2026-08-25"]),
    redactions=st.lists(st.tuples(_words, _words), max_size=2).map(tuple),
)
