"""All reports about providers, by category, in one table."""

from __future__ import annotations

from tests.contract import (
    reports_providers_content,
    reports_providers_errors,
    reports_providers_streams,
)

REPORTS = reports_providers_errors.REPORTS + reports_providers_streams.REPORTS + reports_providers_content.REPORTS
