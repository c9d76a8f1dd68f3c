"""One attempt at one member: what it is sent, and its answer or its failure.

Turns a Call and a Member into an Accepted answer, or raises UpstreamFailed; the connection never outlives a failure.
"""

from __future__ import annotations

from conformance.reference.accept import Accepted, accept
from conformance.reference.behaviour import Fields
from conformance.reference.call import Call, Operation
from conformance.reference.client import UpstreamFault, UpstreamReply, UpstreamRequest, dispatch
from conformance.reference.config import Member
from conformance.reference.failure import UpstreamFailed, from_fault
from conformance.reference.jsontext import replace_member
from conformance.reference.media import now
from conformance.reference.steps import Step


def request_for(call: Call, member: Member) -> UpstreamRequest:
    """The request that `member` is sent: the client's body with the member's own model, and the member's key."""
    text = replace_member(call.text, "model", member.model) if call.does(Step.REPLACE_MODEL) else call.text
    headers: Fields = (
        ("Authorization", f"Bearer {member.api_key}"),
        ("Content-Type", "application/json"),
        ("Accept", "text/event-stream" if call.stream else "application/json"),
        ("Accept-Encoding", "identity"),
        ("User-Agent", "reference-gateway"),
    )
    return UpstreamRequest(
        method="POST",
        url=member.base_url + (call.operation or Operation.CHAT).value,
        headers=call.behaviour.request_headers(headers, member, call),
        body=call.behaviour.request_body(text.encode(), member, call),
    )


async def attempt(call: Call, member: Member) -> Accepted:
    """Ask `member` once. Raises UpstreamFailed."""
    timeouts = call.config.timeouts
    deadline = now() + (timeouts.first_token if call.does(Step.FIRST_TOKEN_TIMEOUT) else 86_400.0)
    reply: UpstreamReply | None = None
    try:
        request, decode = request_for(call, member), call.does(Step.DECODE_CONTENT)
        reply = await dispatch(request, connect=timeouts.connect, deadline=deadline, decode=decode)
        return await accept(call, reply, deadline)
    except UpstreamFault as fault:
        _close(call, reply)
        raise UpstreamFailed(from_fault(fault)) from fault
    except BaseException:
        _close(call, reply)
        raise


def _close(call: Call, reply: UpstreamReply | None) -> None:
    if reply is None:
        return
    if call.does(Step.LET_GO):
        reply.close()
    else:
        call.shared.setdefault("left open", []).append(reply)
