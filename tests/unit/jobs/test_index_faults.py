"""A pass that dies, finds no room or reads a file that grows: the next one ends as if nothing had been."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import event, select

from crawler.archive import passes, warc_answers
from crawler.archive.search import SearchOrder, search
from crawler.archive.warc_indexing import JobPass, index_job
from crawler.db import revisions
from crawler.db.engine import Database
from crawler.db.models import (
    Job,
    LinkCount,
    Outlink,
    PageGroup,
    Record,
    Snapshot,
    Text,
    WarcFile,
    WordForm,
)
from crawler.html.content import content_of
from tests.unit.archive.stored import crawled_job
from tests.unit.archive.warcs import Page, write_warc
from tests.unit.jobs.test_indexing import PAGES, URL, body, crawled, index

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from crawler.html.content import Content, ContentQuestion
    from tests.unit.jobs.conftest import Bench

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*SpooledTemporaryFile:pytest.PytestUnraisableExceptionWarning", "ignore:Unclosed:ResourceWarning"
)
TWICE = Page(f"{URL}/p/0", body(0), at="2026-05-01T13:00:00Z")
REPEATS = [Page(f"{URL}/p/{n}", "", at="2026-06-01T12:00:00Z", repeats=PAGES[n]) for n in range(3)]
BEFORE = [*PAGES, TWICE, *REPEATS]
AFTER = [*PAGES[3:], Page(f"{URL}/new", body(50, "<a href=/p/5>five</a>")), Page(f"{URL}/p/3", body(33))]


class Killed(BaseException):
    """The process is gone; nobody handles this."""


class HereReaders:
    """Reads pages in this process: what dies here is the pass."""

    def __init__(self, *_: object) -> None:
        """As many as there are."""

    async def contents(self, questions: Sequence[ContentQuestion]) -> list[Content | None]:
        """What counts of them."""
        return [content_of(each) for each in questions]

    async def close(self) -> None:
        """There is nothing to end."""


@pytest.fixture(autouse=True)  # ruff: ignore[pytest-fixture-autouse] - all of them are about steps
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few pages in each transaction."""
    monkeypatch.setattr(passes, "Readers", HereReaders)
    monkeypatch.setattr(passes, "AT_ONCE", 2)
    monkeypatch.setattr(warc_answers, "AT_ONCE", 4)
    monkeypatch.setattr("crawler.archive.warc_indexing.ROWS_AT_ONCE", 3)


@contextmanager
def killed_at(database: Database, number: int, *, after: bool) -> Generator[list[int]]:
    """The process is gone at the end of a transaction: before it is written, or right after."""
    begun = [0]
    write = database.write

    @contextmanager
    def dying() -> Generator[Any]:
        begun[0] += 1
        mine = begun[0]
        with write() as db:
            yield db  # ruff: ignore[fallible-context-manager] - what is raised goes on
            if mine == number and not after:
                raise Killed
        if mine == number:
            raise Killed

    database.write = dying  # type: ignore[method-assign]
    try:
        yield begun
    finally:
        del database.write


def one_pass(database: Database, order: JobPass) -> None:
    """As a worker does it, without the lease."""
    with ThreadPoolExecutor(1) as thread:  # pytest-twisted's loop runs in this one
        thread.submit(index_job, database, order, lambda _: None).result()


def pass_of(bench: Bench, job_id: int) -> JobPass:
    """What a pass over a job is about."""
    with bench.database.read() as db:
        job = db.get_one(Job, job_id)
        assert job.source_id is not None
        return JobPass(job_id=job_id, source_id=job.source_id, output_dir=Path(job.output_dir))


def undisturbed(folder: Path, versions: Sequence[bytes], path: Path) -> dict[str, Any]:
    """What passes over the same files come to in a database of their own."""
    database = Database(f"sqlite:///{folder}/undisturbed.db")
    revisions.upgrade(database)
    order = crawled_job(database, folder)
    for file in versions:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(file)
        one_pass(database, order)
    came = state(database)
    database.close()
    return came


