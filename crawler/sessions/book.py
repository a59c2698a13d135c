"""The book of sessions: each change of state is one committed transaction, each page kept with its files."""

from __future__ import annotations

import math
from contextlib import contextmanager
from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING, Any, Protocol
from uuid import UUID, uuid4

from attrs import frozen
from sqlalchemy import select

from crawler import logs
from crawler.db.models import Artifact, CrawlLog, Page
from crawler.errors import LockedError
from crawler.evidence import naming, packing
from crawler.evidence.blobs import BlobExistsError
from crawler.sessions import batches, store
from crawler.sessions.files import KeptFile, artifact_row, files_of
from crawler.sessions.journal import Journal, as_jsonl, storable, storable_tree
from crawler.sessions.outcome import Cause, Outcome, PageResult
from crawler.sessions.visit import Visit

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence
    from datetime import datetime

    from sqlalchemy.orm import Session

    from crawler.config import Settings
    from crawler.db.engine import Database
    from crawler.evidence.blobs import BlobStore
    from crawler.sessions.items import PageCapture

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
    left: tuple[tuple[UUID, store.SessionOrder], ...]  # sessions to go on with


class Clerk(Protocol):
    """Writes along in the book's transactions."""

    def page_kept(self, db: Session, capture: PageCapture, page: Page, files: Sequence[KeptFile]) -> None:
        """Called when a page's rows were written; what it raises takes them back."""

    def sessions_ended(self, db: Session, session_ids: Sequence[UUID], now: datetime) -> None:
        """Called when the ends of sessions were written."""


