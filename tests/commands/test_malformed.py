"""`judge` on files that are no captures: one error that says what is wrong and where, exit code 2, no traceback."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conformance.cli import main

ANSWER = json.dumps(
    {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}],
    }
)


def document(**facts: Any) -> dict[str, Any]:
    """A capture of one right exchange, with facts about its interaction."""
    request = {
        "method": "POST",
        "uri": "http://gateway.test/v1/chat/completions",
        "headers": {"content-type": ["application/json"]},
        "body": '{"model":"m","messages":[{"role":"user","content":"Ticket cf-q8w3zd."}]}',
    }
    response = {
        "status": {"code": 200, "message": "OK"},
        "headers": {"content-type": ["application/json"]},
        "body": {"string": ANSWER},
    }
    made: dict[str, Any] = {"version": 1, "interactions": [{"request": request, "response": response}]}
    return made | ({"metadata": {"conformance": {"interactions": [facts]}}} if facts else {})


def bomb() -> str:
    """Nine levels of ten aliases each, as a request's body."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]
    return "\n".join(lines) + "\ninteractions:\n- request: {uri: 'http://a/', body: *a8}\n  response: {}\n"


TEXTS = {
    "nothing": "",
    "null": "null",
    "a list": "- a",
    "broken": "a: [1,\n b: {",
    "two documents": "a: 1\n---\nb: 2",
    "an object of Python": "interactions: !!python/object/apply:os.system ['true']",
    "a nest": "interactions: " + "[" * 20000,
    "a bomb": bomb(),
    "itself": "&a\ninteractions: [*a]",
    "no interactions": "version: 1",
    "none of them": "version: 1\ninteractions: []",
    "Ruby's": "http_interactions: []",
    "a HAR": '{"log": {"entries": []}}',
    "not base64": "interactions:\n- request: {uri: 'http://a/', body: !!binary '@@@'}\n  response: {}",
}


def code(document: dict[str, Any]) -> None:
    """A status that is a text."""
    document["interactions"][0]["response"]["status"]["code"] = "200"


def taken(*path: str) -> Callable[[dict[str, Any]], None]:
    """Takes a part of the interaction away."""

    def take(document: dict[str, Any]) -> None:
        place = document["interactions"][0]
        for step in path[:-1]:
            place = place[step]
        del place[path[-1]]

    return take


def put(value: Any, *path: str) -> Callable[[dict[str, Any]], None]:
    """Puts a value into the interaction."""

    def place(document: dict[str, Any]) -> None:
        found = document["interactions"][0]
        for step in path[:-1]:
            found = found[step]
        found[path[-1]] = value

    return place


EDITS = {
    "no response": taken("response"),
    "no request": taken("request"),
    "no uri": taken("request", "uri"),
    "no status": taken("response", "status"),
    "a status of text": code,
    "a body of another type": put(5, "response", "body"),
    "a uri that is none": put("http://[::1/v1", "request", "uri"),
    "a method of two words": put("POST /", "request", "method"),
    "a header of two lines": put({"a": "b\r\nc: d"}, "response", "headers"),
}


def judged(*arguments: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What `judge` complains about, with exit code 2 and no traceback."""
    assert main(["judge", *arguments]) == 2
    said = capsys.readouterr()
    assert "Traceback" not in said.err + said.out
    assert said.err.startswith("conformance: error: ")
    return said.err


@pytest.mark.parametrize("name", TEXTS)
def test_texts(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is no cassette is refused with its place."""
    (tmp_path / "c.yaml").write_text(TEXTS[name], encoding="utf-8")
    assert "where: " in judged(str(tmp_path / "c.yaml"), capsys=capsys)


@pytest.mark.parametrize("name", EDITS)
def test_edits(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A part that is missing or of another type is named with its place in the file."""
    made = document()
    EDITS[name](made)
    (tmp_path / "c.json").write_text(json.dumps(made), encoding="utf-8")
    assert "where: c: interactions[0]." in judged(str(tmp_path / "c.json"), capsys=capsys)


def test_what_is_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder and a file that is not there are told apart, on either leg."""
    good = tmp_path / "good.json"
    good.write_text(json.dumps(document()), encoding="utf-8")
    assert main(["judge", str(good)]) == 0
    assert "a folder" in judged(str(tmp_path), capsys=capsys)
    assert "no such file" in judged(str(good), "--upstream", str(tmp_path / "none"), capsys=capsys)
    assert "a folder" in judged(str(good), "--upstream", str(tmp_path), capsys=capsys)


def test_legs_in_each_others_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An upstream leg given as the client's is an error that says the order."""
    for name, made in (("client", document()), ("upstream", document(member="m0", at=2.0))):
        (tmp_path / f"{name}.json").write_text(json.dumps(made), encoding="utf-8")
    client, upstream = str(tmp_path / "client.json"), str(tmp_path / "upstream.json")
    assert main(["judge", client, "--upstream", upstream]) == 0
    assert "CLIENT.yaml --upstream UPSTREAM.yaml" in judged(upstream, "--upstream", client, capsys=capsys)


def test_more_facts_than_interactions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The metadata has one entry for each interaction."""
    made = document(end="complete")
    made["metadata"]["conformance"]["interactions"].append({})
    (tmp_path / "c.json").write_text(json.dumps(made), encoding="utf-8")
    assert "one entry for each of the 1 interactions" in judged(str(tmp_path / "c.json"), capsys=capsys)
