"""The writes of a visit beside its pages: its start, its end, and its log."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import bindparam, or_, update

from crawler import logs
from crawler.capture.failures import Cause
from crawler.db.models import CrawlSession
from crawler.sessions import rows
from crawler.sessions.journal import log_file
from crawler.sessions.outcome import Outcome, Status
from crawler.sessions.page_rows import write_artifacts
from crawler.sessions.rows import Fence, StaleSessionError
from crawler.sessions.visit import ProductPage, Visit
from crawler.sessions.writes import Write

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from sqlalchemy import Table

    from crawler.db.engine import Database, Transaction
    from crawler.evidence.files import KeptFile
    from crawler.sessions.journal import Journal
    from crawler.sessions.rows import SessionOrder
    from crawler.sessions.store import SessionStore
    from crawler.sessions.write_queue import WriteQueue

log = logs.get_logger(__name__)
# Built once: building a statement costs more than running it.
_SESSIONS = cast("Table", CrawlSession.__table__)
_START = (
    update(_SESSIONS)
    .where(
        _SESSIONS.c.id == bindparam("its_id"),
        # What has no owner waits for anybody.
        or_(_SESSIONS.c.owner == bindparam("its_owner"), _SESSIONS.c.owner.is_(None)),
        _SESSIONS.c.status == Status.QUEUED,
    )
    .values(
        status=Status.RUNNING,
        owner=bindparam("its_owner"),
        epoch=_SESSIONS.c.epoch + 1,
        started_at=bindparam("heartbeat_at"),
        heartbeat_at=bindparam("heartbeat_at"),
        alive_until=bindparam("alive_until"),
    )
    .returning(_SESSIONS.c.epoch)
)


class StartWrite(Write[Visit]):
    """Starts a queued session under a new epoch; with a snapshot of the settings the session is created."""

    def __init__(
        self,
        sessions: SessionStore,
        order: SessionOrder,
        journal: Journal,
        snapshot: dict[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self.sessions = sessions
        self.order = order
        self.visit_journal = journal  # its lines are written once the session has started
        self.snapshot = snapshot

    def write_rows(self, db: Transaction) -> Visit:
        """Write the start; StaleSessionError if the session is not queued for this process."""
        journal, order, owner, ttl = self.visit_journal, self.order, self.sessions.owner, self.sessions.ttl
        if self.snapshot is not None:
            rows.create(db, {journal.key: order}, owner=owner, snapshot=self.snapshot, ttl=ttl)
        its = {"its_id": journal.key, "its_owner": owner, **rows.alive(db, ttl)}
        epoch = db.connection().execute(_START, its).scalar_one_or_none()
        if epoch is None:
            raise StaleSessionError
        # A run takes what its tasks name; it looks for no product page.
        missing = None if order.run_id else Cause.NO_CANDIDATES
        return Visit(Fence(journal.key, owner, epoch), order, journal, pdp=ProductPage(missing=missing))

    def committed(self, visit: Visit) -> None:
        """Log the start."""
        order = self.order
        given = {"given": order.given_url} if order.given_url else {}
        visit.journal.info(
            "session", "session.start", epoch=visit.fence.epoch, url=order.url, mode=order.mode, **given
        )


class EndWrite(Write[Outcome]):
    """Ends a running session, as it was stopped or as its pages say."""

    def __init__(self, sessions: SessionStore, visit: Visit) -> None:
        super().__init__(journal=visit.journal)
        self.sessions = sessions
        self.visit = visit
        self.outcome = outcome = visit.stopped or visit.outcome
        self.is_doubted = any(page.is_doubted for page in visit.results)
        visit.journal.info(
            "session", "session.end", status=outcome.status, summary=outcome.summary, cause=outcome.cause
        )

    def write_rows(self, db: Transaction) -> Outcome:
        """Write the end; StaleSessionError if the session is another process's by now."""
        visit, outcome = self.visit, self.outcome
        is_ours = rows.change(
            db, visit.fence, status=outcome.status, error_summary=outcome.summary, cause=outcome.cause,
            finished_at=db.now, heartbeat_at=db.now,
            pdp_url=visit.pdp.url, final_url=visit.final_url, low_confidence=self.is_doubted,
        )  # fmt: skip
        if not is_ours:
            raise StaleSessionError
        self.sessions.tell_end(db, [visit.fence.session_id])
        return outcome


class PutBackWrite(Write[None]):
    """Queues a running session of a batch or a fleet again, for whoever takes it up next."""

    def __init__(self, visit: Visit) -> None:
        super().__init__(visit.fence, visit.journal)
        self.visit = visit
        visit.journal.info("session", "session.put_back")

    def write_rows(self, db: Transaction) -> None:
        """Write it as queued, and nobody's."""
        rows.change(db, self.visit.fence, status=Status.QUEUED, **rows.NOBODYS)


class LogWrite(Write[None]):
    """Writes the last lines of a session's log, and all of it as a file if the session has ended."""

    replaces = True

    def __init__(
        self, database: Database, session_id: UUID, journal: Journal | None = None, *, as_file: bool = True
    ) -> None:
        super().__init__(journal=journal)
        self.database = database
        self.session_id = session_id
        self.as_file = as_file

    @cached_property
    def files(self) -> Sequence[KeptFile]:
        """The exported log."""
        if not self.as_file:
            return ()
        file, self.lines = log_file(self.database, self.session_id, self.journal)
        return () if file is None else (file,)

    def write_rows(self, db: Transaction) -> None:
        """Write the row of the file."""
        write_artifacts(db, self.files, self.session_id)


async def close_log(writes: WriteQueue, visit: Visit) -> None:
    """Write the last lines of a log, which report what came after the end, and export it."""
    session_id, journal = visit.fence.session_id, visit.journal
    try:
        await writes.post(LogWrite(writes.database, session_id, journal))
    except Exception as error:
        log.exception("session.log_export_failed", session_id=str(session_id), error=str(error))
        await writes.post(LogWrite(writes.database, session_id, journal, as_file=False))
