"""`record`: the command line of the recorder, its signals, and what is never shown or written."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from conformance.cassette.store import load
from conformance.cli import main
from conformance.upstream.process import UpstreamProcess, start_upstream
from tests.upstream.peer import eventually

KEY = "nothing-That-Looks-Like-1-Key"
BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": f"Say hello, and {KEY}."}]})


@pytest.fixture(scope="module")
def provider() -> Iterator[UpstreamProcess]:
    """A replay upstream in the provider's place: it answers what is healthy."""
    with start_upstream(1) as started:
        yield started


class Recorder:
    """`conformance record` as a process."""

    def __init__(self, *words: str, **more: str) -> None:
        command = [sys.executable, "-m", "conformance", "record", *words]
        self.child = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **more}
        )
        assert self.child.stdout is not None
        self.first = self.child.stdout.readline()
        self.url = self.first.split()[-1] if self.first.startswith("base-url ") else ""

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_: object) -> None:
        self.child.kill()
        self.child.communicate()

    def ask(self, *, key: str = "sk-test-client") -> int:
        """One chat completion; its status."""
        parts = urlsplit(self.url)
        connection = http.client.HTTPConnection(parts.netloc, timeout=20)
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        connection.request("POST", f"{parts.path}/chat/completions", BODY, headers)
        reply = connection.getresponse()
        reply.read()
        connection.close()
        return reply.status

    def end(self, number: signal.Signals = signal.SIGINT) -> tuple[int, str, str]:
        """End it: exit code, standard output after the first line, standard error."""
        self.child.send_signal(number)
        out, err = self.child.communicate(timeout=20)
        return self.child.returncode, out, err


def base_url(provider: UpstreamProcess) -> str:
    """The provider's API."""
    return f"http://127.0.0.1:{provider.ports[0]}/v1"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_records_until_it_is_told_to_end(provider: UpstreamProcess, tmp_path: Path, number: signal.Signals) -> None:
    """URL, then a line for each exchange, then a summary; the cassette conforms; the key of the variable is nowhere."""
    out = tmp_path / "recorded" / "test" / "chat.yaml"
    words = ["--to", base_url(provider), "--out", str(out), "--title", "A chat answers", "--replace-key-env", "MY_KEY"]
    with Recorder(*words, MY_KEY=KEY) as recorder:
        assert [recorder.ask() for _ in range(3)] == [200, 200, 200]
        assert eventually(lambda: out.exists() and len(load(out).interactions) == 3)
        code, told, err = recorder.end(number)
    assert (code, err) == (0, "")
    lines = told.splitlines()
    assert lines[0].startswith("recorded POST /v1/chat/completions 200 complete, ")
    assert lines[-1] == f"3 recorded in {out}"
    cassette = load(out)
    assert (cassette.title, cassette.origin, cassette.provider) == ("A chat answers", "recorded", "127.0.0.1")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", cassette.date)
    assert cassette.source.startswith(base_url(provider))
    assert ("request header authorization", "credential") in cassette.redactions
    assert ("request body", "key") in cassette.redactions
    assert KEY not in out.read_text(encoding="utf-8") + recorder.first + told
    assert main(["judge", str(out)]) == 0


def test_a_killed_process_leaves_what_it_recorded(provider: UpstreamProcess, tmp_path: Path) -> None:
    """SIGKILL: the file is whole and holds what had been told as recorded."""
    out = tmp_path / "a.json"
    with Recorder("--to", base_url(provider), "--out", str(out)) as recorder:
        recorder.ask()
        assert recorder.child.stdout is not None
        assert recorder.child.stdout.readline().startswith("recorded ")
        recorder.end(signal.SIGKILL)
    assert len(load(out).interactions) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_it_ends_by_itself(provider: UpstreamProcess, tmp_path: Path) -> None:
    """With --max it ends after so many."""
    out = tmp_path / "a.yaml"
    with Recorder("--to", base_url(provider), "--out", str(out), "--max", "2") as recorder:
        recorder.ask()
        recorder.ask()
        assert recorder.child.wait(20) == 0
    assert len(load(out).interactions) == 2


def test_nothing_recorded_is_no_success(provider: UpstreamProcess, tmp_path: Path) -> None:
    """Exit code 3, and no file."""
    out = tmp_path / "a.yaml"
    with Recorder("--to", base_url(provider), "--out", str(out)) as recorder:
        code, told, err = recorder.end()
    assert (code, told, err) == (3, "nothing was recorded\n", "")
    assert not out.exists()


