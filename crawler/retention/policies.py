"""How many days each collection is kept (SPEC E103-110)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawler.db.models import RetentionConfig
from crawler.db.models.retention import CURRENT
from crawler.db.upsert import insert_into
from crawler.errors import ConfigError, UsageError
from crawler.retention.holds import note_action

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sqlalchemy.orm import Session


DEFAULT_DAYS: Mapping[str, int] = {
    "diagnostics": 90,
    "price_history": 365,
    "assets": 365,
    "scrape_metadata": 90,
    "audit_log": 90,
    "scraper_health": 180,
    "export_history": 90,
    "hauls": 30,
}
EXEMPT = "listings"  # products never expire
MAX_DAYS = 36_500
_DAYS = "days"  # the key of the stored document


class PolicyError(UsageError):
    """That is no policy."""

    code = "retention_policy"


def days_by_collection(document: Mapping[str, Any] | None) -> dict[str, int]:
    """The days that hold: those of the stored document, and the defaults for what it does not name."""
    stored = (document or {}).get(_DAYS, {})
    wrong = [name for name, days in stored.items() if name not in DEFAULT_DAYS or not _is_days(days)]
    if wrong:
        # Deleting by a policy that nobody can have set would be worse than deleting nothing.
        raise ConfigError(
            f"the stored retention of {wrong[0]!r} is {stored[wrong[0]]!r}; nothing is deleted",
            hint="put it right with `vitrine retention set`, or in the table retention_config",
        )
    return {**DEFAULT_DAYS, **stored}


def with_days(document: Mapping[str, Any] | None, collection: str, days: int) -> dict[str, Any]:
    """The document with one collection's days changed; says why it cannot be."""
    if collection == EXEMPT:
        raise PolicyError(f"Collection '{EXEMPT}' is exempt from retention policies")
    if collection not in DEFAULT_DAYS:
        raise PolicyError(
            f"there is no collection {collection!r}", hint="there are " + ", ".join(DEFAULT_DAYS)
        )
    if days < 1:
        raise PolicyError("TTL must be at least 1 day")
    if days > MAX_DAYS:
        raise PolicyError(f"TTL must be at most {MAX_DAYS} days")
    kept = {name: value for name, value in (document or {}).get(_DAYS, {}).items() if name in DEFAULT_DAYS}
    return {_DAYS: {**kept, collection: days}}


def days_of(text: str) -> int:
    """A number of days as people type it."""
    try:
        return int(text)
    except ValueError:
        raise PolicyError(f"{text!r} is not a number of days", hint="give a whole number from 1") from None


def _is_days(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_DAYS


# ── the stored configuration: one document, read anew by each pass ──


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
