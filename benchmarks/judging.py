"""CPU that judging costs, for one exchange and for one event of a stream, beside plain parsing of the same bytes.

    python benchmarks/judging.py [--rounds 5] [--exchanges 40] [--clauses N]

One JSON reply and one stream of 100 events, each with the leg of the member that it was relayed from. Measured in one
run, rounds interleaved, the best round counts: `json.loads` of the bodies' JSON texts, jsonschema and jsonschema-rs on
the parsed texts, then what a run does: both legs read into facts, every clause judged, the case written as a line.
Absolute numbers depend on the machine; compare the ratios of one run. `--clauses N` lists the N dearest clauses.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable

import jsonschema_rs
from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from conformance.contract.catalog import select
from conformance.contract.judge import judge, judge_clause
from conformance.contract.schemas import schemas
from conformance.exchange.assemble import assemble, read_attempt
from conformance.exchange.model import Exchange, Terms
from conformance.report.codec import encode_line
from conformance.report.evidence import case_of
from conformance.wire.transcript import End, Segment, Transcript

EVENTS = 100
CLAUSES = select(())
TERMS = Terms(
    capabilities=frozenset({"failover", "provider-blind"}),
    secrets=(b"sk-up-bench",),
    identities=(b"up-model",),
    members=("m0",),
    healthy=frozenset({"m0"}),
    known_models=frozenset({"alias"}),
    key_valid=True,
)

Work = Callable[[], object]


def texts(stream: bool) -> list[bytes]:
    """The JSON texts of a reply: one, or one for each event."""
    base = {"id": "chatcmpl-bench", "created": 1785402847, "model": "alias"}
    if not stream:
        message = {"role": "assistant", "content": "word " * 60, "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        usage = {"prompt_tokens": 9, "completion_tokens": 60, "total_tokens": 69}
        return [_compact({**base, "object": "chat.completion", "choices": [choice], "usage": usage})]
    deltas = [{"role": "assistant", "content": ""}, *({"content": "word "} for _ in range(EVENTS - 2)), {}]
    return [
        _compact({
            **base,
            "object": "chat.completion.chunk",
            "choices": [
                {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None if delta else "stop"}
            ],
        })
        for delta in deltas
    ]  # fmt: skip


def _compact(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def message(stream: bool) -> tuple[Segment, ...]:
    """The reply on the wire, an event in each write."""
    if not stream:
        (body,) = texts(False)
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
        return (Segment(5.0, head + body),)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    frames = [b"data: %b\n\n" % text for text in texts(True)] + [b"data: [DONE]\n\n", b""]
    chunks = [b"%x\r\n%b\r\n" % (len(frame), frame) for frame in frames]
    return tuple(Segment(5.0 + number, part) for number, part in enumerate([head, *chunks]))


def request(stream: bool, model: str, key: str) -> bytes:
    """A chat request on the wire."""
    prompt = [{"role": "user", "content": "Ticket cf-bench01: Say hello."}]
    body = _compact({"model": model, "messages": prompt, "stream": stream})
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {key}"
    return f"{head}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def read(stream: bool) -> Exchange:
    """What a run does to have an exchange: both legs become facts."""
    received = message(stream)
    attempt = read_attempt(
        member="m0",
        at=1.0,
        request=request(stream, "up-model", "sk-up-bench"),
        segments=received,
        end=End.COMPLETE,
        ended_at=received[-1].at,
    )
    sent = (Segment(0.0, request(stream, "alias", "sk-test")),)
    transcript = Transcript(sent=sent, received=received, end=End.COMPLETE, ended_at=received[-1].at + 1)
    return assemble(name="bench", transcript=transcript, attempts=[attempt], terms=TERMS, nonce="cf-bench01")


def explainer(schema: str) -> Draft202012Validator:
    """The jsonschema validator of one of the API's shapes."""
    resources = [(text["$id"], DRAFT202012.create_resource(text)) for text in schemas().values()]
    return Draft202012Validator(schemas()[schema], registry=Registry().with_resources(resources))


