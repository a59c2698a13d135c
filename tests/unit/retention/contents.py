"""Everything that a database has, for tests of what is written and of what is gone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import MetaData, select

if TYPE_CHECKING:
    from crawler.db.engine import Database


def contents_of(database: Database) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table that is there, whether a model knows it or not."""
    tables = MetaData()
    with database.engine.connect() as connection:
        tables.reflect(connection)
        rows = {table.name: connection.execute(select(table)).all() for table in tables.tables.values()}
    return {name: sorted(map(tuple, found), key=repr) for name, found in rows.items()}


def naming(database: Database, text: str) -> dict[str, list[str]]:
    """The rows in which a text occurs, in whatever column and however deep, by table."""
    found = {
        name: [shown for shown in map(_shown, rows) if text in shown]
        for name, rows in contents_of(database).items()
    }
    return {name: rows for name, rows in found.items() if rows}


def _shown(row: tuple[Any, ...]) -> str:
    return json.dumps(row, default=str, ensure_ascii=False)
