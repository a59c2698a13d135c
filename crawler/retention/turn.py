"""One at a time: holds, purges and the collections' cleanup never pass each other unseen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import text

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

# Any number will do, as long as all of them ask for the same one.
_KEY = 8_243_902


def take_turn(db: Session) -> None:
    """Wait for the turn, and keep it to the transaction's end; SQLite's writers have it anyway."""
    if db.get_bind().dialect.name != "sqlite":
        db.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _KEY})
