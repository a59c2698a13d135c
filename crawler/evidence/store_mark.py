"""The mark in the root of the artifacts, by which a database knows the store that its files lie in.

Without it nobody could tell a store whose files are gone from one that is not mounted, or from a mistyped
prefix: a cleanup that finds a file missing marks its row as deleted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID, uuid4

from sqlalchemy import select

from crawler.db.models import Artifact, StoreMark
from crawler.errors import CrawlerError, IntegrityError
from crawler.evidence.blobs import MARK, BlobExistsError, BlobMissingError, StoreUnavailableError

if TYPE_CHECKING:
    from crawler.db.engine import Database
    from crawler.evidence.blobs import BlobStore

ARTIFACTS = "artifacts"
SAMPLE_ROWS = 20
_HINT = "check ARTIFACTS_DIR and what is mounted there; if it was moved on purpose: vitrine artifacts adopt"


class OtherStoreError(CrawlerError):
    """The artifacts' root is not the one that this database's files lie in."""

    code = "other_store"


def mark_store(database: Database, blobs: BlobStore) -> None:
    """Make sure, before anything is stored, that it goes to the rest; the first crawl sets the mark."""
    known = _known(database)
    if known is not None:
        _require_same(blobs, known)
        return
    _require_some(database, blobs)
    _remember(database, blobs, _found(blobs) or _marked(blobs))


def require_store(database: Database, blobs: BlobStore) -> None:
    """Refuse to take anything out of a store that is not this database's; nothing is written."""
    known = _known(database)
    if known is not None:
        _require_same(blobs, known)
    else:
        _require_some(database, blobs)


def adopt_store(database: Database, blobs: BlobStore) -> UUID:
    """Take a root for this database's store, whatever was known before."""
    mark = _found(blobs) or _marked(blobs)
    _remember(database, blobs, mark)
    return mark


def _require_same(blobs: BlobStore, known: StoreMark) -> None:
    found = _found(blobs)
    if found == known.mark:
        return
    what = "has no mark of a store" if found is None else "is marked as another store"
    raise OtherStoreError(
        f"{blobs.shown} {what}; this database's artifacts lie in the one marked {known.mark}, "
        f"which was at {known.root}",
        hint=_HINT,
    )


def _require_some(database: Database, blobs: BlobStore) -> None:
    """Without a mark, as in a database of before: some of the files that rows name are there."""
    with database.read() as db:
        query = select(Artifact.storage_uri).where(Artifact.deleted_at.is_(None))
        named = db.scalars(query.order_by(Artifact.created_at.desc()).limit(SAMPLE_ROWS)).all()
    if named and not any(_is_there(blobs, uri) for uri in named):
        raise OtherStoreError(
            f"{blobs.shown} has none of the files that this database names, such as {named[0]}", hint=_HINT
        )


def _is_there(blobs: BlobStore, uri: str) -> bool:
    try:
        return blobs.exists(uri)
    except StoreUnavailableError:
        raise
    except CrawlerError:  # an odd path says nothing about the store
        return True


def _known(database: Database) -> StoreMark | None:
    with database.read() as db:
        return db.get(StoreMark, ARTIFACTS)


def _found(blobs: BlobStore) -> UUID | None:
    """What the mark in the root says."""
    try:
        said = blobs.read(MARK).decode("ascii", "replace").strip()
    except BlobMissingError:
        return None
    except StoreUnavailableError as error:
        if isinstance(error.__cause__, FileNotFoundError):  # a folder that is not there has no mark
            return None
        raise
    try:
        return UUID(said)
    except ValueError:
        raise IntegrityError(f"{blobs.shown}/{MARK} is damaged: {said[:60]!r}") from None


def _marked(blobs: BlobStore) -> UUID:
    """Set a mark; where another process was faster, its."""
    mark = uuid4()
    try:
        blobs.publish(MARK, f"{mark}\n".encode())
    except BlobExistsError:
        return _found(blobs) or mark
    return mark


def _remember(database: Database, blobs: BlobStore, mark: UUID) -> None:
    with database.write() as db:
        db.merge(StoreMark(place=ARTIFACTS, mark=mark, root=blobs.shown, created_at=db.now))
