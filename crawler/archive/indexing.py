"""Makes the kept pages of sessions and runs findable: each is read once, in a process beside this one.

A page that was indexed keeps its snapshot's id when it is indexed again. What cannot be read has a snapshot
without a text, so that it is found by its URL. A file that is not there is counted, and tried the next time.
A pass over
everything gives records to pictures that have none. What lies in a job's WARC files is indexed by the job.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from attrs import define, evolve, field, frozen
from sqlalchemy import and_, exists, func, insert, or_, select

from crawler.archive import passes
from crawler.archive.media_records import record_row, write_media_records
from crawler.archive.passes import AT_ONCE, BATCH_BYTES
from crawler.archive.sites import NO_SITES, Sites
from crawler.archive.writing import ReadPage, write_in_turn
from crawler.capture.items import MEDIA as MEDIA_PAGE
from crawler.db.models import Artifact, CrawlSession, Page, Record, Run, Snapshot, WarcFile
from crawler.errors import CrawlerError
from crawler.evidence.bodies import Bodies, body_in, is_body, is_readable
from crawler.html.content import ContentQuestion
from crawler.warc.cdxj import stored_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy import Select

    from crawler.db.engine import Database, Transaction
    from crawler.evidence.blobs import BlobStore
    from crawler.evidence.bodies import Body
    from crawler.html.content import Content

MOST_COMPARED = 5  # answers of one visit under one URL
# The records of a session's artifact leave out what its pages have as files.
_IS_RECORDING = and_(WarcFile.session_id.is_not(None), WarcFile.artifact_id.is_(None))


@frozen
class IndexResult:
    """What came of a pass so far."""

    indexed: int = 0
    without_text: int = 0  # among them: found by their URL only
    bad: int = 0  # their files could not be read; nothing of them changed
    total: int = 0  # pages that the pass is about


@frozen
class _Kept:
    """A kept page, the one file that its body lies in, and whose it is."""

    page: Page
    artifact: Artifact | None
    record: Record | None  # in a WARC file
    file: WarcFile | None
    site: str  # its code

    @property
    def content_type(self) -> str:
        """As the site declared it."""
        said = self.artifact.content_type if self.artifact else self.record and self.record.mime_type
        return said or ""

    @property
    def captured_at(self) -> datetime:
        """As its record says."""
        return (self.record and self.record.captured_at) or self.page.created_at


@frozen
class _Fetched:
    """A kept page with its body, as much of it as a page may have."""

    kept: _Kept
    body: bytes
    content_hash: str

    def question(self, sites: Sites) -> ContentQuestion:
        """Return what is asked of it, under its site's rules."""
        rules = sites.ignored(self.kept.site)
        return ContentQuestion(self.body, self.kept.page.url, self.kept.content_type, ignored=rules)


def index_pages(
    database: Database,
    blobs: BlobStore,
    *,
    again: bool = False,
    most: int | None = None,
    sites: Sites = NO_SITES,
    on_progress: Callable[[IndexResult], None] = lambda _: None,
) -> IndexResult:
    """Index the pages that are not, `most` of those that can be read; `again` also those that are.

    `sites` says which site each page belongs to, and how its pages are read.
    """
    sites.settle(database)
    if most is None:
        write_media_records(database)
    with database.read() as db:
        waiting = _kept_pages(db.now, again=again).with_only_columns(Page.id)
        count = select(func.count()).select_from(waiting.limit(most).subquery())
        total = db.scalar(count) or 0
        is_recorded = bool(db.scalar(select(exists().where(_IS_RECORDING))))
    if not total:
        return IndexResult()
    work = _Pass(
        database, Bodies(database, blobs), on_progress, IndexResult(total=total), sites, is_recorded
    )  # fmt: skip
    passes.run(
        database,
        work.batches(again=again, most=most),
        lambda some: [each.question(sites) for each in some],
        work.write,
    )
    return work.result


