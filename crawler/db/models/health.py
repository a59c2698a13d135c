"""How well a domain could be visited, day by day."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from crawler.db.models.base import Base, BigKey


class DomainDay(Base):
    """The sessions of one domain that ended on one day."""

    __tablename__ = "scraper_health"
    __table_args__ = (UniqueConstraint("domain", "timestamp"), Index(None, "timestamp", "id"))

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    timestamp: Mapped[datetime]  # the day's beginning, in UTC
    domain: Mapped[str]
    sessions: Mapped[int] = mapped_column(default=0)  # how many there were
    successes: Mapped[int] = mapped_column(default=0)  # completed
    blocks: Mapped[int] = mapped_column(default=0)  # ended by a refusal of the site
    reached: Mapped[int] = mapped_column(default=0)  # had at least one page
    products: Mapped[int] = mapped_column(default=0)  # found a valid product page
    verdict_rate: Mapped[float | None]  # products of reached
    median_latency_ms: Mapped[int | None]  # of its pages
    latencies: Mapped[dict[str, Any]]  # step of the scale → pages, so that days add up
