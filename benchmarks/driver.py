"""CPU that a driver spends on one exchange, side by side in one run: wire, httpx, the OpenAI SDK, and raw httptools.

    python benchmarks/driver.py [--exchanges 2000] [--rounds 3]

A server in another process answers a 600-byte JSON body or a stream of 100 events. Counted is `time.process_time` of
this process, the event loop included; each client sends one call after the other, rounds interleaved, the best round
counts. Absolute numbers depend on the machine; compare the ratios of one run.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

from conformance.driver.model import Call, Deadlines
from conformance.driver.registry import make_driver
from conformance.driver.request import locate, request_bytes
from conformance.wire.transcript import End

Send = Callable[[Call], Awaitable[None]]


def replies() -> tuple[list[bytes], list[bytes]]:
    """The writes of a JSON reply with a body of 600 bytes, and of a stream: 100 events and [DONE], a write for each."""
    message = {"role": "assistant", "content": "x" * 380}
    body = {
        "id": "chatcmpl-bench",
        "object": "chat.completion",
        "created": 1,
        "model": "bench",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }
    text = json.dumps(body, separators=(",", ":")).encode().ljust(600)
    chunk = {
        "id": "chatcmpl-bench",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "bench",
        "choices": [{"index": 0, "delta": {"content": "word "}, "finish_reason": None}],
    }
    event = b"data: %b\n\n" % json.dumps(chunk, separators=(",", ":")).encode()
    frames = [event] * 100 + [b"data: [DONE]\n\n", b""]
    json_head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(text)
    stream_head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    return [json_head + text], [stream_head, *(b"%x\r\n%b\r\n" % (len(frame), frame) for frame in frames)]


class Answering(asyncio.Protocol):
    """The server: a request with "stream" in its body gets the stream, another one JSON; no parsing beyond that."""

    reply_json, reply_stream = replies()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport
        self.seen = b""

    def data_received(self, data: bytes) -> None:
        self.seen += data
        if self.seen.rstrip().endswith(b"}"):
            for frame in self.reply_stream if b'"stream"' in self.seen else self.reply_json:
                self.transport.write(frame)
            self.seen = b""


async def serve() -> None:
    """Serve on a free port of loopback, print it, end with stdin."""
    server = await asyncio.get_running_loop().create_server(Answering, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)


class RawClient(asyncio.Protocol):
    """The limit: asyncio with httptools, nothing kept."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport

    def ask(self, request: bytes) -> asyncio.Future[None]:
        self.parser = importlib.import_module("httptools").HttpResponseParser(self)
        self.done = asyncio.get_running_loop().create_future()
        self.transport.write(request)
        return self.done

    def data_received(self, data: bytes) -> None:
        self.parser.feed_data(data)

    def on_message_complete(self) -> None:
        self.done.set_result(None)


async def raw_sender(call: Call) -> Send:
    """Send over one kept connection with httptools."""
    place = locate(call.base_url)
    _, client = await asyncio.get_running_loop().create_connection(RawClient, place.host, place.port)

    async def send(call: Call) -> None:
        await client.ask(request_bytes(call, place))

    return send


def driver_sender(name: str) -> tuple[Send, Any]:
    """Send with a driver; every exchange must be whole."""
    driver = make_driver(name)

    async def send(call: Call) -> None:
        capture = await driver.send(call)
        if capture.transcript.end is not End.COMPLETE:
            raise SystemExit(f"{name}: {capture.transcript.end} {capture.transcript.error}")

    return send, driver


def make_call(port: int, *, stream: bool) -> Call:
    """The benchmark's call."""
    params: dict[str, Any] = {"model": "bench", "messages": [{"role": "user", "content": "Say hello."}]}
    if stream:
        params["stream"] = True
    return Call(
        base_url=f"http://127.0.0.1:{port}/v1", path="/chat/completions", method="POST", endpoint="chat.completions",
        api_key="sk-test-bench", body=json.dumps(params).encode(), params=params, deadlines=Deadlines(),
    )  # fmt: skip


async def cost(send: Send, call: Call, exchanges: int) -> float:
    """Microseconds of CPU for one exchange."""
    for _ in range(20):
        await send(call)
    began = time.process_time()
    for _ in range(exchanges):
        await send(call)
    return (time.process_time() - began) / exchanges * 1e6


async def measure(port: int, exchanges: int, rounds: int) -> None:
    """Print the table."""
    senders: dict[str, Send] = {}
    drivers = []
    if importlib.util.find_spec("httptools"):
        senders["httptools (raw)"] = await raw_sender(make_call(port, stream=False))
    else:
        print("httptools is not installed: no raw baseline")
    for name in ("wire", "httpx", "openai-python-async", "openai-python"):
        senders[name], driver = driver_sender(name)
        drivers.append(driver)
    best: dict[tuple[str, bool], float] = {}
    for _ in range(rounds):
        for stream in (False, True):
            for name, send in senders.items():
                share = exchanges if name in ("wire", "httptools (raw)") else max(50, exchanges // 10)
                spent = await cost(send, make_call(port, stream=stream), share)
                best[name, stream] = min(spent, best.get((name, stream), spent))
    for driver in drivers:
        await driver.aclose()
    print(f"{'client':<22}{'JSON 600 B':>14}{'ratio':>8}{'100 events':>14}{'ratio':>8}")
    for name in senders:
        row = [(best[name, stream], best[name, stream] / best["wire", stream]) for stream in (False, True)]
        print(f"{name:<22}" + "".join(f"{spent:>11.0f} us{ratio:>8.2f}" for spent, ratio in row))


def main() -> None:
    """Start the server process, measure, stop it."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--exchanges", type=int, default=2000)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.serve:
        asyncio.run(serve())
        return
    command = [sys.executable, __file__, "--serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            port = int(server.stdout.readline())
            asyncio.run(measure(port, given.exchanges, given.rounds))
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
