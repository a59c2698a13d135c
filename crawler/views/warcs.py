"""WARC files: those that crawls have written down, and those of a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen
from sqlalchemy import exists, or_, select

from crawler.db.models import CrawlSession, Record, WarcFile
from crawler.evidence.warc_checks import why_damaged
from crawler.evidence.warc_tools import NOT_THERE
from crawler.views.documents import document_of
from crawler.views.paging import ALL, Newest, of_session, page
from crawler.warc.cdxj import domain_keys

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy import ColumnElement
    from sqlalchemy.orm import Session

    from crawler.views.paging import Wanted


@frozen(kw_only=True)
class WarcView:
    """A file of records."""

    id: int | None
    job: int | None
    session: UUID | None
    path: str
    state: str
    size_bytes: int
    records: int | None
    records_bad: int | None
    first_at: datetime | None
    last_at: datetime | None
    why: str  # it counts as damaged; empty where it does not


def known(db: Session, wanted: Wanted = ALL, *, state: str | None = None) -> list[WarcView]:
    """Those that are written down, the newest first; of one state where that is wanted."""
    query = select(WarcFile)
    query = query.where(WarcFile.state == state) if state else query
    return [_view(row) for row in db.scalars(page(db, query, NEWEST, wanted))]


def _has_answers(domain: str) -> ColumnElement[bool]:
    """A file that has answers of the domain, or is of a session of it."""
    first, last = domain_keys(domain)
    answers = exists().where(
        Record.warc_file_id == WarcFile.id, Record.url_key >= first, Record.url_key < last
    )
    return or_(answers, of_session(WarcFile.session_id, CrawlSession.domain)(domain))


NEWEST = Newest(
    table=WarcFile,
    by=(WarcFile.id,),
    time=WarcFile.created_at,
    domain=_has_answers,
    cause=of_session(WarcFile.session_id, CrawlSession.cause),
)


def folders_left_open(db: Session) -> set[Path]:
    """Where files lie that nobody has sealed yet."""
    return set(map(Path, db.scalars(select(WarcFile.folder).where(WarcFile.state == "open").distinct())))


def _view(row: WarcFile) -> WarcView:
    """A file as its row says it."""
    return document_of(
        WarcView, row, job=row.job_id, session=row.session_id, path=f"{row.folder}/{row.path}",
        why=why_damaged(row),
    )  # fmt: skip


def found(path: Path) -> WarcView:
    """One that was found in a folder, and not read."""
    return _unread(path, "sealed", size_bytes=path.stat().st_size)


def missing(path: Path) -> WarcView:
    """One that an archive names, and that is not there."""
    return _unread(path, "missing", why=NOT_THERE)


def _unread(path: Path, state: str, *, size_bytes: int = 0, why: str = "") -> WarcView:
    return WarcView(
        id=None, job=None, session=None, path=str(path), state=state, size_bytes=size_bytes,
        records=None, records_bad=None, first_at=None, last_at=None, why=why,
    )  # fmt: skip


def missing_below(db: Session, folder: Path) -> list[Path]:
    """Return the files below a folder that are known, and neither gone on purpose nor there."""
    where = str(folder.absolute())
    below = or_(WarcFile.folder == where, WarcFile.folder.startswith(f"{where}/", autoescape=True))
    rows = db.scalars(select(WarcFile).where(below, WarcFile.gone_at.is_(None), WarcFile.state != "open"))
    return [path for row in rows if not (path := Path(row.folder) / row.path).exists()]
