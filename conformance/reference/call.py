"""One client request on its way through the gateway: what was asked, in which lane, and the memory that its
behaviour may keep.

Data, and the reading of a body into it; knows no socket.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from conformance.reference.behaviour import Behaviour
from conformance.reference.cache import Recording
from conformance.reference.config import Config, Lane
from conformance.reference.failure import Names
from conformance.reference.health import Health
from conformance.reference.http import ResponseHead
from conformance.reference.steps import Step


class Operation(StrEnum):
    """The API's operations that are dispatched to members; the value is the path below the API root."""

    CHAT = "/chat/completions"
    COMPLETIONS = "/completions"
    EMBEDDINGS = "/embeddings"
    RESPONSES = "/responses"


ID_PREFIX = {Operation.CHAT: "chatcmpl-", Operation.COMPLETIONS: "cmpl-", Operation.RESPONSES: "resp_"}


@dataclass(slots=True, kw_only=True)
class Call:
    """One request. `operation` is None for those that the gateway answers itself; `lane` is None until the model is
    known.

    `text` is the body's JSON text as the client sent it and `doc` its value. `answered` is the head of the member's
    last response, `answered_body` the body of its last error: never shown by right steps. `memo` is this request's,
    `shared` and `health` the gateway's. `recording` takes down an answer that may be kept. `omitted` are right steps
    that are left out for this request alone.
    """

    config: Config
    behaviour: Behaviour
    shared: dict[str, Any]
    health: Health
    operation: Operation | None = None
    method: str = ""
    path: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    text: str = ""
    doc: dict[str, Any] = field(default_factory=dict)
    lane: Lane | None = None
    recording: Recording | None = None
    request_id: str = field(default_factory=lambda: f"req_{secrets.token_hex(12)}")
    answered: ResponseHead | None = None
    answered_body: bytes = b""
    memo: dict[str, Any] = field(default_factory=dict)
    omitted: frozenset[Step] = frozenset()

    def does(self, step: Step) -> bool:
        """Whether this gateway takes the right step `step`."""
        return step not in self.behaviour.skip and step not in self.omitted

    @property
    def alias(self) -> str:
        """The model that the client asked for, "" when it named none."""
        model = self.doc.get("model")
        return model if isinstance(model, str) else ""

    @property
    def stream(self) -> bool:
        """Whether the client asked for a stream."""
        return self.doc.get("stream") is True

    @property
    def include_usage(self) -> bool:
        """Whether the client asked for a usage chunk."""
        options = self.doc.get("stream_options")
        return isinstance(options, dict) and options.get("include_usage") is True

    @property
    def choices(self) -> int:
        """How many choices the client asked for: `n` for each prompt."""
        count = self.doc.get("n")
        prompts = _batch(self.doc.get("prompt")) if self.operation is Operation.COMPLETIONS else 1
        return prompts * (count if isinstance(count, int) and count > 0 else 1)

    @property
    def inputs(self) -> int:
        """How many inputs an embeddings request has."""
        return _batch(self.doc.get("input"))

    @property
    def answer_id(self) -> str:
        """The id of this request's answer, the same in every chunk."""
        prefix = ID_PREFIX.get(self.operation, "") if self.operation else ""
        return prefix + self.request_id.removeprefix("req_")

    @property
    def names(self) -> Names:
        """The alias, and what may not reach the client about the members of the lane."""
        hidden: list[tuple[str, str]] = []
        for member in self.lane.members if self.lane else ():
            hidden += [
                (member.api_key, "[redacted]"),
                (member.base_url, ""),
                (member.host, ""),
                (member.model, self.alias),
            ]
        return Names(alias=self.alias, hidden=tuple(hidden), raw=not self.does(Step.CLEAN_ERRORS))


def _batch(value: Any) -> int:
    """How many texts a prompt or input holds; a list of numbers is one text in tokens."""
    return len(value) if isinstance(value, list) and value and not isinstance(value[0], int) else 1