def decider(schema: str) -> jsonschema_rs.Draft202012Validator:
    """The jsonschema-rs validator of one of the API's shapes."""
    registry = jsonschema_rs.Registry([(text["$id"], text) for text in schemas().values()])
    return jsonschema_rs.Draft202012Validator(schemas()[schema], registry=registry)


def works(stream: bool) -> dict[str, Work]:
    """What is measured for one reply, by name."""
    bodies = texts(stream)
    values = [json.loads(body) for body in bodies]
    schema = "chat-completion-chunk" if stream else "chat-completion"
    slow, fast = explainer(schema), decider(schema)
    # Facts are remembered in an exchange: each round judges fresh ones, as a run does.
    exchanges: list[Exchange] = []

    def judge_fresh() -> object:
        return judge(exchanges.pop() if exchanges else read(stream), CLAUSES)

    exchange = read(stream)
    verdicts = judge(exchange, CLAUSES)
    return {
        "json.loads": lambda: [json.loads(body) for body in bodies],
        "jsonschema-rs": lambda: [fast.is_valid(value) for value in values],
        "jsonschema": lambda: [slow.is_valid(value) for value in values],
        "read both legs": lambda: read(stream),
        "read and judge": judge_fresh,
        "write the case": lambda: encode_line(case_of(exchange, verdicts, scenario="bench.bench")),
    }


def best(work: Work, times: int) -> float:
    """CPU seconds of one `work`, over `times` of them."""
    began = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - began) / times


def measure(rounds: int, times: int) -> dict[bool, dict[str, float]]:
    """The best round of each, in seconds, for the JSON reply (False) and the stream (True)."""
    todo = {stream: works(stream) for stream in (False, True)}
    found: dict[bool, dict[str, float]] = {stream: {} for stream in todo}
    for _ in range(rounds):
        for stream, named in todo.items():
            for name, work in named.items():
                count = max(1, times // (10 if name == "jsonschema" and stream else 1))
                found[stream][name] = min(found[stream].get(name, 1e9), best(work, count))
    for stream in found:
        found[stream]["judge"] = found[stream]["read and judge"] - found[stream]["read both legs"]
    return found


def table(found: dict[bool, dict[str, float]]) -> str:
    """The figures in µs, and as multiples of json.loads."""
    rows = [f"{'':16}{'JSON, µs':>10}{'× loads':>9}{'stream, µs':>12}{'per event':>11}{'× loads':>9}"]
    for name in ("json.loads", "jsonschema-rs", "jsonschema", "read both legs", "judge", "write the case"):
        one, many = found[False][name] * 1e6, found[True][name] * 1e6
        ratios = one / (found[False]["json.loads"] * 1e6), many / (found[True]["json.loads"] * 1e6)
        rows.append(f"{name:16}{one:10.0f}{ratios[0]:9.1f}{many:12.0f}{many / EVENTS:11.1f}{ratios[1]:9.1f}")
    return "\n".join(rows)


def dearest(count: int, times: int) -> str:
    """The clauses that cost most on the stream, in µs: first what a fresh exchange pays, then each alone."""
    costs: dict[str, float] = dict.fromkeys((clause.id for clause in CLAUSES), 0.0)
    for _ in range(times):
        exchange = read(True)
        for clause in CLAUSES:
            if clause.scope == "exchange":
                began = time.thread_time()
                judge_clause(clause, exchange)
                costs[clause.id] += (time.thread_time() - began) / times
    ranked = sorted(costs.items(), key=lambda pair: -pair[1])
    total = sum(costs.values())
    lines = [f"{1e6 * cost:8.0f}  {cost / total:5.1%}  {clause}" for clause, cost in ranked[:count]]
    return "\n".join([f"{1e6 * total:8.0f}  all {len(costs)} clauses, in order, on a fresh exchange", *lines])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--exchanges", type=int, default=40)
    parser.add_argument("--clauses", type=int, default=0, metavar="N")
    options = parser.parse_args()
    print(table(measure(options.rounds, options.exchanges)))
    if options.clauses:
        print(dearest(options.clauses, options.exchanges))


if __name__ == "__main__":
    main()
