"""How much CPU time processes have used, from /proc: the harness's own honesty needs it, and the gateway's share tells.

A process id becomes seconds, with those of its session. 0.0 where there is no /proc, or no such process.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress

_TICK = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
# Fields of /proc/PID/stat after the name, counted from 0: session, utime, stime.
_SESSION, _UTIME, _STIME = 3, 11, 12


def cpu_seconds(pid: int, *, session: bool = False) -> float:
    """The CPU time of process `pid` until now, in seconds; with `session`, of every process of the session it leads."""
    pids: Iterable[str] = [str(pid)]
    if session:
        with suppress(OSError):
            pids = [name for name in os.listdir("/proc") if name.isdigit()]
    used = 0.0
    for name in pids:
        with suppress(OSError, ValueError, IndexError), open(f"/proc/{name}/stat", "rb") as stat:
            fields = stat.read().rpartition(b")")[2].split()
            if int(name) == pid or (session and int(fields[_SESSION]) == pid):
                used += (int(fields[_UTIME]) + int(fields[_STIME])) / _TICK
    return used
