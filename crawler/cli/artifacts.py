"""`vitrine artifacts`: stored files, read again."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from crawler.capture.artifact_types import ARTIFACT_TYPES
from crawler.cli.lists import list_command
from crawler.cli.options import Caused, Json, SessionOption, add_group
from crawler.cli.output import Listing, day, emit, progress_bar, say, short_id, table
from crawler.cli.stores import opened, reading
from crawler.errors import IntegrityError
from crawler.evidence.bodies import Examined, decoded, examine_all, examined
from crawler.evidence.recorded_pages import count_recorded, examine_recorded
from crawler.evidence.store_mark import adopt_store
from crawler.views import artifacts as views
from crawler.views import stored
from crawler.views.paging import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawler.views.paging import Wanted
    from crawler.views.stored import ListedArtifact

ArtifactKind = StrEnum("ArtifactKind", sorted(ARTIFACT_TYPES))  # type: ignore[misc]  # no literal
ARTIFACTS = Listing(
    "artifacts",
    lambda one: {
        "id": str(one.id)[:8],
        "stored": one.created_at,
        "type": one.type,
        "bytes": one.size_bytes,
        "goes": day(one.retention_until),
        "deleted": day(one.deleted_at),
        "domain": one.domain,
        "session": str(one.session_id)[:8],
        "storage_uri": one.storage_uri,
    },
    empty="no files match; `vitrine crawl pdp URL` keeps some",
    then="vitrine artifacts cat ID --decode",
    key=short_id,
)
ArtifactId = Annotated[str, typer.Argument(metavar="ID", help="Its id, or how it begins.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    add_group(
        app,
        "artifacts",
        "The stored files: read one, check them all, move them.",
        list=list_artifacts,
        verify=verify,
        cat=cat,
        adopt=adopt,
    )


@list_command(ARTIFACTS, cause=Caused)
def list_artifacts(
    wanted: Wanted,
    *,
    session: SessionOption = None,
    kind: Annotated[ArtifactKind | None, typer.Option("--type", help="Only those of this type.")] = None,
) -> Sequence[ListedArtifact]:
    """List stored files, the newest first, those that are gone as well.

    Examples: vitrine artifacts list --domain shop.example --type html_gz --jsonl
    """
    with reading() as db:
        return listed(db, stored.ARTIFACTS, wanted, session=session, kind=kind)


def verify(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]...", help="Only these; an id may be cut short.")
    ] = None,
    *,
    as_json: Json = False,
) -> int:
    """Read stored files again, and compare both digests with what was recorded; exit 6 on a mismatch.

    Without ids, pages that lie in WARC files are read as well.
    """
    with opened() as stores:
        with stores.database.read() as db:
            rows = [views.readable(db, db.now, each) for each in ids or ()]
            total = len(rows) or views.count(db, db.now)
            recorded = 0 if ids else count_recorded(db)
        found: Iterable[Examined] = (Examined(row, examined(stores.blobs, row)) for row in rows)
        if not ids:
            found = examine_all(stores.database, stores.blobs)
        with progress_bar() as bar:
            done = views.verification(bar.track(found, total=total, description="reading"))
            if recorded:
                pages = examine_recorded(stores.database)
                done = views.with_pages(done, bar.track(pages, total=recorded, description="WARC files"))
    if as_json:
        emit(done)
    else:
        if done.failed:
            damaged = [(each.id, each.finding, each.storage_uri) for each in done.failed]
            table(("artifact", "finding", "storage_uri"), damaged)
        if done.pages_failed:
            rows_of = [(each.id, each.finding, each.warc, each.offset) for each in done.pages_failed]
            table(("page", "finding", "WARC file", "offset"), rows_of)
        say(
            "{checked} artifacts, {bytes}: {intact} intact, {damaged} not",
            checked=done.checked, bytes=done.bytes, intact=done.intact, damaged=len(done.failed),
        )  # fmt: skip
        if recorded:
            say(
                "{checked} pages in WARC files: {damaged} damaged",
                checked=done.pages_checked, damaged=len(done.pages_failed),
            )  # fmt: skip
    return 0 if done.is_well else IntegrityError.exit_code


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


def adopt() -> None:
    """Make the store of ARTIFACTS_DIR this database's own, after a restore, a move, or the loss of its mark.

    Crawls, cleanups and purges refuse a store with another mark, or none. The store gets a new mark, so that
    a database that had it before is refused from then on.
    """
    with opened() as stores:
        mark = adopt_store(stores.database, stores.blobs)
        say("{where} is this database's store, marked {mark}", where=stores.blobs.shown, mark=mark)
