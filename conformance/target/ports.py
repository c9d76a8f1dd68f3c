"""Free ports on loopback for programs that want to be told one.

Ports come from below the kernel's ephemeral range: there no outgoing connection can take one while a gateway still
boots.
"""

from __future__ import annotations

import random
import socket
from pathlib import Path

_LOWEST = 15_000
_RANGE_FILE = Path("/proc/sys/net/ipv4/ip_local_port_range")


def free_port() -> int:
    """A port on 127.0.0.1 that nothing listens on now. Raises OSError when none is found."""
    for port in random.sample(range(_LOWEST, _ephemeral_start()), k=200):
        if is_free(port):
            return port
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_free(port: int) -> bool:
    """Whether `port` can be bound on loopback now (a port in TIME_WAIT can)."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def _ephemeral_start() -> int:
    try:
        start = int(_RANGE_FILE.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        start = 32_768
    return start if start >= _LOWEST + 1_000 else 32_768
