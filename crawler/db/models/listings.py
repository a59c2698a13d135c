"""Products, and what they cost when: the one never expires, the other proves itself."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from uuid import UUID, uuid4

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from crawler.db.models.base import Base, BigKey


class Listing(Base):
    """A product on a domain, known by its URL."""

    __tablename__ = "listings"
    __table_args__ = (UniqueConstraint("domain", "url_sha256"), Index(None, "last_seen_at", "id"))

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    domain: Mapped[str]
    url: Mapped[str]  # the canonical one where that is of the same site, else the one that answered
    url_sha256: Mapped[str]  # stands for the URL in the index, which takes no long texts
    name: Mapped[str | None]  # as people call it
    brand: Mapped[str | None]  # as the page says
    sku: Mapped[str | None]  # as the page says
    gtin: Mapped[str | None]  # a barcode's number, checked
    mpn: Mapped[str | None]  # the maker's number
    image: Mapped[str | None]  # a picture's URL
    first_seen_at: Mapped[datetime]  # when it was found first
    last_seen_at: Mapped[datetime]  # when it was found last
    last_session_id: Mapped[UUID | None]  # no foreign key: a product outlives its sessions


class Price(Base):
    """What a listing cost in a currency at a time, and a copy of what proves it."""

    __tablename__ = "price_history"
    __table_args__ = (
        CheckConstraint("price >= 0", name="price"),
        Index(None, "listing_id", "currency", "seen_at", "id"),
        Index(None, "seen_at", "id"),
        Index(None, "session_id"),
    )

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    listing_id: Mapped[UUID] = mapped_column(ForeignKey("listings.id", ondelete="CASCADE"))
    currency: Mapped[str]  # ISO 4217
    price: Mapped[Decimal]  # an exact decimal; on SQLite in ten-thousandths
    list_price: Mapped[Decimal | None]  # the price that it was crossed out from
    availability: Mapped[str | None]  # as schema.org has it
    seen_at: Mapped[datetime]  # when that was read
    url: Mapped[str]  # the page that said so
    content_sha256: Mapped[str | None]  # what it said, byte for byte
    session_id: Mapped[UUID]  # no foreign key: the proof outlives the session
