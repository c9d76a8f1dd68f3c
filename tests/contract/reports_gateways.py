"""Public reports of what gateways did wrong on the wire, as captures: one table, put together from its categories."""

from __future__ import annotations

from tests.contract.reports_gateways_pool import POOL
from tests.contract.reports_gateways_streams import CONTENT, LIFE, REASONS
from tests.contract.situation import Report

GATEWAYS: tuple[Report, ...] = (*POOL, *REASONS, *CONTENT, *LIFE)