class SessionBook:
    """Writes sessions for one process, under one owner's name. All of it blocks: call it in a thread."""

    def __init__(
        self, settings: Settings, database: Database, blobs: BlobStore, clerks: Sequence[Clerk] = ()
    ) -> None:
        self.settings = settings
        self.database = database
        self.blobs = blobs
        self.clerks = clerks
        self.owner = store.new_owner()
        # How long what this process writes holds for a sign of its life.
        self.ttl = timedelta(seconds=settings.domain_lock_ttl_seconds)

    # ── its states ──

    def queue(self, orders: Iterable[store.SessionOrder], snapshot: dict[str, Any]) -> list[UUID]:
        """Write sessions as queued."""
        named = {uuid4(): order for order in orders}
        with self.database.write() as db:
            store.create(db, named, owner=self.owner, snapshot=snapshot, life=self._life(db))
        return list(named)

    def requeue(self, session: str) -> tuple[UUID, store.SessionOrder]:
        """Queue an ended or abandoned session again; its id may be cut short."""
        with self.database.write() as db:
            found = store.find(db, session)
            row = store.requeue(db, found.id, owner=self.owner, life=self._life(db))
            return row.id, store.order_of(row)

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
            left = tuple((row.id, store.order_of(row)) for row in rows)
            return OpenBatch(batch.id, frozenset(batches.urls_of(db, batch)), left)

    def close_batch(self, batch_id: int) -> None:
        """Mark a batch as finished if nothing of it is left to do."""
        with self.database.write() as db:
            batches.close_finished(db, batch_id, self.database.now(db))

    def start(self, session_id: UUID, order: store.SessionOrder, journal: Journal) -> Visit:
        """Begin a queued session."""
        with self.database.write() as db:
            fence = store.start(db, session_id, owner=self.owner, life=self._life(db))
        return _visit(fence, order, journal)

    def start_new(
        self, session_id: UUID, order: store.SessionOrder, journal: Journal, snapshot: dict[str, Any]
    ) -> Visit:
        """Write a session and begin it, in one transaction."""
        with self.database.write() as db:
            life = self._life(db)
            store.create(db, {session_id: order}, owner=self.owner, snapshot=snapshot, life=life)
            fence = store.start(db, session_id, owner=self.owner, life=life)
        return _visit(fence, order, journal)

    def refuse(self, session_id: UUID, outcome: Outcome, journal: Journal) -> None:
        """End a session that never ran, and export its log."""
        with self.database.write() as db:
            now = self.database.now(db)
            if store.finish_queued(db, session_id, self.owner, outcome, now=now):
                self._tell_end(db, [session_id], now)
            store.write_log(db, session_id, journal.take())
        self.export_log(session_id)

    def finish(self, visit: Visit) -> Outcome:
        """End a running session."""
        outcome = visit.outcome()
        visit.journal.info(
            "session", "session.end", status=outcome.status, summary=outcome.summary, cause=outcome.cause
        )
        with self._journalled(visit) as db:
            now = self.database.now(db)
            store.finish(
                db, visit.fence, outcome, now=now,
                pdp_url=visit.pdp_url, final_url=visit.final_url, low_confidence=visit.low_confidence,
            )  # fmt: skip
            self._tell_end(db, [visit.fence.session_id], now)
        return outcome

    def close_log(self, visit: Visit) -> None:
        """Write the last lines of a session's log (its locks were let go of after its end), and export it."""
        with self.database.write() as db:
            store.write_log(db, visit.fence.session_id, visit.journal.take())
        self.export_log(visit.fence.session_id)

    def put_back(self, visit: Visit) -> None:
        """Leave a batch's session for the next start of its batch."""
        visit.journal.info("session", "session.put_back")
        with self._journalled(visit) as db:
            store.require(db, visit.fence, self._life(db))
            store.put_back(db, visit.fence)

    def release_queued(self) -> None:
        """Let go of everything that this process queued and did not begin."""
        with self.database.write() as db:
            now = self.database.now(db)
            ended = store.release_queued(db, self.owner, now)
            self._tell_end(db, ended, now)
        for session_id in ended:
            self.export_log(session_id)

    def beat(self, visit: Visit) -> bool:
        """Say that a session lives; False when somebody else has it."""
        with self.database.write() as db:
            return store.beat(db, visit.fence, self._life(db))

    def beat_queued(self) -> None:
        """Say that the sessions which wait in this process live."""
        with self.database.write() as db:
            store.beat_queued(db, self.owner, self._life(db))

    def abandon_stale(self) -> list[UUID]:
        """End the sessions whose process is gone, and export what their logs have."""
        with self.database.read() as db:
            if not store.any_stale(db, self.database.now(db)):
                return []
        with self.database.write() as db:
            now = self.database.now(db)
            rows = store.abandon_stale(db, now)
            self._tell_end(db, [row.id for row in rows], now)
        for row in rows:
            log.warning("session.abandoned", session_id=str(row.id), domain=row.domain, owner=row.owner)
            self.export_log(row.id)
        return [row.id for row in rows]

    def _life(self, db: Session) -> store.Life:
        now = self.database.now(db)
        return store.Life(now, now + self.ttl)

    def _tell_end(self, db: Session, session_ids: Sequence[UUID], now: datetime) -> None:
        for clerk in self.clerks:
            clerk.sessions_ended(db, session_ids, now)

    # ── what it keeps ──

    def keep_page(self, visit: Visit, capture: PageCapture) -> KeptPage:
        """Publish a page's files, then write its rows: a row exists only for a file that does."""
        files = files_of(visit, capture)
        self.blobs.publish_all({file.uri: file.packed.data for file in files})
        try:
            page = self._write_page(visit, capture, files)
        except BaseException:
            self._withdraw_unclaimed(files)
            raise
        visit.kept.add(capture.page_id)
        visit.pages.append(PageResult(capture.page_type, capture.ok, capture.trouble))
        visit.low_confidence = visit.low_confidence or bool(capture.low_confidence_reasons)
        return KeptPage(page, tuple(files))

    def _write_page(self, visit: Visit, capture: PageCapture, files: Sequence[KeptFile]) -> Page:
        with self._journalled(visit) as db:
            life = self._life(db)
            now = life.now
            store.require(db, visit.fence, life)
            page = _page_row(visit, capture, now)
            db.add(page)
            db.flush()
            store.write_artifacts(
                db, [self._artifact_row(visit, file, capture.page_id, now) for file in files]
            )
            for clerk in self.clerks:
                clerk.page_kept(db, capture, page, files)
        return page

    def export_log(self, session_id: UUID) -> None:
        """Write a session's log as a file; a failure is logged and changes nothing (SPEC F145)."""
        try:
            self._export_log(session_id)
        except Exception as error:
            log.exception("session.log_export_failed", session_id=str(session_id), error=str(error))

    def _export_log(self, session_id: UUID) -> None:
        with self.database.read() as db:
            session = store.get(db, session_id)
            if session.status not in store.ENDED:
                return  # it goes on with the next start of its batch
            rows = db.scalars(
                select(CrawlLog)
                .where(CrawlLog.session_id == session_id)
                .order_by(CrawlLog.timestamp, CrawlLog.id)
            )
            packed = packing.plain(as_jsonl(rows))
        kind = "session_logs_jsonl"
        folder = naming.session_folder(session.domain, session.id, session.epoch)
        uri = self._publish_log(lambda number: naming.session_file(folder, kind, number), packed.data)
        with self.database.write() as db:
            now = self.database.now(db)
            file = KeptFile(kind, uri, packed, "application/jsonl", "utf-8")
            store.write_artifacts(db, [artifact_row(file, session_id, now=now)])

    def _publish_log(self, name: Callable[[int], str], data: bytes) -> str:
        """Publish under the first name that no row claims; what a dead process left there gives way."""
        for number in count(1):
            uri = name(number)
            with self.database.read() as db:
                if db.scalar(select(Artifact.id).where(Artifact.storage_uri == uri).limit(1)):
                    continue
            try:
                self.blobs.publish(uri, data)
            except BlobExistsError:
                self.blobs.delete(uri)
                self.blobs.publish(uri, data)
            return uri
        raise AssertionError  # numbers do not end

    def _withdraw_unclaimed(self, files: Sequence[KeptFile]) -> None:
        """Take files back, unless the write went through and only its answer got lost.

        Where nobody can tell, they stay: a file without a row does no harm, and the orphan scan finds it.
        """
        try:
            with self.database.read() as db:
                uris = [file.uri for file in files]
                if db.scalar(select(Artifact.id).where(Artifact.storage_uri.in_(uris)).limit(1)):
                    return
        except Exception:
            log.exception("artifact.left_behind", uris=[file.uri for file in files])
            return
        self._withdraw(files)

    def _withdraw(self, files: Sequence[KeptFile]) -> None:
        for file in files:
            try:
                self.blobs.delete(file.uri)
            except Exception:
                log.exception("artifact.withdraw_failed", uri=file.uri)

    def _artifact_row(self, visit: Visit, file: KeptFile, page_id: UUID, now: datetime) -> dict[str, Any]:
        until = now + self.kept_for(visit.order.retention_policy) if file.type == "html_gz" else None
        return artifact_row(file, visit.fence.session_id, now=now, page_id=page_id, until=until)

    def kept_for(self, retention_policy: str) -> timedelta:
        """How long the HTML of a session stays."""
        standard = self.settings.html_retention_days
        return timedelta(days={"short": SHORT_DAYS, "long": LONG_DAYS}.get(retention_policy, standard))

    @contextmanager
    def _journalled(self, visit: Visit) -> Generator[Session]:
        """A write that also stores the lines which the journal has collected."""
        lines = visit.journal.take()
        try:
            with self.database.write() as db:
                yield db
                store.write_log(db, visit.fence.session_id, lines)
        except BaseException:
            visit.journal.give_back(lines)
            raise


def _visit(fence: store.Fence, order: store.SessionOrder, journal: Journal) -> Visit:
    journal.info("session", "session.start", epoch=fence.epoch, url=order.url, mode=order.mode)
    # A run takes what its tasks name; it looks for no product page.
    return Visit(fence, order, journal, missing_pdp=None if order.run_id else Cause.NO_CANDIDATES)


def _page_row(visit: Visit, capture: PageCapture, now: datetime) -> Page:
    return Page(
        id=capture.page_id,
        session_id=visit.fence.session_id,
        epoch=visit.fence.epoch,
        page_type=capture.page_type,
        viewport=capture.viewport,
        status="ok" if capture.ok else "failed",
        url=storable(capture.url),
        http_status=capture.http_status,
        low_confidence_reasons=list(capture.low_confidence_reasons),
        load_timings=capture.load_timings,
        verdict=storable_tree(capture.verdict),
        facts=storable_tree(capture.facts),
        created_at=now,
    )
