"""Examples of the clauses over sequences: memory of failures, waits, shares, caches, isolation, life."""

from __future__ import annotations

from typing import Any

from conformance.exchange.sequence import Sequence, Windows
from tests.contract.captures import Ask, Try, ask, call, capture, chat, embeddings, exchange, stream, wire, words
from tests.contract.example import Example, Examples
from tests.contract.sequences import ANSWERS, PROMISES, SPENT, many, request, sequence, turn

ALONE: dict[str, Any] = {"members": "m0", "healthy": "m0"}
DOWN = turn(0, "m0:500", "m1:ok", healthy="m1")
BESIDE = turn(150, "m1:ok")
LONE: dict[str, Any] = {"members": "m0", "healthy": ""}
LONE_DOWN = turn(0, "m0:500", **LONE)
TWO = Windows(cooldown_ms=600.0, cooldown_after=2)
FOUR = Windows(cooldown_ms=600.0, cooldown_after=4)
NO_SPREAD = PROMISES - {"spread"}
TWICE = (turn(0, "m0:named", "m1:ok", healthy="m1"), turn(20, "m0:gone", "m1:ok", healthy="m1"))
BOTH = {"healthy": ""}


def asked(nonce: str, began: float, *tried: str, got: Any = "", **params: Any) -> Any:
    """A turn whose request has this nonce and these parameters."""
    return turn(began, *tried, sent=request(nonce, **params), got=got, **ALONE)


def carrying(began: float, sent: dict[str, Any], forwarded: dict[str, Any]) -> Any:
    """A turn whose member was sent other parameters than the client gave."""
    nonce = f"cf-turn{int(began):06d}"
    tries = (Try(ANSWERS["ok"], "m0", 2.0, request(nonce, **forwarded)),)
    seen = exchange(capture(request(nonce, **sent), ANSWERS["ok"], tries))
    made = turn(began, "m0:ok", **ALONE)
    terms = made.exchange.terms
    return type(made)(exchange=_with(seen, terms), began=began, step=1)


def _with(seen: Any, terms: Any) -> Any:
    from dataclasses import replace

    return replace(seen, terms=terms, transcript=replace(seen.transcript, ended_at=10.0))


def keyed(began: float, request: Ask, dispatched: Ask | None = None, key: str = "sk-up-0") -> Any:
    """A turn whose member was sent this, with that key."""
    asks = request.with_(messages=request.value.get("messages"))
    tries = (Try(ANSWERS["ok"], "m0", 2.0, dispatched or asks.with_(api_key=None), key=key),)
    seen = exchange(capture(request, ANSWERS["ok"], tries))
    made = turn(began, "m0:ok", **ALONE)
    return type(made)(exchange=_with(seen, made.exchange.terms), began=began, step=1)


def said(number: int, *before: Any, **members: Any) -> Ask:
    """A request with a conversation before its own question."""
    question = {"role": "user", "content": f"Question {number} of cf-talk0{number}?"}
    return ask(messages=[*before, question], **members)


def embedding(began: float, inputs: list[str], got: list[Any], *dispatched: tuple[list[str], list[Any]]) -> Any:
    """A turn that embeds `inputs`, for which members were asked for those that are dispatched."""
    tries = tuple(
        Try(wire(embeddings(*found)), "m0", 2.0, ask("embeddings", input=some, model="up-model"))
        for some, found in dispatched
    )
    seen = exchange(capture(ask("embeddings", input=inputs), wire(embeddings(*got)), tries))
    made = turn(began, "m0:ok", **ALONE)
    return type(made)(exchange=_with(seen, made.exchange.terms), began=began, step=1)


