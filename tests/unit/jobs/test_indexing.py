"""A job is indexed: whole, damaged, again, by one worker at a time."""

from __future__ import annotations

import gzip
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from attrs import evolve
from sqlalchemy import func, select, update

from crawler.archive.search import SearchOrder, search
from crawler.config import load_settings
from crawler.db.models import Job, JobStep, Outlink, PageGroup, Record, Snapshot, Text, WarcFile
from crawler.jobs import orders
from crawler.jobs.indexing import Indexer
from tests.unit.archive.warcs import ZIMIT, Page, write_warc

if TYPE_CHECKING:
    from crawler.archive.warc_indexing import JobResult
    from crawler.db.engine import Database
    from crawler.jobs.indexing import Indexed
    from tests.unit.jobs.conftest import Bench

# warcio leaves its temporary files to whoever comes along.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*SpooledTemporaryFile:pytest.PytestUnraisableExceptionWarning", "ignore:Unclosed:ResourceWarning"
)
ON_SQLITE = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)  # nothing here is a dialect's
URL = "https://shop.example"


def body(number: int, more: str = "") -> str:
    """A page that leads to the next one."""
    return (
        f"<html lang=en><title>Shoe {number}</title><main><h1>Shoe {number}</h1><p>The unique word is"
        f" token{number}x, and there is more to say of this shoe, for it is made of leather and of rubber. "
        f"{more}<a href=/p/{number + 1}>next</a> <a href=/p/0>first</a></main>"
    )


PAGES = [Page(f"{URL}/p/{n}", body(n)) for n in range(12)]


def crawled(bench: Bench, pages: list[Page] = PAGES, name: str = f"{ZIMIT}/a.warc.gz") -> tuple[int, Path]:
    """A job whose crawl is over, and its WARC file, in the folders that zimit leaves."""
    job_id = bench.order()
    path = Path(bench.shown(job_id).output_dir) / name
    write_warc(path, pages)
    with bench.database.write() as db:
        db.execute(update(Job).where(Job.id == job_id).values(status="completed"))
    return job_id, path


def index(
    bench: Bench, job_id: int | None = None, *, again: bool = False, **changed: object
) -> Indexed | None:
    """Index a job as somebody who asks for it; pytest-twisted's loop runs in this thread."""
    settings = load_settings({**bench.settings.model_dump(), **changed})

    def run() -> Indexed | None:
        indexer = Indexer(bench.database, settings)
        if job_id is not None:
            with bench.database.write() as db:
                indexer.steps.make_due(db, db.get_one(Job, job_id))
        work = indexer.steps.acquire(job_id)
        return None if work is None else indexer.work_on(work, again=again)

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(run).result()


def indexed(bench: Bench, job_id: int | None = None, **how: Any) -> Indexed:
    """What came of a job that is due."""
    came = index(bench, job_id, **how)
    assert came is not None
    return came


def result_of(came: Indexed) -> JobResult:
    """What was found in it."""
    assert came.result is not None
    return came.result


def found(database: Database, text: str) -> list[str]:
    """The URLs of the hits, in their order."""
    with database.read() as db:
        return [each.url for each in search(db, SearchOrder(text)).snapshots]


def ids(database: Database) -> list[tuple[object, ...]]:
    """Every snapshot with what it refers to."""
    with database.read() as db:
        query = select(Snapshot.id, Snapshot.record_id, Snapshot.text_id, Snapshot.group_id, Snapshot.job_id)
        return [tuple(row) for row in db.execute(query.order_by(Snapshot.id))]


def test_what_a_job_archived_is_found(bench: Bench) -> None:
    """Every page by its own word; the job is `indexed`, its file has a row, and links are counted."""
    picture = Page(f"{URL}/i.png", b"\x89PNG", content_type="image/png")
    job_id, path = crawled(bench, [*PAGES, picture])
    came = indexed(bench)
    assert (came.status, result_of(came).answers, result_of(came).pages, result_of(came).bad) == (
        "indexed",
        13,
        12,
        0,
    )
    assert all(found(bench.database, f"token{n}x") == [f"{URL}/p/{n}"] for n in range(12))
    job = bench.shown(job_id)
    assert (job.status, job.indexed_page_count, job.warc_file_count, job.records_bad) == ("indexed", 12, 1, 0)
    with bench.database.read() as db:
        [file] = db.scalars(select(WarcFile))
        assert f"{file.folder}/{file.path}" == str(path)
        assert (file.job_id, file.records, file.state) == (job_id, 13, "sealed")
        groups = db.execute(
            select(PageGroup.inlink_count, PageGroup.outlink_count).order_by(PageGroup.id)
        ).all()
        assert [tuple(each) for each in groups] == [(11, 1), *[(1, 2)] * 11]
    assert index(bench) is None


def test_a_second_pass_changes_nothing(bench: Bench) -> None:
    """Not one id, not one row; by force every page is read again, and keeps its id as well."""
    job_id, _ = crawled(bench)
    index(bench)
    before = ids(bench.database)
    again = indexed(bench, job_id)
    assert (result_of(again).unchanged, ids(bench.database)) == (12, before)
    forced = indexed(bench, job_id, again=True)
    assert (result_of(forced).unchanged, result_of(forced).pages, ids(bench.database)) == (0, 12, before)


