"""What sessions sent and received becomes an artifact of theirs, whatever died on the way."""

from __future__ import annotations

import os
import tracemalloc
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, select

from crawler.clock import utc_now
from crawler.db.models import Artifact, CrawlSession, Record
from crawler.evidence.files import sha256
from crawler.evidence.store_mark import mark_store
from crawler.evidence.warc_files import NoRows
from crawler.evidence.warc_shelf import WarcShelf
from crawler.retention.holds import Target
from crawler.retention.purge import PurgeOrder, purge
from crawler.sessions.spool import keep_left, keep_warc, spool_of
from tests.unit.warc.made import ABOUT, appended, exchange

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

    from crawler.sessions.visit import Visit
    from tests.unit.sessions.conftest import Process

    ProcessOf = Callable[..., Process]
LARGE = 16 * 1024 * 1024


def spooled(process: Process, visit: Visit) -> WarcShelf:
    """A shelf with one answer of a session."""
    folder = spool_of(process.store.settings)
    shelf = process.store.writes.spool = WarcShelf(folder, ABOUT, NoRows(), max_bytes=2**62)
    appended(shelf, exchange(), visit.fence.session_id)
    return shelf


def die(shelf: WarcShelf) -> None:
    """Leave what is open as a killed process does: unsealed, and nobody's."""
    for file in shelf._files.values():
        os.close(file.handle)
    shelf._files.clear()
    shelf.close()


def artifacts(process: Process) -> list[Artifact]:
    """Those of WARCs."""
    with process.store.database.read() as db:
        return list(db.scalars(select(Artifact).where(Artifact.type == "warc").order_by(Artifact.created_at)))


def left(process: Process) -> list[Path]:
    """What lies in the spool."""
    return sorted(spool_of(process.store.settings).iterdir())


def test_a_session_ends(process_of: ProcessOf) -> None:
    """Its file moves from the spool to where artifacts lie, under the date of its HTML."""
    process = process_of()
    visit = process.begin()
    shelf = spooled(process, visit)
    process.finish(visit)
    keep_warc(process.store.writes, visit)
    [row] = artifacts(process)
    assert row.storage_uri == f"shop.example__{visit.fence.session_id}/session.warc.gz"
    assert row.retention_until is not None
    assert row.retention_until - row.created_at == timedelta(days=process.store.settings.html_retention_days)
    stored = process.store.settings.artifacts / row.storage_uri
    assert row.checksum == sha256(stored.read_bytes())
    assert left(process) == []
    shelf.close()


def test_a_large_file_is_not_held_in_memory(process_of: ProcessOf) -> None:
    """However much a session loaded: what is kept is the file, and it is read where it lies."""
    process = process_of()
    visit = process.begin()
    shelf = spooled(process, visit)
    appended(shelf, exchange(body=os.urandom(LARGE)), visit.fence.session_id)
    process.finish(visit)
    tracemalloc.start()
    keep_warc(process.store.writes, visit)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    [row] = artifacts(process)
    assert (row.size_bytes > LARGE, left(process)) == (True, [])
    assert peak < LARGE / 2
    stored = process.store.settings.artifacts / row.storage_uri
    assert row.checksum == sha256(stored.read_bytes())
    shelf.close()


def test_a_process_dies(process_of: ProcessOf) -> None:
    """The next one seals the file and keeps it, once the session is over, and only once."""
    dead, other = process_of(), process_of()
    visit = dead.begin()
    die(spooled(dead, visit))
    assert [path.name[-5:] for path in left(dead)] == [".open"]
    assert keep_left(other.store.writes) == 0  # the session may be gone on with
    assert artifacts(other) == []
    other.let_pass(visit.fence.session_id, timedelta(days=1))
    other.store.abandon_stale()
    assert keep_left(other.store.writes) == 1
    [row] = artifacts(other)
    assert row.session_id == visit.fence.session_id
    assert row.retention_until is not None
    assert (other.store.settings.artifacts / row.storage_uri).is_file()
    with other.store.database.read() as db:
        assert list(db.scalars(select(Record.url))) == ["https://shop.example/p"]
    assert (left(other), keep_left(other.store.writes)) == ([], 0)


def test_a_process_dies_between_the_row_and_the_file(process_of: ProcessOf) -> None:
    """Nothing is kept twice; the file goes all the same."""
    process = process_of()
    visit = process.begin()
    shelf = spooled(process, visit)
    process.finish(visit)
    shelf.seal(visit.fence.session_id).result()
    [file] = left(process)
    data = file.read_bytes()
    assert keep_left(process.store.writes) == 1
    file.write_bytes(data)
    assert keep_left(process.store.writes) == 1
    assert (len(artifacts(process)), left(process)) == (1, [])
    with process.store.database.read() as db:
        assert len(list(db.scalars(select(Record.id)))) == 1
    shelf.close()


def test_a_domain_is_purged_that_a_session_of_another_loaded_from(process_of: ProcessOf) -> None:
    """Its records go, so that nothing of it is shown; the other session's file stays as it is."""
    process = process_of()
    mark_store(process.store.database, process.store.writes.blobs)
    visit = process.begin()
    shelf = spooled(process, visit)
    appended(shelf, exchange("https://pictures.example/a.png"), visit.fence.session_id)
    process.finish(visit)
    keep_warc(process.store.writes, visit)
    store = process.store
    order = PurgeOrder(
        Target(domain="pictures.example"), with_prices=False, who="me", before=utc_now(),
        reports=store.settings.vitrine_home / "reports",
    )  # fmt: skip
    assert purge(store.database, store.writes.blobs, order)["captures"] == 1
    with store.database.read() as db:
        assert list(db.scalars(select(Record.url))) == ["https://shop.example/p"]
    [row] = artifacts(process)
    assert row.checksum == sha256((store.settings.artifacts / row.storage_uri).read_bytes())
    shelf.close()


def test_a_session_is_purged_meanwhile(process_of: ProcessOf) -> None:
    """Nothing of it stays, and what is no file of ours is not touched."""
    process = process_of()
    visit = process.begin()
    die(spooled(process, visit))
    strange = spool_of(process.store.settings) / "notes.warc.gz"
    strange.write_bytes(b"whatever")
    with process.store.database.write() as db:
        db.execute(delete(CrawlSession).where(CrawlSession.id == visit.fence.session_id))
    assert keep_left(process.store.writes) == 0
    assert (left(process), artifacts(process)) == ([strange], [])


def test_a_store_that_refuses(process_of: ProcessOf, monkeypatch: pytest.MonkeyPatch) -> None:
    """Costs nothing: the file stays for whoever comes next."""
    process = process_of()
    visit = process.begin()
    shelf = spooled(process, visit)
    process.finish(visit)
    shelf.seal(visit.fence.session_id).result()

    def refuse(*_: Any) -> None:
        raise OSError("no space")

    with monkeypatch.context() as patched:
        patched.setattr(process.store.writes, "post_now", refuse)
        assert keep_left(process.store.writes) == 0
    assert (len(left(process)), artifacts(process)) == (1, [])
    assert keep_left(process.store.writes) == 1
    shelf.close()
