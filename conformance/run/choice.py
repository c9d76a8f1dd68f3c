"""What a run is asked to play: the bundled scenarios and those of one's own, and where their cassettes lie.

From options to scenarios and folders. What is one's own is checked as the bundled data is by its linter: a clause or a
cassette that is not there, or a transform that does not fit it, is told before anything starts.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from conformance.cassette.store import Library
from conformance.contract.catalog import CATALOG
from conformance.data import data_root
from conformance.errors import CassetteError, ScenarioError, UsageError
from conformance.nearest import near
from conformance.options import RunOptions
from conformance.scenario.load import load_scenarios, select
from conformance.scenario.model import PlayItem, Scenario
from conformance.upstream.items import Scripts

#: Stands for the nonce of a request where plays are tried out.
_NONCE = "cf-checked0"


def known_scenarios(options: RunOptions) -> tuple[Scenario, ...]:
    """The bundled scenarios, then one's own. Raises ScenarioError for a file that is not valid or an id twice."""
    own = [Path(path) for path in options.scenarios]
    return load_scenarios([data_root("scenarios"), *own]) if own else load_scenarios()


def chosen_scenarios(options: RunOptions) -> tuple[Scenario, ...]:
    """Those that the globs choose; without a glob one's own alone, where there are any, else all.

    Raises ScenarioError for a glob that names none, and for one's own that cannot be played.
    """
    chosen = select(known_scenarios(options), options.select)
    if not options.scenarios:
        return chosen
    bundled = {scenario.id for scenario in load_scenarios()}
    own = tuple(scenario for scenario in chosen if scenario.id not in bundled)
    _check(own, Library(roots_of(options)))
    return chosen if options.select else own


def roots_of(options: RunOptions) -> tuple[Path, ...]:
    """The folders in which cassettes are looked up, one's own first. Raises UsageError for one that is none."""
    return cassette_roots(options.cassettes)


def cassette_roots(own: Iterable[str]) -> tuple[Path, ...]:
    """One's own folders, then the shipped one. Raises UsageError for a folder that is none."""
    roots = tuple(Path(folder).resolve() for folder in own)
    for folder in roots:
        if not folder.is_dir():
            raise UsageError("there is no such folder", where=str(folder), hint="--cassettes names one")
    return (*roots, data_root("cassettes"))


def items_of(scenario: Scenario) -> tuple[PlayItem, ...]:
    """Every item that the scenario's plays may show."""
    plays = [step.play for step in scenario.steps] or [scenario.play]
    return tuple(item for play in plays for items in (*play.members.values(), play.default) for item in items)


def _check(own: Iterable[Scenario], library: Library) -> None:
    scripts = Scripts(library.get)
    for scenario in own:
        for clause in scenario.exercises:
            if clause not in CATALOG:
                hint = near(clause, CATALOG, otherwise="`conformance clauses` lists them")
                raise ScenarioError(f"there is no clause {clause!r}", where=f"{scenario.id}: exercises", hint=hint)
        for item in items_of(scenario):
            _plan(item, scenario, scripts)


def _plan(item: PlayItem, scenario: Scenario, scripts: Scripts) -> None:
    """Raises what the upstream would when the item is armed."""
    try:
        scripts.plan(item, _NONCE)
    except (CassetteError, ScenarioError) as error:
        where = ": ".join(filter(None, [scenario.id, "play", error.where]))
        raise type(error)(error.what, where=where, hint=error.hint) from error
