"""The book of sessions: each change of state is one committed transaction, each page kept with its files."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from uuid import UUID, uuid4

from attrs import frozen

from crawler import logs
from crawler.capture.failures import Cause
from crawler.db import lookup
from crawler.db.models import CrawlSession, Page
from crawler.errors import LockedError
from crawler.evidence.files import KeptFile, files_of
from crawler.sessions import batches
from crawler.sessions import rows as sessions_rows
from crawler.sessions.log_export import export_of
from crawler.sessions.outcome import Outcome, PageResult
from crawler.sessions.visit import Visit
from crawler.sessions.writes import GroupCommit, Write, lines_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from sqlalchemy.orm import Session

    from crawler.capture.items import PageCapture
    from crawler.config import Settings
    from crawler.db.engine import Database, Transaction
    from crawler.evidence.blobs import BlobStore
    from crawler.sessions.journal import Journal

T = TypeVar("T")
log = logs.get_logger(__name__)
SHORT_DAYS = 7
LONG_DAYS = 30


@frozen
class KeptPage:
    """A page that is in the book, and its files."""

    page: Page
    files: tuple[KeptFile, ...]


@frozen
class OpenBatch:
    """A URL file that is being worked through."""

    id: int
    urls: frozenset[str]  # what has a session already
    left: tuple[tuple[UUID, sessions_rows.SessionOrder], ...]  # sessions to go on with


class Hooks(Protocol):
    """Writes along in the book's transactions."""

    def page_kept(self, db: Session, capture: PageCapture, page: Page, files: Sequence[KeptFile]) -> None:
        """Called when a page's rows were written; what it raises takes them back."""

    def sessions_ended(self, db: Session, session_ids: Sequence[UUID], now: datetime) -> None:
        """Called when the ends of sessions were written."""


