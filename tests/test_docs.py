"""What README and CONTRIBUTING show is what there is."""

from __future__ import annotations

import inspect
import re
import shlex
import tomllib
from pathlib import Path

import pytest

from conformance import __version__
from conformance.arguments import build_parser
from conformance.cassette.store import Library
from conformance.contract.catalog import CATALOG
from conformance.contract.clauses import stream_course
from conformance.data import data_root
from conformance.options import RunOptions
from conformance.run.header import deviations_of
from conformance.scenario.codec import decode, play_item
from conformance.scenario.place import Place
from conformance.upstream.items import Scripts

pytest_plugins = ["pytester"]

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"(?:^\$ |&& )(conformance .*?)(?: > \S+)?(?: *#.*)?$", README, re.MULTILINE)


def block(heading: str, language: str) -> str:
    """The first code block of that language below a heading of CONTRIBUTING."""
    section = CONTRIBUTING.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return section.split(f"```{language}\n", 1)[1].split("```", 1)[0]


def uncommented(code: str) -> str:
    """Code without comments and layout."""
    return "".join(re.sub(r" +#[^\n\"]*$", "", code, flags=re.MULTILINE).split())


@pytest.mark.parametrize("command", COMMANDS)
def test_readme_commands_parse(command: str) -> None:
    """Every command line that README shows is one that the parser takes."""
    parsed = build_parser(__version__).parse_args(shlex.split(command)[1:])
    if parsed.command == "explain":
        assert parsed.id in CATALOG


def test_readme_deviations_are_valid(tmp_path: Path) -> None:
    """The file of known violations that README shows is one that a run takes."""
    shown = README.split("### Known violations\n", 1)[1].split("```toml\n", 1)[1].split("```", 1)[0]
    (tmp_path / "known.toml").write_text(shown, encoding="utf-8")
    (known,) = deviations_of(RunOptions(deviations=str(tmp_path / "known.toml")))
    assert (known.clause, known.scenarios, known.expires) == ("stream.done.once", ("baseline.*-stream",), "2027-03-31")


def test_readme_shows_commands() -> None:
    """README opens with the two commands, and shows how to use the others."""
    first, second = README.split("```console\n", 1)[1].split("\n")[:2]
    assert "conformance run --target reference" in first
    assert 'pip install -e ".[test]" && pytest -n 2' in second
    assert {command.split()[1] for command in COMMANDS} >= {"run", "judge", "explain", "report"}


def test_readme_example_runs(pytester: pytest.Pytester) -> None:
    """The tests that README shows pass as they stand there, in an empty project."""
    pytester.makepyfile(test_readme=README.split("```python\n", 1)[1].split("```", 1)[0])
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:hypothesispytest", timeout=180)
    result.assert_outcomes(passed=2)


def test_readme_shows_what_plays_know() -> None:
    """The transforms and words that README names can be played."""
    told = README.split("A play names cassettes", 1)[1].split("\n\n", 1)[0]
    library = Library()
    names = re.findall(r"`([^`]+)`", told)
    assert len(names) > 6
    scripts = Scripts(library.get)
    for name in names:
        if name not in ("|", "..."):
            item = name if name.startswith("@") else f"authored/openai/chat-hello-stream | {name}"
            scripts.plan(play_item(item, Place("README")), "cf-abcdef1")


def test_clause_walked_through_is_real() -> None:
    """The clause of the walk-through is the one in the area module."""
    shown = uncommented(block("Add a clause", "python"))
    assert shown in uncommented(inspect.getsource(stream_course))


def test_scenario_walked_through_is_valid() -> None:
    """The scenario of the walk-through decodes; its cassettes and clauses are there."""
    (table,) = tomllib.loads(block("Add a scenario", "toml"))["scenario"]
    scenario = decode(table, where="CONTRIBUTING.md")
    assert set(scenario.exercises) <= set(CATALOG)
    library = Library()
    for items in (*scenario.play.members.values(), scenario.play.default):
        for item in items:
            assert library.get(item.cassette).interactions


def test_target_walked_through_is_real() -> None:
    """What the walk-through shows of the target stands in its profile."""
    shown = tomllib.loads(block("Add a target", "toml"))
    real = tomllib.loads((data_root("targets") / "nginx.toml").read_text(encoding="utf-8"))
    assert {name: real[name] for name in shown} == shown


def test_defect_walked_through_is_real() -> None:
    """The defect of the walk-through stands in the table as it is shown."""
    shown = uncommented(block("Add a defect", "python"))
    source = (ROOT / "conformance/reference/defects/stream_end.py").read_text(encoding="utf-8")
    assert shown in uncommented(source)
