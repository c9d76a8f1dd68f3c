"""The one profile of all fuzz tests: bounded, the same examples on every run, nothing written to disk."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

BOUNDED = settings(
    max_examples=100,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],  # several suites share the machine
)
