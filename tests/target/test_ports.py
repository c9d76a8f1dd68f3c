"""Ports that are free, and stay free while a gateway boots."""

from __future__ import annotations

import socket

from conformance.target.ports import free_port, is_free


def test_a_free_port_can_be_listened_on() -> None:
    """The port that is found can be bound at once."""
    with socket.create_server(("127.0.0.1", free_port())) as listener:
        assert not is_free(listener.getsockname()[1])


def test_free_ports_lie_below_the_ephemeral_range() -> None:
    """No outgoing connection can be given such a port by the kernel."""
    with open("/proc/sys/net/ipv4/ip_local_port_range") as file:
        start = int(file.read().split()[0])
    assert all(free_port() < start for _ in range(20))
