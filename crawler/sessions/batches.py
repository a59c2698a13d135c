"""URL files: read line by line, worked through once, and gone on with after an interruption."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from attrs import frozen
from sqlalchemy import and_, exists, func, or_, select, update

from crawler.capture.failures import CUT_SHORT
from crawler.db.models import Batch, CrawlSession
from crawler.errors import BadUrlError, LockedError, UsageError
from crawler.sessions.outcome import Status
from crawler.sessions.rows import AGAIN, alive, order_of
from crawler.urls import canonical, redact, require_http_url, spelling

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path
    from uuid import UUID

    from sqlalchemy import ColumnElement

    from crawler.db.engine import Transaction
    from crawler.sessions.rows import SessionOrder
    from crawler.sessions.store import SessionStore

_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1f]")
MAX_FILE_BYTES = 64 * 1024 * 1024
# How a session may have ended without having been done.
_WAS_CUT_SHORT = and_(CrawlSession.status == Status.FAILED, CrawlSession.cause.in_(CUT_SHORT))


@frozen
class UrlLine:
    """One entry of a URL file."""

    number: int
    url: str  # as it is stored
    error: str | None  # what is wrong with it
    given: str = ""  # as it stands in the file


def read_url_file(path: Path) -> list[UrlLine]:
    """The entries of a file of URLs, one a line; blank lines and lines that begin with # are passed over."""
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise UsageError(f"{path} is larger than {MAX_FILE_BYTES} bytes", hint="split the file")
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    if _is_binary(data):
        raise UsageError(f"{path} is no text", hint="write one URL a line; a packed file is unpacked first")
    text = data.decode("utf-8-sig", errors="replace")
    lines = list(_without_repeats(_entries(text)))
    if not lines:
        raise UsageError(f"{path} names no URL", hint="write one URL a line")
    return lines


def _is_binary(data: bytes) -> bool:
    """Whether it is no text in any encoding: a line that is no URL is told by its number, and not this."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return _CONTROLS.search(data) is not None
    return b"\0" in data


def read_urls(words: Iterable[str]) -> list[UrlLine]:
    """URLs given one by one, as entries."""
    return list(_without_repeats(_entries("\n".join(words))))


def _entries(text: str) -> Iterable[UrlLine]:
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        try:
            yield UrlLine(number, spelling(require_http_url(line)), None, line)
        except BadUrlError as error:
            yield UrlLine(number, redact(line), str(error))


def _without_repeats(lines: Iterable[UrlLine]) -> Iterable[UrlLine]:
    seen = set()
    for line in lines:
        key = line.url if line.error else canonical(line.url)
        if key not in seen:
            seen.add(key)
            yield line


# ── the batch of a file: a session for each entry, taken up again until none is left ──


@frozen
class OpenBatch:
    """A URL file that is being worked through."""

    id: int
    urls: frozenset[str]  # what has a session already
    left: tuple[tuple[UUID, SessionOrder], ...]  # sessions to go on with


def open_batch(sessions: SessionStore, source: str) -> OpenBatch:
    """The batch of a URL file that was interrupted, with all that is left of it; else a new one.

    While a part of it is somebody else's, nothing is taken up: that part would be nobody's afterwards.
    """
    with sessions.database.write() as db:
        batch = db.scalars(
            select(Batch)
            .where(Batch.source == source, Batch.finished_at.is_(None))
            .order_by(Batch.id.desc())
            .limit(1)
        ).first()
        if batch is None or _close_finished(db, batch.id):
            batch = Batch(source=source, created_at=db.now)
            db.add(batch)
            db.flush()
            return OpenBatch(batch.id, frozenset(), ())
        if count := db.scalar(select(func.count()).where(*_held(db, batch))):
            raise LockedError(
                f"another process is working through {source}, and has {count} of its sessions",
                hint=f"if that process has died, its file is free in {_free_in_seconds(db, batch)} s",
            )
        left = _take_up(db, batch, sessions)
        urls = frozenset(db.scalars(select(CrawlSession.url).where(CrawlSession.batch_id == batch.id)))
        return OpenBatch(batch.id, urls, tuple((row.id, order_of(row)) for row in left))


def close_batch(sessions: SessionStore, batch_id: int) -> bool:
    """Mark a batch as finished if nothing of it is left to do; whether that is so."""
    with sessions.database.write() as db:
        return _close_finished(db, batch_id)


def _take_up(db: Transaction, batch: Batch, sessions: SessionStore) -> Sequence[CrawlSession]:
    """Claim what is left to do of a batch: what was never begun, put back, or cut short."""
    waiting = and_(
        CrawlSession.status == Status.QUEUED,
        or_(CrawlSession.owner.is_(None), CrawlSession.alive_until < db.now),
    )
    return db.scalars(
        update(CrawlSession)
        .where(CrawlSession.batch_id == batch.id, or_(waiting, _WAS_CUT_SHORT))
        .values(**AGAIN, owner=sessions.owner, **alive(db, sessions.ttl))
        .returning(CrawlSession)
    ).all()


def _held(db: Transaction, batch: Batch) -> Sequence[ColumnElement[bool]]:
    """What holds of a batch's sessions that somebody has: they run, or wait for a living owner."""
    waits = and_(CrawlSession.status == Status.QUEUED, CrawlSession.owner.is_not(None))
    runs_or_waits = or_(
        CrawlSession.status == Status.RUNNING, and_(waits, CrawlSession.alive_until >= db.now)
    )
    return CrawlSession.batch_id == batch.id, runs_or_waits


def _free_in_seconds(db: Transaction, batch: Batch) -> int:
    """After which time all of a batch can be taken up, if those who work on it have died."""
    latest = db.scalar(select(func.max(CrawlSession.alive_until)).where(*_held(db, batch)))
    return max(0, math.ceil((latest - db.now).total_seconds())) if latest else 0


def _close_finished(db: Transaction, batch_id: int) -> bool:
    left = exists().where(
        CrawlSession.batch_id == batch_id,
        or_(CrawlSession.status.in_([Status.QUEUED, Status.RUNNING]), _WAS_CUT_SHORT),
    )
    closed = db.execute(
        update(Batch).where(Batch.id == batch_id, ~left).values(finished_at=db.now).returning(Batch.id)
    )
    return closed.scalar_one_or_none() is not None
