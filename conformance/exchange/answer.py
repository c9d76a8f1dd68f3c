"""What answer a reply gives, read the same way from JSON and from a stream, on either leg, so that legs can be compared.

From parsed JSON documents to choices, reasons, usage and errors. Knows nothing of sockets, targets or clauses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One tool call, deltas joined. `index` is the delta's index (the position for JSON)."""

    index: int
    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One choice, deltas joined.

    `text` is the content (or the legacy `text`); `reasoning` what came under reasoning_content or reasoning; `reasons`
    every non-null finish_reason in order, any JSON type.
    """

    index: int
    text: str = ""
    reasoning: str = ""
    refusal: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    reasons: tuple[Any, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether nothing that a user could use stands in it."""
        return not (self.text or self.reasoning or self.refusal or self.tool_calls)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A reply's meaning.

    `errors` are the values of in-band error objects (a body's or an event's `error`, or an event of type error), in
    order; `usage` the last usage object; `done` how many `[DONE]` came. `finished` is whether the answer says that it is
    whole, without an error: for a chat or completion a known finish reason on every choice met (a stream's `[DONE]` is not
    enough), for embeddings, models and others a JSON object without error. `event_errors` are indexes of error events.
    """

    choices: tuple[Choice, ...] = ()
    errors: tuple[Any, ...] = ()
    event_errors: tuple[int, ...] = ()
    usage: Any = None
    done: int = 0
    finished: bool = False
    streamed: bool = False

    @property
    def output(self) -> bool:
        """Whether any choice holds something usable."""
        return any(not choice.empty for choice in self.choices)
