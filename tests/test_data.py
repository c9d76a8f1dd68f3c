"""The shipped data is found in a source tree and in an installed wheel."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance import data
from conformance.data import KINDS, data_root
from conformance.errors import HarnessError


@pytest.mark.parametrize("kind", KINDS)
def test_source_tree(kind: str) -> None:
    """In a source tree each kind lies beside the package."""
    assert data_root(kind) == Path(data.__file__).resolve().parent.parent / kind


def test_installed_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In an installed wheel each kind lies under _data, whatever stands beside the package."""
    package = tmp_path / "conformance"
    (package / "_data" / "cassettes").mkdir(parents=True)
    (tmp_path / "cassettes").mkdir()
    monkeypatch.setattr(data, "_PACKAGE", package)
    assert data_root("cassettes") == package / "_data" / "cassettes"
    with pytest.raises(HarnessError, match="schemas are missing"):
        data_root("schemas")


def test_unknown_kind() -> None:
    """A kind that does not ship is refused."""
    with pytest.raises(HarnessError, match="no data of kind"):
        data_root("secrets")
