"""Which captures of a URL there are, and which of them is meant: the nearest in time that can be shown."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from attrs import frozen
from sqlalchemy import Integer, and_, bindparam, case, extract, func, literal, or_, select, union_all

from crawler.db.models import Artifact, Record, WarcFile
from crawler.db.types import UtcTime
from crawler.evidence.bodies import is_readable
from crawler.warc.cdxj import stored_key
from crawler.warc.records import NOT_MODIFIED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlalchemy import ColumnElement, CompoundSelect, Row, Select

    from crawler.db.engine import Database, Transaction

A_FEW = 5  # captures on each side of a time that are looked at
TIMEMAP_ROWS = 1_000
LAST_CHARACTER = "\U0010ffff"
OK, REDIRECTS, GONE_FROM_SITE = 2, 3, (404, 410)
# A 304 says that the page is as it was, and the page is what is shown.
_STATUS = case((Record.status_code == NOT_MODIFIED, None), else_=Record.status_code)
_HAS_A_BODY = or_(Record.kind != "revisit", Record.original_id.is_not(None))


@frozen
class Capture:
    """A stored answer, as replay knows it."""

    record_id: int
    url: str
    url_key: str
    captured_at: datetime
    kind: str
    status: int | None
    mime_type: str | None
    digest: str | None
    offset: int | None
    length: int | None
    file: str | None  # the name of its WARC file
    precision: str | None = None  # of its time, where that is less than a second

    @property
    def is_redirect(self) -> bool:
        """Whether it leads somewhere else."""
        return self.status is not None and self.status // 100 == REDIRECTS

    @property
    def is_good(self) -> bool:
        """Whether it was answered with what was asked for; an answer without a status was."""
        return self.status is None or self.status // 100 == OK

    @property
    def is_an_answer(self) -> bool:
        """Whether it says something of the page, if only that it moved or is gone; a failure does not."""
        return self.is_good or self.is_redirect or self.status in GONE_FROM_SITE


@frozen
class Chosen:
    """The capture that is shown, and nearer ones that only say that a server had failed."""

    capture: Capture
    passed_over: tuple[Capture, ...] = ()


def is_there(now: datetime) -> ColumnElement[bool]:
    """Whether the bytes of a record are kept."""
    in_file = and_(Record.artifact_id.is_not(None), is_readable(now))
    is_whole = or_(WarcFile.artifact_id.is_(None), is_readable(now))
    in_warc = and_(
        Record.warc_file_id.is_not(None), Record.gone_at.is_(None), WarcFile.gone_at.is_(None), is_whole
    )  # fmt: skip
    return or_(in_file, in_warc)


# The artifact that has the bytes of a record: as a file of their own, or a WARC file with others.
HAS_ITS_BYTES = Artifact.id == func.coalesce(Record.artifact_id, WarcFile.artifact_id)


def captures(db: Transaction) -> Select[*tuple[Any, ...]]:
    """All captures that can be shown, as rows for `capture_of`."""
    return _captures_at(db.now)


def _captures_at(now: datetime) -> Select[*tuple[Any, ...]]:
    return _dated().where(is_there(now))


def _dated() -> Select[*tuple[Any, ...]]:
    return (
        select(
            Record.id, Record.url, Record.url_key, Record.captured_at, Record.kind, _STATUS,
            Record.mime_type, Record.payload_digest, Record.offset, Record.length, WarcFile.path,
            Record.date_precision,
        )
        .outerjoin(WarcFile, WarcFile.id == Record.warc_file_id)
        .outerjoin(Artifact, HAS_ITS_BYTES)
        .where(Record.captured_at.is_not(None), _HAS_A_BODY)
    )  # fmt: skip


def capture_of(row: Row[*tuple[Any, ...]]) -> Capture:
    """A capture, from its row."""
    return Capture(*row)


# ── the nearest ──


@frozen
class Near:
    """What there is of a URL around a time."""

    at: datetime
    captures: list[Capture]  # a few, the nearest first
    is_gone: bool = False  # one of that very second is not kept any more

    def chosen(self, *, embedded: bool = False) -> Chosen | None:
        """The capture that is nearest; of two that are as near, the later one.

        A capture of exactly that second is always the one. Else one of a few that says only that the server
        had failed makes way for one that says something of the page; what a page is shown with has to be
        there.
        """
        found = self.captures
        if not found:
            return None
        exact = [each for each in found if same_second(each.captured_at, self.at)]
        if exact and not embedded:
            best = max(exact, key=lambda each: (each.is_good, each.is_redirect, each.record_id))
            return Chosen(best)
        fits = (
            each for each in found if (each.is_good or each.is_redirect if embedded else each.is_an_answer)
        )
        best = next(fits, found[0])
        return Chosen(best, tuple(found[: found.index(best)]))


# Built once: building a statement costs more than running it.
NOW = cast("datetime", bindparam("now", type_=UtcTime()))
OF_URL = Record.url_key == bindparam("key")
_MINE = _captures_at(NOW).where(OF_URL)
_SINCE, _UNTIL = (bindparam(name, type_=UtcTime()) for name in ("since", "until"))
THAT_SECOND = Record.captured_at >= _SINCE, Record.captured_at <= _UNTIL


def _sides() -> CompoundSelect[*tuple[Any, ...]]:
    """The rows on both sides of a time, and one of that very second that is gone, in one statement."""
    at, most = bindparam("at", type_=UtcTime()), bindparam("most", type_=Integer())
    newest, oldest = (Record.captured_at.desc(), Record.id.desc()), (Record.captured_at, Record.id)
    gone = _dated().where(OF_URL, ~is_there(NOW), *THAT_SECOND)
    sides = (
        _MINE.where(Record.captured_at < at).order_by(*newest).limit(most),
        _MINE.where(Record.captured_at >= at).order_by(*oldest).limit(most),
        gone.limit(1),
    )
    marked = (each.add_columns(literal(each is not sides[-1])) for each in sides)
    return union_all(*(select(each.subquery()) for each in marked))


_SIDES = _sides()


def near(db: Transaction, url: str, at: datetime, most: int = A_FEW) -> Near:
    """What there is of a URL around a time."""
    asked = {"key": stored_key(url), "at": at, "now": db.now, "most": most, **second_of(at)}
    # On the connection itself: what the session does for objects costs more than this statement.
    rows = db.connection().execute(_SIDES, asked).all()
    found = [Capture(*columns) for *columns, is_kept in rows if is_kept]
    found.sort(key=lambda each: _distance(each, at))
    return Near(at, found, is_gone=len(found) < len(rows))


def second_of(at: datetime) -> dict[str, datetime]:
    """What `THAT_SECOND` asks with."""
    return {"since": at.replace(microsecond=0), "until": at.replace(microsecond=999_999)}


def same_second(one: datetime, other: datetime) -> bool:
    """Whether addresses have the same digits for both."""
    return one.replace(microsecond=0) == other.replace(microsecond=0)


def _distance(capture: Capture, at: datetime) -> tuple[float, bool, bool, bool]:
    """At equal distance: no redirect, answered well, the later one."""
    away = abs((capture.captured_at - at).total_seconds())
    return int(away), capture.is_redirect, not capture.is_good, capture.captured_at < at


_NEWEST = _MINE.order_by(Record.captured_at.desc(), Record.id.desc()).limit(2 * A_FEW)


def latest(db: Transaction, url: str) -> Chosen | None:
    """The newest capture of a URL that says something of the page."""
    rows = db.execute(_NEWEST, {"key": stored_key(url), "now": db.now})
    found = list(map(capture_of, rows))
    if not found:
        return None
    best = next((each for each in found if each.is_an_answer), found[0])
    return Chosen(best, tuple(found[: found.index(best)]))


def _around() -> tuple[Select[*tuple[Any, ...]], ...]:
    at = Record.captured_at
    since, until = (bindparam(name, type_=UtcTime()) for name in ("since", "until"))
    mine = _MINE.with_only_columns(at).limit(1)
    return (
        mine.order_by(at),
        mine.where(at < since).order_by(at.desc()),
        mine.where(at > until).order_by(at),
        mine.order_by(at.desc()),
    )


_AROUND = _around()


def around(db: Transaction, capture: Capture) -> tuple[datetime | None, ...]:
    """When the first, the one before, the one after and the last capture of the same URL were made.

    What was captured in the same second is neither before nor after: it has the same address.
    """
    asked = {"key": capture.url_key, "now": db.now, **second_of(capture.captured_at)}
    return tuple(db.scalar(query, asked) for query in _AROUND)


# ── all of a URL ──


def all_of(database: Database, url: str) -> Iterator[Capture]:
    """Every capture of a URL, the oldest first; no transaction is open between two pages of them."""
    last: Capture | None = None
    while page := _page_of(database, url, last):
        yield from page
        if len(page) < TIMEMAP_ROWS:
            return
        last = page[-1]


def _page_of(database: Database, url: str, last: Capture | None) -> list[Capture]:
    with database.read() as db:
        query = captures(db).where(Record.url_key == stored_key(url))
        if last is not None:
            same = and_(Record.captured_at == last.captured_at, Record.id > last.record_id)
            query = query.where(or_(Record.captured_at > last.captured_at, same))
        rows = db.execute(query.order_by(Record.captured_at, Record.id).limit(TIMEMAP_ROWS))
        return [capture_of(row) for row in rows]


@frozen
class Known:
    """What one of the captures of a URL is known to be."""

    status: int | None
    mime_type: str | None
    is_damaged: bool  # its file is, somewhere


def known_of_each(db: Transaction, urls: Iterable[str]) -> dict[str, list[Known]]:
    """Return what is known of the captures of each URL that were answered well, or lead on."""
    keys = {url: stored_key(url) for url in urls}
    known: dict[str, list[Known]] = {}
    every = sorted(set(keys.values()))
    columns = (Record.url_key, Record.status_code, Record.mime_type, WarcFile.state)
    well = or_(Record.status_code.is_(None), Record.status_code < 400)  # ruff: ignore[magic-value-comparison] - HTTP's
    for start in range(0, len(every), 500):
        some = every[start : start + 500]
        query = captures(db).where(Record.url_key.in_(some), well).with_only_columns(*columns).distinct()
        for key, status, mime_type, state in db.execute(query):
            known.setdefault(key, []).append(Known(status, mime_type, state == "damaged"))
    return {url: known[key] for url, key in keys.items() if key in known}


def which_are_there(db: Transaction, urls: Iterable[str]) -> set[str]:
    """Return those of the URLs of which there is a capture that was answered well, or leads on."""
    return set(known_of_each(db, urls))


# ── of many URLs ──


def begins_with(prefix: str) -> tuple[ColumnElement[bool], ...]:
    """Whether a key begins so, as an index finds it: keys are sorted by their bytes."""
    return Record.url_key >= prefix, Record.url_key < prefix + LAST_CHARACTER


# ── by years and days ──


def span_of(db: Transaction, url: str) -> tuple[datetime, datetime] | None:
    """When the first and the last capture of a URL were made."""
    mine = (
        captures(db).where(Record.url_key == stored_key(url)).with_only_columns(Record.captured_at).limit(1)
    )
    first, last = (
        db.scalar(mine.order_by(order)) for order in (Record.captured_at, Record.captured_at.desc())
    )
    return (first, last) if first and last else None


def counts_by_year(db: Transaction, url: str) -> dict[int, int]:
    """How many captures of a URL there are of each year that has any, the earliest first."""
    year = extract("year", Record.captured_at).label("year")
    mine = captures(db).where(Record.url_key == stored_key(url)).with_only_columns(year, func.count())
    return {int(each): count for each, count in db.execute(mine.group_by(year).order_by(year))}


def of_year(db: Transaction, url: str, year: int, most: int) -> list[Capture]:
    """A year's captures of a URL, the oldest first."""
    mine = captures(db).where(Record.url_key == stored_key(url), *_within(year))
    return [capture_of(row) for row in db.execute(mine.order_by(Record.captured_at, Record.id).limit(most))]


def _within(year: int) -> tuple[ColumnElement[bool], ...]:
    first, last = datetime(year, 1, 1, tzinfo=UTC), datetime(year, 12, 31, 23, 59, 59, 999_999, UTC)
    return Record.captured_at >= first, Record.captured_at <= last
