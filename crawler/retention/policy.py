"""Which artifacts a cleanup may take, as conditions of queries (SPEC B44). Pure: the time comes in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import and_, or_, text

from crawler.db.models.evidence import HAS_FAILED, IS_UNTRIED, Artifact

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import ColumnElement


def is_due_untried(now: datetime) -> ColumnElement[bool]:
    """Past its date, strictly, and no cleanup has failed on it; a row under legal hold never is."""
    return and_(text(IS_UNTRIED), Artifact.retention_until < now)


def is_due_failed(now: datetime) -> ColumnElement[bool]:
    """The same, for a row on which a cleanup has failed before."""
    return and_(text(HAS_FAILED), Artifact.retention_until < now)


def is_still_due(now: datetime) -> ColumnElement[bool]:
    """Asked once more of rows that were selected by one of the above.

    It says less than their indexes do, so that no planner takes one of those to find again what it has.
    """
    return and_(
        Artifact.retention_until < now,
        Artifact.deleted_at.is_(None),
        Artifact.legal_hold.is_(False),
        is_unclaimed(now),
    )


def is_rested(now: datetime) -> ColumnElement[bool]:
    """The pause after its last failure is over."""
    return Artifact.cleanup_next <= now


def is_unclaimed(now: datetime) -> ColumnElement[bool]:
    """No cleaner is at it, or one that took longer than its lease."""
    return or_(Artifact.cleanup_claim.is_(None), Artifact.cleanup_claimed_until < now)
