"""The readings of an exchange: answered, rescued, a clean error, or something worse for the one who called.

A reading sums an exchange up for a person who compares gateways; it is no verdict, and turns none.
"""

from __future__ import annotations

from enum import StrEnum


class Reading(StrEnum):
    """The readings, best first."""

    ANSWERED = "answered"  # a whole answer at the first attempt
    RESCUED = "rescued"  # a whole answer after at least one failed attempt
    CLEAN_ERROR = "clean error"  # an error that the client can read, by its status or in its stream
    TRUNCATED = "truncated success"  # part of an answer, or none, that looks whole
    BROKEN = "broken"  # no response, a cut one, or one that cannot be read
    HANG = "hang"  # the client waited until its own deadline
