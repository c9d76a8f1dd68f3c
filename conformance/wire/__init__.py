"""Pure readers of what was on the wire: bytes and times become facts or faults, never an exception."""
