"""Group commit: what shares a transaction stands or falls alone, on SQLite and PostgreSQL."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import event, func, select, text, update

from crawler.capture.items import PageCapture
from crawler.config import load_settings
from crawler.db.engine import Database
from crawler.db.models import Artifact, CrawlLog, CrawlSession, Diagnostic, DomainGate, Page
from crawler.evidence.blobs import BlobExistsError, DiskFullError
from crawler.evidence.folder_store import FolderStore
from crawler.sessions.journal import Journal
from crawler.sessions.rows import SessionOrder, StaleSessionError
from crawler.sessions.store import SessionStore
from crawler.sessions.writes import Write

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path
    from uuid import UUID

    from sqlalchemy.orm import Session

    from crawler.evidence.files import KeptFile
    from crawler.sessions.visit import Visit


class Fussy:
    """A hook that writes something of its own for each page, and does not like some of them."""

    def page_kept(self, db: Session, capture: PageCapture, page: Page, _files: Sequence[KeptFile]) -> None:
        """Leave a row that was not flushed yet, and then maybe fail."""
        db.add(
            Diagnostic(
                timestamp=page.created_at, session_id=page.session_id, page_id=page.id, url=page.url,
                policy="v1.2", is_pdp=False, quality=0, traces={},
            )
        )  # fmt: skip
        if "/bad" in capture.url:
            raise ValueError(capture.url)
        if "/abort" in capture.url:
            db.connection().exec_driver_sql("ROLLBACK")  # as SQLite may do by itself when a disk is full
            raise ValueError(capture.url)

    def sessions_ended(self, _db: Session, session_ids: Sequence[UUID], now: datetime) -> None:
        """Nothing."""


@pytest.fixture
def book(database: Database, tmp_path: Path) -> SessionStore:
    """A book with such a hook."""
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


def visit_of(book: SessionStore, domain: str = "shop.example") -> Visit:
    """A running session."""
    order = SessionOrder(f"https://{domain}/", domain)
    [session_id] = book.queue([order], {})
    return book.writes.post_now(book.start(order, Journal(str(session_id), domain)))


def page_of(book: SessionStore, visit: Visit, path: str, page_type: str = "page") -> Write[Any]:
    """A page to be kept, with a line of the log."""
    visit.journal.info("test", f"page {path}")
    capture = PageCapture(visit.id, page_type, f"https://{visit.order.domain}{path}", body=path.encode())
    return book.writes.page(visit, capture)


def count(database: Database, table: type[Any]) -> int:
    """How many rows a table has."""
    with database.read() as db:
        return db.scalar(select(func.count()).select_from(table)) or 0


def stored(book: SessionStore) -> set[bytes]:
    """What lies in the artifact store, unpacked as far as a test cares."""
    with book.database.read() as db:
        named = set(db.scalars(select(Artifact.storage_uri)))
    assert {entry.uri for entry in book.blobs.entries()} == named  # no file without a row, and no row without
    return {uri.encode() for uri in named}


def outcomes(writes: Sequence[Write[Any]]) -> list[str]:
    """What became of writes, in words."""
    return ["kept" if write.error is None else type(write.error).__name__ for write in writes]


def test_pages_of_many_sessions_share_a_commit(book: SessionStore) -> None:
    """Each is in the book with its file, its line of the log, and what the hook wrote."""
    visits = [visit_of(book, f"shop-{number}.example") for number in range(4)]
    writes = [page_of(book, visit, f"/{number}") for number in range(3) for visit in visits]
    with commits(book.database) as seen:
        book.writes.commit(writes)
    assert len(seen) == 1
    assert outcomes(writes) == ["kept"] * 12
    assert len(stored(book)) == 12
    assert (count(book.database, Page), count(book.database, Diagnostic)) == (12, 12)
    for visit in visits:
        assert len(visit.kept) == 3
        assert visit.journal.take() == []


def test_a_page_that_fails_is_taken_back_alone(book: SessionStore) -> None:
    """Its rows, those of the hook and its file are gone; its line of the log waits for the next write."""
    visit, other = visit_of(book), visit_of(book, "other.example")
    before = count(book.database, CrawlLog)
    writes = [page_of(book, other, "/1"), page_of(book, visit, "/bad"), page_of(book, other, "/2")]
    with commits(book.database) as seen:
        book.writes.commit(writes)
    assert len(seen) == 1
    assert outcomes(writes) == ["kept", "ValueError", "kept"]
    assert len(stored(book)) == 2
    assert (count(book.database, Page), count(book.database, Diagnostic)) == (2, 2)
    assert visit.kept == {}
    assert "page /bad" in [line.message for line in visit.journal.take()]
    assert count(book.database, CrawlLog) == before + 3  # two pages, and that the other session began


def test_a_stale_session_refuses_its_own_pages_only(book: SessionStore) -> None:
    """Whatever else is in the group is kept."""
    lost, mine = visit_of(book), visit_of(book, "other.example")
    with book.database.write() as db:
        db.get_one(CrawlSession, lost.fence.session_id).epoch += 1
    writes = [page_of(book, lost, "/1"), page_of(book, mine, "/2"), page_of(book, lost, "/3")]
    book.writes.commit(writes)
    assert outcomes(writes) == ["StaleSessionError", "kept", "StaleSessionError"]
    assert len(stored(book)) == count(book.database, Page) == 1
    with pytest.raises(StaleSessionError):
        _ = writes[0].result


def test_a_transaction_that_breaks_is_done_again_one_by_one(book: SessionStore) -> None:
    """The write that broke it fails, the others are kept; nothing is there twice."""
    visit = visit_of(book)
    writes = [page_of(book, visit, path) for path in ("/1", "/abort", "/2")]
    book.writes.commit(writes)
    assert outcomes(writes)[0] == outcomes(writes)[2] == "kept"
    assert writes[1].error is not None
    assert len(stored(book)) == count(book.database, Page) == count(book.database, Diagnostic) == 2
    with book.database.read() as db:
        lines = list(db.scalars(select(CrawlLog.message).where(CrawlLog.message.like("page%"))))
    assert sorted(lines) in (["page /1", "page /2"], ["page /1", "page /2", "page /abort"])


def test_a_commit_that_fails_fails_them_all(book: SessionStore) -> None:
    """No row, no file; the lines of the log wait."""
    visit = visit_of(book)
    writes = [page_of(book, visit, path) for path in ("/1", "/2")]

    def refuse(_: Any) -> None:
        raise OSError("the disk is gone")

    event.listen(book.database.engine, "commit", refuse)
    book.writes.commit(writes)
    event.remove(book.database.engine, "commit", refuse)
    assert outcomes(writes) == ["OSError", "OSError"]
    assert stored(book) == set()
    assert count(book.database, Page) == 0
    assert {"page /1", "page /2"} <= {line.message for line in visit.journal.take()}


def test_files_stay_where_only_the_answer_got_lost(
    book: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row never loses its file, even if the writer has to call its page lost."""
    visit = visit_of(book)
    writes = [page_of(book, visit, path) for path in ("/1", "/2")]
    write = book.database.write

    @contextmanager
    def lose_the_answer() -> Generator[Session]:
        with write() as db:
            yield db
        raise ConnectionError("the answer got lost")

    with monkeypatch.context() as patch:
        patch.setattr(book.database, "write", lose_the_answer)
        book.writes.commit(writes)
    assert outcomes(writes) == ["ConnectionError", "ConnectionError"]
    assert len(stored(book)) == count(book.database, Page) == 2


