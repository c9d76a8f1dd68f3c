"""A norm for a reader: its name and address, which clauses quote it, and the text of those that stand in this project.

From the sources and the shipped pages to members of one record.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from conformance.commands.holdings import Row
from conformance.contract.sources import SOURCES
from conformance.data import data_root

_PAGES = "docs/"


def about(key: str, clauses: Iterable[Row]) -> dict[str, Any]:
    """All about the norm with this key."""
    source = SOURCES[key]
    own = source.url.startswith(_PAGES)
    return {
        "title": source.title,
        "address": address_of(source.url),
        "read": source.read,
        "text": text_of(source.url) if own else "",
        "quoted by": [row["id"] for row in clauses if row["source"] == key],
    }


def address_of(url: str) -> str:
    """Where the norm with this address stands, for who has this project installed and not checked out."""
    return f"{url} of this project" if url.startswith(_PAGES) else url


def text_of(url: str) -> str:
    """The section that `url` ("docs/PAGE#ANCHOR") names without its tables; without an anchor how the page begins."""
    page, _, anchor = url.removeprefix(_PAGES).partition("#")
    text = (data_root("docs") / page).read_text(encoding="utf-8")
    if anchor:
        text = text.partition(f'<a id="{anchor}"></a>\n')[2].partition("<a id=")[0]
    prose = "\n".join(line for line in text.splitlines() if not line.startswith(("|", "#", "<"))).strip()
    return " ".join((prose if anchor else prose.partition("\n\n")[0]).split())
