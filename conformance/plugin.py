"""The pytest plugin: options, the suite's hooks, and the fixtures for a gateway developer's own tests.

Hooks and fixtures only; what they do is `conformance.suite.session`'s and `conformance.bench`'s matter. What is
heavy is imported when it is first used: a test session that has nothing to do with us pays for a few options.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from conformance.columns import TOLD, columns
from conformance.owned import own_cassettes

if TYPE_CHECKING:
    from conformance.bench import Bench, Benches
    from conformance.suite.session import SuiteSession
    from conformance.target.launch import RunningTarget
    from conformance.upstream.client import SyncControlClient

SUITE = "conformance.suite"
#: The attribute of a test report on which the suite's cases travel, each a line of report.jsonl.
CASES = "conformance_cases"
MARKER = "conformance(target=..., capabilities=[...]): the gateway that this test's `gateway` fixture is"
_SESSION: pytest.StashKey[SuiteSession] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the suite and of the fixtures."""
    group = parser.getgroup("conformance", "gateway conformance")
    group.addoption("--target", default=None, metavar="NAME|FILE|URL", help="the gateway (default: reference)")
    group.addoption("--select", action="append", default=[], metavar="GLOB", help="ids of scenarios")
    group.addoption("--clauses", action="append", default=[], metavar="GLOB", help="ids of clauses")
    group.addoption("--scenarios", action="append", default=[], metavar="FILE|DIR", help="scenarios of your own")
    group.addoption("--cassettes", action="append", default=[], metavar="DIR", help="cassettes of your own")
    parser.addini("conformance_cassettes", "folders of cassettes of your own", type="paths", default=[])
    group.addoption("--driver", action="append", default=[], metavar="NAME", help="drivers of the suite")
    group.addoption("--deviations", default=None, metavar="FILE", help="known violations of the target: a .toml file")
    group.addoption("--conformance-report", default=None, metavar="DIR", help="write report.jsonl and its forms here")
    group.addoption(
        "--load",
        action="store_true",
        help="play the suite in parallel (-n N), then alone, and compare clause by clause",
    )
    group.addoption("--conformance-seed", type=int, default=0, metavar="N", help="of the nonces (default: 0)")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker; prepare the suite's run where the suite is among the arguments."""
    config.addinivalue_line("markers", MARKER)
    if any(SUITE in argument or "conformance/suite" in argument for argument in config.args):
        from conformance.suite.session import SuiteSession

        config.stash[_SESSION] = SuiteSession.prepare(config)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test of the suite for each case of its plan."""
    session = metafunc.config.stash.get(_SESSION, None)
    if session is not None and "conformance_case" in metafunc.fixturenames:
        metafunc.parametrize("conformance_case", session.cases, ids=[case.id for case in session.cases])


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """xdist, in the controller: tell a new worker how wide the terminal is, and where the stage is."""
    node.workerinput[TOLD] = columns(node.config)
    session = node.config.stash.get(_SESSION, None)
    if session is not None:
        node.workerinput["conformance"] = session.seat()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object | None) -> None:
    """xdist, in the controller: a worker that died takes verdicts with it, so the run has no result."""
    session = node.config.stash.get(_SESSION, None)
    if session is not None and error:
        session.lose(f"worker {node.gateway.id} died: {error}")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Remember the session, so that a lost stage can stop it."""
    run = session.config.stash.get(_SESSION, None)
    if run is not None:
        run.start(session)


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    """Whether the tests came to their end tells pytest's exit code not always: a second Ctrl-C hides the first."""
    run = session.config.stash.get(_SESSION, None)
    try:
        done = yield
    except session.Failed:  # --exitfirst, --maxfail
        if run is not None:
            run.looped = True
        raise
    if run is not None:
        run.looped = True
    return done


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where the test ran: put its cases on the report, which xdist carries to the controller; none if it broke."""
    report = yield
    run = item.config.stash.get(_SESSION, None)
    if run is not None and run.owns(item):
        lines = run.lines(item) if report.when == "call" else []
        if lines or report.failed:
            setattr(report, CASES, lines)
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """In the controller, or alone: keep the cases that a report brings."""
    if hasattr(report, CASES):
        from conformance.suite import session

        session.collect(getattr(report, CASES), report.nodeid)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Close the report, end the stage; the exit code then means what it means for every conformance run."""
    run = session.config.stash.get(_SESSION, None)
    if run is not None:
        session.exitstatus = run.finish(int(exitstatus))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """The report, before pytest's own last line."""
    run = terminalreporter.config.stash.get(_SESSION, None)
    if run is not None:
        run.show(terminalreporter)


@pytest.fixture
def conformance_suite(request: pytest.FixtureRequest) -> SuiteSession:
    """The suite's run in this process."""
    return request.config.stash[_SESSION]


@pytest.fixture
def upstream(bench: Bench) -> SyncControlClient:
    """The control of the replay upstream behind this test's gateway: `arm`, `take`, `stray`, `health`."""
    return bench.upstream


@pytest.fixture(scope="session")
def conformance_benches(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Benches]:
    """The gateways that the tests of this process asked for, and the upstream behind those that it launched; ended with
    the session."""
    from conformance.bench import Benches

    with Benches(tmp_path_factory.mktemp("gateway"), own_cassettes(request.config)) as benches:
        yield benches


@pytest.fixture
def bench(request: pytest.FixtureRequest, conformance_benches: Benches) -> Bench:
    """Gateway, upstream and a fresh lane for this test, set up as its `conformance` marker says."""
    marker = request.node.get_closest_marker("conformance")
    wanted = dict(marker.kwargs) if marker is not None else {}
    wanted.setdefault("target", request.config.getoption("--target") or "reference")
    return conformance_benches.bench(**wanted, width=columns(request.config))


@pytest.fixture
def gateway(bench: Bench) -> RunningTarget:
    """The running gateway: `base_url`, `version`, `alive`, `log_tail`."""
    return bench.target


@pytest.fixture
def send(bench: Bench) -> Any:
    """`send(messages=[...], play={"m0": "authored/..."}, ...) -> Exchange`: one request through the gateway."""
    return bench.send


@pytest.fixture
def judge(bench: Bench) -> Any:
    """`judge(exchange, clauses=("*",)) -> verdicts`; fails the test where one that gates is violated."""
    return bench.judge
