"""One replay upstream for all tests of the room, in its own process; each test has nonces of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.upstream.client import SyncControlClient
from conformance.upstream.process import UpstreamProcess, start_upstream

DATA = Path(__file__).parent / "data"


@pytest.fixture(scope="session")
def upstream() -> Iterator[UpstreamProcess]:
    """Four members, cassettes from this folder's data."""
    with start_upstream(4, cassettes=DATA) as started:
        yield started


@pytest.fixture(scope="session")
def control(upstream: UpstreamProcess) -> SyncControlClient:
    """A client of its control port."""
    return upstream.client()
