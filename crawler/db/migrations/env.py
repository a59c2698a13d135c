"""Alembic's entrance: runs the scripts on the database that the caller opened."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from alembic import context
from sqlalchemy import text

from crawler.db import sql_views
from crawler.db.models import Base
from crawler.db.revisions import HEAD

if TYPE_CHECKING:
    from collections.abc import Generator

    from sqlalchemy import Connection

    from crawler.db.engine import Database

# Any number will do, as long as every upgrade asks for the same one.
UPGRADE_LOCK = 8_243_901


def run() -> None:
    """Run the scripts in one transaction; on PostgreSQL under a lock that other upgrades respect."""
    database: Database = context.config.attributes["database"]
    with database.engine.connect() as connection, _rebuilding(connection, is_sqlite=database.is_sqlite):
        if not database.is_sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": UPGRADE_LOCK})
        context.configure(connection=connection, target_metadata=Base.metadata)
        with context.begin_transaction():
            sql_views.drop(connection)
            context.run_migrations()
            if context.get_context().get_current_revision() == HEAD:
                sql_views.make(connection)


@contextmanager
def _rebuilding(connection: Connection, *, is_sqlite: bool) -> Generator[None]:
    """A transaction in which SQLite may rebuild a table: dropping the old one would take what refers to it.

    It is told before the transaction begins, and every reference is checked before it ends.
    """
    if not is_sqlite:
        with connection.begin():
            yield
        return
    driver = connection.connection.driver_connection
    assert driver is not None  # ruff: ignore[assert] - it is open
    driver.execute("PRAGMA foreign_keys=OFF")
    try:
        with connection.begin():
            yield
            broken = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchall()
            if broken:
                raise RuntimeError(f"rows would refer to what is not there: {broken[:5]}")
    finally:
        driver.execute("PRAGMA foreign_keys=ON")


run()
