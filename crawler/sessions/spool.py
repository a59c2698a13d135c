"""What sessions sent and received, where they are to keep it: spooled until their ends, then an artifact.

What a killed process left in the spool goes to its session as well, under the same date as its HTML; what
belongs to a session that is gone, goes. Nothing lies there for ever.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import re
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, cast
from uuid import UUID

from sqlalchemy import select

from crawler import logs
from crawler.capture.artifact_types import WARC
from crawler.db.models import Artifact, CrawlSession
from crawler.evidence.files import KeptFile, session_folder
from crawler.evidence.warc_files import NoRows
from crawler.evidence.warc_shelf import recover
from crawler.sessions.outcome import Status
from crawler.sessions.page_rows import write_artifacts
from crawler.sessions.writes import Write, days_of

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from crawler.config import Settings
    from crawler.sessions.visit import Visit
    from crawler.sessions.writes import WriteQueue

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
        same = (Artifact.session_id == session_id, Artifact.checksum == file.packed.checksum)
        with writes.database.read() as db:
            is_kept = db.scalar(select(Artifact.id).where(*same, Artifact.type == WARC.name).limit(1))
        if is_kept is None:
            rows = partial(write_artifacts, files=[file], session_id=session_id, days=days)
            writes.post_now(Write(rows, [file], replaces=True))
    path.unlink()


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