@ON_SQLITE
def test_damage_costs_the_damaged_record(bench: Bench) -> None:
    """The others are found, the job says how many are bad; what was found before stays found."""
    job_id, path = crawled(bench)
    index(bench)
    before = ids(bench.database)
    with bench.database.read() as db:
        offsets = [each or 0 for each in db.scalars(select(Record.offset).order_by(Record.offset))]
    data = bytearray(path.read_bytes())
    data[offsets[3] + 40 : offsets[3] + 80] = bytes(40)
    path.write_bytes(data)
    came = indexed(bench, job_id, again=True)
    assert (came.status, result_of(came).bad, bench.shown(job_id).records_bad) == ("indexed", 1, 1)
    assert [row[0] for row in ids(bench.database)] == [row[0] for row in before]
    with bench.database.read() as db:
        [file] = db.scalars(select(WarcFile))
    assert file.state == "damaged"
    assert file.damage is not None
    assert [each["offset"] for each in file.damage["bad"]] == [offsets[3]]


@ON_SQLITE
def test_too_much_damage_is_a_failure_and_loses_nothing(bench: Bench) -> None:
    """INDEX_MAX_BAD_PERCENT; old rows stay."""
    job_id, path = crawled(bench)
    index(bench)
    before = ids(bench.database)
    path.write_bytes(path.read_bytes()[:900] + b"\0" * 9000)
    came = indexed(bench, job_id, again=True)
    assert (came.status, came.cause) == ("index_failed", "too_much_is_bad")
    assert ids(bench.database) == before
    assert bench.shown(job_id).status == "index_failed"


@ON_SQLITE
def test_without_files_it_fails_and_is_tried_again(bench: Bench) -> None:
    """SPEC 140: `index_failed`; a retry makes it `completed`; then it is indexed, twice with one count."""
    job_id, path = crawled(bench)
    aside = path.rename(path.with_name("aside"))
    came = indexed(bench)
    assert (came.status, came.cause, bench.shown(job_id).warc_file_count) == (
        "index_failed",
        "no_warc_files",
        0,
    )
    assert index(bench) is None
    with bench.database.write() as db:
        assert orders.retry(db, db.get_one(Job, job_id), db.now) == "completed"
    aside.rename(path)
    for expected in ("indexed", "indexed"):
        came = indexed(bench, job_id)
        assert (came.status, len(ids(bench.database))) == (expected, 12)


def test_what_a_file_has_no_more_goes_at_its_end(bench: Bench) -> None:
    """Rewritten with other pages: rows of what was there go, with texts, words and groups."""
    job_id, path = crawled(bench)
    index(bench)
    write_warc(path, [*PAGES[:5], Page(f"{URL}/new", body(50))])
    came = indexed(bench, job_id)
    assert result_of(came).removed >= 7
    assert sorted(found(bench.database, "leather")) == sorted(
        [*(f"{URL}/p/{n}" for n in range(5)), f"{URL}/new"]
    )
    with bench.database.read() as db:
        counts = [db.scalar(select(func.count()).select_from(each)) for each in (Text, PageGroup, Record)]
        assert counts == [6, 6, 6]
        assert len(db.scalars(select(Outlink.group_id)).all()) == 6


@ON_SQLITE
def test_a_revisit_says_what_its_original_says(bench: Bench) -> None:
    """Its body lies elsewhere, its time is its own."""
    later = Page(f"{URL}/p/0", "", at="2026-06-01T12:00:00Z", repeats=PAGES[0])
    job_id, _ = crawled(bench, [*PAGES, later])
    came = indexed(bench, job_id)
    assert result_of(came).pages == 13
    with bench.database.read() as db:
        hits = search(db, SearchOrder("token0x", sort="newest")).snapshots
    assert [each.captured_at.month for each in hits] == [6, 5]
    assert len({each.text_id for each in hits}) == 1
    assert len({each.content_hash for each in hits}) == 1


GARBLED = gzip.compress(b"")[:10] + b"\xff" * 50
ODD: list[tuple[Page, str | None]] = [
    (Page(f"{URL}/pdf.html", b"%PDF-1.7 ..."), "not_html"),
    (Page(f"{URL}/empty", b""), "empty_page"),
    (Page(f"{URL}/gzip", GARBLED, headers=(("Content-Encoding", "gzip"),)), "undecodable"),
    (Page(f"{URL}/large", b"<p>" + b"x" * (17 * 1024 * 1024)), "too_large"),
    (Page(f"{URL}/deep", b"<div>" * 100_000), "too_deep"),
    (Page(f"{URL}/nul", b"<title>a\0b</title><p>nul word"), None),
    (Page(f"{URL}/latin", "<title>Größe</title><p>Straße".encode("latin-1")), None),
    (Page(f"{URL}/half", "<title>&#xd800;</title><p>half &#xdfff;"), None),
    (Page(f"{URL}/markup", "<title><b>bold</b> &amp; more</title><p>words"), None),
    (Page(f"{URL}/rtl", "<title>\u202egnp.exe</title><p>words"), None),
    (Page(f"{URL}/untyped", "<title>untyped</title><p>words", content_type=None), None),
    (Page(f"{URL}/one-word", b"<p>" + b"w" * 2_000_000), None),
    (Page(f"{URL}/" + "u" * 8_000, "<title>long</title><p>words"), None),
    (Page(f"{URL}/teapot", "<title>pot</title><p>words", status="418 I'm a teapot"), None),
]  # fmt: skip


