"""Files without a row and rows without a file: what a crash, a restored backup or a stray hand leaves."""

from __future__ import annotations

import math
import time
from datetime import timedelta
from itertools import chain, islice
from typing import TYPE_CHECKING

from attrs import define, field, frozen
from sqlalchemy import select, update

from crawler import logs
from crawler.capture.artifact_types import EXPIRING_FILES
from crawler.db.models.evidence import Artifact
from crawler.evidence.blobs import StoreUnavailableError, UnsafePathError
from crawler.evidence.bodies import is_readable, readable_after, still_readable
from crawler.evidence.store_mark import owned_since, require_store
from crawler.retention.claims import note_gone_warcs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from uuid import UUID

    from crawler.db.engine import Database
    from crawler.evidence.blobs import BlobEntry, BlobStore

log = logs.get_logger(__name__)
GRACE = timedelta(hours=72)  # a younger file may still get its row
GROUP_ROWS = 500
UNCLAIMED_AFTER = timedelta(days=1)


@frozen
class LostRow:
    """A live row whose file is not there."""

    id: UUID
    session_id: UUID
    type: str
    storage_uri: str
    size_bytes: int
    legal_hold: bool
    unsafe_path: bool  # its file may well be there, behind a link; it is never marked


@define
class OrphanReport:
    """What a scan found, and what it did about it."""

    files_seen: int = 0
    rows_seen: int = 0
    files: list[BlobEntry] = field(factory=list)  # without a live row, and older than the grace period
    rows: list[LostRow] = field(factory=list)  # live, and without a file
    removed: int = 0  # of the files
    removed_bytes: int = 0
    marked: int = 0  # of the rows


@frozen
class OrphanOrder:
    """What a scan may do."""

    grace: timedelta = GRACE
    delete_files: bool = False
    mark_rows: bool = False  # not those under legal hold


def find_orphans(
    database: Database,
    blobs: BlobStore,
    order: OrphanOrder,
    on_progress: Callable[[OrphanReport], None] = lambda _: None,
) -> OrphanReport:
    """Compare this database and its store both ways; change nothing unless the order says so."""
    require_store(database, blobs)
    scan = _Scan(database, blobs, order)
    for _ in chain(scan.look_at_files(), scan.look_at_rows()):
        on_progress(scan.report)
    if order.mark_rows:
        scan.mark()
    return scan.report


def unclaimed_files(
    database: Database, blobs: BlobStore, *, seconds: float | None = None
) -> Iterator[list[BlobEntry]]:
    """Yield, in groups, the files that expire by their type, never got a row, and so have no date to go on.

    Their writer died between file and row, a day ago or more. Files from before the store became this
    database's are left alone: another database may have their rows.
    """
    owned = owned_since(database)
    if owned is None:
        return
    until = math.inf if seconds is None else time.monotonic() + seconds
    entries = _expiring_in(database, blobs)
    while time.monotonic() < until and (group := list(islice(entries, GROUP_ROWS))):
        with database.read() as db:
            youngest = db.now - UNCLAIMED_AFTER
            old = {entry.uri: entry for entry in group if owned <= entry.modified < youngest}
            query = select(Artifact.storage_uri).where(Artifact.storage_uri.in_(list(old)))
            named = set(db.scalars(query))
        yield [old[uri] for uri in sorted(old.keys() - named)]


def remove_unclaimed(
    database: Database, blobs: BlobStore, *, seconds: float | None = None
) -> Iterator[BlobEntry]:
    """Remove the unclaimed files; yield each that is gone."""
    for group in unclaimed_files(database, blobs, seconds=seconds):
        by_uri = {entry.uri: entry for entry in group}
        for removal in blobs.delete_all(by_uri):
            if removal.error:
                log.warning("retention_unclaimed.failed", storage_uri=removal.uri, error=str(removal.error))
            elif removal.found:
                log.info("retention_unclaimed.deleted", storage_uri=removal.uri)
                yield by_uri[removal.uri]


