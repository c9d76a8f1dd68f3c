"""Where bytes are not UTF-8 (RFC 3629): bad byte runs as spans. Knows no format above text, repairs nothing."""

from __future__ import annotations

from codecs import utf_8_decode

from conformance.wire.facts import FaultLog, clip


def note_invalid_utf8(data: bytes, log: FaultLog) -> bool:
    """Note a fault `utf8.invalid` for each run of bytes that is no UTF-8, up to the log's bound. Any?"""
    view, start = memoryview(data), 0
    while not log.full:
        try:
            utf_8_decode(view[start:], "strict", True)
        except UnicodeDecodeError as error:
            bad = start + error.start
            start += error.end
            log.note("utf8.invalid", bad, start, f"{clip(data[bad:start])} is not UTF-8 ({error.reason})")
        else:
            break
    return start > 0
