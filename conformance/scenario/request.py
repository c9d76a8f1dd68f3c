"""A scenario's request becomes what a driver sends: method, path, JSON parameters, and the same as exact bytes.

Fills in the model and the nonce, the one mark by which an upstream attempt finds its play. Pure; knows no driver.
"""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any
from urllib.parse import quote

from conformance.errors import ScenarioError
from conformance.scenario.model import ScenarioRequest

#: Endpoint -> method and path below the API root. The last two are no operations: a browser's question before one, and
#: a path that the API does not have.
PATHS: dict[str, tuple[str, str]] = {
    "chat.completions": ("POST", "/chat/completions"),
    "completions": ("POST", "/completions"),
    "embeddings": ("POST", "/embeddings"),
    "responses": ("POST", "/responses"),
    "models": ("GET", "/models"),
    "models.retrieve": ("GET", "/models/{model}"),
    "preflight": ("OPTIONS", "/chat/completions"),
    "unserved": ("GET", "/no-such-operation"),
}

# RFC 3986 section 3.3: what a path segment may hold unescaped besides the unreserved characters.
_SEGMENT_SAFE = "!$&'()*+,;=:@"


def prepare(request: ScenarioRequest, *, alias: str, nonce: str) -> tuple[str, str, dict[str, Any], bytes]:
    """Method, path below the API root, parameters (for an SDK) and body bytes (for a raw driver) of `request`.

    `alias` is the lane's model, used unless the request names another. The nonce is put before the prompt text: of
    the last user message, of `input` or of `prompt`; a request without such a text, or without a body, carries none.
    A raw body comes with empty parameters. Raises ScenarioError for an unknown endpoint.
    """
    if request.endpoint not in PATHS:
        hint = f"one of {', '.join(PATHS)}"
        raise ScenarioError(f"there is no endpoint {request.endpoint!r}", where="request.endpoint", hint=hint)
    method, path = PATHS[request.endpoint]
    model = alias if request.model is None else request.model
    if method != "POST":
        return method, path.replace("{model}", quote(model, safe=_SEGMENT_SAFE)), {}, b""
    if request.raw is not None:
        return method, path, {}, _filled(request.raw, model, nonce)
    params = marked({"model": model, **deepcopy(request.params)}, nonce)
    return method, path, params, compact(params)


def compact(params: dict[str, Any]) -> bytes:
    """The JSON text as the SDKs send it: UTF-8, nothing escaped without need, no white space."""
    return json.dumps(params, ensure_ascii=False, separators=(",", ":")).encode()


def marked(params: dict[str, Any], nonce: str) -> dict[str, Any]:
    """`params` with the nonce before the prompt text, changed in place where it is nested."""
    mark = f"Ticket {nonce}: "
    for key in ("messages", "input", "prompt"):
        if key in params:
            params[key] = _marked_prompt(params[key], mark)
    return params


def _marked_prompt(prompt: Any, mark: str) -> Any:
    """A prompt is a text, a list of texts, or a list of messages whose content is a text or a list of parts."""
    if isinstance(prompt, str):
        return mark + prompt
    if not isinstance(prompt, list):
        return prompt
    messages = [item for item in prompt if isinstance(item, dict)]
    if not messages:
        _mark_first_text(prompt, mark)
        return prompt
    users = [message for message in messages if message.get("role") == "user"]
    for message in [*reversed(users), *reversed(messages)]:
        if _mark_content(message, mark):
            break
    return prompt


def _mark_first_text(texts: list[Any], mark: str) -> None:
    for position, text in enumerate(texts):
        if isinstance(text, str):
            texts[position] = mark + text
            return


def _mark_content(message: dict[str, Any], mark: str) -> bool:
    """Mark the message's content; whether there was a text to mark."""
    content = message.get("content")
    if isinstance(content, str):
        message["content"] = mark + content
        return True
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            part["text"] = mark + part["text"]
            return True
    return False


def _filled(raw: str, model: str, nonce: str) -> bytes:
    return raw.replace("{{nonce}}", nonce).replace("{{model}}", model).encode("utf-8", "surrogatepass")
