"""A store that is not the database's own is told from one whose files are gone."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import delete

from crawler.db.models import Artifact, StoreMark
from crawler.errors import IntegrityError
from crawler.evidence.blobs import MARK, StoreUnavailableError
from crawler.evidence.folder_store import FolderStore
from crawler.evidence.store_mark import OtherStoreError, adopt_store, mark_store, require_store
from crawler.retention.cleanup import CleanupOrder, clean_up
from tests.unit.retention.stored import Evidence, new_evidence

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.db.engine import Database

DAY = timedelta(days=1)


@pytest.fixture
def evidence(database: Database, tmp_path: Path) -> Evidence:
    """A session without any artifact."""
    return new_evidence(database, tmp_path / "artifacts")


def due(evidence: Evidence) -> Evidence:
    """A session with a page that is past its date."""
    evidence.add("shop/page.html.gz")
    return evidence


def is_live(evidence: Evidence) -> bool:
    """Whether its row still says that it is there."""
    with evidence.database.read() as db:
        return db.query(Artifact).filter(Artifact.deleted_at.is_(None)).count() == 1


@pytest.mark.parametrize("dry_run", [True, False])
@pytest.mark.parametrize("how", ["empty", "absent", "other"])
def test_a_cleanup_takes_nothing_out_of_another_store(
    evidence: Evidence, tmp_path: Path, how: str, *, dry_run: bool
) -> None:
    """Not mounted, not there, or a mistyped prefix: nothing is marked, and the error ends with 1."""
    due(evidence)
    wrong = FolderStore(tmp_path / "wrong")
    if how != "absent":
        wrong.root.mkdir()
    if how == "other":
        wrong.publish(MARK, b"00000000-0000-0000-0000-000000000001\n")
    with pytest.raises(OtherStoreError, match=str(wrong.root)) as refused:
        clean_up(evidence.database, wrong, CleanupOrder(dry_run=dry_run))
    assert (refused.value.exit_code, is_live(evidence)) == (1, True)
    assert str(evidence.root) in str(refused.value)


def test_the_same_store_at_another_place_is_the_same(evidence: Evidence, tmp_path: Path) -> None:
    """A volume may be mounted elsewhere: what counts is its mark."""
    due(evidence)
    moved = FolderStore(evidence.root.rename(tmp_path / "moved"))
    assert clean_up(evidence.database, moved, CleanupOrder()).deleted == 1
    mark_store(evidence.database, moved)


def test_a_database_of_before_the_mark_looks_for_its_files(evidence: Evidence, tmp_path: Path) -> None:
    """None of them there: refused; some there: done, and the next crawl sets the mark."""
    due(evidence)
    evidence.add("shop/other.html.gz", age=-DAY)
    (evidence.root / MARK).unlink()
    with evidence.database.write() as db:
        db.execute(delete(StoreMark))
    (tmp_path / "wrong").mkdir()
    with pytest.raises(OtherStoreError, match="has none of the files"):
        clean_up(evidence.database, FolderStore(tmp_path / "wrong"), CleanupOrder())
    store = FolderStore(evidence.root)
    assert clean_up(evidence.database, store, CleanupOrder()).deleted == 1
    mark_store(evidence.database, store)
    assert (evidence.root / MARK).exists()


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


def test_a_damaged_mark_is_told(database: Database, tmp_path: Path) -> None:
    """It is neither taken for another store nor overwritten."""
    store = FolderStore(tmp_path / "one")
    store.publish(MARK, b"\xff\x00 nothing")
    with pytest.raises(IntegrityError, match="is damaged"):
        mark_store(database, store)


def test_a_store_that_is_away_is_not_another_store(
    evidence: Evidence, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is told to adopt what does not answer; nothing is marked, and nothing goes."""
    due(evidence)
    store = FolderStore(evidence.root)

    def away(_uri: str) -> bytes:
        raise StoreUnavailableError("the artifact store does not answer")

    monkeypatch.setattr(store, "read", away)
    for ask in (require_store, mark_store, adopt_store):
        with pytest.raises(StoreUnavailableError):
            ask(evidence.database, store)
    with pytest.raises(StoreUnavailableError):
        clean_up(evidence.database, store, CleanupOrder())
    assert is_live(evidence)
