"""INSERT … ON CONFLICT, which both databases know and SQLAlchemy spells for each."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from sqlalchemy.dialects import postgresql, sqlite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from sqlalchemy import Dialect, Table
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


# ── rows of a table, by its columns ──


def insert_rows(
    db: Session, table: Table, rows: Sequence[Mapping[str, Any]], *, on_conflict: str = ""
) -> Iterable[Any]:
    """Insert rows that have the same fields, as their columns keep them, with what else a value may be.

    SQLAlchemy prepares each row by itself, which takes as long as writing it does. Here it is done by
    columns; and PostgreSQL has them as arrays, in one statement.
    """
    if not rows:
        return ()
    connection = db.connection()
    statement, prepare = _prepared(table, tuple(rows[0]), connection.dialect, on_conflict)
    given = zip(*(row.values() for row in rows), strict=True)
    columns = [
        values if as_kept is None else [as_kept(value) for value in values]
        for as_kept, values in zip(prepare, given, strict=True)
    ]
    if connection.dialect.name == "sqlite":
        return connection.exec_driver_sql(statement, list(zip(*columns, strict=True)))
    return connection.exec_driver_sql(statement, tuple(map(list, columns)))


def taking(table: Table, by: Sequence[str], always: Iterable[str], if_said: Iterable[str] = ()) -> str:
    """What becomes of a row that is there: it takes the new values, some of them only where there is one."""
    new = [f'"{name}" = excluded."{name}"' for name in always]
    new += [f'"{name}" = coalesce(excluded."{name}", "{table.name}"."{name}")' for name in if_said]
    return f"({', '.join(_quoted(by))}) DO UPDATE SET {', '.join(new)}"


@lru_cache(maxsize=64)
def _prepared(
    table: Table, columns: tuple[str, ...], dialect: Dialect, on_conflict: str
) -> tuple[str, Sequence[Callable[[Any], Any] | None]]:
    """The statement, and what makes of each column's values what the driver takes."""
    types = [table.c[name].type.dialect_impl(dialect) for name in columns]
    prepare = [each.bind_processor(dialect) for each in types]
    into = f'INSERT INTO "{table.name}" ({", ".join(_quoted(columns))})'
    end = f" ON CONFLICT {on_conflict}" if on_conflict else ""
    if dialect.name == "sqlite":
        return f"{into} VALUES ({', '.join('?' * len(columns))}){end}", prepare
    # How a column sorts is no part of a value's type.
    named = (each.compile(dialect).partition(" COLLATE ")[0] for each in types)
    arrays = ", ".join(f"%s::{name}[]" for name in named)
    return f"{into} SELECT * FROM unnest({arrays}){end}", prepare  # ruff: ignore[hardcoded-sql-expression] - the same


def _quoted(names: Iterable[str]) -> Iterable[str]:
    return (f'"{name}"' for name in names)
