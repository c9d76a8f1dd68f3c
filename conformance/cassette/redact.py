"""Takes secrets out of a cassette before it is written, and finds what looks like one in any bytes. Pure.

In bodies and URIs a secret's bytes are overwritten one for one, so every length, frame and span stays true; header
values are replaced whole. Each replacement is noted. Keys made for tests (sk-test, sk-up-, sk-canary) are no secrets,
nor is what stands for one. The one place that knows which forms secrets have, and which fields carry them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from conformance.cassette.model import Cassette, Envelope, Interaction, RecordedRequest
from conformance.cassette.standin import holds_test_key, is_plain, is_stand_in

MARK = "REDACTED"

_Notes = dict[tuple[str, str], None]

_NAME = rb"(?i:(?:x[-_])?(?:api[-_]?key|access[-_]?token|refresh[-_]?token|client[-_]?secret|auth[-_]?token|password"
_JSON_NAME = _NAME + rb"|secret|authorization|organization(?:[-_]id)?))"
_FIELD_NAME = _NAME + rb"|key|sig|signature|token|secret))"
_NO_WORD_BEFORE = rb"(?<![A-Za-z0-9])"

#: Kind, bytes of which one stands in every match (empty: always look), pattern: by form, or by the name before it.
_FORMS: tuple[tuple[str, tuple[bytes, ...], bytes], ...] = (
    ("api-key", (b"sk-",), rb"(?P<value>sk-(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{16,})"),
    ("api-key", (b"sk_", b"hf_", b"fw_", b"r8_", b"v1_"), rb"(?P<value>(?:gsk|hf|fw|r8|tgp_v1)_[A-Za-z0-9_-]{20,})"),
    ("api-key", (b"ai-", b"lx-", b"pi-", b"sk-"), rb"(?P<value>(?:xai|pplx|nvapi|csk)-[A-Za-z0-9_-]{20,})"),
    ("api-key", (b"AIza", b"AKIA"), rb"(?P<value>AIza[A-Za-z0-9_-]{30,}|AKIA[A-Z0-9]{16})"),
    ("api-key", (b"gh", b"github"), rb"(?P<value>gh[opsu]_[A-Za-z0-9]{30,}|github_pat_\w{30,})"),
    ("bearer", (b"earer ",), rb"[Bb]earer (?P<value>(?!REDACTED)[A-Za-z0-9._~+/=-]{12,})"),
    ("jwt", (b"eyJ",), rb"(?P<value>eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})"),
    ("organisation", (b"org-", b"proj_"), rb"(?P<value>org-[A-Za-z0-9]{20,}|proj_[A-Za-z0-9]{20,})"),
    ("account", (b"user",), rb"(?P<value>user[-_](?=[A-Za-z]*[0-9])[A-Za-z0-9]{20,})"),
    ("json-member", (), rb'"' + _JSON_NAME + rb'"\s*:\s*"(?P<value>(?:[^"\\\r\n]|\\.)+)"'),
    ("json-member", (b'\\"',), rb'\\"' + _JSON_NAME + rb'\\"\s*:\s*\\"(?P<value>[^"\\\r\n]+)'),
    ("field", (b"=",), rb"(?:(?<=[?&])|^)" + _FIELD_NAME + rb"=(?P<value>[^&\s#\"'\\]+)"),
    ("userinfo", (b"@",), rb"(?i:https?)://(?P<value>[^/\s@\"'\\?#]+)@"),
)
_PATTERNS = tuple((kind, signs, re.compile(_NO_WORD_BEFORE + form)) for kind, signs, form in _FORMS)

_CREDENTIALS = (
    r"(?:.*[-_])?(?:authorization|cookie2?|api-?key|subscription-key|auth-?(?:key|token)|secret"
    r"|(?:access|session|security)-token)"
)
_CREDENTIAL = re.compile(_CREDENTIALS, re.IGNORECASE)
_ACCOUNTS = r"openai-(?:organization|project)|x-goog-user-project|(?:x-)?(?:organization|project|account)(?:-id)?"
_HEADER = re.compile(f"{_CREDENTIALS}|{_ACCOUNTS}", re.IGNORECASE)
_IDS = re.compile(
    r"(?:.*[-_])?(?:request|trace|correlation|invocation|organization|project|account|user|tenant|workspace|session|conversation)[-_]?id"
    rf"|(?:.*-)?requestid|cf-ray|traceparent|x-cloud-trace-context|x-vercel-id|x-ms-client-principal-id|{_ACCOUNTS}",
    re.IGNORECASE,
)
_KEY_HEAD = re.compile(r"(?:sk|gsk|hf|fw|r8|tgp|xai|pplx|nvapi|csk|AIza|AKIA|gh[opsu]|github)[-_A-Za-z]")


@dataclass(frozen=True, slots=True)
class Secret:
    """Where something that looks like a secret stands, and which form it has; never the secret itself."""

    kind: str
    start: int
    end: int


def find_secrets(data: bytes) -> list[Secret]:
    """What looks like a secret in `data`, in order, without overlaps. Test keys and what is redacted are left out."""
    met: list[Secret] = []
    for kind, signs, pattern in _PATTERNS:
        if signs and not any(sign in data for sign in signs):
            continue
        for match in pattern.finditer(data):
            start, end = match.span("value")
            value = data[start:end]
            if not _harmless(value) and not (kind == "bearer" and is_plain(value.decode("ascii"))):
                met.append(Secret(kind, start, end))
    met.sort(key=lambda secret: (secret.start, -secret.end))
    found: list[Secret] = []
    for secret in met:
        if not found or secret.start >= found[-1].end:
            found.append(secret)
    return found


def _harmless(value: bytes) -> bool:
    return not value.strip(b"*" + MARK.encode()) or is_stand_in(value)


def is_masked(value: str) -> bool:
    """Whether nothing is left to hide: it was overwritten, is a key made for tests, or stands for an id."""
    return _harmless(value.encode("utf-8", "surrogatepass"))


def credential(name: str, value: str) -> str:
    """The key in a field that carries one, without its scheme; "" in any other field, and in a cookie."""
    if _CREDENTIAL.fullmatch(name.strip()) is None or "cookie" in name.lower():
        return ""
    scheme, _, credentials = value.strip().rpartition(" ")
    return credentials if scheme.isalnum() or not scheme else value.strip()


def is_id(name: str) -> bool:
    """Whether a field tells the id of a request, an account or an organisation."""
    return _IDS.fullmatch(name.strip()) is not None


def begins_key(text: str) -> bool:
    """Whether it starts as providers' keys do."""
    return _KEY_HEAD.match(text) is not None


