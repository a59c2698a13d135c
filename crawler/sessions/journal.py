"""A session's log: each line is told at once, goes to rows with the next write, and ends in a file."""

from __future__ import annotations

import json
import threading
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from uuid import UUID

from sqlalchemy import bindparam, insert, select

from crawler import clock, logs
from crawler.capture.artifact_types import SESSION_LOG
from crawler.db.models import Artifact, CrawlLog, CrawlSession
from crawler.evidence.files import session_log
from crawler.sessions.rows import ENDED
from crawler.storable import as_json
from crawler.urls import redacted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from sqlalchemy import Table
    from sqlalchemy.orm import Session

    from crawler.db.engine import Database
    from crawler.evidence.files import KeptFile

# Built once: building a statement costs more than running it.
_LINES = cast("Table", CrawlLog.__table__)
_SESSIONS = cast("Table", CrawlSession.__table__)
_ARTIFACTS = cast("Table", Artifact.__table__)
_SESSION = select(_SESSIONS.c.status, _SESSIONS.c.domain, _SESSIONS.c.epoch).where(
    _SESSIONS.c.id == bindparam("its_id")
)
_INSERT = insert(_LINES)
_LOG = (
    select(*(_LINES.c[name] for name in ("timestamp", "level", "event_type", "message", "details")))
    .where(_LINES.c.session_id == bindparam("its_id"))
    .order_by(_LINES.c.timestamp, _LINES.c.id)
)
_TAKEN = select(_ARTIFACTS.c.storage_uri).where(
    _ARTIFACTS.c.session_id == bindparam("its_id"), _ARTIFACTS.c.type == SESSION_LOG.name
)


class LogLine(NamedTuple):
    """One line of a session's log (SPEC F145)."""

    timestamp: datetime
    level: str
    event_type: str
    message: str
    details: dict[str, Any]


class Journal:
    """Collects the lines of one session; safe to call from any thread."""

    def __init__(self, session_id: str, domain: str) -> None:
        self.session_id = session_id
        self.key = UUID(session_id)
        self._log = logs.get_logger("crawler.session").bind(session_id=session_id, domain=domain)
        self._lock = threading.Lock()
        self._waiting: list[LogLine] = []

    def info(self, event_type: str, message: str, **details: Any) -> None:
        """Note what happened."""
        self._log.info(message, **details)
        self._keep("info", event_type, message, details)

    def warn(self, event_type: str, message: str, **details: Any) -> None:
        """Note what went wrong without ending the session."""
        self._log.warning(message, **details)
        self._keep("warn", event_type, message, details)

    def error(self, event_type: str, message: str, **details: Any) -> None:
        """Note what ended a page or the session."""
        self._log.error(message, **details)
        self._keep("error", event_type, message, details)

    def take(self) -> list[LogLine]:
        """The lines that were not written yet; the caller writes them."""
        with self._lock:
            lines, self._waiting = self._waiting, []
        return lines

    def give_back(self, lines: list[LogLine]) -> None:
        """Keep lines for the next write, because this one failed."""
        with self._lock:
            self._waiting[:0] = lines

    def _keep(self, level: str, event_type: str, message: str, details: dict[str, Any]) -> None:
        details.pop("exc_info", None)
        told = as_json(details, depth=1).items()
        shown = {name: redacted(value) if isinstance(value, str) else value for name, value in told}
        line = LogLine(clock.utc_now(), level, event_type, message, shown)
        with self._lock:
            self._waiting.append(line)


def write_log(db: Session, lines: Iterable[tuple[UUID, LogLine]]) -> None:
    """Write lines of the logs of sessions."""
    rows = [{"session_id": session_id, **line._asdict()} for session_id, line in lines]
    if rows:
        db.connection().execute(_INSERT, rows)


def log_file(
    database: Database, session_id: UUID, journal: Journal | None = None
) -> tuple[KeptFile | None, list[LogLine]]:
    """An ended session's log as a file (SPEC F145), and the last lines of its journal: the caller's to write.

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
