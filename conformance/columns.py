"""How wide pytest's terminal is, also for a worker that has none, and a renderable as text of that width."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from rich.console import RenderableType

#: What a controller tells its workers under xdist.
TOLD = "conformance_columns"
#: A failure is told as wide as the terminal, within these columns.
LEAST, MOST = 60, 200


def columns(config: pytest.Config) -> int:
    """The columns of the terminal on which the session's failures are read."""
    told = getattr(config, "workerinput", {}).get(TOLD)
    if told is not None:
        return int(told)
    if not config.pluginmanager.hasplugin("terminalreporter"):
        return LEAST
    return min(max(config.get_terminal_writer().fullwidth, LEAST), MOST)


def plain(shown: RenderableType, width: int) -> str:
    """What a console without colour prints."""
    from rich.console import Console

    console = Console(file=StringIO(), width=width, color_system=None)
    with console.capture() as capture:
        console.print(shown, crop=False)
    return capture.get()
