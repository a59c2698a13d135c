"""Writes: what shares a transaction stands or falls alone, on SQLite and PostgreSQL; who waits for whom."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import pytest
from sqlalchemy import event, func, select, text, update

from crawler.capture.items import PageCapture
from crawler.config import load_settings
from crawler.db.engine import Database, DatabaseUnavailableError
from crawler.db.models import Artifact, CrawlLog, CrawlSession, Diagnostic, DomainGate, Page
from crawler.evidence.blobs import BlobExistsError, DiskFullError
from crawler.evidence.folder_store import FolderStore
from crawler.leases.backoff import Backoff
from crawler.leases.patience import Patience
from crawler.sessions.journal import Journal
from crawler.sessions.page_rows import Hooks
from crawler.sessions.rows import SessionOrder, StaleSessionError
from crawler.sessions.store import SessionStore
from crawler.sessions.visit_writes import EndWrite, LogWrite, StartWrite
from crawler.sessions.write_queue import MOST
from crawler.sessions.writes import Write
from tests.waiting import PATIENCE_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
    from pathlib import Path

    from sqlalchemy.orm import Session

    from crawler.sessions.page_rows import KeptPage
    from crawler.sessions.visit import Visit


class Fussy(Hooks):
    """A hook that writes something of its own for each page, and does not like some of them."""

    def pages_kept(self, db: Session, kept: Sequence[KeptPage]) -> None:
        """Leave rows that were not flushed yet, and then maybe fail."""
        for page in (each.page for each in kept):
            db.add(
                Diagnostic(
                    timestamp=page.created_at, session_id=page.session_id, page_id=page.id, url=page.url,
                    policy="v1.2", is_pdp=False, quality=0, traces={},
                )
            )  # fmt: skip
            if "/bad" in page.url:
                raise ValueError(page.url)
            if "/abort" in page.url:
                db.connection().exec_driver_sql("ROLLBACK")  # as SQLite may do by itself when a disk is full
                raise ValueError(page.url)


@pytest.fixture
def store(database: Database, tmp_path: Path) -> SessionStore:
    """A store with such a hook."""
    settings = load_settings({"VITRINE_HOME": str(tmp_path), "DATABASE_URL": ""})
    return SessionStore(settings, database, FolderStore(tmp_path / "artifacts"), (Fussy(),))


@contextmanager
def commits(database: Database) -> Generator[list[None]]:
    """One entry for each commit while the block runs."""
    seen: list[None] = []

    def note(_: Any) -> None:
        seen.append(None)

    event.listen(database.engine, "commit", note)
    try:
        yield seen
    finally:
        event.remove(database.engine, "commit", note)


def visit_of(store: SessionStore, domain: str = "shop.example") -> Visit:
    """A running session."""
    order = SessionOrder(f"https://{domain}/", domain)
    [session_id] = store.queue([order], {})
    return store.writes.post_now(StartWrite(store, order, Journal(str(session_id), domain)))


def page_of(store: SessionStore, visit: Visit, path: str, page_type: str = "page") -> Write[Any]:
    """A page to be kept, with a line of the log."""
    visit.journal.info("test", f"page {path}")
    capture = PageCapture(visit.id, page_type, f"https://{visit.order.domain}{path}", body=path.encode())
    return store.writes.page(visit, capture)


def count(database: Database, table: type[Any]) -> int:
    """How many rows a table has."""
    with database.read() as db:
        return db.scalar(select(func.count()).select_from(table)) or 0


def stored(store: SessionStore) -> set[bytes]:
    """What lies in the artifact store, unpacked as far as a test cares."""
    with store.database.read() as db:
        named = set(db.scalars(select(Artifact.storage_uri)))
    assert {
        entry.uri for entry in store.writes.blobs.entries()
    } == named  # no file without a row, and no row without
    return {uri.encode() for uri in named}


def outcomes(writes: Sequence[Write[Any]]) -> list[str]:
    """What became of writes, in words."""
    return ["kept" if write.error is None else type(write.error).__name__ for write in writes]


def test_pages_of_many_sessions_share_a_commit(store: SessionStore) -> None:
    """Each is stored with its file, its line of the log, and what the hook wrote."""
    visits = [visit_of(store, f"shop-{number}.example") for number in range(4)]
    writes = [page_of(store, visit, f"/{number}") for number in range(3) for visit in visits]
    with commits(store.database) as seen:
        store.writes.commit(writes)
    assert len(seen) == 1
    assert outcomes(writes) == ["kept"] * 12
    assert len(stored(store)) == 12
    assert (count(store.database, Page), count(store.database, Diagnostic)) == (12, 12)
    for visit in visits:
        assert len(visit.kept) == 3
        assert visit.journal.take() == []


def test_a_page_that_fails_is_taken_back_alone(store: SessionStore) -> None:
    """Its rows, those of the hook and its file are gone; its line of the log waits for the next write."""
    visit, other = visit_of(store), visit_of(store, "other.example")
    before = count(store.database, CrawlLog)
    writes = [page_of(store, other, "/1"), page_of(store, visit, "/bad"), page_of(store, other, "/2")]
    store.writes.commit(writes)
    assert outcomes(writes) == ["kept", "ValueError", "kept"]
    assert len(stored(store)) == 2
    assert (count(store.database, Page), count(store.database, Diagnostic)) == (2, 2)
    assert visit.kept == {}
    assert "page /bad" in [line.message for line in visit.journal.take()]
    assert count(store.database, CrawlLog) == before + 3  # two pages, and that the other session began


def test_a_session_that_lost_its_lock_stores_no_page(store: SessionStore) -> None:
    """Pages of other sessions in the same commit are stored."""
    lost, mine = visit_of(store), visit_of(store, "other.example")
    with store.database.write() as db:
        db.get_one(CrawlSession, lost.fence.session_id).epoch += 1
    writes = [page_of(store, lost, "/1"), page_of(store, mine, "/2"), page_of(store, lost, "/3")]
    store.writes.commit(writes)
    assert outcomes(writes) == ["StaleSessionError", "kept", "StaleSessionError"]
    assert len(stored(store)) == count(store.database, Page) == 1
    with pytest.raises(StaleSessionError):
        _ = writes[0].result


def test_a_transaction_that_breaks_is_done_again_one_by_one(store: SessionStore) -> None:
    """The write that broke it fails, the others are kept; nothing is there twice."""
    visit = visit_of(store)
    writes = [page_of(store, visit, path) for path in ("/1", "/abort", "/2")]
    store.writes.commit(writes)
    assert outcomes(writes)[0] == outcomes(writes)[2] == "kept"
    assert writes[1].error is not None
    assert len(stored(store)) == count(store.database, Page) == count(store.database, Diagnostic) == 2
    with store.database.read() as db:
        lines = list(db.scalars(select(CrawlLog.message).where(CrawlLog.message.like("page%"))))
    assert sorted(lines) in (["page /1", "page /2"], ["page /1", "page /2", "page /abort"])


def test_a_commit_that_fails_fails_them_all(store: SessionStore) -> None:
    """No row, no file; the lines of the log wait."""
    visit = visit_of(store)
    writes = [page_of(store, visit, path) for path in ("/1", "/2")]

    def refuse(_: Any) -> None:
        raise OSError("the disk is gone")

    event.listen(store.database.engine, "commit", refuse)
    store.writes.commit(writes)
    event.remove(store.database.engine, "commit", refuse)
    assert outcomes(writes) == ["OSError", "OSError"]
    assert stored(store) == set()
    assert count(store.database, Page) == 0
    assert {"page /1", "page /2"} <= {line.message for line in visit.journal.take()}


def test_files_stay_where_only_the_answer_got_lost(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row never loses its file, even if the writer has to call its page lost."""
    visit = visit_of(store)
    writes = [page_of(store, visit, path) for path in ("/1", "/2")]
    write = store.database.write

    @contextmanager
    def lose_the_answer() -> Generator[Session]:
        with write() as db:
            yield db
        raise ConnectionError("the answer got lost")

    with monkeypatch.context() as patch:
        patch.setattr(store.database, "write", lose_the_answer)
        store.writes.commit(writes)
    assert outcomes(writes) == ["ConnectionError", "ConnectionError"]
    assert len(stored(store)) == count(store.database, Page) == 2


