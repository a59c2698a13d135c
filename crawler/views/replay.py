"""What stands around a capture: which one it is, its neighbours, and the calendar of a URL."""

from __future__ import annotations

from calendar import monthcalendar
from collections import defaultdict
from datetime import date
from typing import TYPE_CHECKING

from attrs import frozen
from sqlalchemy import select

from crawler.archive.asked import address, calendar_address, capture_date, shown_time, timestamp_of
from crawler.archive.changes import UPDATED, previous
from crawler.archive.lookup import around, counts_by_year, of_year, span_of
from crawler.db.models import Record, Snapshot, SnapshotChange, WarcFile
from crawler.evidence.warc_checks import why_damaged
from crawler.warc.cdxj import stored_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime, timedelta

    from crawler.archive.lookup import Capture, Chosen
    from crawler.db.engine import Transaction

MAX_A_YEAR = 5_000
MAX_LISTED = 500
MINUTE, HOUR, DAY, YEAR = 60, 3_600, 86_400, 365 * 86_400


@frozen
class Place:
    """A capture, and where it is shown."""

    url: str
    captured_at: datetime
    status: int | None
    mime_type: str | None
    address: str
    precision: str | None = None  # of its time, where that is less than a second

    @property
    def shown_time(self) -> str:
        """When it was captured, as exactly as that is known."""
        return shown_time(self.captured_at, self.precision)

    @property
    def is_bad(self) -> bool:
        """Whether the server said that it failed, or had nothing."""
        return self.status is not None and self.status >= 400  # ruff: ignore[magic-value-comparison] - HTTP's


@frozen(kw_only=True)
class Frame:
    """What the frame of a capture tells."""

    url: str
    captured_at: datetime
    shown_time: str  # the same, as exactly as it is known
    asked_at: datetime
    away: str  # how far that is from the time that was asked for; empty where it is that time
    status: int | None
    mime_type: str | None
    digest: str | None
    passed_over: tuple[Place, ...]  # nearer ones that only say that a server had failed
    around: tuple[datetime | None, ...]  # the first, the one before, the one after, the last
    before: str | None
    after: str | None
    stored: str
    calendar: str
    snapshot_id: int | None
    compared_with: int | None
    change: str | None  # what changed since, in a sentence
    damage: str  # why the WARC file that it lies in counts as damaged; empty where it does not


@frozen
class Difference:
    """What a capture says otherwise than the one before it."""

    captured_at: datetime
    summary: str
    address: str


@frozen
class CalendarDay:
    """A day of a calendar; one that is of no month has no number."""

    number: int
    captures: tuple[Place, ...] = ()
    changed: bool = False


@frozen
class CalendarMonth:
    """A month in which something was captured."""

    name: str
    weeks: list[list[CalendarDay]]


@frozen
class Calendar:
    """The captures of a URL in one year, and how many there are in the others."""

    year: int
    counts: dict[int, int]
    total: int
    first_at: datetime
    last_at: datetime
    months: list[CalendarMonth]
    captures: list[Place]
    is_cut: bool  # there are more in this year than are shown
    differences: dict[datetime, Difference]  # by the time of the capture that says something else


def place(capture: Capture) -> Place:
    """A capture, and where it is shown."""
    where = address(capture.url, timestamp_of(capture.captured_at))
    return Place(
        capture.url, capture.captured_at, capture.status, capture.mime_type, where, capture.precision
    )  # fmt: skip


def places(captures: Iterable[Capture]) -> list[Place]:
    """Captures, and where they are shown."""
    return [place(each) for each in captures]


def frame(db: Transaction, chosen: Chosen, asked_at: datetime) -> Frame:
    """What is told of the capture that is shown."""
    capture = chosen.capture
    near = around(db, capture)
    links = [None if at is None else address(capture.url, timestamp_of(at)) for at in near]
    snapshot = db.scalar(select(Snapshot).where(Snapshot.record_id == capture.record_id))
    before = previous(db, snapshot) if snapshot is not None and snapshot.group_id is not None else None
    change = snapshot and db.scalar(
        select(SnapshotChange.summary).where(SnapshotChange.to_snapshot_id == snapshot.id)
    )
    return Frame(
        url=capture.url, captured_at=capture.captured_at, asked_at=asked_at,
        shown_time=shown_time(capture.captured_at, capture.precision), away=_away(capture, asked_at),
        status=capture.status,
        mime_type=capture.mime_type, digest=capture.digest, passed_over=tuple(places(chosen.passed_over)),
        around=near, before=links[1], after=links[2],
        stored=address(capture.url, timestamp_of(capture.captured_at), "id_"),
        calendar=calendar_address(capture.url), snapshot_id=snapshot.id if snapshot else None,
        compared_with=before.id if before else None, change=change or None,
        damage=_damage(db, capture),
    )  # fmt: skip


