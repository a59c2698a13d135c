"""`vitrine db`: the database's revision, a copy of it, and the way back."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from crawler.archive.rebuilding import rebuild as rebuild_index
from crawler.cli.options import Json, add_group
from crawler.cli.output import emit, note, say
from crawler.clock import utc_now
from crawler.config import load_settings
from crawler.db import revisions
from crawler.db.backup import BackupError, back_up, dated, thin_out
from crawler.db.engine import Database
from crawler.db.restore import restore as put_back
from crawler.db.soundness import require_sound


def register(app: typer.Typer) -> None:
    """Add the commands."""
    about = "Bring the database to this program's revision, copy it, and put a copy back."
    add_group(app, "db", about, upgrade=upgrade, current=current, backup=backup, restore=restore)


def upgrade(*, as_json: Json = False) -> None:
    """Apply the migrations that the database lacks; safe to repeat, and from several places at once.

    A SQLite file that is damaged is left as it is, with exit code 6.
    """
    with closing(Database(load_settings().database)) as database:
        if database.path is not None and database.path.exists():
            require_sound(database.path)
        before = revisions.current(database)
        revisions.upgrade(database)
    if as_json:
        emit({"database": database.shown, "before": before, "after": revisions.HEAD})
    else:
        done = "is up to date" if before == revisions.HEAD else f"upgraded from {before or 'nothing'}"
        say(f"{database.shown}: revision {revisions.HEAD}, {done}")


def current(*, as_json: Json = False) -> int:
    """Show the revision; exit 1 when it is not the one that this program needs."""
    with closing(Database(load_settings().database)) as database:
        found = None if database.path and not database.path.exists() else revisions.current(database)
    if as_json:
        emit({"database": database.shown, "current": found, "head": revisions.HEAD})
    else:
        say(f"{database.shown}: revision {found or 'none'}, this program needs {revisions.HEAD}")
        if found != revisions.HEAD:
            note("next: vitrine db upgrade")
    return 0 if found == revisions.HEAD else 1


def backup(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE|FOLDER/", help="Where the copy goes, or a folder, in which it is named by its time."
        ),
    ],
    *,
    keep: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Of the dated copies in the folder, only the newest so many."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Copy a SQLite database that is in use; PostgreSQL has `pg_dump` for that. Nothing is written over.

    A folder that is not there is made; its name ends with a slash, or --keep says that it is one.

    Copy the files of the evidence after it: what a row names was written before the row.

    Examples:
      vitrine db backup /backup/ --keep 14
    """
    place = Path(file)
    is_folder = place.is_dir() or file.endswith(os.sep) or keep is not None
    with closing(Database(load_settings().database)) as database:
        if database.path is None:
            raise BackupError(f"{database.shown} is no file", hint=f"pg_dump --format=custom --file={file} …")
        if not database.path.exists():
            raise BackupError(f"there is no database {database.path}", hint="is VITRINE_HOME right?")
        copy = dated(place, utc_now()) if is_folder else place
        written = back_up(database.path, copy)
    removed = thin_out(place, keep) if keep else []
    if as_json:
        emit({"database": database.shown, "file": copy, "bytes": written, "removed": removed})
    else:
        say("{file}: {bytes}", file=copy, bytes=written)
        for path in removed:
            note("removed {path}", path=path)


def restore(
    file: Annotated[Path, typer.Argument(help="A SQLite database, as `vitrine db backup` copies it.")],
    *,
    as_json: Json = False,
) -> None:
    """Put a copy into the place of the database, brought to this program's revision.

    A SQLite database that any process has open is refused, and the former one is kept under another name. A
    PostgreSQL database gets the rows if it is empty: that is the way from SQLite to PostgreSQL.

    The restored database has no artifact store until `vitrine artifacts adopt`.

    Examples:
      vitrine db restore /backup/vitrine-20260504T023000Z.db
    """
    with closing(Database(load_settings().database)) as database:
        done = put_back(database, file)
        if not database.is_sqlite:
            rebuild_index(database, ["words"])
    if as_json:
        emit({"database": database.shown, "file": file, "rows": done.rows, "replaced": done.replaced})
        return
    say("{database}: {rows} rows from {file}", database=database.shown, rows=done.rows, file=file)
    if done.replaced:
        note("the former database is {path}; remove it when all is well", path=done.replaced)
    note("next: vitrine artifacts adopt")
