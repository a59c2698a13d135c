"""A store that is not the database's own is told from one whose files are gone."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from threading import Barrier
from typing import TYPE_CHECKING

import pytest

from crawler.db.engine import Database
from crawler.db.models import Artifact
from crawler.db.revisions import upgrade
from crawler.errors import IntegrityError
from crawler.evidence.blobs import MARK, StoreUnavailableError
from crawler.evidence.folder_store import FolderStore
from crawler.evidence.store_mark import OtherStoreError, adopt_store, mark_store, require_store
from crawler.retention.cleanup import CleanupOrder, clean_up
from tests.unit.retention.stored import Evidence, new_evidence

if TYPE_CHECKING:
    from pathlib import Path

DAY = timedelta(days=1)


@pytest.fixture
def evidence(database: Database, tmp_path: Path) -> Evidence:
    """A session with a page that is past its date."""
    evidence = new_evidence(database, tmp_path / "artifacts")
    evidence.add("shop/page.html.gz")
    return evidence


def is_live(evidence: Evidence) -> bool:
    """Whether its row still says that it is there."""
    with evidence.database.read() as db:
        return db.query(Artifact).filter(Artifact.deleted_at.is_(None)).count() == 1


@pytest.mark.parametrize("how", ["empty", "absent", "other"])
def test_a_cleanup_takes_nothing_out_of_another_store(evidence: Evidence, tmp_path: Path, how: str) -> None:
    """Not mounted, not there, or a mistyped prefix: nothing is marked, and the error ends with 6."""
    wrong = FolderStore(tmp_path / "wrong")
    if how != "absent":
        wrong.root.mkdir()
    if how == "other":
        wrong.publish(MARK, b"00000000-0000-0000-0000-000000000001\n")
    for dry_run in (True, False):
        with pytest.raises(OtherStoreError, match=str(wrong.root)) as refused:
            clean_up(evidence.database, wrong, CleanupOrder(dry_run=dry_run))
        assert (refused.value.exit_code, is_live(evidence)) == (6, True)
        assert str(evidence.root) in str(refused.value)


def test_the_same_store_at_another_place_is_the_same(evidence: Evidence, tmp_path: Path) -> None:
    """A volume may be mounted elsewhere: what counts is its mark."""
    moved = FolderStore(evidence.root.rename(tmp_path / "moved"))
    assert clean_up(evidence.database, moved, CleanupOrder()).deleted == 1
    mark_store(evidence.database, moved)


def test_a_database_without_a_store_takes_no_files_for_its_own(database: Database, tmp_path: Path) -> None:
    """Files without a mark may be anybody's: neither a crawl nor a cleanup begins; adopting is explicit."""
    folder = tmp_path / "somebodys"
    folder.mkdir()
    (folder / ".gitkeep").touch()
    store = FolderStore(folder)
    require_store(database, store)
    (folder / "index.html.gz").write_bytes(b"a page")
    for ask in (mark_store, require_store):
        with pytest.raises(OtherStoreError, match=r"such as index.html.gz"):
            ask(database, store)
    adopt_store(database, store)
    mark_store(database, store)


def test_adopting_takes_a_store_from_its_other_database(
    evidence: Evidence, tmp_path: Path, sqlite_database: str
) -> None:
    """A store has one owner at any time, and files of before stay for whoever has their rows."""
    (evidence.root / "shop/lost.html.gz").write_bytes(b"never got a row")
    week_ago = time.time() - 7 * DAY.total_seconds()
    for path in evidence.root.rglob("*.gz"):
        os.utime(path, (week_ago, week_ago))
    store = FolderStore(evidence.root)
    with closing(Database(sqlite_database.replace(".db", "-other.db"))) as other:
        upgrade(other)
        for ask in (mark_store, require_store):
            with pytest.raises(OtherStoreError, match="store of another database"):
                ask(other, store)
        adopt_store(other, store)
        assert clean_up(other, store, CleanupOrder(dry_run=True)).unclaimed == 0
        assert clean_up(other, store, CleanupOrder()).unclaimed == 0
    assert len(list(store.entries())) == 2
    with pytest.raises(OtherStoreError, match="another database's store"):
        clean_up(evidence.database, store, CleanupOrder())


def test_a_crawl_sets_the_mark_once(database: Database, tmp_path: Path) -> None:
    """The second one finds it; in another folder it stores nothing."""
    first, second = FolderStore(tmp_path / "one"), FolderStore(tmp_path / "two")
    mark_store(database, first)
    mark = first.read(MARK)
    mark_store(database, first)
    assert first.read(MARK) == mark
    assert list(first.entries()) == []
    with pytest.raises(OtherStoreError) as refused:
        mark_store(database, second)
    assert refused.value.hint.endswith("adopt")
    adopt_store(database, second)
    mark_store(database, second)


def test_crawls_that_start_together_share_the_store(database: Database, tmp_path: Path) -> None:
    """Whichever is first marks it; the others find the mark to be theirs."""
    store, together = FolderStore(tmp_path / "one"), Barrier(4)

    def start() -> None:
        together.wait()
        mark_store(database, store)

    with ThreadPoolExecutor(4) as threads:
        for started in [threads.submit(start) for _ in range(4)]:
            started.result()


def test_a_mark_whose_commit_failed_is_this_databases_own(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next crawl goes on with it, and so does a cleanup before that."""
    store = FolderStore(tmp_path / "one")
    publish = store.publish

    def publish_and_die(uri: str, data: bytes) -> None:
        publish(uri, data)
        raise OSError("the process died")

    with monkeypatch.context() as patch:
        patch.setattr(store, "publish", publish_and_die)
        with pytest.raises(OSError, match="died"):
            mark_store(database, store)
    mark = store.read(MARK)
    require_store(database, store)
    mark_store(database, store)
    mark_store(database, store)
    assert store.read(MARK) == mark


def test_a_damaged_mark_is_told(database: Database, tmp_path: Path) -> None:
    """It is neither taken for another store nor overwritten."""
    store = FolderStore(tmp_path / "one")
    store.publish(MARK, b"\xff\x00 nothing")
    with pytest.raises(IntegrityError, match="is damaged"):
        mark_store(database, store)


class Away(FolderStore):
    """A store that does not answer."""

    def read(self, _uri: str) -> bytes:
        """Fail."""
        raise StoreUnavailableError("the artifact store does not answer")

    def delete(self, _uri: str) -> bool:
        """Fail."""
        raise StoreUnavailableError("the artifact store does not answer")


def test_a_store_that_is_away_is_not_another_store(evidence: Evidence) -> None:
    """No error tells to adopt what does not answer; nothing is marked, and nothing goes."""
    store = Away(evidence.root)
    for ask in (require_store, mark_store, adopt_store):
        with pytest.raises(StoreUnavailableError):
            ask(evidence.database, store)
    with pytest.raises(StoreUnavailableError):
        clean_up(evidence.database, store, CleanupOrder())
    assert is_live(evidence)
