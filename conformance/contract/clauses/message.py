"""Error messages: one readable line for the user, without pages, bodies, traces or addresses of the inside.

Judged on the message of an error reply and on that of an error event in a stream.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.evidence import at_event, at_path, show
from conformance.contract.kinds import reason_of
from conformance.contract.when import ok, stayed, the_reply
from conformance.exchange.model import Exchange, StreamEvent

MAX_MESSAGE = 2000
#: So much of a message is searched; a longer one is told by the clause on its length.
_SEARCHED = 4000

_HTML = re.compile(
    r"<\s*(?:!doctype|html|head|body|title|center|h[1-6]|p|div|span|script|style|meta|br|hr|pre)\b[^>]*>", re.I
)
_EMBEDDED = re.compile(
    r"""[\[{]\s*\\?["'](?:(?:error|errors|message|detail|msg)\\?["']\s*:"""
    r"""|(?:type|object)\\?["']\s*:\s*\\?["'][\w.]*(?:error|exception)|(?:code|status)\\?["']\s*:\s*\\?["']?\d{3}\b)"""
    r"""|[\[{].*,\s*\\?["'](?:msg|loc)\\?["']\s*:""",
    re.I,
)
_EVENT = re.compile(r"(?:^|\s)data:\s*[\[{]")
_TRACE = re.compile(
    r'Traceback \(most recent call last\)|File "[^"]+", line \d+|^\s*at .+\(.+:\d+:\d+\)|goroutine \d+ \[|panic: '
    r"|^\s*at [\w.$<>]+\([\w$]+\.(?:java|kt|scala):\d+\)|^\s*at .+ in .+:line \d+",
    re.M,
)
_UNREADABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffd]")
_INSIDE = re.compile(
    r"(?:https?://|\bdial tcp |\bhost=['\"]?)(?:localhost|127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|\[::1\]|[\w.-]+\.(?:internal|local|svc|cluster)\b)\S*"
    r"|\b(?:\d{1,3}\.){3}\d{1,3}:\d{2,5}\b"
    r"|\b(?:post|get) \"?https?://\S+"
    r"|\b(?:10\.\d{1,3}|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.\d{1,3}\.\d{1,3}(?![.\d])"
    r"|https?://[\w-]+(?::\d+)?(?=[/\s\"')\]]|$)|\bHTTPS?ConnectionPool\("
    r"|https?://(?!\S*\b(?:docs?|guides?|help|reference)\b)\S+/(?:chat/completions|completions|embeddings|responses|messages)\b",
    re.I,
)
_KEY = re.compile(
    r"\b(?:sk|gsk|xai|hf|key|pk|rk)[-_][A-Za-z0-9_-]{0,24}(?:\*{2,}|\.{3,})[A-Za-z0-9]{2,}|\*{3,}[A-Za-z0-9]{3,6}\b|\bsk-[A-Za-z0-9_-]{8,}"
    r"|\bAIza[A-Za-z0-9_-]{20,}|\b[Bb]earer [A-Za-z0-9._~+/-]{12,}"
)
_WHOLE_KEY = re.compile(r"\b(?:sk|gsk|xai|hf)[-_](?=\S*\d)[A-Za-z0-9_-]{16,}(?![*.]{2})")
_HASH = re.compile(r"(?<![0-9A-Za-z])[0-9a-fA-F]{64}(?![0-9A-Za-z])")
_ACCOUNT = re.compile(r"\b(?:org|proj|acct|team|account|user)[-_][A-Za-z0-9]{4,}[A-Za-z0-9-]*")


def _messages(x: Exchange) -> Iterator[tuple[StreamEvent | None, str]]:
    reply = x.reply
    if reply is None or not stayed(x):
        return
    if not ok(x) or (reply.doc is not None and not reply.events):
        value = reply.doc.value if reply.doc is not None and reply.doc.ok else None
        if reply.status >= 400 or reply.answer.errors:
            text = reason_of(value) or _inside(reply.answer.errors)
            if text:
                yield None, text
    for index, error in zip(reply.answer.event_errors, reply.answer.errors, strict=False):
        doc = reply.events[index].doc
        text = (reason_of(doc.value) or _inside((error,))) if doc is not None and doc.ok else ""
        if text:
            yield reply.events[index], text


def _inside(errors: tuple[Any, ...]) -> str:
    """The words of the first in-band error: that of a choice stands deeper than a body's own."""
    return reason_of({"error": errors[0]}) if errors else ""


def _any(x: Exchange) -> bool:
    return any(True for _ in _messages(x))


def _relayed(x: Exchange) -> bool:
    return bool(x.attempts) and _any(x)


def _foreign_key(x: Exchange) -> bool:
    """Whether a member was asked with a key that is not the client's own."""
    mine = x.request.head.get("authorization")
    return _relayed(x) and any(attempt.request.head.get("authorization") != mine for attempt in x.attempts or ())


def _key_heads(x: Exchange) -> list[str]:
    """The first eight characters of each member's key, where the client's own key does not begin so."""
    keys = [(a.request.head.get("authorization") or "").removeprefix("Bearer ") for a in x.attempts or ()]
    mine = (x.request.head.get("authorization") or "").removeprefix("Bearer ")
    return [key[:8] for key in keys if len(key) >= 12 and not mine.startswith(key[:8])]


def _finding(x: Exchange, event: StreamEvent | None, expected: str, actual: str) -> Finding:
    reply = the_reply(x)
    return (
        at_path(reply, ("error", "message"), expected, actual)
        if event is None
        else at_event(reply, event, expected, actual)
    )


def _asked(x: Exchange, text: str) -> bool:
    """Whether these are the client's own words: a refusal may quote them."""
    return text.strip().encode("utf-8", "surrogatepass") in x.request.body


def _matches(x: Exchange, pattern: re.Pattern[str], expected: str) -> Iterator[Finding]:
    for event, text in _messages(x):
        match = pattern.search(text[:_SEARCHED])
        if match is not None and not _asked(x, match.group(0)):
            around = text[max(0, match.start() - 20) : match.end() + 40]
            yield _finding(x, event, expected, show(around))


@clause(
    id="error.message.one-line",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="An error's message is one line",
    rationale="It is logged, shown and matched as a line. No norm says so: a SHOULD.",
    source="incident/errors",
    applies=_any,
)
def one_line(x: Exchange) -> Iterator[Finding]:
    for event, text in _messages(x):
        if "\n" in text or "\r" in text:
            yield _finding(x, event, "one line", show(text))


@clause(
    id="error.message.bounded",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="An error's message has at most 2,000 characters",
    rationale="A page in a message floods terminals and logs. No norm says how long: a SHOULD.",
    source="incident/errors",
    applies=_any,
)
def bounded(x: Exchange) -> Iterator[Finding]:
    for event, text in _messages(x):
        if len(text) > MAX_MESSAGE:
            yield _finding(x, event, f"at most {MAX_MESSAGE} characters", f"{len(text)} characters: {show(text, 60)}")


@clause(
    id="error.message.no-html",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="No HTML page stands in an error's message",
    rationale="A block page in a message hides the cause behind markup, and shows addresses and ray ids to the client.",
    source="incident/errors",
    applies=_any,
)
def no_html(x: Exchange) -> Iterator[Finding]:
    yield from _matches(x, _HTML, "plain text")


def _is_document(text: str) -> bool:
    stripped = text.strip()
    if stripped[:1] not in ("{", "["):
        return False
    try:
        return isinstance(json.loads(stripped), dict | list)
    except (ValueError, RecursionError):
        return False


@clause(
    id="error.message.no-raw-body",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="No upstream body stands in an error's message",
    rationale="A document inside a text is unreadable for users and hides the code that clients branch on; it also shows what the provider said to the gateway alone.",
    source="incident/errors",
    applies=_any,
)
def no_raw_body(x: Exchange) -> Iterator[Finding]:
    bodies = [
        attempt.reply.content.decode("utf-8", "replace").strip()
        for attempt in x.attempts or ()
        if attempt.reply is not None and attempt.reply.status >= 400
    ]
    for event, text in _messages(x):
        match = _EMBEDDED.search(text[:_SEARCHED]) or _EVENT.search(text[:_SEARCHED])
        if match is not None and not _asked(x, match.group(0)):
            yield _finding(x, event, "the reason in words", show(text[max(0, match.start() - 20) : match.start() + 80]))
        elif _is_document(text):
            yield _finding(x, event, "the reason in words", show(text))
        elif any(len(body) >= 40 and body in text for body in bodies):
            yield _finding(x, event, "the reason in words", f"the upstream's whole body: {show(text)}")


@clause(
    id="error.message.readable",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="An error's message is readable text",
    rationale="Control and replacement characters are compressed bytes read as text: the cause is lost.",
    source="incident/errors",
    applies=_any,
)
def readable(x: Exchange) -> Iterator[Finding]:
    yield from _matches(x, _UNREADABLE, "text")


@clause(
    id="error.message.no-trace",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="No stack trace stands in an error's message",
    rationale="A trace tells the client about the gateway's inside and nothing about the failure.",
    source="incident/errors",
    applies=_any,
)
def no_trace(x: Exchange) -> Iterator[Finding]:
    yield from _matches(x, _TRACE, "the reason in words")


@clause(
    id="error.message.no-address",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="No upstream address stands in an error's message",
    rationale="Hosts, ports and URLs of the inside are of use to an attacker alone.",
    source="incident/errors",
    applies=_any,
)
def no_address(x: Exchange) -> Iterator[Finding]:
    hosts = {attempt.request.host for attempt in x.attempts or () if attempt.request.host}
    for event, text in _messages(x):
        named = next((host for host in hosts if host in text), None)
        match = _INSIDE.search(text[:_SEARCHED])
        if named is not None:
            yield _finding(x, event, "no upstream host", show(named))
        elif match is not None and not _asked(x, match.group(0)):
            yield _finding(x, event, "no upstream address", show(match.group(0)))


def _whole_keys(x: Exchange) -> Iterator[tuple[StreamEvent | None, str]]:
    """Keys that stand unmasked in a message and are not the client's own, where that one is known."""
    mine = x.request.head.get("authorization") or ""
    for event, text in _messages(x) if mine else ():
        for match in _WHOLE_KEY.finditer(text[:_SEARCHED]):
            if match.group(0) not in mine and match.group(0).encode() not in x.request.body:
                yield event, match.group(0)


def _is_own(shown: str, mine: str) -> bool:
    """Whether it is the client's own key, whole: that is no news to it."""
    return bool(mine) and re.sub("^[Bb]earer ", "", shown).rstrip(".") == mine


@clause(
    id="error.message.no-key",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="No piece of an upstream key stands in an error's message",
    rationale="Providers echo masked keys in their 401: to the gateway's client that is a piece of somebody else's key.",
    source="openai-api/production-safety",
    applies=lambda x: _foreign_key(x) or (x.attempts is None and any(True for _ in _whole_keys(x))),
)
def no_key(x: Exchange) -> Iterator[Finding]:
    if x.attempts is None:
        for event, key in _whole_keys(x):
            yield _finding(
                x, event, "no key but the client's own", f"{len(key)} characters of one, {show(key[:6])} first"
            )
        return
    mine = (x.request.head.get("authorization") or "").removeprefix("Bearer ")
    for event, text in _messages(x):
        told = (match for match in _KEY.finditer(text[:_SEARCHED]) if not _asked(x, match.group(0)))
        match = next((match for match in told if not _is_own(match.group(0), mine)), None)
        if match is not None:
            yield _finding(x, event, "no key, be it masked", show(text[max(0, match.start() - 20) : match.end() + 40]))
    for event, text in _messages(x):
        shown = next((head for head in _key_heads(x) if head in text and not _KEY.search(text[:_SEARCHED])), None)
        if shown is not None:
            yield _finding(x, event, "no key, be it masked", show(shown))


@clause(
    id="error.message.no-account",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="No account name of the upstream stands in an error's message",
    rationale="The organisation or project that the gateway is billed under is not the client's to know.",
    source="incident/errors",
    applies=_relayed,
)
def no_account(x: Exchange) -> Iterator[Finding]:
    told = b" ".join(attempt.reply.content for attempt in x.attempts or () if attempt.reply is not None)
    for event, text in _messages(x):
        for match in _ACCOUNT.finditer(text[:_SEARCHED]):
            if match.group(0).encode() in told and any(character.isdigit() for character in match.group(0)):
                yield _finding(x, event, "no account of the upstream", show(match.group(0)))
                break


@clause(
    id="error.message.no-key-hash",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="No hash of a key stands in the message of a refused one",
    rationale="It is how the gateway's own table is looked up: whoever tries a key is shown what would match. No norm speaks of it: a SHOULD.",
    source="openai-api/production-safety",
    applies=lambda x: stayed(x) and the_reply(x).status in (401, 403) and _any(x),
)
def no_key_hash(x: Exchange) -> Iterator[Finding]:
    for event, text in _messages(x):
        match = _HASH.search(text[:_SEARCHED])
        if match is not None and not _asked(x, match.group(0)):
            yield _finding(x, event, "no hash of a key", show(text[max(0, match.start() - 20) : match.start() + 12]))
