"""The capture that is shown is the nearest one, it can do nothing, and what is not there is told."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import update

from crawler.archive.absent import PURGE, Purge, neighbours, purge_of, tombstone
from crawler.archive.asked import asked
from crawler.archive.lookup import (
    Capture,
    Near,
    all_of,
    around,
    counts_by_year,
    latest,
    near,
    of_year,
    span_of,
    which_are_there,
)
from crawler.archive.missing import missing_of
from crawler.archive.replay import CaptureGoneError, NotCapturedError, RedirectLoopError, Replay
from crawler.clock import utc_now
from crawler.db.models import Artifact, AuditEntry, Record
from crawler.evidence.folder_store import FolderStore
from tests.unit.archive.captured import SHOP, day, exchange, record
from tests.unit.archive.stored import index_pages, keep
from tests.unit.archive.written import NOON, a_file, a_record

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.archive.replay import Answer
    from crawler.db.engine import Database, Transaction
    from crawler.warc.messages import Exchange


PAGE = "<title>Shop</title><link rel=stylesheet href=/s.css><img src=/p.png><script>evil()</script><p>Day {}"
PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 64


@pytest.fixture
def blobs(tmp_path: Path) -> FolderStore:
    """The place of the artifacts."""
    return FolderStore(tmp_path / "artifacts")


@pytest.fixture
def replay(database: Database, blobs: FolderStore) -> Replay:
    """What shows captures."""
    return Replay(database, blobs)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The place of the WARC files."""
    return tmp_path / "warcs"


def shown(replay: Replay, rest: str) -> tuple[Answer, dict[str, str], bytes]:
    """An answer with its headers and its body."""
    answer = replay.content(asked(rest))
    return answer, dict(answer.headers), b"".join(answer.body)


def days(*numbers: int, status: int = 200, url: str = SHOP) -> list[Exchange]:
    """The shop's page as it was on some days."""
    return [exchange(url, PAGE.format(number), day(number), status=status) for number in numbers]


