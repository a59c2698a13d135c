"""What sessions sent and received, where they are to keep it: spooled until their ends, then an artifact.

What a killed process left in the spool goes to its session as well, under the same date as its HTML; what
belongs to a session that is gone, goes. Nothing lies there for ever.
"""

from __future__ import annotations

import fcntl
import hashlib
import mmap
import os
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast
from uuid import UUID

from attrs import evolve
from sqlalchemy import exists, select

from crawler import logs
from crawler.capture.artifact_types import WARC
from crawler.db.models import Artifact, CrawlSession, Page, Record, WarcFile
from crawler.errors import CrawlerError
from crawler.evidence.bodies import body_in
from crawler.evidence.files import KeptFile, session_folder
from crawler.evidence.warc_files import NoRows, write_records
from crawler.evidence.warc_shelf import answers_in, recover
from crawler.sessions.outcome import Status
from crawler.sessions.page_rows import days_of, write_artifacts
from crawler.sessions.writes import Write
from crawler.warc.cdxj import stored_key

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

    from crawler.config import Settings
    from crawler.db.engine import Database, Transaction
    from crawler.sessions.visit import Visit
    from crawler.sessions.write_queue import WriteQueue
    from crawler.warc.records import Shelved

_LEFT = re.compile(r"vitrine-[0-9]{14}-(?P<session>[0-9a-f]{32})-(?P<file>[0-9a-f]{8})\.warc\.gz")
_OPEN = {Status.QUEUED, Status.RUNNING}

log = logs.get_logger(__name__)


def spool_of(settings: Settings) -> Path:
    """The folder in which they lie until their sessions end."""
    return settings.vitrine_home / "spool"


def keep_warc(writes: WriteQueue, visit: Visit) -> None:
    """Publish what a session sent and received as its artifact, dated as its HTML; called in a thread."""
    facts = writes.spool.seal(visit.fence.session_id).result() if writes.spool else None
    if facts is None or writes.spool is None:
        return
    folder = session_folder(visit.order.domain, visit.fence.session_id, visit.fence.epoch)
    path, days = writes.spool.folder / facts.path, days_of(writes.settings, visit.order.retention_policy)
    with _alone_with(path) as is_there:
        if is_there:
            _publish(writes, path, f"{folder}/{WARC.file_name}", session_id=visit.fence.session_id, days=days)


def keep_left(writes: WriteQueue) -> int:
    """Give ended sessions what killed processes left of their traffic; how many files that were."""
    folder = spool_of(writes.settings)
    if not folder.is_dir():
        return 0
    recover(folder, NoRows())
    kept = 0
    for path in sorted(folder.iterdir()):
        if found := _LEFT.fullmatch(path.name):
            try:
                kept += _keep_one(writes, path, UUID(found["session"]), found["file"])
            except Exception as error:  # tried again by whoever comes next
                log.exception("session.warc_not_kept", file=path.name, error=str(error))
    return kept


def _keep_one(writes: WriteQueue, path: Path, session_id: UUID, mark: str) -> bool:
    with _alone_with(path, wait=False) as is_there:
        if not is_there:
            return False
        with writes.database.read() as db:
            session = db.get(CrawlSession, session_id)
        if session is None:
            path.unlink()
            log.warning("session.warc_removed", session_id=str(session_id), file=path.name)
            return False
        if session.status in _OPEN:
            return False
        uri = f"{session_folder(session.domain, session_id, session.epoch)}/{mark}.{WARC.file_name}"
        days = days_of(writes.settings, session.retention_policy)
        _publish(writes, path, uri, session_id=session_id, days=days)
    log.warning("session.warc_kept_late", session_id=str(session_id), file=path.name)
    return True


def _publish(writes: WriteQueue, path: Path, uri: str, *, session_id: UUID, days: int) -> None:
    """Write the artifact, unless whoever died had done that, and let go of the file."""
    with _mapped(path) as content:
        file = KeptFile.of(WARC, uri, content)
        answers = _only_here(writes.database, path, session_id)
        same = (Artifact.session_id == session_id, Artifact.checksum == file.packed.checksum)
        with writes.database.read() as db:
            is_kept = db.scalar(select(Artifact.id).where(*same, Artifact.type == WARC.name).limit(1))
        if is_kept is None:
            writes.post_now(_WarcWrite(file, answers, session_id, days=days, folder=writes.blobs.shown))
    path.unlink()


class _WarcWrite(Write[None]):
    """Stores a WARC file as its session's artifact, and the records of the answers in it."""

    replaces = True

    def __init__(
        self, file: KeptFile, answers: Sequence[Shelved], session_id: UUID, *, days: int, folder: str
    ) -> None:
        super().__init__()
        self.files = (file,)
        self.answers = answers
        self.session_id = session_id
        self.days = days
        self.folder = folder

    def write_rows(self, db: Transaction) -> None:
        """Write the rows of the artifact, of the WARC file and of its records."""
        [file] = self.files
        write_artifacts(db, [file], self.session_id, days=self.days)
        mine = (Artifact.session_id == self.session_id, Artifact.storage_uri == file.uri)
        times = [each.pair.captured_at for each in self.answers]
        row = WarcFile(
            session_id=self.session_id, artifact_id=db.scalar(select(Artifact.id).where(*mine)),
            folder=self.folder, path=file.uri, state="sealed", size_bytes=len(file.packed.data),
            sha256=file.packed.checksum, records=len(self.answers), first_at=min(times, default=None),
            last_at=max(times, default=None), created_at=db.now, sealed_at=db.now,
        )  # fmt: skip
        db.add(row)
        db.flush()
        write_records(db, [evolve(each, file_id=row.id) for each in self.answers])


def _only_here(database: Database, path: Path, session_id: UUID) -> list[Shelved]:
    """Return the answers of a file of which nothing else is a capture: no page's file, no WARC_DIR."""
    recorded = exists().where(WarcFile.session_id == session_id, WarcFile.artifact_id.is_(None))
    files = select(Page.url, Artifact.content_sha256).join(Artifact, Artifact.page_id == Page.id)
    with database.read() as db:
        if db.scalar(select(recorded)):
            return []
        rows = db.execute(files.where(Page.session_id == session_id))
        kept = {(stored_key(url), digest) for url, digest in rows}
    pages = {key for key, _ in kept}
    with path.open("rb") as file:
        answers = list(answers_in(file, path.name))
    keys = [stored_key(each.pair.lookup_url or each.pair.url) for each in answers]
    return [
        each
        for key, each in zip(keys, answers, strict=True)
        if key not in pages or (key, _digest(path, each)) not in kept
    ]


def _digest(path: Path, answer: Shelved) -> str | None:
    """Return the digest of a body as it is unpacked; None where it cannot be."""
    file = WarcFile(folder=str(path.parent), path=path.name)
    record = Record(offset=answer.offset, length=answer.pair.length, record_urn=answer.pair.record_id)
    content = hashlib.sha256()
    try:
        for piece in body_in(file, record).pieces:
            content.update(piece)
    except CrawlerError:
        return None
    return content.hexdigest()


@contextmanager
def _mapped(path: Path) -> Generator[bytes]:
    """A sealed file's bytes, none of which is copied into memory; a session may have loaded whole films."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        yield cast("bytes", data)


@contextmanager
def _alone_with(path: Path, *, wait: bool = True) -> Generator[bool]:
    """Keep others from a sealed file meanwhile; false where another has it, or has taken it away."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        yield False
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        os.close(handle)
        yield False
        return
    try:
        yield bool(os.fstat(handle).st_nlink)
    finally:
        os.close(handle)