def _damage(db: Transaction, capture: Capture) -> str:
    record = db.get_one(Record, capture.record_id)
    file = db.get(WarcFile, record.warc_file_id) if record.warc_file_id else None
    return why_damaged(file).removesuffix(".") if file else ""


def _away(capture: Capture, asked_at: datetime) -> str:
    """Say how far a capture is from the time that was asked for; nothing if it may be of that time."""
    at, precision = capture.captured_at, capture.precision
    if precision and capture_date(at, precision) == capture_date(asked_at, precision):
        return ""
    return apart(at.replace(microsecond=0) - asked_at)


def apart(difference: timedelta) -> str:
    """How far two times are from each other, in words; empty where they are the same."""
    seconds = round(abs(difference.total_seconds()))
    if not seconds:
        return ""
    word = "later" if difference.total_seconds() > 0 else "earlier"
    for size, name in ((YEAR, "year"), (DAY, "day"), (HOUR, "hour"), (MINUTE, "minute"), (1, "second")):
        if seconds >= size:
            number = seconds // size
            return f"{number} {name}{'' if number == 1 else 's'} {word}"
    return ""


def calendar(db: Transaction, url: str, year: int | None) -> Calendar | None:
    """A year's captures of a URL, the newest year's unless one is named; None where there are none at all."""
    span = span_of(db, url)
    if span is None:
        return None
    first, last = span
    year = last.year if year is None else min(max(year, first.year), last.year)
    counts = dict(sorted({year: 0, **counts_by_year(db, url)}.items()))
    found = places(of_year(db, url, year, MAX_A_YEAR))
    with_a_day = [each for each in found if each.precision not in {"year", "month"}]
    differences = _differences(db, url, [each.captured_at for each in found])
    changed = {each.date() for each in differences}
    return Calendar(
        year=year, counts=counts, total=sum(counts.values()), first_at=first, last_at=last,
        months=_months(year, with_a_day, changed), captures=found[:MAX_LISTED],
        is_cut=counts[year] > MAX_LISTED, differences=differences,
    )  # fmt: skip


def _differences(db: Transaction, url: str, times: Sequence[datetime]) -> dict[datetime, Difference]:
    """What a page said otherwise than before, by the time at which it did."""
    if not times:
        return {}
    change = SnapshotChange
    columns = (change.to_captured_at, change.summary, change.from_snapshot_id, change.to_snapshot_id)
    found = (
        select(*columns)
        .join(Snapshot, Snapshot.id == change.to_snapshot_id)
        .join(Record, Record.id == Snapshot.record_id)
        .where(
            Record.url_key == stored_key(url), change.change_type == UPDATED,
            change.to_captured_at.between(times[0], times[-1]),
        )
    )  # fmt: skip
    return {at: Difference(at, said, f"/diff/{old}/{new}") for at, said, old, new in db.execute(found)}


def _months(year: int, captures: Sequence[Place], changed: set[date]) -> list[CalendarMonth]:
    by_day: dict[date, list[Place]] = defaultdict(list)
    for each in captures:
        by_day[each.captured_at.date()].append(each)
    return [
        CalendarMonth(
            f"{date(year, month, 1):%B}",
            [[_day(date(year, month, n) if n else None, by_day, changed) for n in week] for week in weeks],
        )
        for month in sorted({day.month for day in by_day})
        if (weeks := monthcalendar(year, month))
    ]


def _day(day: date | None, by_day: dict[date, list[Place]], changed: set[date]) -> CalendarDay:
    if day is None:
        return CalendarDay(0)
    return CalendarDay(day.day, tuple(by_day.get(day, ())), day in changed)
