"""A session's log as a file: what is in the database, and the lines that go there with it (SPEC F145)."""

from __future__ import annotations

from itertools import count
from operator import itemgetter
from typing import TYPE_CHECKING, Any, cast

from attrs import frozen
from sqlalchemy import bindparam, select

from crawler.capture.artifact_types import SESSION_LOG
from crawler.db.models import Artifact, CrawlLog, CrawlSession
from crawler.evidence import files
from crawler.evidence.files import KeptFile
from crawler.sessions import rows
from crawler.sessions.journal import as_jsonl
from crawler.sessions.writes import Write

if TYPE_CHECKING:
    from collections.abc import Iterator
    from uuid import UUID

    from sqlalchemy import Table
    from sqlalchemy.orm import Session

    from crawler.db.engine import Database
    from crawler.sessions.journal import Journal
    from crawler.sessions.rows import Life

_LINES = cast("Table", CrawlLog.__table__)
_SESSIONS = cast("Table", CrawlSession.__table__)
_ARTIFACTS = cast("Table", Artifact.__table__)
_SESSION = select(_SESSIONS.c.status, _SESSIONS.c.domain, _SESSIONS.c.epoch).where(
    _SESSIONS.c.id == bindparam("its_id")
)
_LOG = (
    select(*(_LINES.c[name] for name in ("timestamp", "level", "event_type", "message", "details")))
    .where(_LINES.c.session_id == bindparam("its_id"))
    .order_by(_LINES.c.timestamp, _LINES.c.id)
)
_TAKEN = select(_ARTIFACTS.c.storage_uri).where(
    _ARTIFACTS.c.session_id == bindparam("its_id"), _ARTIFACTS.c.type == SESSION_LOG.name
)


@frozen
class _Written:
    """What the database knows of a session's log."""

    folder: str
    lines: list[dict[str, Any]]
    taken: frozenset[str]  # names that a row claims


def export_of(database: Database, session_id: UUID, journal: Journal | None = None) -> Write[None] | None:
    """The write of an ended session's log and of the last lines of its journal.

    None for a session that goes on, with the next start of its batch.
    """
    written = _written(database, session_id)
    if written is None:
        return None
    write = Write(lambda db, life: _write(db, life, session_id, file), journal=journal)
    lines = [*written.lines, *(line.columns for line in write.take_lines())]
    uri = next(uri for uri in _names(written.folder) if uri not in written.taken)
    file = KeptFile.of(SESSION_LOG, uri, as_jsonl(sorted(lines, key=itemgetter("timestamp"))))
    write.files, write.replaces = [file], True
    return write


def _written(database: Database, session_id: UUID) -> _Written | None:
    key = {"its_id": session_id}
    with database.read() as db:
        connection = db.connection()
        status, domain, epoch = connection.execute(_SESSION, key).one()
        if status not in rows.ENDED:
            return None
        return _Written(
            files.session_folder(domain, session_id, epoch),
            [dict(row) for row in connection.execute(_LOG, key).mappings()],
            frozenset(connection.execute(_TAKEN, key).scalars()),
        )


def _names(folder: str) -> Iterator[str]:
    return (files.session_file(folder, SESSION_LOG.file_name, number) for number in count(1))


def _write(db: Session, life: Life, session_id: UUID, file: KeptFile) -> None:
    rows.write_artifacts(db, [rows.artifact_row(file, session_id, now=life.now)])
