"""Scenarios and cassettes of one's own are played like the bundled ones, and checked before anything starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.errors import CassetteError, ScenarioError, UsageError
from conformance.options import RunOptions
from conformance.run import run
from conformance.run.choice import chosen_scenarios, known_scenarios, roots_of
from conformance.scenario.load import load_scenarios

SCENARIO = """
[[scenario]]
id = "mine.hello"
title = "What a provider said in March reaches the client"
request = { endpoint = "chat.completions", messages = [{ role = "user", content = "Say hello." }] }
play.default = ["mine/march"]
exercises = ["relay.text.equal"]
"""
CASSETTE = """
interactions:
- request: {method: POST, uri: "https://api.example/v1/chat/completions", body: '{"model":"x"}'}
  response:
    status: {code: 200, message: OK}
    headers: {Content-Type: [application/json]}
    body:
      string: '{"id":"chatcmpl-march","object":"chat.completion","created":1764500000,"model":"x","choices":[{"index":0,
        "message":{"role":"assistant","content":"Words of March."},"finish_reason":"stop"}],
        "usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}'
"""


@pytest.fixture
def own(tmp_path: Path) -> RunOptions:
    """The options that name a scenario file and a folder of cassettes."""
    (tmp_path / "mine.toml").write_text(SCENARIO, encoding="utf-8")
    (tmp_path / "tapes" / "mine").mkdir(parents=True)
    (tmp_path / "tapes" / "mine" / "march.yaml").write_text(CASSETTE, encoding="utf-8")
    return options(tmp_path)


def options(folder: Path, *select: str) -> RunOptions:
    """What names the files in `folder`."""
    return RunOptions(
        scenarios=(str(folder / "mine.toml"),), cassettes=(str(folder / "tapes"),), select=select, drivers=("wire",)
    )


def ids(chosen: RunOptions) -> list[str]:
    """The chosen scenarios' ids."""
    return [scenario.id for scenario in chosen_scenarios(chosen)]


def test_ones_own_alone_unless_some_are_selected(own: RunOptions, tmp_path: Path) -> None:
    """Without a glob one's own are played; a glob chooses among all."""
    assert ids(own) == ["mine.hello"]
    assert ids(options(tmp_path, "mine.*", "baseline.chat")) == ["baseline.chat", "mine.hello"]
    assert len(known_scenarios(own)) == len(load_scenarios()) + 1
    assert ids(RunOptions()) == [scenario.id for scenario in load_scenarios()]
    assert roots_of(own)[0] == tmp_path / "tapes"


def test_the_words_of_ones_own_cassette_are_played(own: RunOptions) -> None:
    """They go from the folder through the gateway to the client, and are compared with what the member said."""
    report = run(own)
    (case,) = report.cases
    assert report.footer is not None
    assert report.footer.exit_code == 0
    assert {verdict.clause: verdict.outcome.value for verdict in case.verdicts}["relay.text.equal"] == "held"
    assert report.header.cassettes


@pytest.mark.parametrize(
    ("file", "old", "new", "kind", "what", "where"),
    [
        ("mine.toml", "mine/march", "mine/april", CassetteError, "no cassette 'mine/april'", "mine.hello: play"),
        ("mine.toml", "text.equal", "text.eqal", ScenarioError, "no clause 'relay.text.eqal'", "mine.hello: exercises"),
        ("mine.toml", "mine.hello", "baseline.chat", ScenarioError, "the id stands twice", "mine.toml: baseline.chat"),
        ("mine.toml", "mine/march", "mine/march | crfl", ScenarioError, "crfl", "mine.hello: play"),
        ("mine.toml", "mine/march", "mine/march | pace:x", ScenarioError, "'x' is no MS", "mine.hello: play"),
        ("mine.toml", "mine/march", "mine/march | drop-done", ScenarioError, "[DONE]", "mine.hello: play"),
        (
            "mine.toml",
            '"mine/march"',
            '{ cassette = "mine/march", interaction = 1 }',
            ScenarioError,
            "no interaction 1",
            "mine.hello: play",
        ),
        ("mine.toml", "title", "titel", ScenarioError, "titel", "mine.hello"),
        ("tapes/mine/march.yaml", "code: 200", "code: x", CassetteError, "code", "mine.hello: play"),
    ],
)
def test_what_cannot_be_played_is_told_before_it_starts(
    own: RunOptions, tmp_path: Path, file: str, old: str, new: str, kind: type[UsageError], what: str, where: str
) -> None:
    """What, and in which scenario."""
    path = tmp_path / file
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(kind) as caught:
        chosen_scenarios(own)
    assert what in str(caught.value)
    assert where in caught.value.where


def test_a_folder_that_is_none_is_told(tmp_path: Path) -> None:
    """It is named."""
    with pytest.raises(UsageError, match="no such folder") as caught:
        run(RunOptions(cassettes=(str(tmp_path / "nope"),), select=("baseline.chat",), drivers=("wire",)))
    assert caught.value.where == str(tmp_path / "nope")
