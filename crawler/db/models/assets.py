"""What plugins made of a source's pages, its versions, and what each run saw of it."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from crawler.db.models.base import Base, BigKey


class Asset(Base):
    """A page, a product, a picture of a source, as one plugin knows it."""

    __tablename__ = "assets"
    __table_args__ = (
        UniqueConstraint("source", "plugin", "key_sha256"),
        Index(None, "source", "last_run_id"),
        Index(None, "listing_id"),
        Index(None, "last_seen_at", "id"),
    )

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    source: Mapped[str]  # a source's code
    plugin: Mapped[str]  # the plugin that found it
    domain: Mapped[str]  # that it was last read from
    kind: Mapped[str]  # page, product, media, or what a plugin calls it
    key: Mapped[str]  # what makes it one thing: mostly its canonical URL
    key_sha256: Mapped[str]  # SHA-256 of its key, for the index
    url: Mapped[str]
    title: Mapped[str | None]  # as the page has it
    checksum: Mapped[str]  # of its newest version
    versions: Mapped[int] = mapped_column(default=1)  # how many there were
    first_seen_at: Mapped[datetime]  # when it was found first
    last_seen_at: Mapped[datetime]  # when it was found last
    last_run_id: Mapped[int] = mapped_column(BigKey)  # the newest run that saw it
    missing_since: Mapped[datetime | None]  # a completed run did not see it
    # Of a product: what says what it costs, and what its versions are made from.
    listing_id: Mapped[UUID | None] = mapped_column(ForeignKey("listings.id", ondelete="SET NULL"))


class AssetVersion(Base):
    """An asset as it was from one change to the next."""

    __tablename__ = "asset_versions"
    __table_args__ = (UniqueConstraint("asset_id", "number"), Index(None, "page_id"))

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    asset_id: Mapped[int] = mapped_column(BigKey, ForeignKey("assets.id", ondelete="CASCADE"))
    number: Mapped[int]  # counted from 1
    checksum: Mapped[str]  # SHA-256
    content: Mapped[dict[str, Any]]  # normalised
    details: Mapped[dict[str, Any]]  # beside the content; a change of these alone is no new version
    run_id: Mapped[int | None] = mapped_column(BigKey)  # None where a visit outside of any run saw it
    page_id: Mapped[UUID | None]  # the page that it was read from
    seen_at: Mapped[datetime]  # when that was read


class AssetSighting(Base):
    """What a run found of an asset."""

    __tablename__ = "asset_sightings"
    __table_args__ = (
        CheckConstraint("status IN ('new', 'updated', 'unchanged', 'missing')", name="status"),
        Index(None, "asset_id"),
    )

    run_id: Mapped[int] = mapped_column(BigKey, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    asset_id: Mapped[int] = mapped_column(
        BigKey, ForeignKey("assets.id", ondelete="CASCADE"), primary_key=True
    )
    status: Mapped[str]  # new, updated, unchanged, missing
