"""Captures as pages and programs see them: their neighbours, evidence, bodies and comparisons."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select, update

from crawler.archive.search import SearchOrder
from crawler.archive.writing import no_content
from crawler.config import load_settings
from crawler.db.models import Artifact, Snapshot
from crawler.engines.live import LivePage
from crawler.errors import NotFoundError
from crawler.views import changes, search, snapshots
from crawler.views.changes import NotComparableError
from crawler.views.exhibit import exhibit, verified
from crawler.views.live import SAME, LiveDiff, live_diff
from crawler.views.replay import calendar
from tests.unit.archive.stored import index_pages, keep
from tests.unit.archive.written import NOON, SHOP, a_file, a_record, content, index
from tests.unit.views.rows import a_hold, a_job

if TYPE_CHECKING:
    from crawler.db.engine import Database
    from crawler.evidence.folder_store import FolderStore

DAY = timedelta(days=1)
SETTINGS = load_settings({"CHANGE_TRACKING_ENABLED": True, "REPLAY_BASE_URL": ""})
PAGE = "<html lang=en><title>Red shoes</title><p>Made of leather, for walking on long ways."


def numbers(database: Database) -> list[int]:
    """The snapshots, as they were written."""
    with database.read() as db:
        return list(db.scalars(select(Snapshot.id).order_by(Snapshot.id)))


def test_a_capture_that_failed_is_no_version_of_its_page(database: Database) -> None:
    """The one after it is compared with the one before."""
    red, blue = content("Red", "leather", "rubber"), content("Red", "leather", "canvas")
    failed = {"content": no_content("empty_page"), "status_code": 500, "content_hash": "3"}
    index(
        database,
        {"at": NOON, "content": red, "content_hash": "1"},
        {"at": NOON + DAY, "content": blue, "content_hash": "2"},
        {"at": NOON + 2 * DAY, **failed},
        {"at": NOON + 3 * DAY, "content": red, "content_hash": "1"},
        {"url": f"{SHOP}b", "at": NOON + 4 * DAY},
    )
    first, second, third, last, _ = numbers(database)
    with database.read() as db:
        found = changes.timeline(db, SETTINGS, str(second))
        same = changes.diff(db, SETTINGS, str(first), str(last))
        with pytest.raises(NotComparableError, match="no text"):
            changes.diff(db, SETTINGS, str(first), str(third))
    assert [each.snapshot_id for each in found.snapshots] == [first, second, third, last]
    assert [each.compare_from_snapshot_id for each in found.snapshots] == [None, first, second, second]
    assert same.summary == "No text changes detected (identical content hash)."


def test_a_capture_that_is_of_no_page_has_no_others(database: Database) -> None:
    """It is not shown another page in its place."""
    index(database, {"at": NOON}, {"url": f"{SHOP}b"})
    first, second = map(str, numbers(database))
    with database.write() as db:
        db.execute(update(Snapshot).values(group_id=None))
    with database.read() as db:
        with pytest.raises(NotFoundError, match="not grouped"):
            changes.latest(db, first)
        with pytest.raises(NotFoundError, match="not grouped"):
            changes.timeline(db, SETTINGS, second)


def test_the_nearest_capture_of_a_job(database: Database) -> None:
    """From either side of the time; another job's is none."""
    index(database, *({"at": NOON + n * DAY} for n in range(3)))
    with database.write() as db:
        db.add(a_job(id=7))
        db.flush()
        db.execute(update(Snapshot).values(job_id=7))
    with database.read() as db:
        for hours, day in ((-99, 0), (11, 0), (13, 1), (99, 2)):
            found = changes.nearest_of_job(db, SHOP, NOON + timedelta(hours=hours), 7)
            assert found is not None
            assert found.captured_at == NOON + day * DAY
        assert changes.nearest_of_job(db, SHOP, NOON, 8) is None
        assert changes.nearest_of_job(db, f"{SHOP}never", NOON, 7) is None


def test_every_capture_has_its_neighbours(database: Database) -> None:
    """Those of one moment, too: whoever goes on from one to the next sees all of them, and comes back."""
    index(
        database, {"at": NOON}, {"at": NOON + DAY}, {"at": NOON}, {"at": NOON - DAY}, {"url": f"{SHOP}other"}
    )
    first, last, second, before, other = numbers(database)
    way = [before, first, second, last]
    with database.read() as db:
        shown = {key: exhibit(db, str(key)) for key in numbers(database)}
    assert [shown[key].next for key in way] == [first, second, last, None]
    assert [shown[key].previous for key in way] == [None, before, first, second]
    assert (shown[other].previous, shown[other].next) == (None, None)


