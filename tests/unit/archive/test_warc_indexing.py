"""What a pass over a job's files counts, keeps and takes away; how it ends is in tests/unit/jobs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from attrs import evolve
from sqlalchemy import select, update

from crawler.archive import passes, warc_answers, warc_indexing
from crawler.archive.warc_indexing import JobResult, index_job
from crawler.db.models import Job, Record, Snapshot, WarcFile
from crawler.errors import IntegrityError
from crawler.evidence.bodies import Bodies
from crawler.evidence.folder_store import FolderStore
from tests.unit.archive.stored import crawled_job
from tests.unit.archive.warcs import Page, write_warc
from tests.unit.jobs.test_index_faults import HereReaders
from tests.unit.warc import foreign

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.archive.warc_indexing import JobPass
    from crawler.db.engine import Database

URL = "https://shop.example"
PAGES = [Page(f"{URL}/{n}", f"<title>Jug {n}</title><p>A jug of clay, number {n}.") for n in range(5)]
on_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*SpooledTemporaryFile:pytest.PytestUnraisableExceptionWarning", "ignore:Unclosed:ResourceWarning"
)


@pytest.fixture
def order(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> JobPass:
    """A job with a file of five pages, which are read in this process, two in a batch."""
    monkeypatch.setattr(passes, "Readers", HereReaders)
    monkeypatch.setattr(warc_answers, "AT_ONCE", 2)
    monkeypatch.setattr(warc_indexing, "ROWS_AT_ONCE", 2)
    write_warc(tmp_path / "job" / "warcs" / "a.warc.gz", PAGES)
    return crawled_job(database, tmp_path / "job")


def index(database: Database, order: JobPass, check: Any = lambda _: None) -> list[JobResult]:
    """What is told of a pass on its way; pytest-twisted's loop runs in this thread."""
    told: list[JobResult] = []
    with ThreadPoolExecutor(1) as thread:
        came = thread.submit(index_job, database, order, check, told.append).result()
    return [*told, came]


def urls(database: Database) -> list[str]:
    """Of all snapshots."""
    with database.read() as db:
        return sorted(db.scalars(select(Snapshot.url)))


@on_sqlite
def test_a_pass_tells_how_far_it_is(database: Database, order: JobPass) -> None:
    """In bytes that were read, up to all of them; again, every page is unchanged."""
    *told, came = index(database, order)
    read = [each.bytes_read for each in told]
    assert read == sorted(read)
    assert len(told) == 3
    assert (came.files, came.answers, came.pages, came.unchanged, came.bad) == (1, 5, 5, 0, 0)
    assert came.bytes_total > 0
    again = index(database, order)[-1]
    assert (again.pages, again.unchanged, again.removed) == (5, 5, 0)
    forced = index(database, evolve(order, again=True))[-1]
    assert (forced.pages, forced.unchanged) == (5, 0)
    assert urls(database) == [page.url for page in PAGES]


def test_valid_records_of_other_programs_are_pages(
    database: Database, order: JobPass, tmp_path: Path
) -> None:
    """Whatever form they have, on each database."""
    records = foreign.records()
    (tmp_path / "job" / "warcs" / "a.warc.gz").write_bytes(foreign.packed(records))
    came = index(database, order)[-1]
    assert (came.pages, came.bad) == (len(records), 0)
    assert urls(database) == sorted(f"{foreign.URL}/{path}" for path in records)


@on_sqlite
def test_who_has_lost_the_job_writes_nothing_more(database: Database, order: JobPass) -> None:
    """Each transaction asks first."""
    asked = []

    def check(_db: object) -> None:
        asked.append(True)
        if len(asked) > 1:
            raise IntegrityError("it is another's")

    with pytest.RaisesGroup(IntegrityError, allow_unwrapped=True):
        index(database, order, check)
    assert urls(database) == [page.url for page in PAGES[:2]]


@on_sqlite
def test_what_a_file_has_no_more_goes_and_a_file_that_is_missed_keeps_its_rows(
    database: Database, order: JobPass
) -> None:
    """A few rows at a time, as far as there are any."""
    index(database, order)
    path = order.output_dir / "warcs" / "a.warc.gz"
    write_warc(path, [Page(f"{URL}/new", "<p>new")])
    assert index(database, order)[-1].removed in {4, 5}  # another may lie where the first one lay
    assert urls(database) == [f"{URL}/new"]
    path.unlink()
    missed = index(database, order)[-1]
    assert (missed.files, missed.bad, missed.bad_percent) == (0, 1, 100)
    assert urls(database) == [f"{URL}/new"]


