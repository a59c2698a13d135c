"""INSERT … ON CONFLICT, which both databases know and SQLAlchemy spells for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from sqlalchemy.dialects import postgresql, sqlite

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from crawler.db.models.base import Base

    Insert: TypeAlias = postgresql.Insert | sqlite.Insert


def insert_into(db: Session, table: type[Base]) -> Insert:
    """An INSERT that takes `on_conflict_…`, for the database of this session."""
    if db.get_bind().dialect.name == "sqlite":
        return sqlite.insert(table)
    return postgresql.insert(table)
