"""INSERT … ON CONFLICT, which both databases know and SQLAlchemy spells for each."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from sqlalchemy.dialects import postgresql, sqlite

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlalchemy.orm import Session

    from crawler.db.models.base import Base

    Insert: TypeAlias = postgresql.Insert | sqlite.Insert

S = TypeVar("S")
_ON_POSTGRESQL = {bool: "boolean", int: "bigint", str: "text", datetime: "timestamptz"}


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
    on_conflict: str = "",
) -> None:
    """Insert many rows as the driver takes them, without empty fields; SQLAlchemy looks at each value."""
    if not rows:
        return
    connection = db.connection()
    end = f" ON CONFLICT {on_conflict}" if on_conflict else ""
    named = f"{table} ({', '.join(columns)})"
    if connection.dialect.name == "sqlite":
        marks = ", ".join(["?"] * len(columns))
        connection.exec_driver_sql(f"INSERT INTO {named} VALUES ({marks}){end}", list(rows))  # ruff: ignore[hardcoded-sql-expression] - names of our own
        return
    # One statement: PostgreSQL's driver asks for each row of many by itself.
    arrays = ", ".join(f"%s::{_ON_POSTGRESQL[type(each)]}[]" for each in rows[0])
    statement = f"INSERT INTO {named} SELECT * FROM unnest({arrays}){end}"  # ruff: ignore[hardcoded-sql-expression] - the same
    connection.exec_driver_sql(statement, tuple(map(list, zip(*rows, strict=True))))
