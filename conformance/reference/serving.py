"""Who served, as a client may know it: an opaque id of the deployment, and how many dispatches it took.

A blind gateway can report it, too: the id is the same for each answer of one member of a lane, and says neither its
name nor its provider.
"""

from __future__ import annotations

import hashlib

from conformance.reference.behaviour import Fields
from conformance.reference.call import Call
from conformance.reference.config import Member


def serving_fields(call: Call, member: Member, attempts: int) -> Fields:
    """The field lines that name the deployment; none unless the configuration wants them."""
    if not call.config.name_deployment:
        return ()
    return (("x-deployment-id", deployment_id(call.alias, member)), ("x-attempts", str(attempts)))


def deployment_id(alias: str, member: Member) -> str:
    """The opaque id of `member` in the lane `alias`."""
    return hashlib.sha256(f"{alias}\n{member.name}".encode()).hexdigest()[:12]
