"""The inside of a gateway that a client must not learn: whose account pays, and at which addresses the members are."""

from __future__ import annotations

import re
from collections.abc import Iterator

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.clauses.blind import REDACTED, bearer
from conformance.contract.evidence import show
from conformance.contract.when import replied, the_reply
from conformance.exchange.model import Attempt, Exchange, Reply
from conformance.wire.message import HeaderLine

#: Fields in which members name the account that they bill.
_ACCOUNTS = (
    "openai-organization",
    "openai-project",
    "anthropic-organization-id",
    "x-goog-user-project",
    "x-ms-client-principal-id",
)


def _named(x: Exchange) -> dict[bytes, bool]:
    """The accounts and redirects that members' heads name, but those that the client itself sent; and whether the client
    is who pays."""
    sent = b"\n".join(line.value for line in x.request.head.headers)
    found: dict[bytes, bool] = {}
    for attempt in x.attempts or ():
        if attempt.reply is None:
            continue
        for name in ("location", *_ACCOUNTS):
            value = (attempt.reply.header(name) or "").strip().encode("latin-1", "replace")
            if len(value) >= 6 and value not in sent and not REDACTED.fullmatch(value):
                found[value] = found.get(value, False) or (name in _ACCOUNTS and _pays(x, attempt))
    return found


def _pays(x: Exchange, attempt: Attempt) -> bool:
    """Whether the member was asked with the client's own key: the account is then the client's."""
    mine = bearer(x.request.head.get("authorization"))
    return not REDACTED.fullmatch(mine) and bearer(attempt.request.head.get("authorization")) == mine


def _at_line(reply: Reply, line: HeaderLine, expected: str) -> Finding:
    text = line.name + b": " + line.value
    actual = show(text.decode("latin-1"))
    return Finding(expected=expected, actual=actual, span=line.span, at=reply.arrivals.of(line.span), excerpt=text)


@clause(
    id="secret.upstream",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="No account or redirect of the upstream stands in a response field",
    rationale="Whose account pays, and where the inner hosts are, is not the client's to know. No norm forbids it: a SHOULD.",
    source="openai-api/production-safety",
    applies=lambda x: replied(x) and bool(_named(x)),
)
def upstream_fields(x: Exchange) -> Iterator[Finding]:
    reply, names = the_reply(x), [name for name, own in _named(x).items() if not own]
    for line in reply.message.head.headers:
        if any(name in line.value for name in names):
            yield _at_line(reply, line, "no account or redirect of the upstream")


#: What is no public name: an address with a port of its own, an IP address that is not this very machine, a name that
#: only an inner network knows.
_INSIDE = re.compile(
    r"(?!.*:(?:80|443)$)(?:[\w.-]+|\[[0-9a-f:.]+\]):\d{1,5}"
    r"|(?!127\.)\d{1,3}(?:\.\d{1,3}){3}|\[(?!::1\])[0-9a-f:.]+\]"
    r"|[\w.-]+\.(?:internal|local|svc|lan|intra|corp)",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}:\d{1,5}")


def _addresses(x: Exchange) -> list[bytes]:
    """Where the members are, but for addresses that the client itself named."""
    hosts = {attempt.request.host for attempt in x.attempts or () if _INSIDE.fullmatch(attempt.request.host)}
    known = (name.decode("utf-8", "replace") for name in x.terms.identities)
    hosts |= {name for name in known if _NUMBERED.fullmatch(name)}
    said = b"\n".join((x.request.body, *(line.value for line in x.request.head.headers)))
    return sorted(host for host in (name.encode("utf-8", "surrogatepass") for name in hosts) if host not in said)


@clause(
    id="secret.address",
    level=Level.SHOULD,
    basis=Basis.CONTRACT,
    title="No member's inner address stands in a response field",
    rationale="Host and port tell where to knock past the gateway, its keys and its limits. No norm forbids it: a SHOULD.",
    source="openai-api/production-safety",
    applies=lambda x: replied(x) and bool(_addresses(x)),
)
def address_field(x: Exchange) -> Iterator[Finding]:
    names = b"|".join(re.escape(address) for address in _addresses(x))
    address = re.compile(rb"(?<![\w.-])(?:" + names + rb")(?!\w|[.:-]\w)", re.IGNORECASE)  # not a part of another one
    reply = the_reply(x)
    for line in reply.message.head.headers:
        if address.search(line.value):
            yield _at_line(reply, line, "no address of a member")