class SessionStore:
    """Writes sessions for one process, under one owner's name. All of it blocks: call it in a thread."""

    def __init__(
        self, settings: Settings, database: Database, blobs: BlobStore, hooks: Sequence[Hooks] = ()
    ) -> None:
        self.settings = settings
        self.database = database
        self.blobs = blobs
        self.hooks = hooks
        self.owner = sessions_rows.new_owner()
        # How long what this process writes holds for a sign of its life.
        self.ttl = timedelta(seconds=settings.domain_lock_ttl_seconds)
        self._group = GroupCommit(database, blobs, self._life)

    # ── its states ──

    def queue(self, orders: Iterable[sessions_rows.SessionOrder], snapshot: dict[str, Any]) -> list[UUID]:
        """Write sessions as queued."""
        named = {uuid4(): order for order in orders}
        with self.database.write() as db:
            sessions_rows.create(db, named, owner=self.owner, snapshot=snapshot, life=self._life(db))
        return list(named)

    def requeue(self, session: str) -> tuple[UUID, sessions_rows.SessionOrder]:
        """Queue an ended or abandoned session again; its id may be cut short."""
        with self.database.write() as db:
            found = lookup.find(db, CrawlSession, session)
            row = sessions_rows.requeue(db, found.id, owner=self.owner, life=self._life(db))
            return row.id, sessions_rows.order_of(row)

    def open_batch(self, source: str) -> OpenBatch:
        """The batch of a URL file that was interrupted, with what is left of it; else a new one."""
        with self.database.write() as db:
            life = self._life(db)
            batch = batches.open_batch(db, source)
            if batch is None or batches.close_finished(db, batch.id, life.now):
                return OpenBatch(batches.begin_batch(db, source, life.now).id, frozenset(), ())
            rows = batches.take_up(db, batch, owner=self.owner, life=life)
            if not rows:
                seconds = math.ceil(batches.free_in(db, batch, life.now).total_seconds())
                raise LockedError(
                    f"another process is working through {source}",
                    hint=f"if that process has died, its file is free in {seconds} s",
                )
            left = tuple((row.id, sessions_rows.order_of(row)) for row in rows)
            return OpenBatch(batch.id, frozenset(batches.urls_of(db, batch)), left)

    def close_batch(self, batch_id: int) -> None:
        """Mark a batch as finished if nothing of it is left to do."""
        with self.database.write() as db:
            batches.close_finished(db, batch_id, db.now)

    def refuse(self, session_id: UUID, outcome: Outcome, journal: Journal) -> None:
        """End a session that never ran, and export its log."""
        with self.database.write() as db:
            now = db.now
            if sessions_rows.finish_queued(db, session_id, self.owner, outcome, now=now):
                self._tell_end(db, [session_id], now)
            sessions_rows.write_log(db, [sessions_rows.log_row(session_id, line) for line in journal.take()])
        self.export_log(session_id)

    def release_queued(self) -> None:
        """Let go of everything that this process queued and did not begin."""
        with self.database.write() as db:
            now = db.now
            ended = sessions_rows.release_queued(db, self.owner, now)
            self._tell_end(db, ended, now)
        for session_id in ended:
            self.export_log(session_id)

    def beat(self, visit: Visit) -> bool:
        """Say that a session lives; False when somebody else has it."""
        with self.database.write() as db:
            return sessions_rows.beat(db, visit.fence, self._life(db))

    def beat_queued(self) -> None:
        """Say that the sessions which wait in this process live."""
        with self.database.write() as db:
            sessions_rows.beat_queued(db, self.owner, self._life(db))

    def abandon_stale(self) -> list[UUID]:
        """End the sessions whose process is gone, and export what their logs have."""
        with self.database.read() as db:
            if not sessions_rows.any_stale(db, db.now):
                return []
        with self.database.write() as db:
            now = db.now
            rows = sessions_rows.abandon_stale(db, now)
            self._tell_end(db, [row.id for row in rows], now)
        for row in rows:
            log.warning("session.abandoned", session_id=str(row.id), domain=row.domain, owner=row.owner)
            self.export_log(row.id)
        return [row.id for row in rows]

    def _life(self, db: Transaction) -> sessions_rows.Life:
        now = db.now
        return sessions_rows.Life(now, now + self.ttl)

    def _tell_end(self, db: Session, session_ids: Sequence[UUID], now: datetime) -> None:
        for hook in self.hooks:
            hook.sessions_ended(db, session_ids, now)

    # ── visits, as writes ──

    def post(self, write: Write[T]) -> T:
        """Write one write by itself."""
        self.commit([write])
        return write.result

    def commit(self, writes: Sequence[Write[Any]]) -> None:
        """Write writes that came at the same time; each carries what became of it."""
        self._group.commit(writes)

    def start(
        self,
        session_id: UUID,
        order: sessions_rows.SessionOrder,
        journal: Journal,
        then: Callable[[Visit], object] | None = None,
    ) -> Write[Visit]:
        """Begin a queued session."""

        def write(db: Session, life: sessions_rows.Life) -> Visit:
            return _visit(sessions_rows.start(db, session_id, owner=self.owner, life=life), order, journal)

        return Write(write, then=lambda visit: _has_begun(visit, then))

    def start_new(
        self,
        order: sessions_rows.SessionOrder,
        journal: Journal,
        snapshot: dict[str, Any],
        then: Callable[[Visit], object] | None = None,
    ) -> Write[Visit]:
        """Write a session, under its journal's id, and begin it."""

        def write(db: Session, life: sessions_rows.Life) -> Visit:
            sessions_rows.create(db, {journal.key: order}, owner=self.owner, snapshot=snapshot, life=life)
            return _visit(sessions_rows.start(db, journal.key, owner=self.owner, life=life), order, journal)

        return Write(write, then=lambda visit: _has_begun(visit, then))

    def keep(self, visit: Visit, capture: PageCapture) -> Write[KeptPage]:
        """Store a page; a row exists only for a file that does."""
        files = files_of(visit, capture)

        def write(db: Session, life: sessions_rows.Life) -> KeptPage:
            row = sessions_rows.page_row(visit.fence, capture, life.now)
            sessions_rows.write_page(db, row)
            sessions_rows.write_artifacts(
                db, [self._artifact_row(visit, file, capture.page_id, life.now) for file in files]
            )
            page = Page(**row)
            for hook in self.hooks:
                hook.page_kept(db, capture, page, files)
            return KeptPage(page, tuple(files))

        def note(_: KeptPage) -> None:
            visit.kept.add(capture.page_id)
            visit.pages.append(PageResult(capture.page_type, capture.ok, capture.cause))
            visit.low_confidence = visit.low_confidence or bool(capture.low_confidence_reasons)

        return Write(write, files, fence=visit.fence, journal=visit.journal, then=note)

    def finish(self, visit: Visit) -> Write[Outcome]:
        """End a running session."""
        outcome = visit.outcome()
        visit.journal.info(
            "session", "session.end", status=outcome.status, summary=outcome.summary, cause=outcome.cause
        )

        def write(db: Session, life: sessions_rows.Life) -> Outcome:
            sessions_rows.finish(
                db, visit.fence, outcome, now=life.now,
                pdp_url=visit.pdp_url, final_url=visit.final_url, low_confidence=visit.low_confidence,
            )  # fmt: skip
            self._tell_end(db, [visit.fence.session_id], life.now)
            return outcome

        return Write(write, journal=visit.journal)

    def put_back(self, visit: Visit) -> Write[None]:
        """Leave a batch's session for the next start of its batch."""
        visit.journal.info("session", "session.put_back")
        return Write(
            lambda db, _: sessions_rows.put_back(db, visit.fence), fence=visit.fence, journal=visit.journal
        )

    def close_log(self, visit: Visit) -> Write[None]:
        """Write the last lines of a session's log (its locks were let go of after its end), and export it."""
        export = export_of(self.database, visit.fence.session_id, visit.journal)
        return export or lines_of(visit.journal)

    def export_log(self, session_id: UUID) -> None:
        """Write a session's log as a file; a failure is logged and changes nothing (SPEC F145)."""
        try:
            write = export_of(self.database, session_id)
            if write is not None:
                self.post(write)
        except Exception as error:
            log.exception("session.log_export_failed", session_id=str(session_id), error=str(error))

    def _artifact_row(self, visit: Visit, file: KeptFile, page_id: UUID, now: datetime) -> dict[str, Any]:
        until = now + self._kept_for(visit.order.retention_policy) if file.type.expires else None
        return sessions_rows.artifact_row(file, visit.fence.session_id, now=now, page_id=page_id, until=until)

    def _kept_for(self, retention_policy: str) -> timedelta:
        """How long the HTML of a session stays."""
        standard = self.settings.html_retention_days
        return timedelta(days={"short": SHORT_DAYS, "long": LONG_DAYS}.get(retention_policy, standard))


def _visit(fence: sessions_rows.Fence, order: sessions_rows.SessionOrder, journal: Journal) -> Visit:
    # A run takes what its tasks name; it looks for no product page.
    return Visit(fence, order, journal, missing_pdp=None if order.run_id else Cause.NO_CANDIDATES)


def _has_begun(visit: Visit, then: Callable[[Visit], object] | None) -> None:
    order = visit.order
    visit.journal.info("session", "session.start", epoch=visit.fence.epoch, url=order.url, mode=order.mode)
    if then is not None:
        then(visit)
