"""Which attempts of a capture are whose: told by nonce, by prompt, by order; what cannot be told is not held."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from conformance.capture import exchanges
from conformance.cassette.codec import decode, encode
from conformance.cassette.model import Cassette, Envelope, Frame, Interaction, RecordedRequest
from conformance.errors import CassetteError

OK = b'{"ok":true}'


def body(prompt: str, **more: Any) -> bytes:
    """A chat request's body."""
    return json.dumps({"model": "a", "messages": [{"role": "user", "content": prompt}]} | more).encode()


def leg(*bodies: bytes, member: str = "", at: tuple[float, ...] = ()) -> Cassette:
    """A cassette with an interaction for each body; with a member it is an upstream leg."""
    head = ("HTTP/1.1 200 OK", "Content-Type: application/json", f"Content-Length: {len(OK)}")
    made = []
    for number, data in enumerate(bodies):
        request = RecordedRequest(method="POST", uri="http://x.test/v1/chat/completions", body=data)
        envelope = Envelope(head=head, body=OK, frames=(Frame(0.0, len(OK)),))
        made.append(Interaction(request=request, envelope=envelope, member=member, at=at[number] if at else None))
    return Cassette(name="leg", interactions=tuple(made))


def shares(client: Cassette, upstream: Cassette) -> list[list[bytes] | None]:
    """The bodies of the attempts that each client request got (None: not known)."""
    made = exchanges(client, upstream, frozenset())
    return [None if one.attempts is None else [each.request.body for each in one.attempts] for one in made]


A, B = body("Ticket cf-aaaaaa1: say."), body("Ticket cf-bbbbbb2: say.")
PLAIN, OTHER = body("Say hello."), body("Say good bye.")


def test_one_request_has_all_attempts() -> None:
    """A single request has every attempt, also one whose words were changed on the way."""
    assert shares(leg(A), leg(A, A)) == [[A, A]]
    assert shares(leg(A), leg(B)) == [[B]]
    assert shares(leg(PLAIN), leg(PLAIN, OTHER)) == [[PLAIN, OTHER]]


def test_one_request_in_a_leg_of_several() -> None:
    """Attempts with another nonce are another request's, where some have this one."""
    assert shares(leg(A), leg(B, A, PLAIN)) == [[A, PLAIN]]


def test_several_requests_by_nonce() -> None:
    """Each has the attempts that carry its nonce, wherever it stands in them."""
    turned = b'{"metadata":"cf-cccccc3","messages":[{"content":"cf-aaaaaa1"}],"user":"cf-cccccc4"}'
    assert shares(leg(A, B), leg(B, turned, B)) == [[turned], [B, B]]


def test_a_history_with_the_nonces_of_earlier_turns() -> None:
    """The last nonce counts: an earlier turn's stands in the history of the next."""
    second = json.dumps({"messages": ["cf-aaaaaa1", "cf-bbbbbb2"]}).encode()
    assert shares(leg(A, second), leg(A, second)) == [[A], [second]]


def test_several_requests_without_nonce_by_prompt() -> None:
    """The prompt tells them apart, whatever model the gateway asks for."""
    assert shares(leg(PLAIN, OTHER), leg(body("Say good bye.", n=1), PLAIN)) == [[PLAIN], [body("Say good bye.", n=1)]]


def test_an_attempt_that_nobody_asked_for() -> None:
    """Whoever has no attempt may have the one that was not recognised: then the leg is not held for him."""
    assert shares(leg(PLAIN, OTHER), leg(PLAIN, body("Translated."))) == [[PLAIN], None]
    assert shares(leg(PLAIN, OTHER), leg(PLAIN)) == [[PLAIN], []]


def test_equal_requests_in_order() -> None:
    """Equal requests have an attempt each, or those between two starts of the clock; else it is not known."""
    assert shares(leg(A, A), leg(A, A)) == [[A], [A]]
    assert shares(leg(A, A), leg(A, A, A, member="m0", at=(2.0, 9.0, 3.0))) == [[A, A], [A]]
    assert shares(leg(A, A), leg(A, A, A)) == [None, None]
    assert shares(leg(A, A), leg(A)) == [None, None]
    assert shares(leg(A, A), leg()) == [[], []]


def said(text: str) -> bytes:
    """A chat completion that says `text`, or an error for none."""
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return json.dumps({"choices": [choice]} if text else {"error": {"message": "Busy.", "type": "x"}}).encode()


