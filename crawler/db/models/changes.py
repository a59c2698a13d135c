"""What differs between two neighbouring captures of a page."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from crawler.db.models.base import Base, BigKey


class SnapshotChange(Base):
    """A snapshot and the one before it, counted (SPEC 89); lines are compared again when asked for."""

    __tablename__ = "snapshot_changes"
    __table_args__ = (
        CheckConstraint("change_type IN ('new_page', 'unchanged', 'updated', 'error')", name="change_type"),
        UniqueConstraint("to_snapshot_id"),
        Index(None, "from_snapshot_id"),
        Index(None, "source_id", "to_captured_at", "id"),
        Index(None, "to_captured_at", "id"),
        Index(None, "to_job_id"),
    )

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    source_id: Mapped[int] = mapped_column(BigKey, ForeignKey("sources.id"))
    group_id: Mapped[int] = mapped_column(
        BigKey, ForeignKey("page_groups.id", ondelete="CASCADE"), index=True
    )
    # Where one of the two goes, so does this; the next pass compares what are neighbours then.
    from_snapshot_id: Mapped[int | None] = mapped_column(
        BigKey, ForeignKey("snapshots.id", ondelete="CASCADE")
    )
    to_snapshot_id: Mapped[int] = mapped_column(BigKey, ForeignKey("snapshots.id", ondelete="CASCADE"))
    from_job_id: Mapped[int | None] = mapped_column(BigKey)  # the job of the earlier capture
    to_job_id: Mapped[int | None] = mapped_column(BigKey)  # the job of the later capture
    from_captured_at: Mapped[datetime | None]  # the earlier capture's time
    to_captured_at: Mapped[datetime]  # the later capture's time
    from_text_id: Mapped[int | None] = mapped_column(
        BigKey
    )  # the texts that were compared: others are compared anew
    to_text_id: Mapped[int | None] = mapped_column(BigKey)  # the later capture's text
    change_type: Mapped[str]  # what kind of change it is
    summary: Mapped[str]  # the change in a sentence
    added_sections: Mapped[int] = mapped_column(default=0)  # headings that only the later one has
    removed_sections: Mapped[int] = mapped_column(default=0)  # headings that only the earlier one has
    changed_sections: Mapped[int] = mapped_column(default=0)  # headings that both have, over other lines
    added_lines: Mapped[int] = mapped_column(default=0)  # that only the later one has
    removed_lines: Mapped[int] = mapped_column(default=0)  # that only the earlier one has
    change_ratio: Mapped[float] = mapped_column(default=0.0)  # how much of the text, from 0 to 1
    high_noise: Mapped[bool] = mapped_column(default=False)  # so much differs that it is hardly the same page
    diff_truncated: Mapped[bool] = mapped_column(default=False)  # more lines differ than are shown
    is_coarse: Mapped[bool] = mapped_column(default=False)  # whole stretches count as replaced
    diff_version: Mapped[str] = mapped_column(default="v1")  # of the comparison
    normalization_version: Mapped[str] = mapped_column(default="v1")  # of what is compared
    computed_at: Mapped[datetime]  # when it was compared
    computed_by: Mapped[str]  # backfill, incremental, cli
    error_message: Mapped[str | None]  # why it could not be compared
