"""Answers what a CDX server is asked: captures of a URL, a folder, a host or a domain, page by page."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen
from sqlalchemy import and_, or_

from crawler.archive.asked import time_of, url_of
from crawler.archive.listings import Filter, fields_of
from crawler.archive.lookup import begins_with, capture_of, captures, near
from crawler.db.models import Record
from crawler.errors import UsageError
from crawler.warc.cdxj import stored_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement, Select

    from crawler.archive.lookup import Capture
    from crawler.db.engine import Database, Transaction

MAX_LIMIT, DEFAULT_LIMIT = 10_000, 1_000
MAX_LOOKED_AT = 100_000  # rows of which filters leave nothing
PAGE_ROWS = 2_000
MATCH_TYPES = ("exact", "prefix", "host", "domain")
SORTS = ("default", "reverse", "closest")
MAX_ID = 2**53 - 1


@frozen
class CdxOrder:
    """What is asked for."""

    url: str
    match_type: str = "exact"
    since: str = ""
    until: str = ""  # that time, or all that begins so, included
    limit: int = DEFAULT_LIMIT
    sort: str = "default"
    closest: str = ""
    filters: Sequence[Filter] = ()
    after: str = ""  # where the page before ended


@frozen
class CdxPage:
    """A page of lines, and where the next one begins."""

    lines: list[dict[str, str]]
    next_key: str = ""


@frozen
class _Mark:
    """The place of a row in the order of keys."""

    key: str
    at: datetime
    record_id: int

    @property
    def text(self) -> str:
        """As it stands in an address."""
        said = json.dumps([self.key, self.at.isoformat(), self.record_id])
        return urlsafe_b64encode(said.encode()).decode().rstrip("=")


def cdx(database: Database, order: CdxOrder) -> CdxPage:
    """A page of captures; a URL that ends in `*` asks for all that begin so."""
    order = _understood(order)
    if order.sort == "closest":
        return _closest(database, order)
    found: list[dict[str, str]] = []
    mark = _mark_of(order.after)
    looked_at = 0
    while looked_at < MAX_LOOKED_AT:
        rows = _rows(database, order, mark)
        for capture in rows:
            fields = fields_of(capture)
            if all(each.keeps(fields) for each in order.filters):
                if len(found) == order.limit:
                    return CdxPage(found, mark.text if mark else "")
                found.append(fields)
            mark = _Mark(capture.url_key, capture.captured_at, capture.record_id)
        looked_at += len(rows)
        if len(rows) < PAGE_ROWS:
            return CdxPage(found)
    return CdxPage(found, mark.text if mark else "")


def _closest(database: Database, order: CdxOrder) -> CdxPage:
    with database.read() as db:
        rows = near(db, url_of(order.url), time_of(order.closest), order.limit).captures
    lines = [fields_of(each) for each in rows]
    kept = [fields for fields in lines if all(each.keeps(fields) for each in order.filters)]
    return CdxPage(kept[: order.limit])


def _understood(order: CdxOrder) -> CdxOrder:
    if order.closest:
        order = evolve(order, sort="closest")
    if order.sort == "closest" and (not order.closest.isdecimal() or order.match_type != "exact"):
        raise UsageError("closest is a time, and asks for one URL", hint="as in closest=20260501")
    if order.url.endswith("*") and order.match_type == "exact":
        return evolve(order, url=order.url[:-1], match_type="prefix")
    return order


def _rows(database: Database, order: CdxOrder, mark: _Mark | None) -> list[Capture]:
    """So many rows behind a mark; no transaction is open between two pages of them."""
    with database.read() as db:
        query = _query(db, order)
        if mark is not None:
            query = query.where(_behind(mark, is_reverse=order.sort == "reverse"))
        return [capture_of(row) for row in db.execute(query.limit(PAGE_ROWS))]


def _query(db: Transaction, order: CdxOrder) -> Select[*tuple[Any, ...]]:
    columns = (Record.url_key, Record.captured_at, Record.id)
    query = captures(db).where(*_which(order))
    if order.since:
        query = query.where(Record.captured_at >= time_of(order.since))
    if order.until:
        query = query.where(Record.captured_at < _end_of(order.until))
    return query.order_by(*([each.desc() for each in columns] if order.sort == "reverse" else columns))


def _which(order: CdxOrder) -> tuple[ColumnElement[bool], ...]:
    key = stored_key(url_of(order.url))
    if order.match_type == "exact":
        return (Record.url_key == key,)
    host = key.partition(")")[0]
    if order.match_type == "host":
        return begins_with(f"{host})")
    if order.match_type == "domain":
        return (or_(and_(*begins_with(f"{host})")), and_(*begins_with(f"{host},"))),)
    return begins_with(key)


def _behind(mark: _Mark, *, is_reverse: bool) -> ColumnElement[bool]:
    key, at, record = Record.url_key, Record.captured_at, Record.id
    if is_reverse:
        same = or_(at < mark.at, and_(at == mark.at, record < mark.record_id))
        return or_(key < mark.key, and_(key == mark.key, same))
    same = or_(at > mark.at, and_(at == mark.at, record > mark.record_id))
    return or_(key > mark.key, and_(key == mark.key, same))


def _end_of(digits: str) -> datetime:
    """The end of what begins with these digits: of a year, a month, a day, a second."""
    begin, length = time_of(digits), len(digits)
    steps = {8: timedelta(days=1), 10: timedelta(hours=1), 12: timedelta(minutes=1)}
    try:
        if length <= 4:  # ruff: ignore[magic-value-comparison] - a year
            return begin.replace(year=begin.year + 1)
        if length <= 6:  # ruff: ignore[magic-value-comparison] - a month
            return (begin.replace(day=1) + timedelta(days=32)).replace(day=1)
        return begin + steps.get(length, timedelta(seconds=1))
    except (ValueError, OverflowError):  # time goes no further
        return datetime.max.replace(tzinfo=UTC)


def _mark_of(given: str) -> _Mark | None:
    if not given:
        return None
    try:
        key, at, record = json.loads(urlsafe_b64decode(given + "=" * (-len(given) % 4)))
        return _Mark(str(key), datetime.fromisoformat(at).astimezone(UTC), int(record) & MAX_ID)
    except (ValueError, TypeError, OverflowError):
        raise UsageError("that is no resumeKey of ours") from None
