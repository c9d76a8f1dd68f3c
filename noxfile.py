"""What CI runs and a developer runs alike: `nox` for the quick ones, `nox -s NAME` for one.

A third-party gateway's violations are its own: `litellm`, `portkey` and `smg` end green when the run could judge (exit
code 0 or 1) and the checks in tests/real hold; exit codes 2 and 3 (usage, harness) end red everywhere.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import nox

PYTHONS = nox.project.python_versions(nox.project.load_toml("pyproject.toml"))

#: The release of incident A, and the newest whose [proxy] extra resolves.
LITELLM_VERSIONS = ["1.98.0", "1.108.7"]

#: Without prisma the proxy turns a missing client key into a 500.
LITELLM_BESIDE = "prisma<1"

#: Without the override every stream of this release is a 500.
PORTKEY = {
    "private": True,
    "dependencies": {"@portkey-ai/gateway": "1.15.2"},
    "overrides": {"@hono/node-server": "1.14.1"},
}

SMG_VERSION = "1.13.0"

#: The matrix test is asked for by its marker; a share of the gateways goes to one worker.
MATRIX = ["-m", "matrix", "-n", "2", "--dist", "loadscope"]

#: What a third-party gateway's run may end with: it conforms, or it does not.
JUDGED = [0, 1]

nox.needs_version = ">=2024.10"
nox.options.default_venv_backend = "venv"
nox.options.reuse_venv = "yes"
nox.options.sessions = ["lint", "types", "tests", "reference"]


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """The tests of the harness itself."""
    session.install(".[test]")
    session.run("pytest", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Style and formatting."""
    session.install("ruff>=0.8")
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")


@nox.session
def types(session: nox.Session) -> None:
    """Strict types."""
    session.install("-e", ".", "mypy>=1.13", "types-PyYAML", "types-jsonschema")
    session.run("mypy", "--strict", "conformance")


@nox.session
def build(session: nox.Session) -> None:
    """The wheel, installed in an empty environment, judges the reference gateway from an empty folder."""
    session.install("build")
    place = Path(session.create_tmp())
    for name in ("wheel", "empty", "environment"):
        shutil.rmtree(place / name, ignore_errors=True)
    session.run("python", "-m", "build", "--outdir", str(place / "wheel"))
    (wheel,) = (place / "wheel").glob("*.whl")
    fresh = _environment(session, place / "environment", str(wheel))
    (place / "empty").mkdir()
    with session.chdir(place / "empty"):
        session.run(str(fresh / "conformance"), "run", "--target", "reference", *session.posargs, external=True)


@nox.session
def reference(session: nox.Session) -> None:
    """The embedded reference gateway holds every clause on every scenario."""
    session.install(".")
    session.run("conformance", "run", "--target", "reference", *session.posargs)


@nox.session
def matrix(session: nox.Session) -> None:
    """Every defect of the reference gateway violates exactly the clauses that it lists, and no clause is spared."""
    session.install(".[test]")
    session.run("pytest", "tests/reference/test_matrix.py", *MATRIX, *session.posargs)


@nox.session(name="load-detection")
def load_detection(session: nox.Session) -> None:
    """Every defect that only load shows, and the faithful gateway, under load with 20 seeds, as a table."""
    session.install(".")
    session.run("python", "benchmarks/load_detection.py", *session.posargs)


@nox.session
def killed(session: nox.Session) -> None:
    """Whatever part of a run is killed, it ends soon, proves nothing and leaves no process."""
    session.install(".[test]")
    session.run("pytest", "tests/run/test_killed.py", "-m", "killed", "-n", "2", *session.posargs)