def test_the_capture_of_a_job_names_its_file_and_its_digest(database: Database) -> None:
    """In the order in which it happened; it has no hold, for no session brought it."""
    with database.write() as db:
        job = a_job(name="shop-1")
        db.add(job)
        db.flush()
        file = a_file(db, job_id=job.id, path="a.warc.gz", sha256="f" * 64, sealed_at=NOON + DAY)
        record = a_record(db, warc_file_id=file.id, length=99).id
    index(database, {"record_id": record, "status_code": None})
    with database.read() as db:
        found = exhibit(db, str(numbers(database)[0]))
    assert [step.what for step in found.chain] == ["Ordered", "Answered", "Kept", "Sealed"]
    assert (found.file_sha256, found.file_bytes, found.holds, found.verdict) == ("f" * 64, 99, [], None)


def test_the_capture_of_a_visit_is_held_and_verified(database: Database, blobs: FolderStore) -> None:
    """By holds of its own domain that were not lifted; bytes and digests are both compared."""
    keep(database, blobs, PAGE)
    index_pages(database, blobs)
    with database.write() as db:
        db.add(a_hold(domain="shop.example", why="mine"))
        db.add(a_hold(domain="other.example", why="other"))
        db.add(a_hold(domain="shop.example", why="lifted", released_at=NOON))
    key = str(numbers(database)[0])

    def findings() -> list[str]:
        return [each.finding for each in verified(database, blobs, key, is_stored=True).checks]

    with database.read() as db:
        found = exhibit(db, key)
    assert [step.what for step in found.chain] == ["Ordered", "Domain held", "Answered", "Kept"]
    assert [hold.why for hold in found.holds] == ["mine"]
    assert findings() == ["intact", "intact"]
    with database.write() as db:
        db.execute(update(Snapshot).values(content_hash="0" * 64))
    assert findings() == ["content_differs", "intact"]
    for path in blobs.root.rglob("*.gz"):
        path.write_bytes(b"damaged")
    assert findings() == ["damaged", "checksum_differs"]


def compared(database: Database, **page: Any) -> LiveDiff:
    """The first capture beside a page as it is now."""
    given = {
        "url": SHOP, "status_code": 200, "fetched_at": NOON, "cause": "", "problem": "",
        "title": "Red shoes", "text": "leather", "headings": (), "is_cut": False,
    }  # fmt: skip
    [key] = numbers(database)
    return live_diff(database, SETTINGS, str(key), lambda _: LivePage(**{**given, **page}))


def test_a_capture_is_compared_with_its_page_as_it_is_now(database: Database) -> None:
    """What differs is counted; what is the same says so; and so does what could not be had."""
    index(database, {"content": content("Red shoes", "leather")})
    assert (compared(database).change_type, compared(database).summary) == ("unchanged", SAME)
    found = compared(database, text="leather\nand rubber")
    assert (found.change_type, found.added_lines, found.removed_lines) == ("updated", 1, 0)
    assert compared(database, title="Blue shoes").change_type == "updated"
    for page, said in (
        ({"cause": "http_error", "status_code": 410}, "The site answers with 410."),
        ({"cause": "blocked", "status_code": None}, "The site refuses crawlers (an error)."),
        ({"cause": "robots_refused"}, "robots.txt forbids this address to crawlers."),
        ({"problem": "too_deep"}, "The page could not be had: too_deep."),
        ({"cause": "odd {0} {word}"}, "The page could not be had: odd {0} {word}."),
    ):
        found = compared(database, **page)
        assert (found.change_type, found.summary, found.sections) == ("error", said, ())
        assert found.cause == (page.get("cause") or page.get("problem"))


def test_no_site_is_visited_for_a_capture_without_a_text(database: Database) -> None:
    """There is nothing to compare the page with."""
    index(database, {"content": no_content("too_deep")})

    def look(_number: int) -> LivePage:
        raise AssertionError("the site was visited")

    with pytest.raises(NotComparableError, match="too_deep"):
        live_diff(database, SETTINGS, str(numbers(database)[0]), look)