def redact(cassette: Cassette) -> Cassette:
    """`cassette` without secrets; what was taken out is added to its `redactions`. A second time changes nothing."""
    notes: _Notes = dict.fromkeys(cassette.redactions)
    interactions = tuple(
        replace(
            interaction,
            request=_request(interaction.request, notes),
            envelope=_envelope(interaction.envelope, notes),
        )
        for interaction in cassette.interactions
    )
    return replace(
        cassette,
        interactions=interactions,
        title=_text(cassette.title, "title", notes),
        source=_text(cassette.source, "source", notes),
        redactions=tuple(notes),
    )


def is_clean(interaction: Interaction) -> bool:
    """Whether redacting would change nothing in `interaction`."""
    notes: _Notes = {}
    _request(interaction.request, notes)
    _envelope(interaction.envelope, notes)
    return not notes


def redacted(text: str) -> str:
    """`text` with what looks like a secret overwritten."""
    return _text(text, "", {})


def _request(request: RecordedRequest, notes: _Notes) -> RecordedRequest:
    return replace(
        request,
        uri=_text(request.uri, "request uri", notes),
        headers=tuple((name, _header(name, value, "request", notes)) for name, value in request.headers),
        body=_bytes(request.body, "request body", notes),
    )


def _envelope(envelope: Envelope, notes: _Notes) -> Envelope:
    return replace(
        envelope,
        head=envelope.head[:1] + tuple(_line(line, notes) for line in envelope.head[1:]),
        body=_bytes(envelope.body, "response body", notes),
    )


def _line(line: str, notes: _Notes) -> str:
    """A head line; its spacing after the colon is kept."""
    name, colon, rest = line.partition(":")
    value = rest.lstrip(" \t")
    return name + colon + rest[: len(rest) - len(value)] + _header(name, value, "response", notes)


def _header(name: str, value: str, leg: str, notes: _Notes) -> str:
    where = f"{leg} header {name.strip().lower()}"
    if _HEADER.fullmatch(name.strip()) is None:
        return _text(value, where, notes)
    scheme, space, credentials = value.rpartition(" ")
    keeps_scheme = scheme.isalnum() and "cookie" not in name.lower()
    secret = (credentials if keeps_scheme else value).encode("utf-8", "surrogatepass")
    if not secret or MARK in value or holds_test_key(secret) or is_stand_in(secret):
        return _text(value, where, notes)
    kind = next((word for word in ("cookie", "organization", "project") if word in name.lower()), "credential")
    notes[(where, kind)] = None
    return (scheme + space if keeps_scheme else "") + MARK


def _text(value: str, where: str, notes: _Notes) -> str:
    data = value.encode("utf-8", "surrogatepass")
    return _bytes(data, where, notes).decode("utf-8", "surrogatepass")


def _bytes(data: bytes, where: str, notes: _Notes) -> bytes:
    """`data` with each secret overwritten by as many bytes."""
    secrets = find_secrets(data)
    if not secrets:
        return data
    clean = bytearray(data)
    for secret in secrets:
        size = secret.end - secret.start
        clean[secret.start : secret.end] = MARK.encode().ljust(size, b"*")[:size]
        notes[(where, secret.kind)] = None
    return bytes(clean)