def state(database: Database) -> dict[str, Any]:
    """All that an index says, without the numbers of its rows."""
    newest = select(Snapshot.url, Snapshot.captured_at).where(Snapshot.id == PageGroup.latest_snapshot_id)
    queries = {
        "snapshots": select(
            Snapshot.url, Snapshot.captured_at, Snapshot.title, Snapshot.snippet, Snapshot.language,
            Snapshot.content_hash, Snapshot.problem, Snapshot.deduplicated, Text.text_hash, Text.body,
            PageGroup.group_key, Record.offset, Record.kind,
        ).join(Record, Record.id == Snapshot.record_id).outerjoin(Text, Text.id == Snapshot.text_id)
        .join(PageGroup, PageGroup.id == Snapshot.group_id),
        "groups": select(
            PageGroup.group_key, PageGroup.snapshot_count, PageGroup.first_at, PageGroup.last_at,
            PageGroup.shown_class, PageGroup.inlink_count, PageGroup.outlink_count,
            newest.with_only_columns(Snapshot.captured_at).scalar_subquery(),
        ),
        "links": select(PageGroup.group_key, Outlink.targets).join(
            Outlink, Outlink.group_id == PageGroup.id
        ),
        "counts": select(LinkCount.target, LinkCount.pages),
        "forms": select(WordForm.form, WordForm.word),
        "texts": select(Text.text_hash),
        "records": select(Record.offset, Record.length, Record.url, Record.kind),
        "files": select(WarcFile.path, WarcFile.records, WarcFile.records_bad, WarcFile.state),
    }  # fmt: skip
    with database.read() as db:
        rows = {name: sorted(map(repr, map(tuple, db.execute(query)))) for name, query in queries.items()}
        asked = ("leather", "eathe", "token3x", "token33x", "title:hoe", "sheo", '"made of leather"')
        hits = [(each, search(db, SearchOrder(each)).total) for each in asked]
    return {**rows, "hits": hits}


def differing(came: dict[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
    """What is not the same: what there is too much, and what is missing."""
    return {
        name: (sorted(set(came[name]) - set(said)), sorted(set(said) - set(came[name])))
        for name, said in expected.items()
        if came[name] != said
    }


@pytest.mark.parametrize(
    ("database_url", "after"),
    [("sqlite", False), ("sqlite", True), ("postgresql", True)],
    indirect=["database_url"],
    ids=["before a commit", "after a commit", "after a commit of a server's"],
)
def test_a_pass_that_is_killed_at_each_commit(bench: Bench, tmp_path: Path, *, after: bool) -> None:
    """Over new files, and over one that was written anew: each next pass goes on, and nothing is lost."""
    job_id, path = crawled(bench, BEFORE)
    order = pass_of(bench, job_id)
    inside = path.relative_to(order.output_dir)
    versions: list[bytes] = []
    for number, pages in enumerate((BEFORE, AFTER), 1):
        write_warc(path, pages)
        versions.append(path.read_bytes())
        kills = 0
        while True:
            with killed_at(bench.database, kills + 1, after=after) as begun:
                try:
                    one_pass(bench.database, order)
                except (Killed, BaseExceptionGroup):  # several threads die at once
                    kills += 1
                    continue
            assert begun[0] <= kills
            break
        assert kills >= 5
        folder = tmp_path / f"undisturbed-{number}"
        expected = undisturbed(folder, versions, inside)
        came = state(bench.database)
        assert differing(came, expected) == {}


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)  # a server's disk is the server's
def test_a_disk_that_is_full(bench: Bench, tmp_path: Path) -> None:
    """The pass fails in one line, what was written stays, and with room the next one ends as ever."""
    job_id, path = crawled(bench, BEFORE)
    room = [0]

    def bounded(connection: Any, _record: Any) -> None:
        [pages] = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages + room[0]}")

    event.listen(bench.database.engine, "connect", bounded)
    bench.database.engine.dispose()
    came = index(bench, job_id)
    assert came is not None
    assert (came.status, "full" in came.error, came.cause) == ("index_failed", True, "database_unavailable")
    event.remove(bench.database.engine, "connect", bounded)
    bench.database.engine.dispose()
    done = index(bench, job_id)
    assert done is not None
    assert done.status == "indexed"
    inside = path.relative_to(pass_of(bench, job_id).output_dir)
    expected = undisturbed(tmp_path / "undisturbed", [path.read_bytes()], inside)
    assert differing(state(bench.database), expected) == {}
