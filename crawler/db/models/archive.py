"""What was captured, as it is found again: snapshots of pages, their texts, and the groups of one URL."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ForeignKey,
    Index,
    PrimaryKeyConstraint,
    UniqueConstraint,
)
from sqlalchemy.orm import Mapped, mapped_column

from crawler.db.models.base import Base, BigKey, JsonValue


class Text(Base):
    """Title and main text of a page, stored once, however often it was captured; it never changes."""

    __tablename__ = "texts"
    __table_args__ = (UniqueConstraint("text_hash"),)

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    text_hash: Mapped[str]  # SHA-256 of the normalisation, the title and the lines
    title: Mapped[str]  # as the page has it
    body: Mapped[str]  # a line for each block
    is_cut: Mapped[bool]  # the page says more than is kept
    headings: Mapped[list[int] | None] = mapped_column(JsonValue)  # the numbers of the lines that are one


class PageGroup(Base):
    """All snapshots of one URL in one source; spellings that fetch the same page are one.

    What is known of them is written with each snapshot (SPEC 25-26), and anew by `vitrine snapshots rebuild`.
    """

    __tablename__ = "page_groups"
    __table_args__ = (
        UniqueConstraint("source_id", "group_key"),
        Index(None, "group_key"),
        Index(None, "link_key"),
        Index(None, "shown_class", "shown_at", "id"),
        Index(None, "source_id", "shown_class", "shown_at"),
    )

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    source_id: Mapped[int] = mapped_column(BigKey, ForeignKey("sources.id"))
    group_key: Mapped[str]  # the URL by which captures are of one page
    link_key: Mapped[int | None] = mapped_column(BigInteger)  # by which links find it, from any source
    snapshot_count: Mapped[int] = mapped_column(default=0)  # its captures
    first_at: Mapped[datetime | None]  # of its first capture
    last_at: Mapped[datetime | None]  # of its newest capture
    latest_snapshot_id: Mapped[int | None] = mapped_column(BigInteger)  # whatever was answered
    latest_ok_snapshot_id: Mapped[int | None] = mapped_column(BigInteger)  # of status 2xx, or an unknown one
    shown_class: Mapped[int | None]  # of that one: 2, or 0 where its status is unknown
    shown_at: Mapped[datetime | None]  # of the capture that is shown
    inlink_count: Mapped[int] = mapped_column(default=0)  # of other groups that lead here
    outlink_count: Mapped[int] = mapped_column(default=0)  # links that go out of it
    links_at: Mapped[datetime | None]  # the capture whose links are kept


class Outlink(Base):
    """Where the newest good capture of a page leads, in one row: most of an index's rows were links."""

    __tablename__ = "outlinks"

    group_id: Mapped[int] = mapped_column(
        BigKey, ForeignKey("page_groups.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    targets: Mapped[bytes]  # the `link_key` of each, sorted, in eight bytes, little end first


class LinkCount(Base):
    """How many pages lead to what a link leads to, whether it was captured or not."""

    __tablename__ = "link_counts"

    target: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)  # a `link_key`
    pages: Mapped[int]  # groups that lead there, but for itself


class WordForm(Base):
    """A word of a title under itself and under each spelling that lacks one of its letters."""

    __tablename__ = "word_forms"
    __table_args__ = (
        PrimaryKeyConstraint("form", "word"),
        {"sqlite_with_rowid": False},
    )

    form: Mapped[str]  # the word as it is written
    word: Mapped[str]  # as the search has it


class Snapshot(Base):
    """A captured page that can be found: a record, and what was read in it; its id stays."""

    __tablename__ = "snapshots"
    __table_args__ = (
        CheckConstraint("status_class IN (-1, 0, 1, 2)", name="status_class"),
        UniqueConstraint("record_id"),
        Index(None, "group_id", "captured_at", "id"),
        Index(None, "source_id", "captured_at", "id"),
        Index(None, "captured_at", "id"),
        Index(None, "page_id"),
        # All that decides whether and when a hit is shown: of many hits few rows are read.
        Index("ix_snapshots_shown", "text_id", "deduplicated", "status_class", "captured_at"),
        Index(None, "job_id"),
    )

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    record_id: Mapped[int] = mapped_column(BigKey, ForeignKey("records.id", ondelete="CASCADE"))
    source_id: Mapped[int] = mapped_column(BigKey, ForeignKey("sources.id"))
    job_id: Mapped[int | None] = mapped_column(BigKey, ForeignKey("jobs.id", ondelete="SET NULL"))
    page_id: Mapped[UUID | None] = mapped_column(ForeignKey("pages.id", ondelete="CASCADE"))
    group_id: Mapped[int | None] = mapped_column(BigKey, ForeignKey("page_groups.id", ondelete="SET NULL"))
    text_id: Mapped[int | None] = mapped_column(BigKey, ForeignKey("texts.id", ondelete="SET NULL"))
    url: Mapped[str]
    captured_at: Mapped[datetime]  # when the answer came
    date_precision: Mapped[str | None]  # year, month, day or minute, where its record says no more
    mime_type: Mapped[str | None]  # as the server declared it
    status_code: Mapped[int | None]  # as the server answered
    status_class: Mapped[int]  # 2 for 2xx, 1 for 3xx, 0 for unknown, -1 for the rest
    title: Mapped[str]  # as the page has it
    snippet: Mapped[str]  # the beginning of its text
    language: Mapped[str]  # as the page declares or reads
    content_hash: Mapped[str]  # SHA-256 of the body
    raw_snapshot_path: Mapped[str | None]  # a static copy of the page, where somebody had one written
    problem: Mapped[str | None]  # why the page has no text
    deduplicated: Mapped[bool] = mapped_column(default=False)  # a newer one of the same day says the same
    find_title: Mapped[str]  # these three as they are compared
    find_snippet: Mapped[str]  # the same, folded for the search
    find_url: Mapped[str]  # the URL, folded for the search
