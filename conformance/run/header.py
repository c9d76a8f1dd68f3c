"""What a run tells about itself at the head of its report: target, promises, digests, and every default it chose."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from conformance import __version__
from conformance.cassette.store import Library, digest
from conformance.contract.catalog import CATALOG
from conformance.contract.clause import Clause
from conformance.contract.clauses.pool import MAX_ATTEMPTS
from conformance.options import RunOptions
from conformance.report.evidence import requirement_of
from conformance.report.model import Deviation, RunHeader
from conformance.run.choice import items_of, known_scenarios, roots_of
from conformance.run.plan import CLOSES, SPARES, PlannedCase, fits
from conformance.target.deviations import load_deviations
from conformance.target.profile import Profile
from conformance.upstream.process import start_seconds

_PACKAGES = ("openai", "httpx", "httpx2", "jsonschema-rs", "pytest", "pytest-xdist")


def now() -> str:
    """The time, ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def cassettes_digest(cases: Sequence[PlannedCase], library: Library) -> str:
    """One sha256 over the cassettes that the cases use, by name: the same cassettes give the same digest."""
    items = (item for case in cases for item in items_of(case.scenario))
    names = sorted({item.cassette for item in items if not item.cassette.startswith("@")})
    whole = hashlib.sha256()
    for name in names:
        whole.update(f"{name} {digest(library.path(name))}\n".encode())
    return whole.hexdigest()


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version(), "platform": platform.system().lower()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def defaults_of(options: RunOptions, profile: Profile) -> dict[str, str]:
    """Every value that the harness chose for the run, for print."""
    limits = profile.deadlines
    return {
        "deadlines": f"connect {limits.connect:g} s, head {limits.head:g} s, idle {limits.idle:g} s, "
        f"exchange {limits.exchange:g} s",
        "attempts": "each request is sent once; SDK drivers with max_retries=0",
        "dispatches": f"{profile.max_attempts or MAX_ATTEMPTS} for one request at most",
        "start": _start(profile),
        "windows": ", ".join(_windows(profile)) or "none",
        "sequences": f"one that came too late for its windows is played again in fresh lanes, {SPARES} times at most",
        "settle": f"{profile.settle_ms:g} ms after the last upstream attempt",
        "workers": str(options.workers),
        "max_requests": str(options.max_requests) if options.max_requests is not None else "none",
        "max_tokens": str(options.max_tokens) if options.max_tokens is not None else "none",
    }


def _start(profile: Profile) -> str:
    """How long what is launched may take to be there."""
    if profile.kind == "url":
        return "nothing is launched"
    return f"upstream within {start_seconds():g} s, gateway within {profile.ready_seconds:g} s"


def _windows(profile: Profile) -> Iterator[str]:
    """The windows that the target declares, by which sequences are timed."""
    if profile.cooldown_ms:
        yield f"cooldown {profile.cooldown_ms:g} ms after {profile.cooldown_after} in a row"
    if profile.quarantine_ms:
        yield f"quarantine {profile.quarantine_ms:g} ms"
    if profile.retry_after_max_ms:
        yield f"Retry-After up to {profile.retry_after_max_ms:g} ms"
    if profile.cancel_ms:
        yield f"cancel {profile.cancel_ms:g} ms"


def deviations_of(options: RunOptions, cases: Sequence[PlannedCase] = ()) -> tuple[Deviation, ...]:
    """The known violations that the options name a file of, for a run of these cases. Raises UsageError where it is not
    valid."""
    if not options.deviations:
        return ()
    return load_deviations(
        Path(options.deviations),
        clauses=CATALOG,
        scenarios=[scenario.id for scenario in known_scenarios(options)],
        played={case.scenario.id for case in cases if _tells(case)},
    )


def _tells(case: PlannedCase) -> bool:
    """Whether a violation of the scenario that is gone here is gone for good: an SDK is not sent again, as the raw
    driver is, and another number of workers plays what this one leaves out."""
    return case.skipped != CLOSES and (case.driver == "wire" or not fits(case.scenario, "wire"))


def header_of(
    options: RunOptions,
    profile: Profile,
    clauses: Sequence[Clause],
    cases: Sequence[PlannedCase],
    *,
    version: str = "",
    mode: str = "replay",
) -> RunHeader:
    """The header of a run's report."""
    return RunHeader(
        target=profile.name if profile.kind != "url" else profile.base_url,
        target_kind=profile.kind,
        target_version=version,
        capabilities=tuple(sorted(profile.capabilities)),
        suite_version=__version__,
        started_at=now(),
        requirements=tuple(requirement_of(clause) for clause in clauses),
        cassettes=cassettes_digest(cases, Library(roots_of(options))) if mode == "replay" else "",
        seed=options.seed,
        defaults=defaults_of(options, profile),
        drivers=tuple(dict.fromkeys(case.driver for case in cases)),
        environment=_versions(),
        command=options.command,
        mode=mode,
        deviations=deviations_of(options, cases),
        planned=sum(case.parts for case in cases if not case.skipped) + sum(bool(case.skipped) for case in cases),
    )
