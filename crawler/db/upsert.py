"""INSERT … ON CONFLICT, which both databases know and SQLAlchemy spells for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, TypeVar

from sqlalchemy.dialects import postgresql, sqlite

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqlalchemy.orm import Session

    from crawler.db.models.base import Base

    Insert: TypeAlias = postgresql.Insert | sqlite.Insert

S = TypeVar("S")


def insert_into(db: Session, table: type[Base]) -> Insert:
    """An INSERT that takes `on_conflict_…`, for the database of this session."""
    return sqlite.insert(table) if db.get_bind().dialect.name == "sqlite" else postgresql.insert(table)


def for_both(table: type[Base], build: Callable[[Insert], S]) -> Mapping[str, S]:
    """A statement by the dialect's name, built once: that costs more than running it."""
    return {"sqlite": build(sqlite.insert(table)), "postgresql": build(postgresql.insert(table))}