def test_the_nearest_capture_is_shown(replay: Replay, database: Database, folder: Path) -> None:
    """Before or after; the scheme and www. make no difference; a time need not be whole."""
    record(database, folder, *days(3, 10, 20))
    for asked_day, shown_day in {1: 3, 3: 3, 6: 3, 7: 10, 15: 20, 16: 20, 31: 20}.items():
        body = shown(replay, f"202605{asked_day:02}120000mp_/http://www.shop.example")[2]
        assert f"Day {shown_day}<".encode() in body
    answer, headers, body = shown(replay, f"20260509mp_/{SHOP}")
    assert b"Day 10" in body
    assert headers["Memento-Datetime"] == "Sun, 10 May 2026 12:00:00 GMT"
    assert f'</web/20260510120000/{SHOP}>; rel="memento"' in headers["Link"]
    assert (answer.status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")


def test_nothing_of_an_answer_goes_out_that_acts(replay: Replay, database: Database, folder: Path) -> None:
    """No header of the site does, and each answer carries the policy itself."""
    acting: dict[str, Any] = {
        "Set_Cookie": "a=b", "Refresh": "0;url=http://canary.example", "Link": "<http://canary.example>;rel=preload",
        "Strict_Transport_Security": "max-age=1", "Clear_Site_Data": '"*"', "Content_Security_Policy": "x",
        "Location": "http://canary.example/", "Service_Worker_Allowed": "/", "Report_To": "x",
    }  # fmt: skip
    record(database, folder, exchange(SHOP, PAGE, day(3), **acting))
    for modifier in ("mp_", "id_", "if_", "im_"):
        answer, headers, body = shown(replay, f"2026{modifier}/{SHOP}")
        assert not {name.replace("_", "-") for name in acting} - {"Link", "Content-Security-Policy"} & set(
            headers
        )
        assert "canary" not in str(answer.headers)
        policy = headers["Content-Security-Policy"]
        assert policy.startswith("sandbox allow-top-navigation-by-user-activation; default-src 'none'")
        assert "allow-scripts" not in policy
        assert (b"<script" in body) is (modifier == "id_")
        assert (headers.get("Content-Disposition") == "attachment") is (modifier == "id_")


def test_redirects_stay_in_the_archive(replay: Replay, database: Database, folder: Path) -> None:
    """They lead to the capture that they led to, that of https among them; nobody is sent in a circle."""
    record(
        database, folder,
        exchange(f"{SHOP}old", "", day(3), status=301, Location="/new"),
        exchange(f"{SHOP}new", "the new page", day(4)),
        exchange("http://shop.example/https", "", day(3), status=301, Location="https://shop.example/https"),
        exchange(f"{SHOP}https", "secure", day(3) + timedelta(seconds=1)),
        exchange(f"{SHOP}away", "", day(3), status=302, Location="https://elsewhere.example/"),
        exchange(f"{SHOP}evil", "", day(3), status=302, Location="javascript:alert(1)"),
        exchange(f"{SHOP}a", "", day(3), status=301, Location="/b"),
        exchange(f"{SHOP}b", "", day(3), status=301, Location="/a"),
        exchange(f"{SHOP}self", "", day(3), status=301, Location="http://www.shop.example/self"),
        exchange(f"{SHOP}both", "", day(3), status=301, Location="https://www.shop.example/both"),
        exchange("https://www.shop.example/both", "the page", day(3) + timedelta(milliseconds=400)),
    )  # fmt: skip
    answer, headers, _ = shown(replay, f"2026mp_/{SHOP}old")
    assert (answer.status, headers["Location"]) == (302, f"/web/20260504120000mp_/{SHOP}new")
    _, headers, _ = shown(replay, "20260503120000mp_/http://shop.example/https")
    assert headers["Location"] == f"/web/20260503120001mp_/{SHOP}https"
    with pytest.raises(
        NotCapturedError, match=r"led to https://elsewhere.example/ then, of which there is no"
    ):
        shown(replay, f"2026mp_/{SHOP}away")
    answer, headers, _ = shown(replay, f"2026mp_/{SHOP}evil")
    assert (answer.status, "Location" in headers) == (200, False)
    assert b"the page" in shown(replay, f"2026mp_/{SHOP}both")[2]
    for path in ("a", "b", "self"):
        with pytest.raises(RedirectLoopError):
            shown(replay, f"2026mp_/{SHOP}{path}")


def test_what_a_page_is_shown_with(replay: Replay, database: Database, folder: Path) -> None:
    """Is asked of the archive; what is not there is listed."""
    record(
        database,
        folder,
        *days(3),
        exchange(f"{SHOP}s.css", "a{background:url(b.png)}", day(3), kind="text/css"),
    )
    answer, _, body = shown(replay, f"2026mp_/{SHOP}")
    assert f"/web/20260503120000cs_/{SHOP}s.css".encode() in body
    assert answer.shown is not None
    missing = missing_of(replay, answer.shown, "20260503120000")
    assert (list(missing.parts), list(missing.styled)) == ([f"{SHOP}p.png"], [f"{SHOP}b.png"])
    _, _, style = shown(replay, f"2026cs_/{SHOP}s.css")
    assert f"/web/20260503120000mp_/{SHOP}b.png".encode() in style


def test_a_failed_picture_makes_way_for_a_good_one(replay: Replay, database: Database, folder: Path) -> None:
    """However near it is: a page looks as it did with the picture of another day."""
    record(
        database, folder, exchange(f"{SHOP}p.png", "gone", day(3), status=404),
        exchange(f"{SHOP}p.png", PNG, day(9), kind="image/png"),
    )  # fmt: skip
    answer, _, body = shown(replay, f"20260503120000im_/{SHOP}p.png")
    assert (answer.status, body) == (200, PNG)
    assert shown(replay, f"20260503120000id_/{SHOP}p.png")[0].status == 404


def test_what_retention_removed(replay: Replay, database: Database, blobs: FolderStore) -> None:
    """A page of a session whose file is gone has a tombstone, whatever time is asked for."""
    key = keep(database, blobs, PAGE.format(3), SHOP, at=day(3))
    index_pages(database, blobs)
    assert b"Day 3" in shown(replay, f"2026mp_/{SHOP}")[2]
    with database.write() as db:
        db.execute(update(Artifact).where(Artifact.id == key).values(deleted_at=utc_now()))
    with pytest.raises(CaptureGoneError, match="removed_by_retention") as error:
        shown(replay, f"2027mp_/{SHOP}")
    assert error.value.http_status == 410


def test_what_was_asked_for_is_gone_however_much_went_after_it(
    replay: Replay, database: Database, folder: Path
) -> None:
    """The capture of that very second is told of, by whom it went, with what is near it, which is shown."""
    record(database, folder, *days(*range(1, 16)))
    with database.write() as db:
        db.execute(update(Record).where(Record.captured_at < day(14)).values(gone_at=utc_now()))
    with pytest.raises(CaptureGoneError) as error:
        shown(replay, f"20260502120000mp_/{SHOP}")
    stone = error.value.stone
    assert stone is not None
    assert (stone.why, stone.captured_at, (stone.digest or "")[:7]) == ("erased", day(2), "sha256:")
    assert [each.captured_at.day for each in error.value.near_by] == [14, 15]
    assert b"Day 14" in shown(replay, f"20260502120001mp_/{SHOP}")[2]


def test_a_revisit_is_a_capture(replay: Replay, database: Database, folder: Path) -> None:
    """With the body that it repeats, and its own time."""
    same = [exchange(SHOP, "the same page", day(number)) for number in (3, 4)]
    record(database, folder, *same, revisits="url")
    _, headers, body = shown(replay, f"20260504mp_/{SHOP}")
    assert b"the same page" in body
    assert headers["Memento-Datetime"].startswith("Mon, 04 May 2026")


SECOND = timedelta(seconds=1)
DAY = timedelta(days=1)
EDGE = datetime(2026, 1, 1, tzinfo=UTC)


def a_capture(seconds: float, status: int | None = 200, number: int = 1) -> Capture:
    """One so long after noon."""
    at = NOON + timedelta(seconds=seconds)
    return Capture(number, SHOP, "k", at, "response", status, "text/html", None, 0, 1, "f")


@pytest.mark.parametrize(
    ("statuses", "embedded", "shown", "passed_over"),
    [
        ([500, 200], False, 1, 1), ([503, 404], False, 1, 1),  # that it is gone says something of the page
        ([404, 200], True, 1, 1), ([429, 503, 200], False, 2, 2),  # but nothing to show a page with
        ([500, 502], False, 0, 0),  # none says anything: the nearest
        ([None, 200], False, 0, 0), ([301, 200], False, 0, 0), ([], False, None, 0),
    ],
)  # fmt: skip
def test_what_a_failing_server_said_makes_way(
    statuses: list[int | None], shown: int | None, passed_over: int, *, embedded: bool
) -> None:
    """For the next capture that says something of the page."""
    found = [a_capture(number + 1, status, number) for number, status in enumerate(statuses)]
    chosen = Near(NOON, found).chosen(embedded=embedded)
    assert (chosen and chosen.capture.record_id) == shown
    assert chosen is None or len(chosen.passed_over) == passed_over


def test_a_capture_of_exactly_that_second_is_the_one() -> None:
    """Though it is a failure, for that is what was asked for; of several the good one, and not a redirect."""
    failed, good, later = a_capture(0, 500, 1), a_capture(0.9, 200, 2), a_capture(5, 200, 3)
    redirect = a_capture(0, 301, 4)
    for found, wanted in (
        ([failed, later], failed), ([failed, good, later], good), ([redirect, good, later], good),
    ):  # fmt: skip
        chosen = Near(NOON, found).chosen()
        assert chosen is not None
        assert chosen.capture == wanted


def test_of_two_in_one_second_the_way_on_leads_out_of_it(database: Database) -> None:
    """An address has seconds: one that has the same digits would show the same page again."""
    times = [NOON - DAY, NOON, NOON + SECOND / 2, NOON + DAY]
    with database.write() as db:
        for at in times:
            a_record(db, at=at)
    with database.read() as db:
        [first, second] = [near(db, SHOP, at).captures[0] for at in (NOON, NOON + SECOND / 2)]
        for capture in (first, second):
            assert around(db, capture) == (times[0], times[0], times[3], times[3])


def test_the_newest_that_says_something(database: Database) -> None:
    """A failure after it is passed over; where there is nothing else, it is shown."""
    with database.write() as db:
        a_record(db, at=NOON, status_code=200)
        a_record(db, at=NOON + DAY, status_code=503)
        a_record(db, f"{SHOP}down", NOON, status_code=503)
    with database.read() as db:
        page, down = latest(db, SHOP), latest(db, f"{SHOP}down")
        assert page is not None
        assert down is not None
        assert (page.capture.captured_at, len(page.passed_over)) == (NOON, 1)
        assert (down.capture.status, down.passed_over) == (503, ())
        assert latest(db, f"{SHOP}never") is None


def test_all_captures_that_are_kept_are_listed(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many are of one moment; not what was erased, what went with its file, and what has no date."""
    monkeypatch.setattr("crawler.archive.lookup.TIMEMAP_ROWS", 2)
    with database.write() as db:
        made = [a_record(db, at=NOON).id for _ in range(4)] + [a_record(db, at=NOON + DAY).id]
        a_record(db, at=NOON + DAY, gone_at=utc_now())
        a_record(db, at=NOON + 2 * DAY, warc_file_id=a_file(db, gone_at=NOON).id)
        a_record(db, at=None)
    assert [each.record_id for each in all_of(database, SHOP)] == made
    with database.read() as db:
        assert span_of(db, SHOP) == (NOON, NOON + DAY)
        assert span_of(db, f"{SHOP}never") is None


def test_years_end_with_their_last_moment(database: Database) -> None:
    """In UTC; the bounds of the calendar are years as well."""
    times = [EDGE - SECOND / 1000, EDGE, datetime(9999, 12, 31, tzinfo=UTC), datetime(1, 1, 1, tzinfo=UTC)]
    with database.write() as db:
        for at in times:
            a_record(db, at=at)
    with database.read() as db:
        assert counts_by_year(db, SHOP) == {1: 1, 2025: 1, 2026: 1, 9999: 1}
        assert [each.captured_at for each in of_year(db, SHOP, 2026, most=5)] == [EDGE]
        assert len(of_year(db, SHOP, 9999, most=5)) == 1


def test_which_of_many_are_there(database: Database) -> None:
    """More than one statement may name; those that only failed are not."""
    with database.write() as db:
        for name, status in {"a": 200, "b": 404, "c": 302, "d": None}.items():
            a_record(db, f"{SHOP}{name}", status_code=status)
    urls = [f"{SHOP}{name}" for name in "abcd"] + [f"{SHOP}{n}" for n in range(1_200)]
    with database.read() as db:
        assert which_are_there(db, urls) == {f"{SHOP}{name}" for name in "acd"}
        assert which_are_there(db, []) == set()


def test_why_a_capture_is_gone(database: Database) -> None:
    """As its file says, or else the record: of the newest that is gone, or of the one of that second."""
    with database.write() as db:
        a_record(db, at=NOON, gone_at=NOON + DAY, payload_digest="sha1:A")
        gone = a_file(db, gone_at=NOON + 3 * DAY, gone_why="lost")
        a_record(db, at=NOON + DAY, warc_file_id=gone.id)
        a_record(db, at=NOON + 4 * DAY)
    with database.read() as db:
        newest, first = tombstone(db, SHOP), tombstone(db, SHOP, NOON)
        assert newest is not None
        assert first is not None
        assert (newest.why, newest.gone_at) == ("lost", NOON + 3 * DAY)
        assert (first.why, first.gone_at, first.digest) == ("erased", NOON + DAY, "sha1:A")
        for there in (NOON + 2 * DAY, NOON + 4 * DAY):
            assert tombstone(db, SHOP, there) is None
        assert tombstone(db, f"{SHOP}never") is None


def purged(db: Transaction, subject: str, done_at: str | None, action: str = PURGE) -> None:
    """What the audit log says of a purge."""
    details = {} if done_at is None else {"done_at": done_at}
    db.add(AuditEntry(timestamp=NOON, actor="me", action=action, subject=subject, details=details))


def test_a_purge_is_told_for_its_own_domain(database: Database) -> None:
    """The newest that is over; neither another domain's, nor one that goes on, nor another deed."""
    with database.write() as db:
        purged(db, "domain shop.example", "2026-05-01T00:00:00+00:00")
        purged(db, "domain shop.example", "2026-05-02T00:00:00.5+00:00")
        purged(db, "domain shop.example", None)
        purged(db, "domain shop.example.evil.example", "2026-06-01T00:00:00+00:00")
        purged(db, "domain shop.example", "2026-07-01T00:00:00+00:00", action="hold")
        purged(db, "domain other.example", None)
    with database.read() as db:
        at = datetime(2026, 5, 2, microsecond=500_000, tzinfo=UTC)
        assert purge_of(db, f"{SHOP}p?q=1") == Purge("shop.example", at)
        assert purge_of(db, "https://other.example/") is None
        assert purge_of(db, "https://") is None
        assert purge_of(db, "not a url") is None


def test_what_lies_beside_it(database: Database) -> None:
    """Pages of the same folder, once each, else of the host; no picture, and nothing of another host."""
    with database.write() as db:
        for path in ("shoes/red", "shoes/red", "shoes/blue", "about", "shoesandmore"):
            a_record(db, SHOP + path)
        a_record(db, f"{SHOP}shoes/red.png", mime_type="image/png")
        a_record(db, "https://shop.example.evil.example/shoes/x")
        a_record(db, f"{SHOP}shoes/gone", gone_at=NOON)
    with database.read() as db:
        assert [each.url for each in neighbours(db, f"{SHOP}shoes/green?a=/b/c")] == [
            f"{SHOP}shoes/blue", f"{SHOP}shoes/red",
        ]  # fmt: skip
        assert len(neighbours(db, f"{SHOP}hats/tall")) == 4
        assert len(neighbours(db, f"{SHOP}hats/tall", most=3)) == 3
        assert neighbours(db, "https://nobody.example/") == []
        assert neighbours(db, "") == []
