"""Calls for the tests of pure modules: a request that has been taken in, without a gateway."""

from __future__ import annotations

import json
from typing import Any

from conformance.reference.behaviour import FAITHFUL, Behaviour
from conformance.reference.call import Call, Operation
from conformance.reference.config import Config, Lane, Member

LANE = Lane(
    alias="lane-one",
    members=(Member(name="m0", base_url="http://127.0.0.1:9/v1", api_key="sk-up-zero", model="up-model-0"),),
)
CONFIG = Config(api_key="sk-test-client", lanes={LANE.alias: LANE})


def call(operation: Operation = Operation.CHAT, behaviour: Behaviour = FAITHFUL, **doc: Any) -> Call:
    """A call of `operation` whose body has the members `doc`."""
    doc = {"model": LANE.alias, **doc}
    made = Call(
        config=CONFIG,
        behaviour=behaviour,
        shared={},
        health=behaviour.health(CONFIG, lambda: 0.0),
        operation=operation,
        text=json.dumps(doc),
        doc=doc,
        lane=LANE,
    )
    return made