def _expiring_in(database: Database, blobs: BlobStore) -> Iterator[BlobEntry]:
    """The files in the store that expire; none where there is no store yet, as no row needs one."""
    try:
        yield from blobs.entries(EXPIRING_FILES)
    except StoreUnavailableError:
        with database.read() as db:
            if db.scalar(select(Artifact.id).where(is_readable(db.now)).limit(1)) is not None:
                raise


@define(eq=False)
class _Scan:
    """Goes through the store and then through the table, a group at a time, each yield a step."""

    database: Database
    blobs: BlobStore
    order: OrphanOrder
    report: OrphanReport = field(factory=OrphanReport)

    def look_at_files(self) -> Iterator[None]:
        entries = self.blobs.entries()
        while group := list(islice(entries, GROUP_ROWS)):
            orphans = self._without_row(group)
            self.report.files_seen += len(group)
            self.report.files += orphans
            if self.order.delete_files:
                self._remove(orphans)
            yield

    def look_at_rows(self) -> Iterator[None]:
        last: UUID | None = None
        while rows := readable_after(self.database, last, GROUP_ROWS):
            last = rows[-1].id
            self.report.rows_seen += len(rows)
            self.report.rows += self._without_file(rows)
            yield

    def mark(self) -> None:
        """Say in the rows that their files are gone; a hold keeps even a row without a file."""
        if self.report.rows and not self.report.files_seen:
            raise StoreUnavailableError(
                "the artifact store is empty, but rows name files in it; none was marked",
                hint="check ARTIFACTS_DIR, and that its volume is mounted",
            )
        missing = [row.id for row in self.report.rows if not row.unsafe_path]
        for start in range(0, len(missing), GROUP_ROWS):
            self._mark(missing[start : start + GROUP_ROWS])

    def _without_row(self, group: Sequence[BlobEntry]) -> list[BlobEntry]:
        query = select(Artifact.storage_uri).where(
            Artifact.storage_uri.in_([entry.uri for entry in group]), Artifact.deleted_at.is_(None)
        )
        with self.database.read() as db:
            youngest = db.now - self.order.grace
            named = set(db.scalars(query))
        return [entry for entry in group if entry.uri not in named and entry.modified < youngest]

    def _remove(self, orphans: Sequence[BlobEntry]) -> None:
        sizes = {entry.uri: entry.size_bytes for entry in orphans}
        for removal in self.blobs.delete_all(sorted(sizes)):
            if removal.error:
                log.warning("retention_orphans.failed", storage_uri=removal.uri, error=str(removal.error))
            elif removal.found:
                log.info("retention_orphans.deleted", storage_uri=removal.uri, size_bytes=sizes[removal.uri])
                self.report.removed += 1
                self.report.removed_bytes += sizes[removal.uri]

    def _without_file(self, rows: Sequence[Artifact]) -> list[LostRow]:
        suspects = [(row, unsafe) for row in rows for there, unsafe in [self._look(row)] if not there]
        live = still_readable(self.database, [row.id for row, _ in suspects])
        return [
            LostRow(
                row.id, row.session_id, row.type, row.storage_uri, row.size_bytes,
                legal_hold=row.legal_hold, unsafe_path=unsafe,
            )
            for row, unsafe in suspects
            if row.id in live
        ]  # fmt: skip

    def _look(self, row: Artifact) -> tuple[bool, bool]:
        """Whether the file is there, and whether the path is one that cannot be looked at."""
        try:
            return self.blobs.exists(row.storage_uri), False
        except UnsafePathError:
            return False, True

    def _mark(self, ids: Sequence[UUID]) -> None:
        with self.database.write() as db:
            now = db.now
            which = (Artifact.id.in_(ids), is_readable(now), ~Artifact.legal_hold)
            values = {"deleted_at": now, "cleanup_claim": None, "cleanup_claimed_until": None}
            marking = update(Artifact).where(*which).values(**values).returning(Artifact.id)
            marked = db.connection().scalars(marking).all()
            note_gone_warcs(db, marked, now)
        for key in marked:
            log.info("retention_orphans.marked", artifact_id=str(key))
        self.report.marked += len(marked)
