"""What an answer repeats that has no body of its own: a 304, or a revisit that names no digest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import or_, select

from crawler.db.models import Record, WarcFile
from crawler.evidence.bodies import heads_of
from crawler.warc.cdxj import stored_key
from crawler.warc.records import NOT_MODIFIED, read_date

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawler.db.engine import Database

    Headers = Iterable[tuple[str, str]]

MOST_LOOKED_AT = 50  # earlier captures whose headers are read
_OK = 200, 299


def original_of(database: Database, record: Record) -> int | None:
    """Return the id of the capture that a record without a body repeats; None if there is none.

    It is the one that the record names, else the latest earlier one with the same ETag or, without one, the
    same Last-Modified. A 304 that names neither repeats the latest earlier capture.
    """
    heads = heads_of(database, record)
    fields = dict(heads.fields)
    if (date := read_date(fields.get("warc-refers-to-date"))) is not None:
        named = stored_key(fields.get("warc-refers-to-target-uri") or record.url)
        with database.read() as db:
            query = _BODIES.where(Record.url_key == named, Record.captured_at == date).limit(1)
            if (found := db.scalars(query).first()) is not None:
                return found.original_id or found.id
    if record.status_code != NOT_MODIFIED and "not-modified" not in fields.get("warc-profile", ""):
        return None
    wanted = _validator(heads.answer) or _asked_with(heads.request)
    return _latest(database, record, wanted)


_BODIES = (
    select(Record)
    .outerjoin(WarcFile, WarcFile.id == Record.warc_file_id)
    .where(
        Record.gone_at.is_(None), WarcFile.gone_at.is_(None),
        or_(Record.kind != "revisit", Record.original_id.is_not(None)),
    )
)  # fmt: skip


def _latest(database: Database, record: Record, wanted: tuple[str, str] | None) -> int | None:
    for each in _earlier(database, record):
        if wanted is None or wanted in _validators(heads_of(database, each).answer):
            return each.original_id or each.id
    return None


def _earlier(database: Database, record: Record) -> Sequence[Record]:
    with database.read() as db:
        query = _BODIES.where(
            Record.url_key == record.url_key, Record.captured_at < record.captured_at,
            or_(Record.status_code.is_(None), Record.status_code.between(*_OK)),
        )  # fmt: skip
        return db.scalars(query.order_by(Record.captured_at.desc()).limit(MOST_LOOKED_AT)).all()


def _validators(headers: Headers) -> list[tuple[str, str]]:
    """Return what tells one version of a page from another, the stronger first."""
    said = {name.lower(): value.strip() for name, value in headers}
    found = [("etag", said["etag"].removeprefix("W/"))] if said.get("etag") else []
    return found + ([("last-modified", said["last-modified"])] if said.get("last-modified") else [])


def _validator(headers: Headers) -> tuple[str, str] | None:
    return next(iter(_validators(headers)), None)


def _asked_with(headers: Headers) -> tuple[str, str] | None:
    """Return the version that a request had already."""
    said = {name.lower(): value for name, value in headers}
    etag, since = said.get("if-none-match", ""), said.get("if-modified-since", "")
    return _validator([("etag", "" if "," in etag or etag == "*" else etag), ("last-modified", since)])
