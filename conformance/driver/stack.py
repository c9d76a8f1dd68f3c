"""The two HTTP stacks that Python SDKs run on: httpx over httpcore, and httpx2 over httpcore2, behind one door.

Names them, loads them when asked, and turns a core exception into the client library's exception of the same name.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

from conformance.errors import DriverError

_CORES = {"httpx": "httpcore", "httpx2": "httpcore2"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """The modules of one stack: `http` is httpx or httpx2, `core` its httpcore or httpcore2."""

    name: str
    version: str
    http: Any
    core: Any

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Within the block a core exception leaves as the client library's of the same name, as httpx does it."""
        try:
            yield
        except Exception as error:
            for kind in type(error).__mro__:
                named = getattr(self.core, kind.__name__, None)
                if named is kind and isinstance(getattr(self.http, kind.__name__, None), type):
                    raise getattr(self.http, kind.__name__)(str(error)) from error
            raise


@cache
def load_stack(name: str) -> Stack:
    """The stack whose client library is `name` ("httpx" or "httpx2"). Raises DriverError when it is not installed."""
    http, core = load(name), load(_CORES[name])
    return Stack(name=name, version=http.__version__, http=http, core=core)


def load(module: str) -> Any:
    """A module that a driver needs. Raises DriverError with the command that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise DriverError(f"the package {module} cannot be imported: {error}", hint=f"pip install {module}") from error
