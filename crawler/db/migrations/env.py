"""Alembic's entrance: runs the scripts on the database that the caller opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from alembic import context

from crawler.db import sql_views
from crawler.db.models import Base
from crawler.db.revisions import lock_upgrades

if TYPE_CHECKING:
    from crawler.db.engine import Database


def run() -> None:
    """Run the scripts in one transaction, without the views, which keep tables from being changed."""
    database: Database = context.config.attributes["database"]
    with database.engine.begin() as connection:
        lock_upgrades(connection)
        context.configure(connection=connection, target_metadata=Base.metadata)
        with context.begin_transaction():
            sql_views.drop(connection)
            context.run_migrations()
            sql_views.make(connection)


run()