def test_a_calendar_of_far_years(database: Database) -> None:
    """Only years with captures are listed, and the one that is looked at."""
    times = (datetime(1000, 1, 1, tzinfo=UTC), NOON, NOON + DAY, datetime(9998, 12, 31, 23, tzinfo=UTC))
    with database.write() as db:
        for at in times:
            a_record(db, at=at)
    with database.read() as db:
        newest, between, early, may = (calendar(db, SHOP, year) for year in (None, 2000, 1, 2026))
        assert calendar(db, f"{SHOP}never", None) is None
    assert newest is not None
    assert between is not None
    assert early is not None
    assert may is not None
    assert (newest.year, newest.total, early.year) == (9998, 4, 1000)
    assert list(between.counts.items()) == [(1000, 1), (2000, 0), (2026, 2), (9998, 1)]
    assert [month.name for month in may.months] == ["May"]
    assert [day.number for week in may.months[0].weeks for day in week if day.captures] == [4, 5]


def test_a_hit_is_marked_and_nothing_in_it_is_markup(database: Database) -> None:
    """In the title and in the passage that has the word, though the snippet does not."""
    long = ["Nothing here. " * 30, "The <b>leather</b> & more is down here."]
    index(database, {"content": content("<script>Leather</script>", *long)})
    with database.write() as db:
        db.execute(update(Snapshot).values(snippet="Nothing here."))
    with database.read() as db:
        [hit] = search.results(db, SearchOrder("leather")).results
    assert hit.title_html == "&lt;script&gt;<mark>Leather</mark>&lt;/script&gt;"
    assert "&lt;b&gt;<mark>leather</mark>&lt;/b&gt; &amp; more" in hit.snippet_html
    assert hit.snippet == "Nothing here."


def test_a_body_is_given_out_with_the_charset_it_is_in(database: Database, blobs: FolderStore) -> None:
    """Byte by byte, whatever it declares."""
    keep(database, blobs, "<meta charset=windows-1251><title>Цена</title>".encode("cp1251"))
    index_pages(database, blobs)
    found = snapshots.raw(database, blobs, "1")
    assert (found.mime_type, found.charset) == ("text/html", "windows-1251")
    assert found.body.decode("cp1251").endswith("<title>Цена</title>")


def test_a_body_that_is_not_there_says_why(database: Database, blobs: FolderStore) -> None:
    """Its file was lost, or a policy took it; the snapshot stays."""
    keep(database, blobs, PAGE)
    index_pages(database, blobs)
    with database.read() as db:
        artifact = db.scalars(select(Artifact)).one()
    blobs.delete(artifact.storage_uri)
    with pytest.raises(snapshots.NoBodyError) as lost:
        snapshots.raw(database, blobs, "1")
    with database.write() as db:
        db.execute(update(Artifact).values(deleted_at=db.now))
    with pytest.raises(snapshots.NoBodyError) as removed:
        snapshots.raw(database, blobs, "1")
    assert (lost.value.reason, removed.value.reason) == ("file_missing", "removed_by_retention")
    with database.read() as db:
        assert snapshots.summary(db, "1").title == "Red shoes"


def test_a_body_that_is_too_large_is_not_read_to_its_end(
    database: Database, blobs: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However little of the disk it takes: anybody may ask for it."""
    monkeypatch.setattr(snapshots, "MAX_RAW_BYTES", len(PAGE))
    keep(database, blobs, PAGE)
    keep(database, blobs, PAGE + "s", url="https://shop.example/q")
    index_pages(database, blobs)
    with database.read() as db:
        ids = {row.url[-1]: str(row.id) for row in db.scalars(select(Snapshot))}
    assert snapshots.raw(database, blobs, ids["p"]).body == PAGE.encode()
    with pytest.raises(snapshots.NoBodyError) as refused:
        snapshots.raw(database, blobs, ids["q"])
    assert refused.value.reason == "too_large"


def test_rows_alone_say_whether_a_body_was_removed(database: Database) -> None:
    """By a cleanup or by a purge; no file is opened for that."""
    taken: dict[str, Any] = {"gone_at": NOON}
    for record, file, said in (
        ({}, {}, "there"),
        (taken, {}, "purged"),
        ({}, {**taken, "gone_why": "cleanup"}, "removed_by_cleanup"),
        ({}, {**taken, "gone_why": None}, "purged"),
    ):
        with database.write() as db:
            kept = a_file(db, **file)
            row = a_record(db, warc_file_id=kept.id, **record)
            assert snapshots.body_state(db, row, kept) == said
