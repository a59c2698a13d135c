"""The mark in the root of the artifacts, by which a database knows the store that its files lie in.

A store belongs to the one database that knows its mark. Without marks a store whose files are gone could not
be told from one that is not mounted, and a cleanup could not tell files that never got a row from those of
another database.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

from sqlalchemy import select

from crawler.db.engine import wait_for_turn
from crawler.db.models import Artifact, StoreMark
from crawler.errors import CrawlerError, ExitCode, IntegrityError
from crawler.evidence.blobs import MARK, BlobExistsError, BlobMissingError, StoreUnavailableError

if TYPE_CHECKING:
    from collections.abc import Generator
    from datetime import datetime

    from sqlalchemy.orm import Session

    from crawler.db.engine import Database
    from crawler.evidence.blobs import BlobStore

ARTIFACTS = "artifacts"
PLANNED = "artifacts_planned"  # the row of a mark that is about to be published
_KEY = 0x6D61726B  # of the lock under which processes of one database mark its store
_HINT = (
    "check ARTIFACTS_DIR, DATABASE_URL and what is mounted; "
    "if this store is to be this database's from now on: vitrine artifacts adopt"
)


class OtherStoreError(CrawlerError):
    """The artifacts' root is not the one that this database's files lie in."""

    code = "other_store"
    exit_code = ExitCode.BROKEN


def mark_store(database: Database, blobs: BlobStore) -> None:
    """Require this database's store before anything is stored.

    An empty store is marked for a database that has none yet.
    """
    known = _known(database)
    if known is not None:
        _require_same(blobs, known)
        return
    _plan_mark(database, blobs)
    with database.write() as db:
        wait_for_turn(db, _KEY)
        known = db.get(StoreMark, ARTIFACTS, populate_existing=True)
        if known is None:
            _require_unused(db, blobs)
            planned = db.get_one(StoreMark, PLANNED)
            if _found(blobs) is None:
                _publish_mark(blobs, planned.mark)
            db.add(StoreMark(place=ARTIFACTS, mark=planned.mark, root=blobs.shown, created_at=db.now))
            db.delete(planned)
    if known is not None:  # another process of this database was faster
        _require_same(blobs, known)


def require_store(database: Database, blobs: BlobStore) -> None:
    """Refuse a store that is not this database's; write nothing."""
    known = _known(database)
    if known is not None:
        _require_same(blobs, known)
    else:
        with database.read() as db:
            _require_unused(db, blobs)


def adopt_store(database: Database, blobs: BlobStore) -> UUID:
    """Make a store this database's own by a new mark; refuse it to whichever database knew the old one."""
    with _absent_is_empty():
        blobs.delete(MARK)
    with database.write() as db:
        wait_for_turn(db, _KEY)
        mark = uuid4()
        _publish_mark(blobs, mark)
        db.merge(StoreMark(place=ARTIFACTS, mark=mark, root=blobs.shown, created_at=db.now))
    return mark


def owned_since(database: Database) -> datetime | None:
    """Return when the store became this database's; files from before may be what another one has rows of."""
    known = _known(database)
    return known.created_at if known else None


def _plan_mark(database: Database, blobs: BlobStore) -> None:
    """Commit a mark before it is published: if the process dies in between, the store is still ours."""
    with database.write() as db:
        wait_for_turn(db, _KEY)
        if db.get(StoreMark, ARTIFACTS) is None and db.get(StoreMark, PLANNED) is None:
            db.add(StoreMark(place=PLANNED, mark=uuid4(), root=blobs.shown, created_at=db.now))


def _require_same(blobs: BlobStore, known: StoreMark) -> None:
    found = _found(blobs)
    if found == known.mark:
        return
    what = "has no mark of a store" if found is None else "is marked as another database's store"
    raise OtherStoreError(
        f"{blobs.shown} {what}; this database's artifacts lie in the one marked {known.mark}, "
        f"which was at {known.root}",
        hint=_HINT,
    )


def _require_unused(db: Session, blobs: BlobStore) -> None:
    """Refuse, for a database without a store, one that is marked or has files, and any if rows name files."""
    mark, planned = _found(blobs), db.get(StoreMark, PLANNED)
    if planned is not None and mark == planned.mark:
        return
    if mark is not None:
        reason = f"is the store of another database, marked {mark}; this database has none yet"
    elif (uri := next(_visible_files(blobs), None)) is not None:
        reason = f"has files without this database's mark, such as {uri}"
    elif (uri := _live_uri(db)) is not None:
        reason = f"is empty, and this database names files such as {uri}"
    else:
        return
    raise OtherStoreError(f"{blobs.shown} {reason}", hint=_HINT)


def _live_uri(db: Session) -> str | None:
    return db.scalar(select(Artifact.storage_uri).where(Artifact.deleted_at.is_(None)).limit(1))


def _visible_files(blobs: BlobStore) -> Generator[str]:
    """Yield the files but those whose names begin with a dot; none where there is no folder yet."""
    with _absent_is_empty():
        yield from (entry.uri for entry in blobs.entries() if not entry.uri.startswith("."))


def _known(database: Database) -> StoreMark | None:
    with database.read() as db:
        return db.get(StoreMark, ARTIFACTS)


def _found(blobs: BlobStore) -> UUID | None:
    """Return what the mark in the root says, None where there is none."""
    text: str | None = None
    with _absent_is_empty(), suppress(BlobMissingError):
        text = blobs.read(MARK).decode("ascii", "replace").strip()
    if text is None:
        return None
    try:
        return UUID(text)
    except ValueError:
        raise IntegrityError(f"{blobs.shown}/{MARK} is damaged: {text[:60]!r}") from None


@contextmanager
def _absent_is_empty() -> Generator[None]:
    """Take a folder that does not exist for an empty one; a store that does not answer stays an error."""
    try:
        yield
    except StoreUnavailableError as error:
        if not isinstance(error.__cause__, FileNotFoundError):
            raise


def _publish_mark(blobs: BlobStore, mark: UUID) -> None:
    """Write a mark; another database that marked the store in the meantime keeps it."""
    try:
        blobs.publish(MARK, f"{mark}\n".encode())
    except BlobExistsError:
        raise OtherStoreError(f"{blobs.shown} was just marked by another database", hint=_HINT) from None
