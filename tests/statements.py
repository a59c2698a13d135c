"""Statements are compiled once in a test process, not once for each test's database.

A program has one engine, which remembers them. Tests have one for each database, and with as many tests most
of what they compute was the same SQL, compiled anew.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.engine import Engine
from sqlalchemy.util import LRUCache

MOST = 5_000
STATEMENTS: LRUCache[Any, Any] = LRUCache(MOST)
_make_engine = Engine.__init__


def pytest_configure() -> None:
    """Have all engines share them; what is remembered is found by the kind of its database."""
    for dialect in (PGDialect_psycopg, SQLiteDialect_pysqlite):
        dialect.__eq__ = _are_alike  # type: ignore[method-assign]
        dialect.__hash__ = _by_kind  # type: ignore[assignment, method-assign]
    Engine.__init__ = _engine_that_shares  # type: ignore[assignment, method-assign]


def _engine_that_shares(engine: Engine, *given: Any, **more: Any) -> None:
    _make_engine(engine, *given, **more)
    engine._compiled_cache = STATEMENTS


def _are_alike(one: Any, other: object) -> bool:
    return type(one) is type(other)


def _by_kind(dialect: Any) -> int:
    return hash(type(dialect))
