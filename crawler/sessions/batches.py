"""URL files: read line by line, worked through once, and gone on with after an interruption."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from attrs import frozen
from sqlalchemy import and_, exists, func, or_, select, update

from crawler.capture.failures import Cause
from crawler.db.models import Batch, CrawlSession
from crawler.errors import BadUrlError, UsageError
from crawler.sessions.outcome import Status
from crawler.urls import canonical, redact, require_http_url

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime
    from pathlib import Path

    from sqlalchemy.orm import Session

    from crawler.sessions.rows import Life

MAX_FILE_BYTES = 64 * 1024 * 1024
# How a session may have ended without having been done.
_CUT_SHORT = [cause for cause in Cause if cause.traits.cuts_short]


@frozen
class UrlLine:
    """One entry of a URL file."""

    number: int
    url: str
    error: str | None  # what is wrong with it


def read_url_file(path: Path) -> list[UrlLine]:
    """The entries of a file of URLs, one a line; blank lines and lines that begin with # are passed over."""
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise UsageError(f"{path} is larger than {MAX_FILE_BYTES} bytes", hint="split the file")
        text = path.read_bytes().decode("utf-8-sig", errors="replace")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    lines = list(_without_repeats(_entries(text)))
    if not lines:
        raise UsageError(f"{path} names no URL", hint="write one URL a line")
    return lines


def read_urls(words: Iterable[str]) -> list[UrlLine]:
    """URLs given one by one, as entries."""
    return list(_without_repeats(_entries("\n".join(words))))


def open_batch(db: Session, source: str) -> Batch | None:
    """The batch of a file that is still being worked through, if there is one."""
    return db.scalars(
        select(Batch)
        .where(Batch.source == source, Batch.finished_at.is_(None))
        .order_by(Batch.id.desc())
        .limit(1)
    ).first()


def begin_batch(db: Session, source: str, now: datetime) -> Batch:
    """A new batch for a file."""
    batch = Batch(source=source, created_at=now)
    db.add(batch)
    db.flush()
    return batch


def take_up(db: Session, batch: Batch, *, owner: str, life: Life) -> Sequence[CrawlSession]:
    """Claim what is left to do of a batch: what was never begun, put back, or cut short."""
    waiting = and_(
        CrawlSession.status == Status.QUEUED,
        or_(CrawlSession.owner.is_(None), CrawlSession.alive_until < life.now),
    )
    cut_short = and_(CrawlSession.status == Status.FAILED, CrawlSession.cause.in_(_CUT_SHORT))
    return list(
        db.scalars(
            update(CrawlSession)
            .where(CrawlSession.batch_id == batch.id, or_(waiting, cut_short))
            .values(
                status=Status.QUEUED, owner=owner, **life.columns,
                error_summary=None, cause=None, finished_at=None,
            )
            .returning(CrawlSession)
        )
    )  # fmt: skip


def free_in(db: Session, batch: Batch, now: datetime) -> timedelta:
    """After which time something of a batch can be taken up, if those who work on it have died."""
    soonest = db.scalar(
        select(func.min(CrawlSession.alive_until)).where(
            CrawlSession.batch_id == batch.id, CrawlSession.status.in_([Status.QUEUED, Status.RUNNING])
        )
    )
    return max(soonest - now, timedelta(0)) if soonest else timedelta(0)


def urls_of(db: Session, batch: Batch) -> set[str]:
    """What a batch has sessions for."""
    return set(db.scalars(select(CrawlSession.url).where(CrawlSession.batch_id == batch.id)))


def close_finished(db: Session, batch_id: int, now: datetime) -> bool:
    """Mark a batch as finished when nothing of it is left to do."""
    left = exists().where(
        CrawlSession.batch_id == batch_id,
        or_(
            CrawlSession.status.in_([Status.QUEUED, Status.RUNNING]),
            and_(CrawlSession.status == Status.FAILED, CrawlSession.cause.in_(_CUT_SHORT)),
        ),
    )
    closed = db.execute(
        update(Batch).where(Batch.id == batch_id, ~left).values(finished_at=now).returning(Batch.id)
    )
    return closed.scalar_one_or_none() is not None


def _entries(text: str) -> Iterable[UrlLine]:
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        try:
            yield UrlLine(number, require_http_url(line), None)
        except BadUrlError as error:
            yield UrlLine(number, redact(line), str(error))


def _without_repeats(lines: Iterable[UrlLine]) -> Iterable[UrlLine]:
    seen = set()
    for line in lines:
        key = line.url if line.error else canonical(line.url)
        if key not in seen:
            seen.add(key)
            yield line
