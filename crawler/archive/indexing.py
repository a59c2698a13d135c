"""Makes kept pages findable: each is read once, in a process beside this one, and written with a few others.

A page that was indexed keeps its snapshot's id when it is indexed again. What cannot be read has a snapshot
without a text, so that it is found by its URL. A file that is not there is counted, and tried the next time.
"""

from __future__ import annotations

import asyncio
import hashlib
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from attrs import frozen
from sqlalchemy import and_, delete, exists, func, or_, select, update

from crawler.archive import word_index
from crawler.archive.words import folded
from crawler.capture.items import MEDIA as MEDIA_PAGE
from crawler.clock import utc_now
from crawler.db.models import (
    Artifact,
    CrawlSession,
    Page,
    PageGroup,
    Record,
    RegisteredSource,
    Run,
    Snapshot,
    Text,
)
from crawler.db.upsert import insert_into
from crawler.errors import BadUrlError, CrawlerError
from crawler.evidence.bodies import Bodies, is_body, is_readable
from crawler.html.content import MAX_URL_CHARS, NORMALIZATION, Content, ContentQuestion
from crawler.reading import Readers, ReadingFailedError
from crawler.urls import canonical
from crawler.warc.cdxj import url_key

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy import Select

    from crawler.db.engine import Database, Transaction
    from crawler.evidence.blobs import BlobStore

AT_ONCE = 32  # pages in one transaction: other writers wait for it
UNREADABLE = "unreadable"
DAY = timedelta(days=1)


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
    source: str

    @property
    def content_type(self) -> str:
        """As the site declared it."""
        said = self.artifact.content_type if self.artifact else self.record and self.record.mime_type
        return said or ""


@frozen
class _Read:
    """A kept page, and what was read in it."""

    kept: _Kept
    content: Content
    content_hash: str


def index_pages(
    database: Database,
    blobs: BlobStore,
    *,
    again: bool = False,
    on_progress: Callable[[IndexResult], None] = lambda _: None,
) -> IndexResult:
    """Index the pages of sessions and runs that are not; `again` also those that are."""
    with database.read() as db:
        total = db.scalar(_kept_pages(db.now, again=again).with_only_columns(func.count(Page.id))) or 0
    result = IndexResult(total=total)
    readers, bodies = Readers(), Bodies(database, blobs)
    last: UUID | None = None
    with asyncio.Runner() as runner:
        try:
            while kept := _some(database, last, again=again):
                last = kept[-1].page.id
                read = runner.run(_read_all(readers, bodies, kept))
                result = _added(result, _write(database, read), bad=len(kept) - len(read))
                on_progress(result)
        finally:
            runner.run(readers.close())
    return result


def _added(result: IndexResult, written: Sequence[_Read], *, bad: int) -> IndexResult:
    without_text = sum(bool(each.content.problem) for each in written)
    return IndexResult(
        result.indexed + len(written), result.without_text + without_text, result.bad + bad, result.total
    )


# ── what is to be indexed, and what is in it ──


def _kept_pages(now: datetime, *, again: bool) -> Select[Page, Artifact, Record, str, str]:
    html = and_(Artifact.page_id == Page.id, Artifact.type == "html_gz", is_body(), is_readable(now))
    query = (
        select(Page, Artifact, Record, CrawlSession.domain, Run.source)
        .join(CrawlSession, CrawlSession.id == Page.session_id)
        .outerjoin(Run, Run.id == CrawlSession.run_id)
        .outerjoin(Artifact, html)
        .outerjoin(Record, and_(Record.id == Page.record_id, Record.gone_at.is_(None)))
        .where(Page.page_type != MEDIA_PAGE, or_(Artifact.id.is_not(None), Record.id.is_not(None)))
    )
    return query if again else query.where(~exists().where(Snapshot.page_id == Page.id))


def _some(database: Database, after: UUID | None, *, again: bool) -> list[_Kept]:
    with database.read() as db:
        query = _kept_pages(db.now, again=again).order_by(Page.id).limit(AT_ONCE)
        rows = db.execute(query if after is None else query.where(Page.id > after)).all()
    return [
        _Kept(page, artifact, record, (source or domain).lower())
        for page, artifact, record, domain, source in rows
    ]


async def _read_all(readers: Readers, bodies: Bodies, kept: list[_Kept]) -> list[_Read]:
    found = await asyncio.gather(*(_read(readers, bodies, each) for each in kept))
    return [each for each in found if each is not None]


async def _read(readers: Readers, bodies: Bodies, kept: _Kept) -> _Read | None:
    """What is in a page; None where its file cannot be read."""
    try:
        body = await asyncio.to_thread(lambda: bodies.of_page(kept.page.id).read())
    except (CrawlerError, OSError):
        return None
    question = ContentQuestion(body, kept.page.url, kept.content_type)
    try:
        content = await readers.content(question)
    except ReadingFailedError:
        content = Content(UNREADABLE, "", (), "", "und", (), is_cut=False)
    return _Read(kept, content, hashlib.sha256(body).hexdigest())


# ── what is written of it ──


def _write(database: Database, read: Sequence[_Read]) -> list[_Read]:
    """Write what is still there to be indexed; a cleanup or a purge may have been faster."""
    if not read:
        return []
    with database.write() as db:
        written = _still_there(db, read)
        sources: dict[str, int] = {}
        for each in written:
            code = each.kept.source
            if code not in sources:
                sources[code] = _source(db, code)
            _write_one(db, each, sources[code])
    return written