def test_two_pages_that_want_one_name(book: SessionStore) -> None:
    """The first has it; the second is refused, and takes nothing with it."""
    visit = visit_of(book)
    writes = [
        page_of(book, visit, "/1", "pdp"),
        page_of(book, visit, "/2", "pdp"),
        page_of(book, visit, "/3"),
    ]
    book.writes.commit(writes)
    assert [write.error is None for write in writes] == [True, False, True]
    assert isinstance(writes[1].error, BlobExistsError)
    assert len(stored(book)) == 2


def test_a_file_that_cannot_be_stored_costs_its_page(
    book: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The group's other files are published all the same."""
    visit = visit_of(book)
    writes = [page_of(book, visit, path) for path in ("/1", "/2", "/3")]
    [unlucky] = writes[1].files
    publish = FolderStore.publish_all

    def refuse_one(blobs: FolderStore, files: Mapping[str, bytes]) -> None:
        if unlucky.uri in files:
            raise DiskFullError("no room")
        publish(blobs, files)

    monkeypatch.setattr(FolderStore, "publish_all", refuse_one)
    book.writes.commit(writes)
    assert outcomes(writes) == ["kept", "DiskFullError", "kept"]
    assert len(stored(book)) == count(book.database, Page) == 2


def test_the_end_of_a_session_and_its_log_ride_along(book: SessionStore) -> None:
    """States, pages and exports of several sessions are one commit as well."""
    one, two = visit_of(book), visit_of(book, "other.example")
    book.writes.post_now(book.finish(one))
    writes: list[Write[Any]] = [page_of(book, two, "/1"), book.writes.log(one.fence.session_id, one.journal)]
    book.writes.commit(writes)
    assert outcomes(writes) == ["kept", "kept"]
    [log] = [uri for uri in stored(book) if uri.endswith(b".jsonl")]
    with book.database.read() as db:
        lines = db.scalar(select(func.count()).where(CrawlLog.session_id == one.fence.session_id))
        assert db.scalar(text("SELECT count(*) FROM crawl_logs WHERE message = 'session.end'")) == 1
    assert book.blobs.read(log.decode()).count(b"\n") == lines == 2


def test_a_log_takes_the_place_of_what_a_dead_process_left(book: SessionStore) -> None:
    """A file that no row claims gives way; one that a row claims stays, and the log gets another name."""
    visit = visit_of(book)
    book.writes.post_now(book.finish(visit))
    export = book.writes.log(visit.fence.session_id, visit.journal)
    [file] = export.files
    book.blobs.publish(file.uri, b"half")
    book.writes.post_now(export)
    assert book.blobs.read(file.uri) != b"half"
    book.export_log(visit.fence.session_id)
    assert len(stored(book)) == 2


def lock(domain: str) -> Any:
    """A write that takes the row of a domain, as a lease or a listing is taken."""

    def write(db: Session) -> str:
        db.execute(update(DomainGate).where(DomainGate.domain == domain).values(delay_reason="taken"))
        return domain

    return write


def test_a_deadlock_with_somebody_else_costs_nothing(postgres_database: str, tmp_path: Path) -> None:
    """A group holds several rows, in the order in which its pages came; whoever loses is tried again."""
    database = Database(postgres_database)
    settings = load_settings({"VITRINE_HOME": str(tmp_path), "DATABASE_URL": ""})
    book = SessionStore(settings, database, FolderStore(tmp_path / "artifacts"))
    with database.write() as db:
        db.add_all([DomainGate(domain="a"), DomainGate(domain="b")])
    has_b, has_a = threading.Event(), threading.Event()

    def take_the_other_way_round() -> None:
        with database.write() as db:
            db.execute(text("SET LOCAL deadlock_timeout = '30s'"))  # so that it is the group that loses
            lock("b")(db)
            has_b.set()
            assert has_a.wait(10)
            lock("a")(db)

    def then_b(db: Session) -> str:
        has_a.set()
        assert has_b.wait(10)
        return str(lock("b")(db))

    writes = [Write(lock("a")), Write(then_b)]
    with ThreadPoolExecutor(1) as thread:
        other = thread.submit(take_the_other_way_round)
        assert has_b.wait(10)
        book.writes.commit(writes)
        other.result()
    assert [write.result for write in writes] == ["a", "b"]
    database.close()