def talk(*texts: str, asked: bytes = A, keys: tuple[str, ...] = (), member: str = "") -> Cassette:
    """A leg of equal requests, each with what it was answered ("": an error), and the key that it brought."""
    plain = leg(*(asked for _ in texts), member=member)
    made = []
    for number, (one, text) in enumerate(zip(plain.interactions, texts, strict=True)):
        data = said(text)
        head = (f"HTTP/1.1 {200 if text else 429} X", "Content-Type: application/json", f"Content-Length: {len(data)}")
        envelope = Envelope(head=head, body=data, frames=(Frame(0.0, len(data)),))
        fields = (("Authorization", f"Bearer {keys[number]}"),) if keys else ()
        made.append(replace(one, request=replace(one.request, headers=fields), envelope=envelope))
    return replace(plain, interactions=tuple(made))


def counts(client: Cassette, upstream: Cassette) -> list[int | None]:
    """How many attempts each request got (None: not known)."""
    return [None if share is None else len(share) for share in shares(client, upstream)]


@pytest.mark.parametrize(
    ("client", "upstream", "expected"),
    [
        # The first one asked, whatever the second one was told from memory.
        (("Hi.", "Hi."), ("Hi.",), [1, 0]),
        (("Hi.", "Bye."), ("Hi.",), [1, 0]),
        (("Hi.", "Hi.", "Hi."), ("Hi.",), [1, 0, 0]),
        # Another member was asked after a failure; the rest is from memory.
        (("Hi.", "Hi."), ("", "Hi."), [2, 0]),
        (("", "Hi."), ("", "Hi."), [1, 1]),
        (("Hi.", "Ho."), ("", "Hi.", "Ho."), [2, 1]),
        # An error that was told again, and one that is mended.
        (("", ""), ("",), [1, 0]),
        (("Hi.", "Hi.", "Ho."), ("Hi.", "Ho."), [1, 0, 1]),
        # The first answer was in memory before the capture began; several ways are possible.
        (("Old.", "Hi."), ("Hi.",), [None, None]),
        (("", "Hi."), ("Hi.",), [None, None]),
        (("", "Hi.", "Hi."), ("", "Hi."), [None, None, None]),
        (("Hi.", "Hi.", "Hi."), ("Hi.", "Hi."), [None, None, None]),
        # One each, where no answer fits.
        (("A.", "B."), ("C.", "D."), [1, 1]),
    ],
)
def test_equal_requests_by_what_they_were_answered(
    client: tuple[str, ...], upstream: tuple[str, ...], expected: list[int | None]
) -> None:
    """The shares are told where there is one way alone to have been answered so: nothing is remembered before it was
    asked for, and nobody is asked after a success."""
    assert counts(talk(*client), talk(*upstream, member="m0")) == expected


def test_a_key_that_goes_along_tells_whose_an_attempt_is() -> None:
    """What carries the second one's key is not the first one's, who then was answered from an older memory."""
    client = talk("Hi.", "Hi.", keys=("k1", "k2"))
    assert counts(client, talk("Hi.", keys=("k1",))) == [1, 0]
    assert counts(client, talk("Hi.", keys=("up",))) == [1, 0]
    assert counts(client, talk("Hi.", keys=("k2",))) == [None, None]


def test_requests_of_two_users_are_not_shared_out_by_their_answers() -> None:
    """A gateway may take out who the user is: then nobody knows whose an attempt is."""
    one, other = (body("Ticket cf-aaaaaa1: say.", user=name) for name in "ab")
    both = replace(
        talk("Hi."), interactions=(*talk("Hi.", asked=one).interactions, *talk("Hi.", asked=other).interactions)
    )
    assert counts(both, talk("Hi.")) == [None, None]


def test_many_equal_requests_are_looked_at_no_closer() -> None:
    """Where there are too many ways to go through, the number alone tells."""
    assert counts(talk(*["Hi."] * 50), talk(*["Hi."] * 49)) == [None] * 50
    assert counts(talk(*["Hi."] * 50), talk(*["Hi."] * 50)) == [1] * 50


def test_a_member_that_is_left_out_makes_no_request_answered_twice() -> None:
    """What a gateway takes out makes one request's words another's: then the order tells."""
    plain, stored = body("Ticket cf-aaaaaa1: say."), body("Ticket cf-aaaaaa1: say.", store=True)
    both = replace(
        talk("Hi."), interactions=(*talk("Hi.", asked=plain).interactions, *talk("Ho.", asked=stored).interactions)
    )
    assert counts(both, talk("Hi.", "Ho.", asked=plain)) == [1, 1]


