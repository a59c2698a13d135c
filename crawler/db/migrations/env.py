"""Alembic's entrance: runs the scripts on the database that the caller opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from alembic import context
from sqlalchemy import text

from crawler.db.models import Base

if TYPE_CHECKING:
    from crawler.db.engine import Database

# Any number will do, as long as every upgrade asks for the same one.
UPGRADE_LOCK = 8_243_901


def run() -> None:
    """Run the scripts in one transaction; on PostgreSQL under a lock that other upgrades respect."""
    database: Database = context.config.attributes["database"]
    with database.engine.begin() as connection:
        if not database.is_sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": UPGRADE_LOCK})
        context.configure(
            connection=connection,
            target_metadata=Base.metadata,
            render_as_batch=database.is_sqlite,
        )
        with context.begin_transaction():
            context.run_migrations()


run()