def test_two_pages_that_want_one_name(store: SessionStore) -> None:
    """The first has it; the second is refused, and takes nothing with it."""
    visit = visit_of(store)
    writes = [
        page_of(store, visit, "/1", "pdp"),
        page_of(store, visit, "/2", "pdp"),
        page_of(store, visit, "/3"),
    ]
    store.writes.commit(writes)
    assert [write.error is None for write in writes] == [True, False, True]
    assert isinstance(writes[1].error, BlobExistsError)
    assert len(stored(store)) == 2


def test_a_file_that_cannot_be_stored_costs_its_page(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The group's other files are published all the same."""
    visit = visit_of(store)
    writes = [page_of(store, visit, path) for path in ("/1", "/2", "/3")]
    [unlucky] = writes[1].files
    publish = FolderStore.publish_all

    def refuse_one(blobs: FolderStore, files: Mapping[str, bytes]) -> None:
        if unlucky.uri in files:
            raise DiskFullError("no room")
        publish(blobs, files)

    monkeypatch.setattr(FolderStore, "publish_all", refuse_one)
    store.writes.commit(writes)
    assert outcomes(writes) == ["kept", "DiskFullError", "kept"]
    assert len(stored(store)) == count(store.database, Page) == 2


def test_a_log_takes_the_place_of_what_a_dead_process_left(store: SessionStore) -> None:
    """A file that no row claims gives way; one that a row claims stays, and the log gets another name."""
    visit = visit_of(store)
    store.writes.post_now(EndWrite(store, visit))
    export = LogWrite(store.database, visit.fence.session_id, visit.journal)
    [file] = export.files
    store.writes.blobs.publish(file.uri, b"half")
    store.writes.post_now(export)
    assert store.writes.blobs.read(file.uri) != b"half"
    store.export_log(visit.fence.session_id)
    assert len(stored(store)) == 2


class LockWrite(Write[str]):
    """Takes the row of a domain, as a lease or a listing is taken."""

    def __init__(self, domain: str, before: Callable[[], object] = bool) -> None:
        super().__init__()
        self.domain, self.before = domain, before

    def write_rows(self, db: Session) -> str:
        """Take it."""
        self.before()
        db.execute(update(DomainGate).where(DomainGate.domain == self.domain).values(delay_reason="taken"))
        return self.domain


def test_a_deadlock_with_somebody_else_costs_nothing(postgres_database: str, tmp_path: Path) -> None:
    """A group holds several rows, in the order in which its pages came; whoever loses is tried again."""
    database = Database(postgres_database)
    settings = load_settings({"VITRINE_HOME": str(tmp_path), "DATABASE_URL": ""})
    store = SessionStore(settings, database, FolderStore(tmp_path / "artifacts"))
    with database.write() as db:
        db.add_all([DomainGate(domain="a"), DomainGate(domain="b")])
    has_b, has_a = threading.Event(), threading.Event()

    def take_the_other_way_round() -> None:
        with database.write() as db:
            db.execute(text("SET LOCAL deadlock_timeout = '30s'"))  # so that it is the group that loses
            LockWrite("b").write_rows(db)
            has_b.set()
            assert has_a.wait(PATIENCE_SECONDS)
            LockWrite("a").write_rows(db)

    def tell_and_wait() -> None:
        has_a.set()
        assert has_b.wait(PATIENCE_SECONDS)

    writes = [LockWrite("a"), LockWrite("b", tell_and_wait)]
    with ThreadPoolExecutor(1) as thread:
        other = thread.submit(take_the_other_way_round)
        assert has_b.wait(PATIENCE_SECONDS)
        store.writes.commit(writes)
        other.result()
    assert [write.result for write in writes] == ["a", "b"]
    database.close()


class Away:
    """A database that is away for some transactions, before they begin or after their commit."""

    def __init__(self, database: Database, times: int, *, after: bool = False) -> None:
        self.times, self.after, self.reads_in_vain = times, after, 1
        self.write_in, self.read_in = database.write, database.read

    @contextmanager
    def read(self) -> Generator[Any]:
        """What is read comes to nothing once."""
        self.reads_in_vain -= 1
        if self.reads_in_vain >= 0:
            raise DatabaseUnavailableError("the database does not answer")
        with self.read_in() as db:
            yield db

    @contextmanager
    def write(self) -> Generator[Any]:
        """A transaction that may come to nothing, or seem to."""
        self.times -= 1
        if self.times >= 0 and not self.after:
            raise DatabaseUnavailableError("the database does not answer")
        with self.write_in() as db:
            yield db
        if self.times >= 0:
            raise DatabaseUnavailableError("the server closed the connection")


@pytest.mark.parametrize("after", [False, True])
def test_a_store_that_is_away_for_a_moment_is_waited_for(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch, *, after: bool
) -> None:
    """Pages are held and stored once, also where a commit went through and its answer got lost."""
    visit = visit_of(store)
    store.writes.patience = Patience(60, Backoff(0.01))
    away = Away(store.database, 1 if after else 3, after=after)
    monkeypatch.setattr(store.database, "write", away.write)
    if after:  # it cannot be asked at once what came of the commit, either
        monkeypatch.setattr(store.database, "read", away.read)

    async def work() -> None:
        pages = [page_of(store, visit, f"/{number}") for number in range(3)]
        kept = await asyncio.gather(*(store.writes.post(page) for page in pages))
        assert [one.page.url for one in kept] == [f"https://shop.example/{number}" for number in range(3)]

    in_a_loop(work)
    assert (count(store.database, Page), len(stored(store)), len(visit.kept)) == (3, 3, 3)
    assert not store.writes.is_away


def test_a_store_that_stays_away_is_given_up_once(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What waited is told why, its files are gone; who comes after does not wait as long again."""
    visit = visit_of(store)
    store.writes.patience = Patience(0.3, Backoff(0.05))
    away = Away(store.database, 1_000_000)

    async def work() -> None:
        for _ in range(2):
            with pytest.raises(DatabaseUnavailableError):
                await store.writes.post(page_of(store, visit, "/1"))
            assert store.writes.is_away
        tried = away.times
        with pytest.raises(DatabaseUnavailableError):
            await store.writes.post(page_of(store, visit, "/2"))
        assert tried - away.times == 1
        away.times = 0
        await store.writes.post(page_of(store, visit, "/3"))
        assert not store.writes.is_away

    monkeypatch.setattr(store.database, "write", away.write)
    in_a_loop(work)
    assert (count(store.database, Page), len(stored(store))) == (1, 1)


def in_a_loop(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """In a thread; pytest-twisted's loop runs in ours."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(work())).result()


def test_pages_that_come_together_share_commits(store: SessionStore) -> None:
    """All that waits goes with the next group, at most so many at once, each answered after its commit."""
    visit = visit_of(store)

    async def work() -> None:
        pages = [page_of(store, visit, f"/{number}") for number in range(MOST + 3)]
        kept = await asyncio.gather(*(store.writes.post(page) for page in pages))
        assert [one.page.url for one in kept] == [f"https://shop.example/{n}" for n in range(MOST + 3)]

    with commits(store.database) as seen:
        in_a_loop(work)
    assert len(seen) == 2
    assert count(store.database, Page) == len(stored(store)) == MOST + 3


def test_a_group_that_cannot_be_written_at_all_fails_its_writers(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits for ever, and the next group is written."""
    visit = visit_of(store)

    def refuse() -> NoReturn:
        raise RuntimeError("no threads are left")

    async def work() -> None:
        with monkeypatch.context() as patch:
            patch.setattr(store.database, "write", refuse)
            with pytest.raises(RuntimeError, match="no threads are left"):
                await store.writes.post(page_of(store, visit, "/1"))
        await store.writes.post(page_of(store, visit, "/2"))

    in_a_loop(work)
    assert count(store.database, Page) == len(stored(store)) == 1


def test_a_page_whose_waiter_was_cancelled_is_stored_with_the_rest(store: SessionStore) -> None:
    """And counted as a page of its visit."""
    visit = visit_of(store)

    async def work() -> None:
        waiters = [
            asyncio.ensure_future(store.writes.post(page_of(store, visit, f"/{number}")))
            for number in range(3)
        ]
        await asyncio.sleep(0)
        waiters[1].cancel()
        done = await asyncio.gather(*waiters, return_exceptions=True)
        assert [isinstance(each, asyncio.CancelledError) for each in done] == [False, True, False]
        await store.writes.settle()

    in_a_loop(work)
    assert (count(store.database, Page), len(visit.kept)) == (3, 3)
