"""`vitrine db`: the database's revision."""

from __future__ import annotations

import typer

from crawler.cli.options import Json
from crawler.cli.output import emit, note, say
from crawler.config import load_settings
from crawler.db import revisions
from crawler.db.engine import Database


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True, help="Bring the database to this program's revision.")
    group.command("upgrade")(upgrade)
    group.command("current")(current)
    app.add_typer(group, name="db")


def upgrade(*, as_json: Json = False) -> None:
    """Apply the migrations that the database lacks; safe to repeat, and from several places at once."""
    database = Database(load_settings().database)
    try:
        before = revisions.current(database)
        revisions.upgrade(database)
    finally:
        database.close()
    if as_json:
        emit({"database": database.shown, "before": before, "after": revisions.HEAD})
    else:
        done = "is up to date" if before == revisions.HEAD else f"upgraded from {before or 'nothing'}"
        say(f"{database.shown}: revision {revisions.HEAD}, {done}")


def current(*, as_json: Json = False) -> int:
    """Show the revision; exit 1 when it is not the one that this program needs."""
    database = Database(load_settings().database)
    try:
        found = None if database.path and not database.path.exists() else revisions.current(database)
    finally:
        database.close()
    if as_json:
        emit({"database": database.shown, "current": found, "head": revisions.HEAD})
    else:
        say(f"{database.shown}: revision {found or 'none'}, this program needs {revisions.HEAD}")
        if found != revisions.HEAD:
            note("next: vitrine db upgrade")
    return 0 if found == revisions.HEAD else 1
