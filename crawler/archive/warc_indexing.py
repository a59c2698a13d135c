"""Makes what lies in a job's WARC files findable: every answer has its record, every page its snapshot.

Records are found again by file and offset, snapshots by record: a second pass writes nothing but what
changed, and reads no page that it knows. Rows of what a file does not have any more go when it was read to
its end, and only then; what lies in a damaged stretch, or in a file that is not there, stays as it was found.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from attrs import define, evolve, field, frozen
from sqlalchemy import case, delete, or_, select, update

from crawler.archive import passes, unused, warc_answers
from crawler.archive.writing import ReadPage, no_content, take_turn, write, write_in_turn
from crawler.db.lists import evened
from crawler.db.models import Page, Record, Snapshot, WarcFile
from crawler.db.upsert import insert_rows, taking
from crawler.evidence.unchanged import original_of
from crawler.evidence.warc_checks import FOUND, MOST_NAMED
from crawler.evidence.warc_tools import missing_in
from crawler.html.content import NOTHING_IGNORED, Content, Ignored
from crawler.warc.records import NOT_MODIFIED

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from uuid import UUID

    from sqlalchemy import Table
    from sqlalchemy.orm import Session

    from crawler.archive.warc_answers import Answer, Batch
    from crawler.db.engine import Database

ROWS_AT_ONCE = 500
_FACTS = (
    "length", "record_urn", "kind", "url", "url_key", "captured_at", "mime_type", "status_code",
    "payload_digest", "date_precision", "gone_at",
)  # fmt: skip


@frozen(kw_only=True)
class JobPass:
    """What a pass is about."""

    job_id: int
    source_id: int
    output_dir: Path
    group_by: str = "query"
    again: bool = False  # read pages that were read before
    ignored: Ignored = NOTHING_IGNORED


@frozen(kw_only=True)
class JobResult:
    """What came of a pass so far."""

    files: int = 0
    answers: int = 0
    pages: int = 0
    unchanged: int = 0  # among them
    without_text: int = 0  # among them: found by their URL only
    removed: int = 0  # snapshots of what is not there any more
    bad: int = 0  # stretches and records that cannot be read
    bad_bytes: int = 0
    bytes_read: int = 0
    bytes_total: int = 0
    missing: tuple[str, ...] = ()  # files and folders that the archive names, and that are not there

    @property
    def bad_percent(self) -> float:
        """How much cannot be read, of the records or of the bytes, whichever is more."""
        of_records = self.bad / max(self.answers + self.bad, 1)
        return 100 * max(of_records, self.bad_bytes / max(self.bytes_total, 1))


def index_job(
    database: Database,
    order: JobPass,
    check: Callable[[Session], None],
    on_progress: Callable[[JobResult], None] = lambda _: None,
) -> JobResult:
    """Index a job's files; `check` raises, in each transaction, when the job is not ours any more."""
    there, lost = warc_answers.files_of(database, order.output_dir, order.job_id)
    work = _Pass(database, order, check, on_progress)
    missing = {*missing_in(order.output_dir), *(Path(row.folder) / row.path for row in lost)}
    work.result = JobResult(
        files=len(there), bad=len(lost), bytes_total=sum(row.size_bytes for row in [*there, *lost]),
        missing=tuple(sorted(map(str, missing))), bad_bytes=sum(row.size_bytes for row in lost),
    )  # fmt: skip
    passes.run(
        database,
        warc_answers.batches(database, there, again=order.again),
        lambda batch: [
            each.question and evolve(each.question, ignored=order.ignored) for each in batch.answers
        ],
        work.write,
    )
    work.write_revisits()
    return work.result


