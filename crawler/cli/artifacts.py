"""`vitrine artifacts`: stored files, read again."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from crawler.cli.options import Json, add_group
from crawler.cli.output import emit, progress_bar, say, table
from crawler.cli.stores import opened
from crawler.errors import IntegrityError
from crawler.evidence.bodies import Examined, decoded, examine_all, examined
from crawler.views import artifacts as views

if TYPE_CHECKING:
    from collections.abc import Iterable

ArtifactId = Annotated[str, typer.Argument(metavar="ID", help="Its id, or how it begins.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    add_group(app, "artifacts", "The stored files: read one, check them all.", verify=verify, cat=cat)


def verify(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]...", help="Only these; an id may be cut short.")
    ] = None,
    *,
    as_json: Json = False,
) -> int:
    """Read stored files again, and compare both digests with what was recorded; exit 6 on a mismatch."""
    with opened() as stores:
        with stores.database.read() as db:
            rows = [views.readable(db, db.now, each) for each in ids or ()]
            total = len(rows) or views.count(db, db.now)
        found: Iterable[Examined] = (Examined(row, examined(stores.blobs, row)) for row in rows)
        if not ids:
            found = examine_all(stores.database, stores.blobs)
        with progress_bar() as bar:
            done = views.verification(bar.track(found, total=total, description="reading"))
    if as_json:
        emit(done)
    else:
        if done.failed:
            damaged = [(each.id, each.finding, each.storage_uri) for each in done.failed]
            table(("artifact", "finding", "storage_uri"), damaged)
        say(
            "{checked} artifacts, {bytes}: {intact} intact, {damaged} not",
            checked=done.checked, bytes=done.bytes, intact=done.intact, damaged=len(done.failed),
        )  # fmt: skip
    return IntegrityError.exit_code if done.failed else 0


def cat(
    artifact: ArtifactId,
    *,
    decode: Annotated[bool, typer.Option("--decode", help="Unpack what is stored packed.")] = False,
) -> None:
    """Write the bytes of a stored file to standard output."""
    with opened() as stores:
        with stores.database.read() as db:
            row = views.readable(db, db.now, artifact)
        for chunk in decoded(stores.blobs, row) if decode else stores.blobs.stream(row.storage_uri):
            sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()