@nox.session
@nox.parametrize("version", LITELLM_VERSIONS, ids=LITELLM_VERSIONS)
def litellm(session: nox.Session, version: str) -> None:
    """A LiteLLM proxy of its own environment is judged; tests/real hold what is known of it."""
    session.install(".[test]")
    wanted = [f"litellm[proxy]=={version}", LITELLM_BESIDE]
    program = _environment(session, session.cache_dir / f"litellm-{version}", *wanted) / "litellm"
    _judge(session, "litellm", {"CONFORMANCE_LITELLM": str(program)})


@nox.session
def portkey(session: nox.Session) -> None:
    """A Portkey gateway from npm is judged."""
    session.install(".[test]")
    place = (session.cache_dir / "portkey").absolute()
    if not (place / "node_modules" / "@portkey-ai").is_dir():
        place.mkdir(exist_ok=True)
        (place / "package.json").write_text(json.dumps(PORTKEY), encoding="utf-8")
        with session.chdir(place):
            session.run("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", external=True)
    _judge(session, "portkey", {"CONFORMANCE_PORTKEY": str(place)})


@nox.session
def smg(session: nox.Session) -> None:
    """The smg router, in Rust, of an environment of its own is judged."""
    session.install(".[test]")
    program = _environment(session, session.cache_dir / f"smg-{SMG_VERSION}", f"smg=={SMG_VERSION}") / "smg"
    _judge(session, "smg", {"CONFORMANCE_SMG": str(program)})


@nox.session
def openai2(session: nox.Session) -> None:
    """The SDK drivers on the SDK's older transport: openai before 3 runs on httpx and httpcore."""
    session.install(".[test]", "openai<3")
    session.run("pytest", "tests/driver", *session.posargs)


@nox.session
def clients(session: nox.Session) -> None:
    """Locust with a master and two workers, and the Node SDK in processes: what needs more than the test extra."""
    session.install(".[test,locust]")
    place = (session.cache_dir / "node").absolute()
    place.mkdir(exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(Path("conformance/driver/node") / name, place)
    if shutil.which("npm"):
        with session.chdir(place):
            session.run("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", external=True)
    else:
        session.warn("npm is missing: the Node SDK is not tested here")
    session.run(
        "pytest", "tests/load/test_locust.py", "tests/driver/test_relayed.py", env={"CONFORMANCE_NODE": str(place)}
    )


@nox.session(name="sdk-replay")
def sdk_replay(session: nox.Session) -> None:
    """A deployed gateway, through the official SDKs, within a budget.

    CONFORMANCE_URL, CONFORMANCE_MODEL and CONFORMANCE_KEY say which; the key goes by its variable's name and stands on
    no command line. Options of `conformance run` may follow after `--`, such as `--max-requests 3`.
    """
    missing = [name for name in ("CONFORMANCE_URL", "CONFORMANCE_KEY", "CONFORMANCE_MODEL") if not os.environ.get(name)]
    if missing:
        session.error(f"set {', '.join(missing)}")
    session.install(".")
    words = ["--target", os.environ["CONFORMANCE_URL"], "--live", "--model", os.environ["CONFORMANCE_MODEL"]]
    words += ["--api-key-env", "CONFORMANCE_KEY", "--driver", "openai-python", "--driver", "openai-python-async"]
    session.run("conformance", "run", *words, *session.posargs)


def _judge(session: nox.Session, target: str, variables: dict[str, str]) -> None:
    """Run the suite against a third-party gateway, and what tests/real know of it."""
    session.run("conformance", "run", "--target", target, *session.posargs, env=variables, success_codes=JUDGED)
    session.run("pytest", "tests/real", "-k", target, env=variables)


def _environment(session: nox.Session, place: Path, *packages: str) -> Path:
    """The programs' folder of a virtual environment that holds `packages` and nothing of ours; made once."""
    programs = place.absolute() / ("Scripts" if os.name == "nt" else "bin")
    if not (place / ".complete").exists():
        session.run("python", "-m", "venv", "--clear", str(place))
        session.run(str(programs / "python"), "-m", "pip", "install", "-q", *packages, external=True)
        (place / ".complete").touch()
    return programs