@define
class _FileSoFar:
    """What was seen of the file that is being read."""

    offsets: array[int] = field(factory=lambda: array("q"))
    bad: array[int] = field(factory=lambda: array("q"))  # where bad stretches begin, and where each ends
    bad_ends: array[int] = field(factory=lambda: array("q"))
    named: list[dict[str, Any]] = field(factory=list)
    times: list[Any] = field(factory=list)  # the first and the last
    read_to: int = 0  # an offset; what cannot be read up to there may have gone on behind it

    def add(self, batch: Batch) -> None:
        """See another batch."""
        self.read_to = max(self.read_to, batch.read_to)  # a last one may be empty
        self.offsets.extend(each.offset for each in batch.answers)
        for each in batch.bad:
            self.bad.append(each.offset)
            self.bad_ends.append(each.offset + each.length)
            if len(self.named) < MOST_NAMED:
                self.named.append({"offset": each.offset, "length": each.length, "reason": each.reason})
        times = [*self.times, *(each.captured_at for each in batch.answers if each.captured_at)]
        self.times = [min(times), max(times)] if times else []

    def has(self, offset: int) -> bool:
        """Whether an answer was there, or may be there in what cannot be read or was cut off."""
        at = bisect_left(self.offsets, offset)
        if at < len(self.offsets) and self.offsets[at] == offset:
            return True
        stretch = bisect_right(self.bad, offset) - 1
        return stretch >= 0 and (offset < self.bad_ends[stretch] or self.bad_ends[stretch] >= self.read_to)

    def facts(self, before: dict[str, Any] | None) -> dict[str, Any]:
        """What its row says of it."""
        others = {key: said for key, said in (before or {}).items() if key != "bad"}  # what was cut off once
        damage = {**others, "bad": self.named} if self.named else others or None
        # What a check of the file found stays until a check finds it well.
        state = "damaged" if self.named or FOUND in others else "sealed"
        facts: dict[str, Any] = {
            "records": len(self.offsets), "records_bad": len(self.bad), "damage": damage, "state": state,
        }  # fmt: skip
        return facts | (dict(zip(("first_at", "last_at"), self.times, strict=True)) if self.times else {})


