"""How a page was understood: where each fact came from, and how much can be made of it."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from crawler.db.models.base import Base, BigKey


class Diagnostic(Base):
    """The trace of one verdict."""

    __tablename__ = "diagnostics"
    __table_args__ = (Index(None, "timestamp", "id"), Index(None, "session_id"))

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    timestamp: Mapped[datetime]
    session_id: Mapped[UUID] = mapped_column(ForeignKey("sessions.id", ondelete="CASCADE"))
    page_id: Mapped[UUID]  # a page's key, without a reference
    url: Mapped[str]
    policy: Mapped[str]  # the version of the rule
    is_pdp: Mapped[bool]  # whether the rule took it for a product page
    quality: Mapped[int]  # 0 to 100
    traces: Mapped[dict[str, Any]]  # fact → its source, and what others say; signals, reasons