@define
class _Pass:
    """Pages on their way from their files to their snapshots."""

    database: Database
    bodies: Bodies
    on_progress: Callable[[IndexResult], None]
    result: IndexResult
    sites: Sites
    is_recorded: bool = False  # some visits were written to WARC files, which keep their pages as well
    _sources: dict[str, int] = field(factory=dict)
    _recorded: set[int] = field(factory=set)  # records that pages of this pass have

    def batches(self, *, again: bool, most: int | None) -> Iterator[list[_Fetched]]:
        """The pages with their bodies, some at a time."""
        batch: list[_Fetched] = []
        size = 0
        left = most
        for kept in _in_order(self.database, self.sites, again=again):
            fetched = self._fetched(kept)
            if fetched is None:
                continue
            batch.append(fetched)
            size += len(fetched.body)
            left = left and left - 1
            if left == 0:
                break
            if len(batch) == AT_ONCE or size >= BATCH_BYTES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def _fetched(self, kept: _Kept) -> _Fetched | None:
        try:
            body, digest = passes.taken(self._body(kept).pieces)
        except (CrawlerError, OSError):
            self._count(bad=1)
            return None
        if self.is_recorded and kept.artifact is not None:
            kept = evolve(kept, record=self._recorded_as(kept.page, digest))
        return _Fetched(kept, body, digest)

    def _recorded_as(self, page: Page, digest: str) -> Record | None:
        """Return the record in a WARC file that holds the same answer as a page's own file.

        Without it the answer would be shown as two captures, some milliseconds apart.
        """
        with self.database.read() as db:
            found = db.scalars(_records_of(page)).all()
        for record in found:
            if record.id not in self._recorded and self._digest_of(record) == digest:
                self._recorded.add(record.id)
                return record
        return None

    def _digest_of(self, record: Record) -> str | None:
        try:
            return passes.taken(self.bodies.of_record(record.id).pieces)[1]
        except (CrawlerError, OSError):
            return None

    def _body(self, kept: _Kept) -> Body:
        if kept.artifact is not None:
            return self.bodies.of_artifact(kept.artifact)
        if kept.file is not None and kept.record is not None and kept.record.kind != "revisit":
            return body_in(kept.file, kept.record)
        return self.bodies.of_page(kept.page.id)

    def write(self, fetched: Sequence[_Fetched], contents: Sequence[Content | None]) -> None:
        """Write what is still there to be indexed; a cleanup or a purge may have been faster."""
        sources = self._sources

        def pages_of(db: Transaction) -> list[ReadPage]:
            self._sources = dict(sources)  # one that was made in vain before is not there
            there = _still_there(db, fetched)
            return [
                self._read_page(db, each, content)
                for each, content in zip(fetched, contents, strict=True)
                if each.kept.page.id in there and content is not None
            ]

        pages = write_in_turn(self.database, filter(None, contents), pages_of)
        self._count(indexed=len(pages), without_text=sum(bool(each.content.problem) for each in pages))

    def _read_page(self, db: Transaction, fetched: _Fetched, content: Content) -> ReadPage:
        kept = fetched.kept
        if kept.site not in self._sources:
            self._sources[kept.site] = self.sites.id_of(db, kept.site)
        mime_type = (kept.content_type or "text/html").partition(";")[0].strip().lower()
        return ReadPage(
            record_id=kept.record.id if kept.record else _record_of(db, fetched),
            source_id=self._sources[kept.site], url=kept.page.url, captured_at=kept.captured_at,
            mime_type=mime_type, status_code=kept.page.http_status, content=content,
            content_hash=fetched.content_hash, page_id=kept.page.id, group_by=self.sites.group_by(kept.site),
        )  # fmt: skip

    def _count(self, *, indexed: int = 0, without_text: int = 0, bad: int = 0) -> None:
        before = self.result
        self.result = evolve(
            before, indexed=before.indexed + indexed, without_text=before.without_text + without_text,
            bad=before.bad + bad,
        )  # fmt: skip
        self.on_progress(self.result)


