"""Named batches of URLs that are captured together and shown together."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from crawler.db.models.base import Base, BigKey


class Haul(Base):
    """A named batch of URLs."""

    __tablename__ = "hauls"
    __table_args__ = (UniqueConstraint("name"), Index(None, "created_at", "id"))

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    name: Mapped[str]  # as people call it
    source: Mapped[str]  # the file that named the URLs
    created_at: Mapped[datetime]
    members: Mapped[list[HaulMember]] = relationship(
        order_by="HaulMember.position", passive_deletes=True, lazy="raise"
    )


class HaulMember(Base):
    """One URL of a haul, and the session that captured it."""

    __tablename__ = "haul_members"
    __table_args__ = (Index(None, "haul_id", "position"),)

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    haul_id: Mapped[int] = mapped_column(ForeignKey("hauls.id", ondelete="CASCADE"))
    position: Mapped[int]  # its place in the list
    url: Mapped[str]
    session_id: Mapped[UUID | None]  # no foreign key: the session has a retention of its own
