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
    return insert_for(dialect_of(db), table)


def insert_for(dialect: str, table: type[Base]) -> Insert:
    """The same for the dialect of this name, so that a statement can be built once for each."""
    return sqlite.insert(table) if dialect == "sqlite" else postgresql.insert(table)


def dialect_of(db: Session) -> str:
    """What the database of this session speaks."""
    return db.get_bind().dialect.name
