"""The JSON Schemas of the OpenAI API, read once from the shipped data: the one module of the room that touches files.

Turns a name ("chat-completion") into its parsed schema, and knows every name. Judges nothing.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from conformance.data import data_root
from conformance.errors import HarnessError


@cache
def schemas() -> dict[str, dict[str, Any]]:
    """Every schema under schemas/openai by its name, the file's stem.

    Raises HarnessError when the installation's schemas cannot be read.
    """
    folder = data_root("schemas") / "openai"
    try:
        return {path.stem: json.loads(path.read_bytes()) for path in sorted(folder.glob("*.json"))}
    except (OSError, ValueError) as error:
        raise HarnessError(f"the schemas cannot be read: {error}", where=str(folder)) from error
