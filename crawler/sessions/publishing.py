"""The files of writes: packed, published before anything tells of them, and taken back where nothing does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from crawler import logs
from crawler.db.models import Artifact
from crawler.evidence.blobs import BlobExistsError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.db.engine import Database
    from crawler.evidence.blobs import BlobStore
    from crawler.sessions.writes import Write

log = logs.get_logger(__name__)


def publish_ahead(blobs: BlobStore, writes: Sequence[Write[Any]]) -> None:
    """Publish files before their group's turn; whatever is refused has that told when it comes.

    Not those that another write may have as well, and take back.
    """
    own = [each for each in writes if _is_packed(each) and not any(file.is_shared for file in each.files)]
    _publish_together(blobs, [each for each in own if each.files and not each.replaces])


def publish(blobs: BlobStore, writes: Sequence[Write[Any]]) -> list[Write[Any]]:
    """Publish all files with one flush; where that is refused, each write's for themselves.

    Gives the writes of which all lies there.
    """
    packed = [write for write in writes if _is_packed(write)]
    left = [write for write in packed if write.files and not write.is_published]
    if not (len(left) > 1 and _publish_together(blobs, left)):
        for write in left:
            try:
                _publish_one(blobs, write)
            except BaseException as error:  # ruff: ignore[blind-except] - `result` raises it
                write.fail(error)
            else:
                write.is_published = True
    return [write for write in packed if write.is_published or not write.files]


def _is_packed(write: Write[Any]) -> bool:
    """Make the files of a write, if that was not done yet; False where they cannot be made."""
    try:
        return write.files is not None
    except Exception as error:  # ruff: ignore[blind-except] - `result` raises it
        write.fail(error)
        return False


def _publish_one(blobs: BlobStore, write: Write[Any]) -> None:
    files = {file.uri: file.packed.data for file in write.files}
    try:
        blobs.publish_all(files)
    except BlobExistsError:
        shared = {file.uri for file in write.files if file.is_shared and blobs.exists(file.uri)}
        if not (write.replaces or shared):
            raise
        for uri in files.keys() - shared if write.replaces else ():
            blobs.delete(uri)
        if left := {uri: data for uri, data in files.items() if uri not in shared}:
            blobs.publish_all(left)


def _publish_together(blobs: BlobStore, writes: Sequence[Write[Any]]) -> bool:
    """Publish all files with one flush, if nothing speaks against any of them."""
    files = {file.uri: file.packed.data for write in writes for file in write.files}
    if len(files) < sum(len(write.files) for write in writes):
        return False  # two of them have the same name
    try:
        blobs.publish_all(files)
    except Exception as error:  # ruff: ignore[blind-except] - told when each is published for itself
        log.debug("group.published_singly", error=str(error))
        return False
    for write in writes:
        write.is_published = True
    return True


def withdraw(database: Database, blobs: BlobStore, writes: Sequence[Write[Any]]) -> None:
    """Take back files whose rows came to nothing."""
    for write in writes:
        if write.error is not None and write.is_published:
            _withdraw_unclaimed(database, blobs, write)


def _withdraw_unclaimed(database: Database, blobs: BlobStore, write: Write[Any]) -> None:
    """Take files back, unless the write went through and only its answer got lost, or others need them.

    Where nobody can tell, they stay: a file without a row does no harm, and the orphan scan finds it.
    """
    uris = [file.uri for file in write.files]
    try:
        with database.read() as db:
            if db.scalar(select(Artifact.id).where(Artifact.storage_uri.in_(uris)).limit(1)):
                return
    except Exception as error:  # ruff: ignore[blind-except] - see below
        if write.is_in_doubt or any(file.is_shared for file in write.files):
            log.warning("artifact.left_behind", uris=uris, error=str(error))
            return
    for file in write.files:
        try:
            blobs.delete(file.uri)
        except Exception:
            log.exception("artifact.withdraw_failed", uri=file.uri)
