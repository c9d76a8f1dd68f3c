"""Errors: what a request that is visibly broken is answered with.

A request is broken where a run declares it, or where its own bytes leave no doubt: the body is no JSON object, or lacks
a member without which the API cannot answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from conformance.contract.clause import Basis, Finding, Level, clause
from conformance.contract.evidence import at_head
from conformance.contract.when import stayed, the_reply
from conformance.exchange.model import Endpoint, Exchange, Request

#: openai-api/chat-create, embeddings-create, responses: the first of these has to be there. The others are what servers
#: take in its place. A legacy completion's prompt has a default.
_ASKED = {
    Endpoint.CHAT: ("messages", "prompt", "input", "prompt_id"),
    Endpoint.EMBEDDINGS: ("input", "inputs", "messages", "text", "texts", "content", "images", "prompt"),
    Endpoint.RESPONSES: ("input", "prompt", "previous_response_id", "conversation", "messages", "prompt_id"),
    Endpoint.COMPLETIONS: (),
}
#: What a gateway answers to any request, before it reads it.
_OUT_OF_ORDER = frozenset({502, 503, 504})


def _broken(request: Request) -> str:
    """What keeps a request from being one of the API's, "" for nothing that is beyond doubt."""
    if request.method != "POST" or request.endpoint not in _ASKED or not _plain(request):
        return ""  # without a body as well: a capture may lack it
    doc = request.doc
    if doc is None or not doc.ok:
        return "a body that is no JSON"
    if not isinstance(doc.value, dict):
        return "a body that is no JSON object"
    names = _ASKED[request.endpoint]
    if names and all(doc.value.get(name) is None for name in names):
        return f"no `{names[0]}`"
    return ""


def _plain(request: Request) -> bool:
    """Whether there is a body that is said to be JSON as it stands, and it is all of it."""
    media = {value.split(";")[0].strip().lower() for value in request.head.all("content-type")}
    length = request.head.get("content-length")
    whole = length is None or length == str(len(request.body))
    coded = request.head.get("content-encoding") or request.head.get("transfer-encoding")
    return bool(request.body) and media <= {"application/json"} and not coded and whole


def _unasked(x: Exchange) -> bool:
    """Whether no member was asked, as far as is known: what one makes of a broken request is its own matter."""
    return not x.attempts


_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.S)


_COMMENTS = (b"/*", b"//", b"#", b"\0")


def _cut_open(request: Request) -> bool:
    """Whether a body is no object in any reading: RFC 8259 section 9 lets a parser accept more than JSON."""
    rest = _STRING.sub(b"", request.body).strip()
    opened = sum(map(rest.count, (b"{", b"["))) > sum(map(rest.count, (b"}", b"]")))
    # RFC 8259, sections 8.1 and 9: a parser may ignore a byte order mark, and take comments or another coding.
    lenient = rest.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")) or any(mark in rest for mark in _COMMENTS)
    return not lenient and (opened or b'"' in rest or not rest.startswith(b"{"))


def _hidden(x: Exchange) -> str:
    """The mistake that a success hides."""
    what = _broken(x.request)
    lenient = what == "a body that is no JSON" and not _cut_open(x.request)
    return "" if lenient or the_reply(x).answer.errors else what


def _told_as_outage(x: Exchange) -> str:
    """The mistake that is told as the server's own."""
    status = the_reply(x).status
    if status == 503 or (status in _OUT_OF_ORDER and x.attempts is None):
        return ""
    return _broken(x.request) or _modelless(x.request)


#: Paths of Azure that name the model.
_NAMING = ("/deployments/", "/engines/")


def _modelless(request: Request) -> str:
    """A model may have a default: without one a request fails, or not, but the server does not. A deployment's path names
    one, and so may what a response continues."""
    if request.endpoint is Endpoint.RESPONSES or any(part in request.target for part in _NAMING):
        return ""
    value = request.doc.value if request.doc is not None and request.doc.ok and _plain(request) else None
    named = not isinstance(value, dict) or request.endpoint not in _ASKED or value.get("model") is not None
    return "" if named or request.method != "POST" else "no `model`"


def mistake(x: Exchange) -> str:
    """What is visibly wrong with a request whose answer is not that of a wrong request; "" for nothing."""
    if not stayed(x) or not _unasked(x) or x.terms.request_valid is not None:
        return ""
    status = the_reply(x).status
    return _hidden(x) if the_reply(x).ok else _told_as_outage(x) if status >= 500 else _broken(x.request)


def faulty_request(x: Exchange) -> bool:
    """Whether a request is known, or seen, to be one that the API does not accept."""
    return x.terms.request_valid is False or bool(mistake(x))


@clause(
    id="error.request.status",
    level=Level.MUST,
    basis=Basis.CONTRACT,
    title="A request that the API does not accept is answered with 400 or 422",
    rationale="A 5xx is retried though the request can never succeed; a 2xx hides the mistake.",
    source="openai-api/errors",
    applies=lambda x: stayed(x) and faulty_request(x),
)
def request_status(x: Exchange) -> Iterator[Finding]:
    status, seen = the_reply(x).status, mistake(x)
    if seen and (the_reply(x).ok or status >= 500):
        yield at_head(the_reply(x), f"status 400: the request has {seen}", f"status {status}")
    elif x.terms.request_valid is False and status not in (400, 404, 413, 415, 422):
        yield at_head(the_reply(x), "status 400", f"status {status}")
