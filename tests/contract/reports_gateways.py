"""Public reports of what gateways did wrong on the wire, as captures: one table, put together from its categories."""

from __future__ import annotations

from tests.contract.reports_gateways_errors import ERRORS
from tests.contract.reports_gateways_pool import POOL
from tests.contract.reports_gateways_rest import CROSSING, OTHERS, REQUESTS
from tests.contract.reports_gateways_streams import CONTENT, LIFE, REASONS
from tests.contract.reports_gateways_tools import TOOLS, USED
from tests.contract.situation import Report

#: What one exchange does not show, and why: state over several requests, or a client that goes away.
NOT_IN_ONE_EXCHANGE = {
    "G-86": "a capture does not say when the client hung up; pool.hangup.closes judges it in a run",
    "G-91": "a client that does not read is no fact of a capture",
    "G-100": "trace ids of different requests are compared",
    "G-101": "counters of later requests are compared",
}

GATEWAYS: tuple[Report, ...] = (
    *POOL,
    *REASONS,
    *CONTENT,
    *LIFE,
    *TOOLS,
    *USED,
    *ERRORS,
    *CROSSING,
    *REQUESTS,
    *OTHERS,
)
