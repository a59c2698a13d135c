"""The stored configuration: one document, read anew by each pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.db.models import RetentionConfig
from crawler.db.models.retention import CURRENT
from crawler.db.upsert import insert_into
from crawler.retention.audit import note_action
from crawler.retention.ttl import days_by_collection, with_days

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.orm import Session


def load(db: Session) -> dict[str, int]:
    """The days of each collection."""
    stored = db.get(RetentionConfig, CURRENT, populate_existing=True)
    return days_by_collection(stored.document if stored else None)


def set_days(db: Session, collection: str, days: int, *, actor: str, now: datetime) -> dict[str, int]:
    """Change one collection's days, and write down who did."""
    stored = locked(db)
    document = with_days(stored.document, collection, days)
    before = stored.document
    stored.document, stored.updated_at = document, now
    note_action(db, "retention.set", collection, actor=actor, now=now, days=days, before=before)
    return days_by_collection(document)


def locked(db: Session) -> RetentionConfig:
    """The document's row, which nobody else can change until the transaction's end."""
    adding = insert_into(db, RetentionConfig).values(id=CURRENT, document={})
    db.execute(adding.on_conflict_do_nothing(index_elements=[RetentionConfig.id]))
    return db.get_one(RetentionConfig, CURRENT, populate_existing=True, with_for_update=True)
