"""Writes down who did what to what is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawler.db.models import AuditEntry

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.orm import Session


def note_action(
    db: Session, action: str, subject: str, *, actor: str, now: datetime, **details: Any
) -> AuditEntry:
    """Add an entry; it stands or falls with the action's own transaction."""
    entry = AuditEntry(timestamp=now, actor=actor, action=action, subject=subject, details=details)
    db.add(entry)
    return entry
