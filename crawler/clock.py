"""The one place that reads the machine's clock."""

from __future__ import annotations

from datetime import UTC, datetime


def utc_now() -> datetime:
    """The present moment, aware and in UTC."""
    return datetime.now(UTC)
