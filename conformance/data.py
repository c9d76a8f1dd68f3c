"""Finds the data that ships with the package: cassettes, schemas, scenarios, targets and the pages that clauses quote.

In a source tree they lie beside the package; in an installed wheel they lie inside it, under `_data`. Knows no format.
"""

from __future__ import annotations

from pathlib import Path

from conformance.errors import HarnessError

#: The kinds of data that ship.
KINDS = ("cassettes", "schemas", "scenarios", "targets", "docs")

_PACKAGE = Path(__file__).resolve().parent


def data_root(kind: str) -> Path:
    """The folder that holds the shipped data of `kind`, one of KINDS.

    Raises HarnessError when the kind is unknown or the installation lacks it.
    """
    if kind not in KINDS:
        raise HarnessError(f"there is no data of kind {kind!r}", hint=f"one of {', '.join(KINDS)}")
    tree = _PACKAGE.parent
    for root in (tree / kind if (tree / "pyproject.toml").is_file() else None, _PACKAGE / "_data" / kind):
        if root is not None and root.is_dir():
            return root
    raise HarnessError(f"the shipped {kind} are missing", where=str(_PACKAGE), hint="reinstall gateway-conformance")
