"""What is said of a URL of which there is no capture: what was there, a purge, what there is beside it."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from attrs import frozen
from sqlalchemy import func, or_, select

from crawler.archive.asked import shown_time
from crawler.archive.lookup import (
    HAS_ITS_BYTES,
    NOW,
    OF_URL,
    THAT_SECOND,
    begins_with,
    capture_of,
    captures,
    is_there,
    second_of,
)
from crawler.db.models import Artifact, AuditEntry, Record, WarcFile
from crawler.errors import BadUrlError
from crawler.urls import domain_of
from crawler.warc.cdxj import stored_key

if TYPE_CHECKING:
    from collections.abc import Collection

    from crawler.archive.lookup import Capture
    from crawler.db.engine import Transaction

MAX_NEAR = 10
_GOOD = 200, 299  # the statuses of pages that were answered with what was asked for


@frozen
class Tombstone:
    """A capture whose body is not kept any more."""

    url: str
    captured_at: datetime
    gone_at: datetime | None
    why: str
    digest: str | None
    precision: str | None = None  # of the time of its capture, where that is less than a second

    @property
    def shown_time(self) -> str:
        """When it was captured, as exactly as that is known."""
        return shown_time(self.captured_at, self.precision)


_GONE = (
    select(Record, Artifact, WarcFile)
    .outerjoin(WarcFile, WarcFile.id == Record.warc_file_id)
    .outerjoin(Artifact, HAS_ITS_BYTES)
    .where(OF_URL, Record.captured_at.is_not(None), ~is_there(NOW))
    .order_by(Record.captured_at.desc(), Record.id.desc())
    .limit(1)
)
_GONE_THEN = _GONE.where(*THAT_SECOND)


def tombstone(db: Transaction, url: str, at: datetime | None = None) -> Tombstone | None:
    """The capture of a URL that is gone: the one of that very second, or else the newest of them."""
    asked = {"key": stored_key(url), "now": db.now, **(second_of(at) if at else {})}
    found = db.execute(_GONE_THEN if at else _GONE, asked).first()
    return _tombstone_of(*found) if found else None


def _tombstone_of(record: Record, artifact: Artifact | None, file: WarcFile | None) -> Tombstone:
    gone_at, why = record.gone_at, "erased"
    if artifact is not None:
        gone_at, why = artifact.deleted_at, "removed_by_retention"
    elif file is not None and file.gone_at is not None:
        gone_at, why = record.gone_at or file.gone_at, file.gone_why or "erased"
    assert record.captured_at is not None  # ruff: ignore[assert] - only those are looked at
    return Tombstone(
        record.url, record.captured_at, gone_at, why, record.payload_digest, record.date_precision
    )  # fmt: skip


# ── purges ──

PURGE = "purge"  # what the audit log calls it


@frozen
class Purge:
    """That everything of a domain was taken out; of which pages that was, nothing is kept."""

    domain: str
    at: datetime


def purge_of(db: Transaction, url: str) -> Purge | None:
    """The newest purge of a URL's domain, while the audit log knows of it."""
    try:
        domain = domain_of(url)
    except BadUrlError:  # no visit ever went there
        return None
    mine = AuditEntry.action == PURGE, AuditEntry.subject == f"domain {domain}"
    done_at = AuditEntry.details["done_at"].as_string()  # of those that are over, and took something
    at = db.scalar(select(func.max(done_at)).where(*mine))
    return None if at is None else Purge(domain, datetime.fromisoformat(at))


# ── what there is beside it ──


def neighbours(db: Transaction, url: str, most: int = MAX_NEAR) -> list[Capture]:
    """Captures of pages that lie beside a URL of which there is none: of its folder, else of its host."""
    key = stored_key(url)
    for prefix in _prefixes(key):
        mine = captures(db).where(
            *begins_with(prefix), or_(Record.mime_type.is_(None), Record.mime_type.contains("html")),
            or_(Record.status_code.is_(None), Record.status_code.between(*_GOOD)),
        )  # fmt: skip
        newest = mine.with_only_columns(func.max(Record.id)).group_by(Record.url_key).order_by(Record.url_key)
        ids = db.scalars(newest.limit(most)).all()
        if ids:
            return [
                capture_of(row)
                for row in db.execute(captures(db).where(Record.id.in_(ids)).order_by(Record.url_key))
            ]
    return []


def _prefixes(key: str) -> Collection[str]:
    host, _, path = key.partition(")")
    folder = path.partition("?")[0].rpartition("/")[0]
    return dict.fromkeys((f"{host}){folder}/", f"{host})/"))