def test_equal_prompts_that_ask_for_different_things() -> None:
    """Requests of one prompt are told apart by what else they ask for: then one of them may have no attempt at all."""
    short, long = body("Ticket cf-aaaaaa1: say.", max_tokens=1), body("Ticket cf-aaaaaa1: say.", max_tokens=99)
    assert shares(leg(short, long), leg(short)) == [[short], []]
    assert shares(leg(short, long), leg(long, short, short)) == [[short, short], [long]]
    assert shares(leg(short, long), leg(body("Ticket cf-aaaaaa1: say."))) == [None, None]


def test_swapped_legs_are_told() -> None:
    """An upstream leg in the client's place is an error, not a verdict."""
    with pytest.raises(CassetteError, match="an upstream leg"):
        exchanges(leg(A, member="m0"), leg(A), frozenset())
    assert shares(leg(A), leg(A, member="m0")) == [[A]]
    assert shares(leg(A, at=(0.0,)), leg(A, member="m0")) == [[A]]


@pytest.mark.parametrize("version", ["HTTP/2", "HTTP/3", "HTTP/2.0"])
def test_a_later_version_is_judged_by_its_message(version: str) -> None:
    """HTTP/2 has no status line of HTTP/1.1's form, which is no fault of the answer."""
    (interaction,) = leg(A).interactions
    data = interaction.envelope.body
    head = (f"{version} 200 ", "content-type: application/json")
    envelope = Envelope(head=head, body=data, frames=(Frame(0.0, 1), Frame(5.0, len(data) - 1)))
    client = Cassette(name="h2", interactions=(Interaction(request=interaction.request, envelope=envelope),))
    (one,) = exchanges(client, None, frozenset())
    assert one.reply is not None
    assert (one.reply.status, one.reply.complete, one.reply.content) == (200, True, data)
    assert not one.reply.message.faults


def test_members_that_are_not_named() -> None:
    """Without a name a member is a host with a key and a model: who is asked again is the same one."""
    uris = ("http://a.test/v1/x", "http://b.test/v1/x", "http://a.test/v1/x")
    key, other = (("Authorization", "Bearer k1"),), (("Authorization", "Bearer k2"),)
    asked = [RecordedRequest(method="POST", uri=uri, body=A, headers=key) for uri in uris]
    asked.append(RecordedRequest(method="POST", uri=uris[0], body=A, headers=other))
    named = body("Ticket cf-aaaaaa1: say.", model="b")
    asked.append(RecordedRequest(method="POST", uri=uris[0], body=named, headers=key))
    for hidden in ((), (), (("Authorization", "REDACTED"),), (("Authorization", "REDACTED"),)):
        asked.append(RecordedRequest(method="POST", uri=uris[0], body=A, headers=hidden))
    envelope = leg(A).interactions[0].envelope
    upstream = Cassette(name="up", interactions=tuple(Interaction(request=r, envelope=envelope) for r in asked))
    (one,) = exchanges(leg(A), upstream, frozenset())
    assert [attempt.member for attempt in one.attempts or ()] == ["m0", "m1", "m0", "m2", "m3", "m4", "m5", "m6", "m7"]


def test_several_members_behind_one_name() -> None:
    """Who rejects a request and then answers it is not one member, where the capture does not name them."""
    gone = leg(A).interactions[0]
    head = ("HTTP/1.1 404 Not Found", *gone.envelope.head[1:])
    request = replace(gone.request, headers=(("Authorization", "Bearer k1"),))
    lost = replace(gone, request=request, envelope=replace(gone.envelope, head=head))
    for interactions, names in (((lost, replace(gone, request=request)), ["m0", "m1"]), ((lost, lost), ["m0", "m0"])):
        (one,) = exchanges(leg(A), Cassette(name="up", interactions=interactions), frozenset())
        assert [attempt.member for attempt in one.attempts or ()] == names


def test_a_leg_without_frames_has_no_times() -> None:
    """Plain vcrpy does not say when a body came: such a client leg was not held back."""
    body = "".join(f'data: {{"choices":[{{"index":0,"delta":{{"content":"{n}"}}}}]}}\n\n' for n in range(4))
    request = {"method": "POST", "uri": "http://x.test/v1/chat/completions", "body": '{"stream":true}'}
    response = {"status": {"code": 200, "message": "OK"}, "headers": {}, "body": {"string": body}}
    plain: dict[str, Any] = {"interactions": [{"request": request, "response": response}]}
    told = plain | {"metadata": {"conformance": {"interactions": [{"frames": [[0, len(body)]]}]}}}
    for document, timed in ((plain, False), (told, True)):
        cassette = decode(document, name="x")
        (one,) = exchanges(cassette, None, frozenset())
        assert one.timed is timed
        assert decode(encode(cassette), name="x") == cassette