ADA = {"role": "system", "content": "You are Ada, who answers in verse."}
STOCK = {"role": "system", "content": "You are a helpful assistant."}
ANSWER = {"role": "assistant", "content": "Hello."}
CALLING = wire(
    chat(None, "tool_calls", message={"tool_calls": [call(None, id="call_1", name="f", arguments='{"a": 1}')]})
)
RESPELT = wire(
    chat(None, "tool_calls", message={"tool_calls": [call(None, id="call_2", name="f", arguments='{"a":1}')]})
)
LOST = wire(chat(usage={**SPENT, "completion_tokens_details": {"reasoning_tokens": 0}}))
GIVEN = wire(chat(usage={"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}))
VA, VB = [0.1, 0.2], [0.3, 0.4]
A, B = "cf-embed01 a", "cf-embed01 b"
FIRST = embedding(0, [A], [VA], ([A], [VA]))


def naming(member: str) -> Any:
    """A reply whose header names the member that served."""
    return wire(chat(), headers=(f"X-Served-By: {member}",))


EXAMPLES: Examples = {
    "cooldown.silent": Example(
        held=(
            sequence(DOWN, many(4, 120, "m1:ok")),
            sequence(LONE_DOWN, many(4, 120, **ALONE)),
            # Past the middle it may be asked, and it may be where the others failed first.
            sequence(DOWN, many(2, 120, "m1:ok"), turn(400, "m0:ok")),
            sequence(DOWN, many(2, 120, "m1:ok"), turn(200, "m1:500", "m0:ok"), caps=PROMISES - {"probe"}),
            sequence(DOWN, many(2, 120, "m1:ok"), turn(580, "m0:ok"), caps=PROMISES - {"probe"}),
            # Asked for in the first half, by a slow gateway decided past it.
            sequence(DOWN, turn(250, "m0:ok:120:130", took=140), turn(120, "m1:ok")),
            # A gateway of one's own that learns of it a moment later.
            sequence(DOWN, turn(20, "m0:ok"), turn(120, "m1:ok")),
            # Fewer failures than the target says that it takes; then enough.
            sequence(
                *(turn(20 * n, "m0:500", "m1:ok") for n in range(2)),
                turn(40, "m0:ok"),
                *(turn(60 + 20 * n, "m0:500", "m1:ok") for n in range(3)),
                turn(200, "m1:ok"),
                windows=Windows(cooldown_ms=600.0, cooldown_after=3),
            ),
        ),
        violated=(
            sequence(DOWN, turn(120, "m0:ok")),
            sequence(DOWN, turn(120, "m0:500", "m1:ok")),
            sequence(LONE_DOWN, turn(200, "m0:ok", **ALONE)),
            sequence(turn(0, "m0:reset", "m1:ok"), turn(250, "m0:ok")),
            sequence(turn(0, "m0:silent", "m1:ok", took=8), turn(250, "m0:ok")),
            # Without a probe it is left alone for the whole window.
            sequence(DOWN, many(2, 120, "m1:ok"), turn(480, "m0:ok"), caps=PROMISES - {"probe"}),
            # A probe that failed opens the window again.
            sequence(LONE_DOWN, turn(400, "m0:500", **ALONE), turn(520, "m0:ok", **ALONE)),
        ),
    ),
    "cooldown.probe-once": Example(
        held=(
            sequence(LONE_DOWN, turn(400, "m0:ok:2:120", took=122, **ALONE), many(3, 401, every=1, **ALONE)),
            sequence(DOWN, turn(400, "m1:ok", took=60), turn(401, "m1:ok", took=60), turn(402, "m1:ok")),
        ),
        violated=(
            sequence(
                LONE_DOWN,
                turn(400, "m0:ok:2:120", took=122, **ALONE),
                turn(401, "m0:ok:2:120", took=122, **ALONE),
            ),
            sequence(DOWN, turn(450, "m0:ok:2:120", took=122), turn(460, "m0:ok:2:120", took=122)),
        ),
    ),
    "cooldown.probe-returned": Example(
        held=(sequence(LONE_DOWN, turn(400, "m0:ok:2:900", hangup=30, **ALONE), turn(500, "m0:ok", **ALONE)),),
        violated=(
            sequence(LONE_DOWN, turn(400, "m0:ok:2:900", hangup=30, **ALONE), turn(500, **ALONE)),
            # Where only outages count, a request that is bad by itself tells nothing of the member.
            sequence(LONE_DOWN, turn(400, "m0:400", **ALONE), turn(500, **ALONE)),
        ),
    ),
    "cooldown.probe-last": Example(
        held=(
            sequence(DOWN, BESIDE, turn(400, "m1:ok")),
            sequence(DOWN, BESIDE, turn(400, "m1:500", "m0:ok")),
            # Over for certain, or not known to be: the member is in its turn again.
            sequence(DOWN, BESIDE, turn(400, "m1:ok"), turn(700, "m0:ok")),
        ),
        violated=(
            sequence(DOWN, BESIDE, turn(400, "m0:ok")),
            sequence(DOWN, BESIDE, turn(400, "m0:500", "m1:ok")),
        ),
    ),
    "cooldown.recovers": Example(
        held=(
            sequence(DOWN, many(12, 700, "m0:ok | m1:ok")),
            sequence(LONE_DOWN, turn(400, "m0:ok", **ALONE), many(3, 420, "m0:ok", **ALONE)),
        ),
        violated=(
            sequence(DOWN, many(12, 700, "m1:ok")),
            sequence(DOWN, turn(400, "m0:ok"), many(12, 420, "m1:ok")),
            sequence(LONE_DOWN, turn(400, "m0:ok", **ALONE), turn(420, **ALONE)),
            sequence(LONE_DOWN, turn(400, "m0:ok", **ALONE), turn(420, "m0:ok", **ALONE), turn(440, **ALONE)),
        ),
    ),
    "cooldown.scope": Example(
        held=(sequence(DOWN, many(10, 80, "m0:ok | m1:ok", lane="other")),),
        violated=(
            sequence(DOWN, many(10, 80, "m1:ok", lane="other")),
            sequence(LONE_DOWN, turn(80, lane="other", **ALONE)),
        ),
    ),
    "cooldown.threshold": Example(
        held=(
            sequence(LONE_DOWN, turn(80, "m0:ok", **ALONE), windows=TWO),
            sequence(turn(0, "m0:500", "m1:500", healthy=""), many(10, 80, "m0:ok | m1:ok"), windows=TWO),
        ),
        violated=(
            sequence(LONE_DOWN, turn(80, **ALONE), windows=TWO),
            # A success between them that did not reset the count.
            sequence(
                LONE_DOWN,
                turn(80, "m0:ok", **ALONE),
                turn(120, "m0:500", members="m0", healthy=""),
                turn(200, **ALONE),
                windows=TWO,
            ),
            sequence(turn(0, "m0:500", "m1:500", healthy=""), many(10, 80, "m1:ok"), windows=TWO),
            # Side by side, yet not as many as are declared; and a success that was over between them.
            sequence(many(3, 0, "m0:500:2:40", every=5, took=45, **LONE), turn(120, **ALONE), windows=FOUR),
            sequence(
                many(3, 0, "m0:500:2:40", every=5, took=45, **LONE),
                turn(80, "m0:ok", **ALONE),
                many(3, 100, "m0:500:2:40", every=5, took=45, **LONE),
                turn(220, **ALONE),
                windows=FOUR,
            ),
        ),
    ),
    "breaker.counts": Example(
        held=(
            # It said how long to wait, and waits no longer.
            sequence(turn(0, "m0:wait", **ALONE), turn(200, **ALONE), turn(1200, "m0:ok", **ALONE)),
            sequence(many(3, 0, "m0:429", **ALONE), turn(60, "m0:ok", **ALONE)),
            sequence(turn(0, "m0:400", **ALONE), turn(60, "m0:ok", **ALONE)),
            sequence(turn(0, "m0:gone", **ALONE), turn(60, "m0:ok", **ALONE)),
            sequence(turn(0, "m0:ok:2:900", hangup=30, **ALONE), turn(60, "m0:ok", **ALONE)),
            sequence(turn(0, "m0:429", "m1:ok", healthy="m1"), many(10, 60, "m0:ok | m1:ok")),
        ),
        violated=(
            sequence(many(3, 0, "m0:429", **ALONE), turn(60, **ALONE)),
            sequence(turn(0, "m0:wait", **ALONE), turn(1200, **ALONE)),
            sequence(turn(0, "m0:400", **ALONE), turn(60, **ALONE)),
            sequence(turn(0, "m0:401", **ALONE), turn(60, **ALONE)),
            sequence(turn(0, "m0:402", **ALONE), turn(60, **ALONE)),
            sequence(turn(0, "m0:gone", **ALONE), turn(60, **ALONE)),
            sequence(turn(0, "m0:ok:2:900", hangup=30, **ALONE), turn(60, **ALONE)),
            sequence(turn(0, "m0:429", "m1:ok", healthy="m1"), many(10, 60, "m1:ok")),
        ),
    ),
    "quarantine.skips": Example(
        held=(sequence(*TWICE, many(4, 200, "m1:ok", healthy="m1")),),
        violated=(
            sequence(*TWICE, turn(200, "m0:named", "m1:ok", healthy="m1")),
            sequence(*TWICE, turn(900, "m0:ok")),
        ),
    ),
    "quarantine.lone": Example(
        held=(
            sequence(turn(0, "m0:named", "m1:ok", healthy="m1"), many(10, 60, "m0:ok | m1:ok")),
            sequence(turn(0, "m0:named", **ALONE), turn(60, "m0:ok", **ALONE)),
            # Two, with a success between them; and two, further apart than the window.
            sequence(
                turn(0, "m0:named", "m1:ok"),
                turn(20, "m0:ok"),
                turn(40, "m0:named", "m1:ok"),
                many(10, 60, "m0:ok | m1:ok"),
            ),
            sequence(turn(0, "m0:named", **ALONE), turn(1300, "m0:named", **ALONE), turn(1320, "m0:ok", **ALONE)),
            # What does not name the model is no second rejection.
            sequence(turn(0, "m0:named", **ALONE), turn(20, "m0:429", **ALONE), turn(60, "m0:ok", **ALONE)),
        ),
        violated=(
            sequence(turn(0, "m0:named", **ALONE), turn(20, "m0:429", members="m0", healthy=""), turn(60, **ALONE)),
            sequence(turn(0, "m0:named", **ALONE), turn(20, "m0:400", members="m0", healthy=""), turn(60, **ALONE)),
            sequence(turn(0, "m0:named", "m1:ok", healthy="m1"), many(10, 60, "m1:ok")),
            sequence(turn(0, "m0:gone", **ALONE), turn(60, **ALONE)),
            sequence(turn(0, "m0:named", **ALONE), turn(1300, "m0:named", **ALONE), turn(1320, **ALONE)),
            sequence(
                turn(0, "m0:named", "m1:ok"),
                turn(20, "m0:ok"),
                turn(40, "m0:named", "m1:ok"),
                many(10, 60, "m1:ok"),
            ),
        ),
    ),
    "quarantine.never-for": Example(
        held=(
            sequence(many(2, 0, "m0:401", **ALONE), turn(60, "m0:ok", **ALONE)),
            sequence(many(2, 0, "m0:404", **ALONE), turn(60, "m0:ok", **ALONE)),
            sequence(
                many(2, 0, "m0:500", "m1:500", every=5),
                many(10, 800, "m0:ok | m1:ok"),
                windows=Windows(cooldown_ms=600.0, cooldown_after=2, quarantine_ms=1200.0),
            ),
        ),
        violated=(
            sequence(many(2, 0, "m0:401", **ALONE), turn(60, **ALONE)),
            sequence(many(2, 0, "m0:400", **ALONE), turn(60, **ALONE)),
            sequence(many(2, 0, "m0:404", **ALONE), turn(60, **ALONE)),
            sequence(many(2, 0, "m0:429", **ALONE), turn(60, **ALONE)),
            sequence(
                many(2, 0, "m0:500", **ALONE),
                turn(800, **ALONE),
                windows=Windows(cooldown_ms=600.0, cooldown_after=2, quarantine_ms=1200.0),
            ),
        ),
    ),
    "quarantine.expires": Example(
        held=(sequence(*TWICE, many(10, 1400, "m0:ok | m1:ok")),),
        violated=(sequence(*TWICE, many(10, 1400, "m1:ok")),),
    ),
    "quarantine.scope": Example(
        held=(
            sequence(*TWICE, many(10, 100, "m0:ok | m1:ok", lane="sibling")),
            sequence(*TWICE, many(10, 100, "m0:ok | m1:ok", lane="other")),
        ),
        violated=(
            sequence(*TWICE, many(10, 100, "m1:ok", lane="sibling")),
            sequence(*TWICE, many(10, 100, "m1:ok", lane="other")),
        ),
    ),
    "retry-after.waits": Example(
        held=(
            sequence(turn(0, "m0:wait", "m1:ok"), turn(200, "m1:ok"), turn(1100, "m0:ok")),
            sequence(turn(0, "m0:wait", **ALONE)),
            sequence(turn(0, "m0:wait:2:4", "m0:ok:1010:1012", took=1015, **ALONE)),
            # A longer wait than the target says that it takes is not waited out.
            sequence(turn(0, "m0:wait", "m1:ok"), turn(100, "m1:ok"), turn(990, "m0:ok")),
        ),
        violated=(
            sequence(turn(0, "m0:wait", "m1:ok"), turn(200, "m0:ok")),
            sequence(turn(0, "m0:wait:2:4", "m0:ok:10:12", took=15, **ALONE)),
            sequence(turn(0, "m0:wait:2:4", "m1:500:6:8", "m0:ok:10:12", took=15)),
        ),
    ),
    "pool.bystander.serves": Example(
        held=(
            sequence(DOWN, many(4, 120, "m1:ok")),
            sequence(turn(0, "m0:wait", "m1:ok"), turn(200, "m1:ok")),
            # At once with another request: it may be a limit of the gateway's own.
            sequence(DOWN, turn(120, "m1:ok", took=60), turn(130, took=60)),
        ),
        violated=(
            sequence(turn(0, "m0:wait", "m1:ok"), turn(200, got="429")),
            sequence(DOWN, turn(120)),
            sequence(
                turn(0, "m0:500", "m1:ok", members="m0 m1 m2 m3", healthy="m1 m2 m3"),
                many(25, 80, "m1:ok", members="m0 m1 m2 m3", healthy="m0 m1 m2 m3"),
            ),
        ),
    ),
    "pool.spread": Example(
        held=(sequence(many(10, 0, "m0:ok | m1:ok")), sequence(many(12, 0, "m0:ok | m0:ok | m1:ok"))),
        violated=(sequence(many(10, 0, "m0:ok")),),
    ),
    "serving-model.reported": Example(
        held=(
            sequence(
                turn(0, "m0:ok", got=naming("a")),
                turn(20, "m1:ok", got=naming("b")),
                turn(40, "m0:429", "m1:ok", got=naming("b")),
            ),
            sequence(
                turn(0, "m0:ok", got=wire(chat(model="big"))),
                turn(20, "m1:ok", got=wire(chat(model="small"))),
                turn(40, "m1:ok", got=wire(chat(model="small"))),
            ),
        ),
        violated=(
            sequence(turn(0, "m0:ok"), turn(20, "m1:ok"), turn(40, "m1:ok")),
            # It names the member that was asked first.
            sequence(
                turn(0, "m0:ok", got=naming("a")),
                turn(20, "m1:ok", got=naming("b")),
                turn(40, "m0:429", "m1:ok", got=naming("a")),
            ),
            # Not where another member served than was asked first.
            sequence(
                turn(0, "m0:ok", got=naming("a")),
                turn(20, "m1:ok", got=naming("b")),
                turn(40, "m0:429", "m1:ok"),
            ),
            # An id that is another each time names nobody.
            sequence(
                turn(0, "m0:ok", got=naming("1")),
                turn(20, "m1:ok", got=naming("2")),
                turn(40, "m1:ok", got=naming("3")),
            ),
        ),
    ),
    "cache.key": Example(
        held=(
            sequence(asked("cf-same01", 0, "m0:ok"), asked("cf-same01", 20, "m0:ok", temperature=0.5)),
            # The second of two equal ones may come from memory.
            sequence(
                asked("cf-same01", 0, "m0:ok"),
                asked("cf-same01", 20, "m0:ok", temperature=0.5),
                asked("cf-same01", 40, got="ok"),
            ),
            # A default that is spelt out, and a number that is spelt otherwise, ask for the same.
            sequence(
                asked("cf-same01", 0, "m0:ok"),
                asked("cf-same01", 20, got="ok", temperature=1, n=1),
                asked("cf-same01", 40, "m0:ok", seed=5),
            ),
        ),
        violated=(
            sequence(asked("cf-same01", 0, "m0:ok"), asked("cf-same01", 20, got="ok", temperature=0.5)),
            sequence(asked("cf-same01", 0, "m0:ok"), asked("cf-same01", 20, got="ok", model="alias-2")),
            sequence(asked("cf-same01", 0, "m0:ok", max_tokens=5), asked("cf-same01", 20, got="ok", max_tokens=6)),
            # Another lane is another model.
            sequence(
                asked("cf-same01", 0, "m0:ok"),
                turn(20, sent=request("cf-same01", model="alias-2"), got="ok", lane="other", **ALONE),
            ),
            sequence(
                asked("cf-same01", 0, "m0:ok"),
                turn(20, sent=request("cf-same01").headed(("OpenAI-Organization", "org-two")), got="ok", **ALONE),
            ),
            sequence(
                asked("cf-same01", 0, "m0:ok"),
                turn(20, sent=request("cf-same01").headed(("Authorization", "Bearer sk-test-two")), got="ok", **ALONE),
            ),
            # Without a nonce the prompt tells which requests are alike.
            sequence(
                turn(0, "m0:ok", sent=ask(messages=[ADA]), **ALONE),
                turn(20, sent=ask(messages=[ADA], seed=5), got="ok", **ALONE),
            ),
        ),
    ),
    "cache.errors-not-stored": Example(
        held=(
            sequence(asked("cf-same01", 0, "m0:429"), asked("cf-same01", 20, "m0:ok")),
            sequence(asked("cf-same01", 0, "m0:500"), asked("cf-same01", 20, got="busy")),
        ),
        violated=(
            sequence(asked("cf-same01", 0, "m0:429"), asked("cf-same01", 20, got="ok")),
            sequence(asked("cf-same01", 0, "m0:cut", stream=True), asked("cf-same01", 20, got="stream", stream=True)),
        ),
    ),
    "cache.answer.same": Example(
        held=(
            sequence(asked("cf-same01", 0, "m0:ok"), asked("cf-same01", 20, got="ok")),
            # In another form, in other white space between the members of a call, and at no cost.
            sequence(
                asked("cf-same01", 0, "m0:ok"),
                asked("cf-same01", 20, got=wire(stream(*words("Hel", "lo."))), stream=True),
            ),
            sequence(asked("cf-same01", 0, "m0:ok", got=CALLING), asked("cf-same01", 20, got=RESPELT)),
            sequence(asked("cf-same01", 0, "m0:spent"), asked("cf-same01", 20, got=GIVEN)),
            # The first request had its answer made anew: what is kept may be an older one.
            sequence(
                turn(0, "m0:ok", sent=request("cf-same01").headed(("Cache-Control", "no-cache")), **ALONE),
                asked("cf-same01", 20, "m0:ok"),
                asked("cf-same01", 40, got="ok"),
            ),
            # Kept was what the member said, though the client was told something else; or the second answer.
            sequence(asked("cf-same01", 0, "m0:ok", got=wire(chat("Bye."))), asked("cf-same01", 20, got="ok")),
            sequence(
                asked("cf-same01", 0, "m0:ok", got=wire(chat("Bye."))),
                asked("cf-same01", 20, "m0:ok"),
                asked("cf-same01", 40, got="ok"),
            ),
            sequence(FIRST, embedding(20, [A, B], [VA, VB], ([B], [VB]))),
            sequence(FIRST, embedding(20, [B, A], [VB, VA], ([B], [VB]))),
        ),
        violated=(
            sequence(asked("cf-same01", 0, "m0:ok"), asked("cf-same01", 20, got=wire(chat("Hell")))),
            sequence(asked("cf-same01", 0, "m0:ok"), asked("cf-same01", 20, got=wire(chat(reason="length")))),
            sequence(asked("cf-same01", 0, "m0:ok", got=CALLING), asked("cf-same01", 20, got=wire(chat("", "stop")))),
            sequence(asked("cf-same01", 0, "m0:spent"), asked("cf-same01", 20, got=LOST)),
            sequence(FIRST, embedding(20, [A, B], [VB, VB], ([B], [VB]))),
            sequence(FIRST, embedding(20, [A, B], [VB, VA], ([B], [VB]))),
            sequence(FIRST, embedding(20, [A], [VB])),
        ),
    ),
    "isolation.key": Example(
        held=(
            # The gateway's own key; the key of the request that is served.
            sequence(
                keyed(0, said(1)),
                keyed(20, said(2, api_key="tok-planted-77"), key="tok-planted-77"),
                keyed(40, said(3)),
            ),
            sequence(
                keyed(0, said(1).headed(("X-Api-Key", "sk-user-one")), key="sk-user-one"),
                keyed(20, said(2).headed(("X-Api-Key", "sk-user-two")), key="sk-user-two"),
            ),
            # Who asks with the very key that the gateway has brings nothing of his own.
            sequence(keyed(0, said(1)), keyed(20, said(2, api_key="sk-up-0")), keyed(40, said(3))),
            sequence(
                keyed(0, said(1)),
                keyed(20, said(2, api_key="sk-user-two"), key="sk-user-two"),
                keyed(40, said(3, api_key="REDACTED"), key="REDACTED"),
                keyed(60, said(4), key="REDACTED"),
            ),
            # The first caller has the key that the gateway has; the second one none.
            sequence(
                keyed(0, said(1).headed(("Authorization", "Bearer sk-up-0"))),
                keyed(20, said(2).headed(("Authorization", "Bearer dummy"))),
            ),
        ),
        violated=(
            sequence(
                keyed(0, said(1)),
                keyed(20, said(2, api_key="tok-planted-77"), key="tok-planted-77"),
                keyed(40, said(3), key="tok-planted-77"),
            ),
            sequence(
                keyed(0, said(1).headed(("X-Api-Key", "sk-user-one")), key="sk-user-one"),
                keyed(20, said(2), key="sk-user-one"),
            ),
        ),
    ),
    "cache.stream-form": Example(
        held=(
            sequence(asked("cf-same01", 0, "m0:ok"), asked("cf-same01", 20, got="stream", stream=True)),
            sequence(asked("cf-same01", 0, "m0:stream", stream=True), asked("cf-same01", 20, "m0:ok")),
        ),
        violated=(
            sequence(asked("cf-same01", 0, "m0:ok"), asked("cf-same01", 20, got="ok", stream=True)),
            sequence(asked("cf-same01", 0, "m0:stream", stream=True), asked("cf-same01", 20, got="stream")),
        ),
    ),
    "isolation.state": Example(
        held=(
            sequence(carrying(0, {}, {}), carrying(20, {"seed": 7}, {"seed": 7}), carrying(40, {}, {})),
            # What the gateway always adds is its default.
            sequence(
                carrying(0, {}, {"seed": 7}), carrying(20, {"seed": 7}, {"seed": 7}), carrying(40, {}, {"seed": 7})
            ),
            # Nothing but the prompt differs; an own instruction of the gateway's; a conversation that the client names.
            sequence(keyed(0, said(1)), keyed(20, said(2))),
            sequence(keyed(0, said(1), said(1, ADA)), keyed(20, said(2, ADA)), keyed(40, said(3), said(3, ADA))),
            sequence(
                keyed(0, said(1, ADA, user="u-1")),
                keyed(20, said(2, user="u-1"), said(2, ADA, user="u-1")),
                keyed(40, said(3, conversation_id="c-1"), said(3, ADA)),
            ),
            # Instructions that everybody gives.
            sequence(keyed(0, said(1, STOCK)), keyed(20, said(2), said(2, STOCK))),
            # A conversation that goes on brings what was said itself, and may be cut into more messages.
            sequence(keyed(0, said(1, ADA)), keyed(20, said(2, ADA, ANSWER), said(2, ADA, ANSWER))),
        ),
        violated=(
            sequence(carrying(0, {}, {}), carrying(20, {"seed": 7}, {"seed": 7}), carrying(40, {}, {"seed": 7})),
            sequence(
                carrying(0, {}, {}),
                carrying(20, {"seed": 7}, {}),
                carrying(40, {}, {"metadata": {"before": "Ticket cf-turn000000: say hello."}}),
            ),
            # The instructions, and the answer, of the request before.
            sequence(keyed(0, said(1, ADA)), keyed(20, said(2), said(2, ADA))),
            sequence(keyed(0, said(1)), keyed(20, said(2), said(2, ANSWER))),
        ),
    ),
    "alive.after": Example(
        held=(
            sequence(turn(0, "m0:ok:2:900", hangup=30, **ALONE), turn(60, "m0:ok", **ALONE)),
            sequence(turn(0, "m0:reset", healthy="", members="m0"), turn(60, "m0:ok", lane="other", **ALONE)),
        ),
        violated=(
            sequence(turn(0, "m0:ok:2:900", hangup=30, **ALONE), turn(60, **ALONE)),
            sequence(
                turn(0, "m0:reset", healthy="", members="m0"),
                turn(60, got=wire(status=0, end="close"), lane="other", **ALONE),
            ),
        ),
    ),
}

#: Sequences that do not tell: what was in flight at one time was counted in an order that nobody knows.
UNDECIDED: dict[str, tuple[Sequence, ...]] = {
    "cooldown.threshold": (
        # The success was on its way when the first failure ended, and when the second one was asked for.
        sequence(
            turn(0, "m0:ok:2:100", took=105, **ALONE),
            turn(20, "m0:500", **LONE),
            turn(90, "m0:500:2:30", took=35, **LONE),
            turn(200, **ALONE),
            windows=TWO,
        ),
        sequence(
            turn(0, "m0:500", **LONE),
            turn(15, "m0:ok:2:60", took=65, **ALONE),
            turn(20, "m0:500:2:70", took=75, **LONE),
            turn(200, **ALONE),
            windows=TWO,
        ),
        # Two on each side of a success that overlaps the later ones.
        sequence(
            many(2, 0, "m0:500", every=5, **LONE),
            turn(40, "m0:ok:2:60", took=65, **ALONE),
            many(2, 60, "m0:500:2:80", every=5, took=85, **LONE),
            turn(250, **ALONE),
            windows=FOUR,
        ),
        # Refused while another was on its way: a gateway may bound how many it has open at a member.
        sequence(LONE_DOWN, turn(80, "m0:ok:2:200", took=205, **LONE), turn(100, got="429", **ALONE), windows=TWO),
    ),
}
