"""Every exception of the package, by whose fault it is and at which step.

    ConformanceError                   carries: what, where, hint
    ├── UsageError                     the caller's input; exit code 2
    │   ├── CassetteError              a cassette cannot be read or is not valid
    │   ├── ScenarioError              a scenario or a selection is not valid
    │   ├── TargetError                a target profile, a deviation file or a URL is not valid
    │   └── ReportError                a report cannot be read or has no footer
    └── HarnessError                   our own side failed; exit code 3
        ├── UpstreamError              the replay upstream did not start, answer or survive
        ├── LaunchError                the gateway did not start or become ready
        ├── TargetDied                 the gateway that we launched ended during the run
        └── DriverError                a driver cannot be used here (a package is missing, ...)

A violation of the contract is never an exception: it is a verdict.
"""

from __future__ import annotations


class ConformanceError(Exception):
    """What went wrong, where, and what to do about it.

    `what` is one sentence; `where` a file, a line or an address; `hint` the next thing to do.
    """

    def __init__(self, what: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        advice = f" ({self.hint})" if self.hint else ""
        return f"{place}{self.what}{advice}"

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.what, self.where, self.hint))


def _rebuild(kind: type[ConformanceError], what: str, where: str, hint: str) -> ConformanceError:
    return kind(what, where=where, hint=hint)


class UsageError(ConformanceError):
    """The caller's input is wrong: exit code 2."""


class CassetteError(UsageError):
    """A cassette cannot be read or is not valid."""


class ScenarioError(UsageError):
    """A scenario or a selection of scenarios is not valid."""


class TargetError(UsageError):
    """A target profile, a deviation file or a target's URL is not valid."""


class ReportError(UsageError):
    """A report cannot be read, or is invalid because it has no footer."""


class HarnessError(ConformanceError):
    """Our own side failed: exit code 3."""


class UpstreamError(HarnessError):
    """The replay upstream did not start, did not answer or did not survive."""


class LaunchError(HarnessError):
    """The gateway did not start or did not become ready in time."""


class TargetDied(HarnessError):
    """The gateway that we launched ended during the run."""


class DriverError(HarnessError):
    """A driver cannot be used here."""