def test_pages_that_are_none(bench: Bench) -> None:
    """Each costs itself; what it was is on its snapshot, and its neighbours are found."""
    job_id, _ = crawled(bench, [*(page for page, _ in ODD), *PAGES])
    came = indexed(bench, job_id)
    assert (came.status, result_of(came).bad, result_of(came).pages) == ("indexed", 0, len(ODD) + 12)
    with bench.database.read() as db:
        problems = {row[0]: row[1] for row in db.execute(select(Snapshot.url, Snapshot.problem))}
        titles = {row[0]: row[1] for row in db.execute(select(Snapshot.url, Snapshot.title))}
        cut = select(Snapshot.url).join(Text, Text.id == Snapshot.text_id).where(Text.is_cut)
        assert db.scalars(cut).all() == [f"{URL}/one-word"]
    assert [(page.url, problems[page.url]) for page, _ in ODD] == [(page.url, why) for page, why in ODD]
    assert titles[f"{URL}/latin"] == "Größe"
    assert titles[f"{URL}/markup"] == "<b>bold</b> & more"
    assert "\u202e" not in titles[f"{URL}/rtl"]
    assert found(bench.database, "token11x") == [f"{URL}/p/11"]


@ON_SQLITE
def test_a_file_that_still_grows_is_indexed_when_it_is_whole(bench: Bench) -> None:
    """What was cut is bad, and found by the next pass; what was found stays found."""
    job_id, path = crawled(bench)
    more = path.with_name("more")
    write_warc(more, [Page(f"{URL}/p/{n}", body(n)) for n in range(12, 15)])
    whole, rest = path.read_bytes(), more.read_bytes()
    more.unlink()
    for data, bad, state in ((rest[: len(rest) // 2], 1, "damaged"), (rest, 0, "sealed")):
        path.write_bytes(whole + data)
        came = indexed(bench, job_id)
        assert (came.status, result_of(came).bad, result_of(came).removed) == ("indexed", bad, 0)
        assert found(bench.database, "token11x") == [f"{URL}/p/11"]
        with bench.database.read() as db:
            assert db.scalars(select(WarcFile.state)).one() == state
    assert found(bench.database, "token14x") == [f"{URL}/p/14"]


@ON_SQLITE
def test_records_that_say_no_date_or_no_page(bench: Bench) -> None:
    """One without a date is bad and no snapshot, but for the answer's own (SPEC 155); others are records."""
    dated = evolve(PAGES[0], at="yesterday", headers=(("Date", "Fri, 01 May 2026 12:00:00 GMT"),))
    undated = evolve(PAGES[1], at="0000-00-00")
    job_id, _ = crawled(bench, [dated, undated, Page("dns:shop.example", "1"), *PAGES[2:]])
    came = indexed(bench, job_id)
    assert (result_of(came).answers, result_of(came).pages, result_of(came).bad) == (12, 11, 1)
    with bench.database.read() as db:
        [without] = db.scalars(select(Record).where(Record.captured_at.is_(None)))
    assert without.url == undated.url


def test_two_passes_of_one_job(bench: Bench) -> None:
    """The step is one worker's; who lost it writes nothing any more."""
    job_id, _ = crawled(bench)
    first, second = (Indexer(bench.database, bench.settings) for _ in range(2))
    work = first.steps.acquire()
    assert work is not None
    assert second.steps.acquire() is None
    assert second.steps.acquire(job_id) is None
    with bench.database.write() as db:  # as if the first one's machine had been away
        db.execute(
            update(JobStep).where(JobStep.kind == "index").values(lease_expires_at=db.now.replace(year=2020))
        )
    taken = second.steps.acquire()
    assert taken is not None
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(first.work_on, work).result() is None
        assert ids(bench.database) == []
        done = thread.submit(second.work_on, taken).result()
    assert done is not None
    assert (done.status, len(ids(bench.database))) == ("indexed", 12)


def test_a_worker_that_died_leaves_a_job_that_is_due(bench: Bench) -> None:
    """Its step is put back by the next one, and the job is `completed` meanwhile."""
    job_id, _ = crawled(bench)
    assert Indexer(bench.database, bench.settings).steps.acquire() is not None
    assert bench.shown(job_id).status == "indexing"
    with bench.database.write() as db:
        step = db.scalars(select(JobStep).where(JobStep.kind == "index")).one()
        mark = (step.process or "").split("|")
        step.process = "|".join([*mark[:3], "999999999", *mark[4:]])
    assert bench.shown(job_id).status == "completed"
    came = indexed(bench)
    assert came.status == "indexed"
