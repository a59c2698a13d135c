"""INSERT … ON CONFLICT, which both databases know and SQLAlchemy spells for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from sqlalchemy.dialects import postgresql, sqlite

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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


def insert_many(
    db: Session,
    table: str,
    columns: Sequence[str],
    rows: Sequence[tuple[Any, ...]],
    *,
    new_only: bool = False,
) -> None:
    """Insert many small rows as the driver takes them; SQLAlchemy looks at each value."""
    if not rows:
        return
    connection = db.connection()
    mark = "?" if connection.dialect.name == "sqlite" else "%s"
    values = ", ".join([mark] * len(columns))
    end = " ON CONFLICT DO NOTHING" if new_only else ""
    named = f"{table} ({', '.join(columns)})"
    connection.exec_driver_sql(f"INSERT INTO {named} VALUES ({values}){end}", list(rows))  # ruff: ignore[hardcoded-sql-expression] - names of our own