@on_sqlite
def test_pages_that_were_nobodys_are_the_jobs(database: Database, order: JobPass) -> None:
    """Those of another job stay its own."""
    index(database, order)
    with database.write() as db:
        db.execute(update(Snapshot).values(job_id=None))
    index(database, order)
    with database.read() as db:
        assert set(db.scalars(select(Snapshot.job_id))) == {order.job_id}


@on_sqlite
def test_a_revisit_of_nothing_is_no_page(database: Database, order: JobPass) -> None:
    """It is a record; the one whose original is there says what that one says."""
    elsewhere = Page(f"{URL}/elsewhere", "<p>never captured here")
    lost = evolve(PAGES[0], url=f"{URL}/lost", repeats=elsewhere, at="2026-06-01T12:00:00Z")
    later = evolve(PAGES[1], repeats=PAGES[1], at="2026-06-01T12:00:00Z")
    write_warc(order.output_dir / "warcs" / "a.warc.gz", [*PAGES, lost, later])
    came = index(database, order)[-1]
    assert (came.answers, came.pages) == (7, 6)
    with database.read() as db:
        originals = db.scalars(
            select(Record.original_id).where(Record.kind == "revisit").order_by(Record.offset)
        )
        first, second = originals.all()
    assert (first, second is not None) == (None, True)
    assert urls(database).count(PAGES[1].url) == 2


@on_sqlite
def test_a_revisit_may_repeat_what_another_job_has_and_what_is_no_page(
    database: Database, order: JobPass, tmp_path: Path
) -> None:
    """A picture's bytes, say, which no snapshot has."""
    picture = Page(f"{URL}/jug.png", b"\x89PNG", content_type="image/png")
    write_warc(order.output_dir / "warcs" / "a.warc.gz", [*PAGES, picture])
    index(database, order)
    repeated = [evolve(each, repeats=each, at="2026-06-01T12:00:00Z") for each in (picture, PAGES[1])]
    write_warc(tmp_path / "second" / "warcs" / "b.warc.gz", repeated)
    with database.write() as db:
        job = Job(
            source_id=order.source_id, name="y", output_dir=str(tmp_path / "second"), status="completed",
            created_at=db.now, updated_at=db.now,
        )  # fmt: skip
        db.add(job)
        db.flush()
        second = evolve(order, job_id=job.id, output_dir=tmp_path / "second")
    assert index(database, second)[-1].pages == 1
    bodies = Bodies(database, FolderStore(tmp_path / "artifacts"))
    with database.read() as db:
        ids = db.scalars(select(Record.id).where(Record.kind == "revisit").order_by(Record.offset)).all()
    assert [bodies.of_record(each).read() for each in ids] == [b"\x89PNG", str(PAGES[1].body).encode()]


@pytest.mark.parametrize(
    ("result", "percent"),
    [
        (JobResult(), 0), (JobResult(answers=99, bad=1), 1),
        (JobResult(answers=99, bad=1, bad_bytes=50, bytes_total=100), 50), (JobResult(bad=1), 100),
    ],
)  # fmt: skip
def test_how_much_is_bad_is_the_larger_share(result: JobResult, percent: float) -> None:
    """One stretch may be most of a file, and many records few bytes."""
    assert result.bad_percent == percent


@on_sqlite
def test_damage_loses_nothing(database: Database, order: JobPass, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was found there and behind a cut stays; the row counts all damage, and names so much of it."""
    index(database, order)
    monkeypatch.setattr(warc_indexing, "MOST_NAMED", 1)
    before, path = urls(database), order.output_dir / "warcs" / "a.warc.gz"
    whole = path.read_bytes()
    with database.read() as db:
        offsets = [each or 0 for each in db.scalars(select(Record.offset).order_by(Record.offset))]
    damaged = bytearray(whole[: offsets[3] + 60])
    damaged[offsets[0] + 40 : offsets[0] + 60] = bytes(20)
    path.write_bytes(damaged)
    cut = index(database, order)[-1]
    assert (cut.bad, cut.removed, urls(database)) == (2, 0, before)
    with database.read() as db:
        [file] = db.scalars(select(WarcFile))
    assert (file.state, file.records_bad) == ("damaged", 2)
    assert [each["offset"] for each in (file.damage or {})["bad"]] == [offsets[0]]
    path.write_bytes(whole)
    again = index(database, order)[-1]
    assert (again.bad, again.removed, urls(database)) == (0, 0, before)
    with database.read() as db:
        [file] = db.scalars(select(WarcFile))
    assert (file.state, file.damage) == ("sealed", None)
