"""The reason in a member's error body, whatever family of shapes it belongs to, and that reason made fit for a
client.

From a body to message, type, code and param as plain texts; then one line, capped, without markup, addresses, keys
or names that tell who served. Pure; judges nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from conformance.reference.jsontext import parse_json

MAX_MESSAGE = 500
MAX_DEPTH = 4
#: Keys of an error object that carry facts a client can use; every other unknown key stays behind.
EXTRA_KEYS = ("failed_generation", "n_prompt_tokens", "n_ctx")

_PAGE = re.compile(r"<[a-z!?]", re.IGNORECASE)
_MARKUP = re.compile(r"</?[a-z!?][^>]{0,500}>", re.IGNORECASE)
_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.\-]{0,63}")
_PARAM = re.compile(r"[A-Za-z0-9_.\-\[\]]{1,64}")
_QUOTED_MESSAGE = re.compile(r"""['"]message['"]\s*:\s*(?:"([^"]+)"|'([^']+)')""")
_JSON_START = re.compile(r"""[\[{]\s*[\[{"'\]}]""")
_SECRETS = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf|key|org|proj|user|acct|req|team|ak)[-_][\w\-*]{4,}|\bAIza[\w\-]{10,}|\bBearer\s+\S+"
    r"|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\S*\*{3,}\S*",
    re.IGNORECASE,
)
_ADDRESSES = re.compile(
    r"https?://\S+|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b|\b(?:[a-z0-9-]+\.)+(?:com|ai|net|org|io|dev|test|cloud|local)\b\S*"
    r"|\b(?:localhost|[a-z0-9.-]+):\d{2,5}\b",
    re.IGNORECASE,
)
_MODEL_PATHS = re.compile(r"\b[a-z0-9][\w.\-]*/[\w.\-]*\d[\w.\-]*(?::[\w\-]+)?", re.IGNORECASE)
_PROVIDERS = re.compile(
    r"\b(?:azure[ -]?openai|azureexception|openaiexception|openai|anthropic|claude|openrouter|groq|gemini|google"
    r"|vertex(?: ?ai)?|mistral(?: ?ai)?|deepseek|together(?: ?ai)?|fireworks|x\.?ai|grok|cerebras|sambanova|nvidia|nim"
    r"|ollama|vllm|sglang|llama\.cpp|lm studio|moonshot|kimi|zhipu|z\.ai|minimax|siliconflow|dashscope|bedrock|cohere"
    r"|perplexity|hugging ?face|watsonx|litellm|cloudflare|kluster|azure|aws)(?:\.\w+)?\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """What an error body says. Empty texts where it says nothing; `status` is a status inside the body, or 0."""

    message: str = ""
    type: str = ""
    code: str = ""
    param: str = ""
    status: int = 0
    html: bool = False
    extra: dict[str, Any] = field(default_factory=dict)


def read_reason(body: bytes) -> Reason:
    """The reason in an error body of any family; an empty one when none can be found."""
    if body.lstrip()[:1] == b"<":
        return Reason(html=True)
    try:
        return reason_of(parse_json(body))
    except ValueError:
        return Reason(message=body[: 4 * MAX_MESSAGE].decode("utf-8", "replace"))


def reason_of(doc: Any, depth: int = 0) -> Reason:
    """The reason in a parsed error body or error object."""
    if isinstance(doc, list):
        doc = doc[0] if doc else None
    if isinstance(doc, str):
        return _from_text(doc, depth)
    if not isinstance(doc, dict) or depth > MAX_DEPTH:
        return Reason()
    inner = doc.get("error") or doc.get("errors") or doc.get("detail")
    nested = reason_of(inner, depth + 1) if inner else Reason()
    own = next(
        (doc[key] for key in ("message", "msg", "title") if isinstance(doc.get(key), str) and doc[key].strip()), ""
    )
    text = _from_text(own, depth) if own else Reason()
    code = doc.get("code", doc.get("status_code", doc.get("http_code", doc.get("status"))))
    return Reason(
        message=nested.message or text.message,
        type=nested.type or text.type or _identifier(doc.get("type")),
        code=nested.code or text.code or _identifier(doc.get("code")),
        param=nested.param or _param(doc.get("param")),
        status=nested.status or text.status or _status(code),
        html=nested.html or text.html,
        extra=_extra(doc) | nested.extra,
    )


def _from_text(text: str, depth: int) -> Reason:
    """A message that may itself be a JSON document, or hold one's `message`."""
    stripped = text.strip()
    if stripped[:1] in ("{", "[") and depth <= MAX_DEPTH:
        try:
            inner = reason_of(parse_json(stripped.encode("utf-8", "replace")), depth + 1)
        except ValueError:
            inner = Reason()
        if inner.message:
            return inner
    if _PAGE.match(stripped):
        return Reason(html=True)
    if quoted := _QUOTED_MESSAGE.search(stripped):
        return Reason(message=quoted[1] or quoted[2])
    return Reason(message=stripped)


def clean_message(message: str, names: Iterable[tuple[str, str]]) -> str:
    """`message` fit for a client: one line, capped, no markup, no embedded document, no address, key or provider.

    `names` are (text, replacement) pairs that are known to tell who served.
    """
    text = message.split("Traceback (most recent call last)")[0]
    if start := _JSON_START.search(text):
        text = text[: start.start()]
    text = _MARKUP.sub(" ", text)
    for name, replacement in names:
        text = text.replace(name, replacement)
    text = _ADDRESSES.sub("", text)
    text = _SECRETS.sub("[redacted]", text)
    text = _MODEL_PATHS.sub("the model", text)
    text = _PROVIDERS.sub("upstream", text)
    text = "".join(letter if letter.isprintable() and letter != "\ufffd" else " " for letter in text)
    text = " ".join(text.split()).strip(" -:,;(")
    return text if len(text) <= MAX_MESSAGE else text[: MAX_MESSAGE - 1].rstrip() + "\u2026"


def _identifier(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return ""
    text = str(value)
    fits = _IDENTIFIER.fullmatch(text) is not None and text.lower() not in ("none", "null", "undefined", "error")
    return text if fits and not _SECRETS.search(text) else ""


def _extra(doc: dict[str, Any]) -> dict[str, Any]:
    found = {key: doc[key] for key in EXTRA_KEYS if isinstance(doc.get(key), (str, int))}
    return {key: value[:4000] if isinstance(value, str) else value for key, value in found.items()}


def _param(value: Any) -> str:
    fits = isinstance(value, str) and _PARAM.fullmatch(value) and value.lower() not in ("none", "null", "undefined")
    return str(value) if fits else ""


def _status(value: Any) -> int:
    if isinstance(value, str) and value.isdigit() and len(value) == 3:
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 400 <= value <= 599 else 0
