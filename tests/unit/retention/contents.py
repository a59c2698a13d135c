"""Everything that a database has, for tests of what is written and of what is gone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import inspect, select, table, text

if TYPE_CHECKING:
    from crawler.db.engine import Database


def contents_of(database: Database) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table that is there, whether a model knows it or not, as the database gives them."""
    with database.engine.connect() as connection:
        names = inspect(connection).get_table_names()
        rows = {name: connection.execute(select(text("*")).select_from(table(name))).all() for name in names}
    return {name: sorted(map(tuple, found), key=repr) for name, found in rows.items()}


def naming(database: Database, word: str) -> dict[str, list[str]]:
    """The rows in which a text occurs, in whatever column and however deep, by table."""
    found = {
        name: [shown for shown in map(_shown, rows) if word in shown]
        for name, rows in contents_of(database).items()
    }
    return {name: rows for name, rows in found.items() if rows}


def _shown(row: tuple[Any, ...]) -> str:
    return json.dumps(row, default=str, ensure_ascii=False)
