"""What the caller asked for, as data: the border between the command line or pytest and the pipeline.

From words to frozen options. Runs nothing, reads nothing; no key ever stands in here, only the name of its variable.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from conformance.errors import UsageError
from conformance.load.plan import LoadOptions
from conformance.nearest import near
from conformance.report.model import Part
from conformance.target.profile import CAPABILITIES, spelt_out

#: Takes the parts of a report, in order, as they come to be: the header, each case, the footer.
Observe = Callable[[Part], None]

_CREDENTIALS = re.compile(r"://[^/?#\s]*@")
_QUERY = re.compile(r"(://[^?#\s]*)[?#].*")
_SECRET = re.compile(r"\b(?:sk|gsk|hf|xai|pk|ghp|Bearer)[-_ ][A-Za-z0-9._-]{8,}|\bAIza[\w-]{20,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """One run.

    `target` is a bundled name, a profile's file or a URL; `select` and `clauses` are id globs (all when empty);
    `scenarios` are files or folders of scenarios of one's own, `cassettes` folders in which theirs are looked up;
    `drivers` are names (the run's default when empty). `api_key_env` names the variable that holds the client's key.
    `max_requests` and `max_tokens` cap a live run; `load` makes it a load run.
    `deviations` is a file of known violations, "" for none. `command` is what the report says was called, without
    secrets.
    """

    target: str = "reference"
    select: tuple[str, ...] = ()
    clauses: tuple[str, ...] = ()
    drivers: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    cassettes: tuple[str, ...] = ()
    workers: int = 1
    live: bool = False
    api_key_env: str = ""
    model: str = ""
    max_requests: int | None = None
    max_tokens: int | None = None
    seed: int = 0
    load: LoadOptions | None = None
    deviations: str = ""
    command: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOptions:
    """An exchange that was captured elsewhere: its client leg, its upstream leg, and what its gateway declares."""

    client: Path
    upstream: Path | None = None
    capabilities: frozenset[str] = frozenset()
    clauses: tuple[str, ...] = ()
    command: str = ""


def words(values: Iterable[str]) -> tuple[str, ...]:
    """The words of repeated or comma-separated values, in order, each once."""
    return tuple(dict.fromkeys(word for value in values for word in re.split(r"[,\s]+", value) if word))


#: Other words for a capability that gateways' own documents use.
_SYNONYMS = {
    "breaker": "cooldown",
    "circuit-breaker": "cooldown",
    "fallback": "failover",
    "fallbacks": "failover",
    "retry": "retries",
    "retry-after": "honours-retry-after",
    "honors-retry-after": "honours-retry-after",
    "response-cache": "cache",
    "caching": "cache",
    "blind": "provider-blind",
    "ttft-timeout": "first-token-timeout",
}


def capabilities(values: Iterable[str]) -> frozenset[str]:
    """The declared capabilities, in our words. A promise that no clause speaks of is kept: it makes none applicable.

    Raises UsageError for what looks like a slip of the pen.
    """
    named = (word.lower().replace("_", "-") for word in words(values))
    declared = frozenset(_SYNONYMS.get(name, name) for name in named)
    for name in sorted(declared - CAPABILITIES.keys()):
        if get_close_matches(name, CAPABILITIES, n=1, cutoff=0.75):
            raise UsageError(f"there is no capability {name!r}", where="--capabilities", hint=near(name, CAPABILITIES))
    return spelt_out(declared)


def unjudged(declared: Iterable[str]) -> tuple[str, ...]:
    """The declared capabilities that no clause speaks of, sorted."""
    return tuple(sorted(set(declared) - CAPABILITIES.keys()))


def shown_command(program: str, arguments: Iterable[str]) -> str:
    """The command line for the report, as a shell takes it.

    Credentials in URLs, query values and what looks like a key are left out.
    """
    return shlex.join((program, *map(_shown, arguments)))


def _shown(argument: str) -> str:
    return _SECRET.sub("...", _QUERY.sub(r"\1?...", _CREDENTIALS.sub("://", argument)))
