"""What was captured, as it is found again: snapshots of pages, their texts, and the groups of one URL."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import DDL, CheckConstraint, ForeignKey, Index, UniqueConstraint, event
from sqlalchemy.orm import Mapped, mapped_column

from crawler.db.models.base import Base, BigKey, JsonValue


class Text(Base):
    """Title and main text of a page, stored once, however often it was captured; it never changes."""

    __tablename__ = "texts"
    __table_args__ = (UniqueConstraint("text_hash"),)

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    text_hash: Mapped[str]  # SHA-256 of the normalisation, the title and the lines
    title: Mapped[str]
    body: Mapped[str]  # a line for each block
    is_cut: Mapped[bool]  # the page says more than is kept
    headings: Mapped[list[int] | None] = mapped_column(JsonValue)  # the numbers of the lines that are one


class PageGroup(Base):
    """All snapshots of one URL in one source; spellings that fetch the same page are one."""

    __tablename__ = "page_groups"
    __table_args__ = (UniqueConstraint("source_id", "group_key"), Index(None, "group_key"))

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    source_id: Mapped[int] = mapped_column(BigKey, ForeignKey("sources.id"))
    group_key: Mapped[str]


class Snapshot(Base):
    """A captured page that can be found: a record, and what was read in it; its id stays."""

    __tablename__ = "snapshots"
    __table_args__ = (
        CheckConstraint("status_class IN (-1, 0, 1, 2)", name="status_class"),
        UniqueConstraint("record_id"),
        Index(None, "group_id", "captured_at"),
        Index(None, "source_id", "captured_at", "id"),
        Index(None, "captured_at", "id"),
        Index(None, "page_id"),
        Index(None, "text_id"),
    )

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    record_id: Mapped[int] = mapped_column(BigKey, ForeignKey("records.id", ondelete="CASCADE"))
    source_id: Mapped[int] = mapped_column(BigKey, ForeignKey("sources.id"))
    page_id: Mapped[UUID | None] = mapped_column(ForeignKey("pages.id", ondelete="CASCADE"))
    group_id: Mapped[int | None] = mapped_column(BigKey, ForeignKey("page_groups.id", ondelete="SET NULL"))
    text_id: Mapped[int | None] = mapped_column(BigKey, ForeignKey("texts.id", ondelete="SET NULL"))
    url: Mapped[str]
    captured_at: Mapped[datetime]
    mime_type: Mapped[str | None]
    status_code: Mapped[int | None]
    status_class: Mapped[int]  # 2 for 2xx, 1 for 3xx, 0 for unknown, -1 for the rest
    title: Mapped[str]
    snippet: Mapped[str]
    language: Mapped[str]
    content_hash: Mapped[str]  # SHA-256 of the body
    problem: Mapped[str | None]  # why the page has no text
    deduplicated: Mapped[bool] = mapped_column(default=False)  # a newer one of the same day says the same
    find_title: Mapped[str]  # these three as they are compared
    find_snippet: Mapped[str]
    find_url: Mapped[str]


# The index of words is each database's own, and no model stands for it: a script makes it, and this does
# where a new SQLite database is made from the models.
for _statement in (
    "CREATE VIRTUAL TABLE text_words USING fts5(title, body, tokenize='ascii')",
    """CREATE TRIGGER texts_lose_words AFTER DELETE ON texts
    BEGIN DELETE FROM text_words WHERE rowid = old.id; END""",
):
    _ddl = DDL(_statement).execute_if(dialect="sqlite")  # type: ignore[no-untyped-call]
    event.listen(Text.__table__, "after_create", _ddl)