@define
class _Pass:
    """A job's answers on their way into the rows."""

    database: Database
    order: JobPass
    check: Callable[[Session], None]
    on_progress: Callable[[JobResult], None]
    result: JobResult = field(factory=JobResult)
    _done_bytes: int = 0
    _file: _FileSoFar = field(factory=_FileSoFar)

    def write(self, batch: Batch, contents: Sequence[Content | None]) -> None:
        """Write a batch, and with the last one of a file what is to be known of it."""
        self._file.add(batch)

        def pages_of(db: Session) -> list[ReadPage]:
            ids = _write_records(db, batch)
            self._claim(db, [ids[each.offset] for each in batch.answers if each.is_unchanged])
            if batch.is_last:
                facts = self._file.facts(batch.file.damage)
                facts |= {"sha256": batch.sha256} if batch.sha256 else {}
                db.execute(update(WarcFile).where(WarcFile.id == batch.file.id).values(**facts))
            return self._pages(db, batch, contents, ids)

        pages = write_in_turn(self.database, filter(None, contents), pages_of, self.check)
        removed = self._remove_unseen(batch.file.id) if batch.is_last else 0
        self._count(batch, pages, removed)

    def _pages(
        self, db: Session, batch: Batch, contents: Sequence[Content | None], ids: dict[int, int]
    ) -> list[ReadPage]:
        kept = _pages_of(db, ids.values())
        pages = []
        for answer, content in zip(batch.answers, contents, strict=True):
            found = content or (no_content(answer.problem) if answer.problem else None)
            if found is not None and not answer.is_unchanged:
                record_id = ids[answer.offset]
                pages.append(self._page(record_id, answer, found, kept.get(record_id)))
        return pages

    def _page(self, record_id: int, answer: Answer, content: Content, page_id: UUID | None) -> ReadPage:
        assert answer.captured_at is not None  # ruff: ignore[assert] - else it is no page
        return ReadPage(
            record_id=record_id, source_id=self.order.source_id, url=answer.url,
            captured_at=answer.captured_at, mime_type=answer.mime_type, status_code=answer.status_code,
            content=content, content_hash=answer.content_hash, page_id=page_id, job_id=self.order.job_id,
            group_by=self.order.group_by, date_precision=answer.date_precision,
        )  # fmt: skip

    def _claim(self, db: Session, records: list[int]) -> None:
        """Pages that are as they were are the job's, whoever indexed them."""
        if records:
            mine = update(Snapshot).where(Snapshot.record_id.in_(records), Snapshot.job_id.is_(None))
            db.execute(
                mine.values(job_id=self.order.job_id), execution_options={"synchronize_session": False}
            )

    def _remove_unseen(self, file_id: int) -> int:
        """Remove the rows of what the file does not have any more, a few at a time."""
        seen, self._file = self._file, _FileSoFar()
        removed, last = 0, -1
        while True:
            with self.database.write() as db:
                self.check(db)
                take_turn(db)
                rows = db.execute(
                    _RECORDS_OF.where(Record.warc_file_id == file_id, Record.offset > last)
                ).all()
                gone = [row.id for row in rows if not seen.has(row.offset)]
                removed += _remove(db, gone)
            if len(rows) < ROWS_AT_ONCE:
                return removed
            last = rows[-1].offset

    def write_revisits(self) -> None:
        """Have captures that repeat an earlier answer say what that one says (K18)."""
        last = 0
        while rows := self._revisits(after=last):
            last = rows[-1].id
            unchanged = {row.id: original_of(self.database, row) for row in rows if _says_no_digest(row)}
            with self.database.write() as db:
                self.check(db)
                take_turn(db)
                pages = [
                    page
                    for row in rows
                    if (page := self._revisit(db, row, unchanged.get(row.id))) is not None
                ]
                write(db, pages)
            self.result = evolve(self.result, pages=self.result.pages + len(pages))
            self.on_progress(self.result)

    def _revisits(self, *, after: int) -> list[Record]:
        files = select(WarcFile.id).where(WarcFile.job_id == self.order.job_id)
        query = select(Record).where(
            Record.warc_file_id.in_(files), Record.kind == "revisit", Record.id > after,
            Record.gone_at.is_(None), Record.captured_at.is_not(None),
        )  # fmt: skip
        with self.database.read() as db:
            return list(db.scalars(query.order_by(Record.id).limit(passes.AT_ONCE)))

    def _revisit(self, db: Session, row: Record, unchanged: int | None) -> ReadPage | None:
        """The page that a revisit is, as its original was read."""
        original = unchanged if _says_no_digest(row) else _original_of(db, self.order.job_id, row)
        db.execute(update(Record).where(Record.id == row.id).values(original_id=original))
        as_read = original and db.scalar(select(Snapshot).where(Snapshot.record_id == original))
        if not as_read or row.captured_at is None:
            return None
        return ReadPage(
            record_id=row.id, source_id=self.order.source_id, url=row.url, captured_at=row.captured_at,
            mime_type=row.mime_type or as_read.mime_type, status_code=_status_of(row, as_read),
            content=Content(
                as_read.problem or "", as_read.title, (), as_read.snippet, as_read.language, (), is_cut=False
            ),
            content_hash=as_read.content_hash, job_id=self.order.job_id, of_text=as_read.text_id,
            repeats=True, group_by=self.order.group_by, date_precision=row.date_precision,
        )  # fmt: skip

    def _count(self, batch: Batch, pages: Sequence[ReadPage], removed: int) -> None:
        so_far = self.result
        same = sum(each.is_unchanged for each in batch.answers)
        self.result = evolve(
            so_far, answers=so_far.answers + len(batch.answers), pages=so_far.pages + len(pages) + same,
            unchanged=so_far.unchanged + same, removed=so_far.removed + removed,
            without_text=so_far.without_text + sum(bool(each.content.problem) for each in pages),
            bad=so_far.bad + len(batch.bad), bytes_read=self._done_bytes + batch.read_to,
            bad_bytes=so_far.bad_bytes + sum(each.length for each in batch.bad),
        )  # fmt: skip
        if batch.is_last:
            self._done_bytes += batch.file.size_bytes
        self.on_progress(self.result)


