"""What a pytest session brings of its own: the folders of its cassettes, by option or in its configuration."""

from __future__ import annotations

import pytest


def own_cassettes(config: pytest.Config) -> tuple[str, ...]:
    """The folders of --cassettes, then those of the setting conformance_cassettes (which start at its file)."""
    return (*config.getoption("--cassettes"), *map(str, config.getini("conformance_cassettes")))