def _still_there(db: Transaction, read: Sequence[_Read]) -> list[_Read]:
    """Those whose files are not gone; they stay until the transaction's end."""
    files = [each.kept.artifact.id for each in read if each.kept.artifact]
    records = [each.kept.record.id for each in read if each.kept.record]
    in_files = select(Artifact.id).where(Artifact.id.in_(files)).with_for_update(read=True)
    in_records = select(Record.id).where(Record.id.in_(records), Record.gone_at.is_(None))
    there = {*db.scalars(in_files), *db.scalars(in_records.with_for_update(read=True))}
    return [
        each
        for each in read
        if (file := each.kept.artifact or each.kept.record) is not None and file.id in there
    ]


def _write_one(db: Transaction, read: _Read, source_id: int) -> None:
    page, content = read.kept.page, read.content
    record_id = _record(db, read)
    before = db.scalar(select(Snapshot.text_id).where(Snapshot.record_id == record_id))
    title = content.title
    values = {
        "record_id": record_id,
        "source_id": source_id,
        "page_id": page.id,
        "group_id": _group(db, source_id, page.url),
        "text_id": None if content.problem else _text(db, content),
        "url": page.url,
        "captured_at": page.created_at,
        "mime_type": (read.kept.content_type or "text/html").partition(";")[0].strip().lower(),
        "status_code": page.http_status,
        "status_class": status_class(page.http_status),
        "title": title,
        "snippet": content.snippet,
        "language": content.language,
        "content_hash": read.content_hash,
        "problem": content.problem or None,
        "find_title": folded(title),
        "find_snippet": folded(content.snippet),
        "find_url": folded(page.url),
    }
    insert = insert_into(db, Snapshot).values(deduplicated=False, **values)
    db.execute(insert.on_conflict_do_update(index_elements=["record_id"], set_=values))
    _hide_repeats(db, values)
    if before is not None and before != values["text_id"]:
        unused = ~exists().where(Snapshot.text_id == before)
        db.execute(delete(Text).where(Text.id == before, unused))


def status_class(status: int | None) -> int:
    """In which order answers are shown: 2xx, then 3xx, then unknown, then the rest (SPEC 81)."""
    if status is None:
        return 0
    return {2: 2, 3: 1}.get(status // 100, -1)


def group_key(url: str) -> str:
    """The spelling that all URLs of one page share."""
    try:
        return canonical(url)[:MAX_URL_CHARS]
    except (BadUrlError, ValueError):
        return url[:MAX_URL_CHARS]


def _source(db: Transaction, code: str) -> int:
    """The register's row of a source; a domain that was visited without one is its own."""
    new = insert_into(db, RegisteredSource).values(
        code=code, name=code, enabled=True, created_at=utc_now(), updated_at=utc_now()
    )
    db.execute(new.on_conflict_do_nothing(index_elements=["code"]))
    return db.scalars(select(RegisteredSource.id).where(RegisteredSource.code == code)).one()


def _record(db: Transaction, read: _Read) -> int:
    page, artifact, record = read.kept.page, read.kept.artifact, read.kept.record
    if record is not None:
        return record.id
    assert artifact is not None  # ruff: ignore[assert] - a page lies in one of both
    new = insert_into(db, Record).values(
        artifact_id=artifact.id, kind="response", url=page.url, url_key=_url_key(page.url),
        captured_at=page.created_at, mime_type=artifact.content_type, status_code=page.http_status,
        payload_digest=f"sha256:{read.content_hash}",
    )  # fmt: skip
    db.execute(new.on_conflict_do_nothing(index_elements=["artifact_id"]))
    return db.scalars(select(Record.id).where(Record.artifact_id == artifact.id)).one()


def _url_key(url: str) -> str:
    try:
        return url_key(url)
    except (BadUrlError, ValueError):
        return url


def _group(db: Transaction, source_id: int, url: str) -> int:
    key = group_key(url)
    new = insert_into(db, PageGroup).values(source_id=source_id, group_key=key)
    db.execute(new.on_conflict_do_nothing(index_elements=["source_id", "group_key"]))
    mine = select(PageGroup.id).where(PageGroup.source_id == source_id, PageGroup.group_key == key)
    return db.scalars(mine).one()


def _text(db: Transaction, content: Content) -> int:
    """The id of a text, which is stored and made findable when it is new."""
    body = content.text
    digest = hashlib.sha256(f"{NORMALIZATION}\n{content.title}\n{body}".encode()).hexdigest()
    new = insert_into(db, Text).values(
        text_hash=digest,
        title=content.title,
        body=body,
        is_cut=content.is_cut,
        headings=content.headings,
    )
    added = db.scalars(
        new.on_conflict_do_nothing(index_elements=["text_hash"]).returning(Text.id)
    ).one_or_none()
    if added is not None:
        word_index.add(db, added, content.title, body)
        return added
    return db.scalars(select(Text.id).where(Text.text_hash == digest)).one()


def _hide_repeats(db: Transaction, values: dict[str, Any]) -> None:
    """Of snapshots of one URL, one day and one content, the newest is shown (SPEC 87)."""
    day = values["captured_at"].replace(hour=0, minute=0, second=0, microsecond=0)
    same = (
        select(Snapshot.id)
        .where(
            Snapshot.group_id == values["group_id"], Snapshot.url == values["url"],
            Snapshot.content_hash == values["content_hash"],
            Snapshot.captured_at >= day, Snapshot.captured_at < day + DAY,
        )
        .order_by(Snapshot.captured_at.desc(), Snapshot.id.desc())
    )  # fmt: skip
    newest, *older = db.scalars(same)
    db.execute(update(Snapshot).where(Snapshot.id == newest).values(deduplicated=False))
    if older:
        db.execute(update(Snapshot).where(Snapshot.id.in_(older)).values(deduplicated=True))