# ── what is to be indexed ──


def _kept_pages(now: datetime, *, again: bool) -> Select[Page, Artifact, Record, WarcFile, str, str]:
    html = and_(Artifact.page_id == Page.id, Artifact.type == "html_gz", is_body(), is_readable(now))
    query = (
        select(Page, Artifact, Record, WarcFile, CrawlSession.domain, Run.source)
        .join(CrawlSession, CrawlSession.id == Page.session_id)
        .outerjoin(Run, Run.id == CrawlSession.run_id)
        .outerjoin(Record, and_(Record.id == Page.record_id, Record.gone_at.is_(None)))
        .outerjoin(WarcFile, WarcFile.id == Record.warc_file_id)
        .outerjoin(Artifact, and_(html, Record.id.is_(None)))
        .where(
            Page.page_type != MEDIA_PAGE,
            or_(Artifact.id.is_not(None), Record.id.is_not(None)),
            WarcFile.job_id.is_(None),
        )
    )
    return query if again else query.where(~exists().where(Snapshot.page_id == Page.id))


def _records_of(page: Page) -> Select[Record]:
    """Select the answers of a page's session under its URL, but for those of other pages."""
    is_anothers = exists().where(Snapshot.record_id == Record.id, Snapshot.page_id.is_distinct_from(page.id))
    has_a_record = exists().where(Snapshot.page_id == page.id, Snapshot.record_id != Record.id)
    return (
        select(Record)
        .join(WarcFile, WarcFile.id == Record.warc_file_id)
        .where(
            _IS_RECORDING, WarcFile.session_id == page.session_id, WarcFile.gone_at.is_(None),
            Record.gone_at.is_(None),
            Record.url_key == stored_key(page.url), Record.captured_at <= page.created_at,
            ~is_anothers, ~has_a_record,
        )
        .order_by(Record.captured_at.desc())
        .limit(MOST_COMPARED)
    )  # fmt: skip


def _in_order(database: Database, sites: Sites, *, again: bool) -> Iterator[_Kept]:
    """The pages that are to be indexed, asked for a few at a time; no transaction stays open."""
    last: UUID | None = None
    while True:
        with database.read() as db:
            query = _kept_pages(db.now, again=again).order_by(Page.id).limit(AT_ONCE)
            rows = db.execute(query if last is None else query.where(Page.id > last)).all()
        if not rows:
            return
        last = rows[-1][0].id
        yield from (
            _Kept(page, artifact, record, file, sites.code_of(source or domain))
            for page, artifact, record, file, domain, source in rows
        )


def _still_there(db: Transaction, fetched: Sequence[_Fetched]) -> set[UUID]:
    """The pages whose files are not gone; they stay until the transaction's end."""
    kept = [each.kept for each in fetched]
    files = select(Artifact.page_id).where(
        Artifact.id.in_([each.artifact.id for each in kept if each.artifact])
    )
    records = [each.record.id for each in kept if each.record]
    in_records = select(Record.id).where(Record.id.in_(records), Record.gone_at.is_(None))
    there = set(db.scalars(in_records.with_for_update(read=True)))
    pages = {each.page.id for each in kept if each.record and each.record.id in there}
    return pages.union(filter(None, chain(db.scalars(files.with_for_update(read=True)))))


def _record_of(db: Transaction, fetched: _Fetched) -> int:
    """The record of a page that lies in a file of its own."""
    page, artifact = fetched.kept.page, fetched.kept.artifact
    assert artifact is not None  # ruff: ignore[assert] - a page lies in one of both
    known = db.scalar(select(Record.id).where(Record.artifact_id == artifact.id))
    if known is not None:
        return known
    row = record_row(artifact, page, fetched.content_hash)
    return db.scalars(insert(Record).values(**row).returning(Record.id)).one()