def test_a_gateway_and_its_members(provider: UpstreamProcess, tmp_path: Path) -> None:
    """A URL for the client, one for each member, on ports that follow each other; the client's requests go to --to."""
    port = free_ports(3)
    behind = ["--behind", "https://a.test/v1", "--behind", "https://b.test/api/v1"]
    with Recorder(
        "--to", base_url(provider), *behind, "--port", str(port), "--out", str(tmp_path / "legs")
    ) as recorder:
        assert recorder.child.stdout is not None
        lines = [recorder.first, recorder.child.stdout.readline(), recorder.child.stdout.readline()]
        assert lines == [
            f"base-url http://127.0.0.1:{port}/v1\n",
            f"member m0 http://127.0.0.1:{port + 1}/v1\n",
            f"member m1 http://127.0.0.1:{port + 2}/api/v1\n",
        ]
        recorder.ask()
        assert recorder.child.stdout.readline().startswith("recorded ")
        code, told, _ = recorder.end()
    assert code == 0
    assert told == f"1 recorded in {tmp_path / 'legs/client.yaml'} and {tmp_path / 'legs/upstream.yaml'}\n"
    held = [load(tmp_path / "legs" / name).interactions for name in ("client.yaml", "upstream.yaml")]
    assert [len(leg) for leg in held] == [1, 0]
    legs = [str(tmp_path / "legs" / name) for name in ("client.yaml", "upstream.yaml")]
    assert main(["judge", legs[0], "--upstream", legs[1], "--capabilities", "failover"]) in (0, 1)


def free_ports(count: int) -> int:
    """The first of so many free ports."""
    while True:
        with ExitStack() as held:
            first = held.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1]
            try:
                for number in range(1, count):
                    held.enter_context(socket.create_server(("127.0.0.1", first + number)))
            except OSError:
                continue
            return int(first)


def test_a_reader_that_went_away(provider: UpstreamProcess, tmp_path: Path) -> None:
    """Nobody reads its output: it records all the same."""
    out = tmp_path / "a.yaml"
    with Recorder("--to", base_url(provider), "--out", str(out)) as recorder:
        assert recorder.child.stdout is not None
        recorder.child.stdout.close()
        assert [recorder.ask() for _ in range(3)] == [200, 200, 200]
        assert eventually(lambda: out.exists() and len(load(out).interactions) == 3)
        recorder.child.send_signal(signal.SIGINT)
        assert recorder.child.wait(20) == 0


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["--to", "ftp://a.test/v1"], "not the base URL of an API"),
        (["--to", "https://me:hidden@a.test/v1"], "not the base URL of an API"),
        (["--to", "https://a.test/v1", "--replace-key-env", "NO_SUCH_VARIABLE"], "the variable holds no key"),
        (["--to", "https://a.test/v1", "--replace-key-env", "TWO_WORDS"], "does not hold a key"),
        (["--to", "https://a.test/v1", "--out", "a.txt"], "ends in .yaml"),
        (["--to", "https://a.test/v1", "--out", "there.yaml"], "this file exists"),
        (["--to", "https://a.test/v1", "--out", "there.yaml", "--append"], "not a cassette"),
        (["--to", "https://a.test/v1", "--out", "there.yaml/a.yaml"], "the folder cannot be made"),
        (["--to", "https://a.test/v1", "--port", "70000"], "there is no such port"),
        (["--to", "https://a.test/v1", "--behind", "https://b.test", "--out", "a.yaml"], "two legs need a folder"),
        (["--to", "https://a.test/v1", "--behind", "https://b.test", "--append"], "two legs are not added to"),
    ],
)
def test_what_is_refused_before_anything_is_recorded(
    words: list[str],
    what: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Exit code 2, one sentence, and no value of a variable or password in it, not even with --debug."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TWO_WORDS", "hidden words")
    Path("there.yaml").write_text("[]", encoding="utf-8")
    assert main(["record", *words, "--debug"]) == 2
    err = capsys.readouterr().err
    assert what in err
    assert "hidden" not in err


def test_a_port_that_is_taken(provider: UpstreamProcess, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 3, with the port and what to do."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        words = ["record", "--to", base_url(provider), "--port", str(port), "--out", str(tmp_path / "a.yaml")]
        assert main(words) == 3
    err = capsys.readouterr().err
    assert f"where: 127.0.0.1:{port}" in err
    assert "name a free one" in err


def test_the_file_is_named_after_the_provider(
    provider: UpstreamProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without --out it is recorded/PROVIDER/record.yaml."""
    monkeypatch.chdir(tmp_path)
    with Recorder("--to", base_url(provider), "--provider", "Some Provider", "--max", "1") as recorder:
        recorder.ask()
        assert recorder.child.wait(20) == 0
    assert load(tmp_path / "recorded/some-provider/record.yaml").provider == "Some Provider"
