"""What tells one request from another where both ask the same operation: its nonce, else its prompt.

From a request's body to a key. Knows nothing of legs or of who was asked.
"""

from __future__ import annotations

import json
import re
from typing import Any

from conformance.wire.jsondoc import parse

NONCE = re.compile(rb"cf-[a-z0-9]{6,}")
_PROMPTS = ("messages", "input", "prompt")


def nonce_of(body: bytes) -> str:
    """The last nonce in a request's body, or ""."""
    found = NONCE.findall(body)
    return found[-1].decode() if found else ""


def key_of(body: bytes) -> bytes:
    """What tells a request apart: its last nonce, else its prompt, else nothing."""
    nonce = nonce_of(body)
    if nonce:
        return nonce.encode()
    doc = parse(body) if body else None
    value = doc.value if doc is not None and doc.ok else None
    prompt = [value.get(name) for name in _PROMPTS] if isinstance(value, dict) else []
    return text_of(prompt).encode() if any(item is not None for item in prompt) else b""


def text_of(value: Any) -> str:
    """A JSON value as one text, the same for equal values; "" for one that has none, such as a number of thousands of
    digits."""
    try:
        return json.dumps(value, sort_keys=True)
    except (ValueError, RecursionError):
        return ""