# ── rows of records ──


_RECORDS = cast("Table", Record.__table__)
_TAKING = taking(_RECORDS, ("warc_file_id", "offset"), _FACTS)
_RECORDS_OF = (
    select(Record.id, Record.offset)
    .where(Record.gone_at.is_(None))
    .order_by(Record.offset)
    .limit(ROWS_AT_ONCE)
)


def _write_records(db: Session, batch: Batch) -> dict[int, int]:
    """Write the rows of a batch's answers that say anything new; the ids of all of them, by offset."""
    ids = {each.offset: each.record_id for each in batch.answers if each.record_id is not None}
    new = [each for each in batch.answers if each.record_id is None]
    if new:
        rows = [_record_row(batch.file.id, each) for each in new]
        insert_rows(db, _RECORDS, rows, on_conflict=_TAKING)
        query = select(Record.offset, Record.id).where(
            Record.warc_file_id == batch.file.id, Record.offset.in_(evened([each.offset for each in new]))
        )
        ids |= {cast("int", row[0]): row[1] for row in db.execute(query)}
    return ids


def _record_row(file_id: int, answer: Answer) -> dict[str, Any]:
    return {
        "warc_file_id": file_id, "offset": answer.offset, "length": answer.length, "record_urn": answer.urn,
        "kind": answer.kind, "url": answer.url, "url_key": answer.url_key,
        "captured_at": answer.captured_at, "mime_type": answer.mime_type, "status_code": answer.status_code,
        "payload_digest": answer.payload_digest, "date_precision": answer.date_precision, "gone_at": None,
    }  # fmt: skip


def _pages_of(db: Session, records: Collection[int]) -> dict[int, UUID]:
    """The pages of visits that lie in records, by record."""
    query = select(Page.record_id, Page.id).where(Page.record_id.in_(evened(records)))
    return {cast("int", row[0]): row[1] for row in db.execute(query)}


def _remove(db: Session, records: list[int]) -> int:
    """Delete records with their snapshots, and what only these had; how many snapshots there were."""
    if not records:
        return 0
    which = Snapshot.record_id.in_(records)
    named = unused.named_by(db, which)
    snapshots = len(db.execute(delete(Snapshot).where(which).returning(Snapshot.id)).all())
    db.execute(delete(Record).where(Record.id.in_(records)))
    unused.delete_unused(db, named)
    return snapshots


def _says_no_digest(row: Record) -> bool:
    """Return whether the digest of a revisit says nothing about the answer that it repeats."""
    return row.payload_digest is None or row.status_code == NOT_MODIFIED


def _status_of(row: Record, original: Snapshot) -> int | None:
    said = None if row.status_code == NOT_MODIFIED else row.status_code
    return said or original.status_code


def _original_of(db: Session, job_id: int, row: Record) -> int | None:
    """The answer that a revisit repeats: of the same job and the same URL rather than of others."""
    is_of_job = case((WarcFile.job_id == job_id, 0), else_=1)
    query = (
        select(Record.id)
        .join(WarcFile, WarcFile.id == Record.warc_file_id)
        .where(
            Record.kind == "response", Record.gone_at.is_(None), WarcFile.gone_at.is_(None),
            or_(Record.id == row.original_id, Record.payload_digest == row.payload_digest),
        )
        .order_by(
            (Record.id != row.original_id), is_of_job, (Record.url_key != row.url_key),
            Record.captured_at.desc(),
        )
        .limit(1)
    )  # fmt: skip
    return db.scalar(query)
