"""Bringing a database to the revision that this program speaks."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from sqlalchemy import inspect, text

from crawler import logs
from crawler.db import tables
from crawler.egg import as_folder
from crawler.errors import NoDatabaseError, RevisionError

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from crawler.db.engine import Database

# The first and the newest script in migrations/versions/; a test holds them together. Knowing them here
# spares every start the loading of Alembic.
FIRST = HEAD = "1001"
_UPGRADE_LOCK = 8_243_901  # any number, as long as every upgrade of a server asks for the same one

log = logs.get_logger(__name__)


def current(database: Database) -> str | None:
    """The revision that the database is at; None before the first upgrade."""
    with database.read() as session:
        if not inspect(session.connection()).has_table("alembic_version"):
            return None
        found = session.execute(text("SELECT version_num FROM alembic_version")).scalar_one_or_none()
        return None if found is None else str(found)


def upgrade(database: Database) -> None:
    """Make the tables, or apply what is missing; safe to call from several processes at once."""
    with database.exclusive():
        found = current(database)
        if found == HEAD:
            return
        _refuse_other(database, found)
        if found is None:
            _make_tables(database)
        else:
            _migrate(database)
    log.info("database.upgraded", database=database.shown, before=found, after=HEAD)


def lock_upgrades(connection: Connection) -> None:
    """Have other upgrades of a server wait for the end of this transaction; SQLite's writers wait anyway."""
    if connection.dialect.name != "sqlite":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _UPGRADE_LOCK})


def require_current(database: Database, *, may_make: bool = True) -> None:
    """Upgrade an embedded database; of a server's, insist that somebody did.

    Who only looks, or takes something away, makes none where there is none: it would be in the wrong place.
    """
    if database.is_sqlite and not (database.path and database.path.exists()):
        if not may_make:
            raise NoDatabaseError(
                f"there is no database at {database.path and database.path.absolute()}",
                hint="VITRINE_HOME or DATABASE_URL name another; a crawl or `vitrine db upgrade` makes one",
            )
        upgrade(database)
        return
    found = current(database)
    if found == HEAD:
        return
    _refuse_other(database, found)
    if database.is_sqlite:
        upgrade(database)
        return
    raise RevisionError(
        f"the database is at revision {found or 'none'}, this program needs {HEAD}",
        hint="run `vitrine db upgrade`",
    )


def _refuse_other(database: Database, found: str | None) -> None:
    """What this program cannot bring to its revision is left as it is."""
    if found is None:
        _refuse_foreign(database)
    elif found < FIRST:
        raise RevisionError(
            f"the database at {database.shown} was made before the first release (revision {found})",
            hint="name a new one with DATABASE_URL or VITRINE_HOME; there is no way to take this one along",
        )
    elif found > HEAD:
        raise RevisionError(
            f"the database at {database.shown} is at revision {found}, newer than this program's {HEAD}",
            hint="update Vitrine, or name another database with DATABASE_URL",
        )


def _refuse_foreign(database: Database) -> None:
    """A SQLite file with tables of somebody else's gets none of ours; ours may have been made just now."""
    if not database.is_sqlite:
        return
    with database.read() as session:
        others = inspect(session.connection()).get_table_names()
    if others and current(database) is None:
        raise RevisionError(
            f"the database at {database.shown} is somebody else's: it has {others[0]}, and no table of ours",
            hint="name another one with DATABASE_URL",
        )


def _make_tables(database: Database) -> None:
    with database.engine.begin() as connection:
        lock_upgrades(connection)
        if inspect(connection).has_table("alembic_version"):
            return  # somebody was faster
        tables.make(connection)
        connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) PRIMARY KEY)"))
        connection.execute(text("INSERT INTO alembic_version VALUES (:head)"), {"head": HEAD})


def _migrate(database: Database) -> None:
    # It would introduce each of its plug-ins; what happened is said by who asked.
    logging.getLogger("alembic").setLevel(logging.WARNING)
    from alembic import command  # ruff: ignore[import-outside-top-level] - slow to load, seldom needed
    from alembic.config import Config  # ruff: ignore[import-outside-top-level] - the same

    with as_folder("crawler.db.migrations") as scripts:
        config = Config()
        config.set_main_option("script_location", str(scripts))
        config.attributes["database"] = database
        command.upgrade(config, "head")
