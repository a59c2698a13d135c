"""A session's log as a file: what is in the database, and the lines that go there with it (SPEC F145)."""

from __future__ import annotations

import json
from operator import itemgetter
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import bindparam, select

from crawler.capture.artifact_types import SESSION_LOG
from crawler.db.models import Artifact, CrawlLog, CrawlSession
from crawler.evidence.files import session_log
from crawler.sessions.rows import ENDED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from uuid import UUID

    from sqlalchemy import Table

    from crawler.db.engine import Database
    from crawler.evidence.files import KeptFile
    from crawler.sessions.journal import Journal, LogLine

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


def log_file(
    database: Database, session_id: UUID, journal: Journal | None = None
) -> tuple[KeptFile | None, list[LogLine]]:
    """An ended session's log as a file, with the last lines of its journal, which the caller writes.

    There is no file for a session that goes on, with the next start of its batch. Its name is the first that
    no row claims.
    """
    key = {"its_id": session_id}
    with database.read() as db:
        connection = db.connection()
        status, domain, epoch = connection.execute(_SESSION, key).one()
        written = [dict(row) for row in connection.execute(_LOG, key).mappings()]
        taken = frozenset(connection.execute(_TAKEN, key).scalars())
    last = journal.take() if journal is not None else []
    if status not in ENDED:
        return None, last
    lines = [*written, *(line._asdict() for line in last)]
    content = as_jsonl(sorted(lines, key=itemgetter("timestamp")))
    return session_log(content, domain=domain, session_id=session_id, epoch=epoch, taken=taken), last


def as_jsonl(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """The log as it is exported: one JSON object a line."""
    lines = ({**row, "timestamp": row["timestamp"].isoformat()} for row in rows)
    return b"".join(json.dumps(line, ensure_ascii=False, sort_keys=True).encode() + b"\n" for line in lines)
