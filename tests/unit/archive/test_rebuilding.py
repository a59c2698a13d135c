"""What is made of snapshots is the same when it is made anew, and mends what was lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, select, text, update

from crawler.archive.rebuilding import WAYS, rebuild
from crawler.archive.search import SearchOrder, search
from crawler.clock import utc_now
from crawler.db.models import PageGroup, Snapshot, WordForm
from crawler.evidence.folder_store import FolderStore
from tests.unit.archive.stored import index_pages, keep

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from crawler.db.engine import Database

URL = "https://shop.example"


def filled(database: Database, path: Path) -> None:
    """Pages that lead to each other, one of them captured twice on one day."""
    blobs = FolderStore(path / "artifacts")
    noon = utc_now().replace(hour=12, minute=0)
    html = ""
    for n in range(5):
        html = f"<title>Shoe {n}</title><main><p>{'leather ' * 20} <a href=/{n + 1}>x</a><a href=/0>y</a>"
        keep(database, blobs, html, f"{URL}/{n}", at=noon)
    keep(database, blobs, html, f"{URL}/4", at=noon.replace(minute=5))
    index_pages(database, blobs)


def state(database: Database) -> tuple[Any, ...]:
    """All that is to be the same."""
    columns = [each for each in PageGroup.__table__.c if each.name != "links_at"]
    with database.read() as db:
        return (
            db.execute(select(*columns).order_by(PageGroup.id)).all(),
            db.execute(select(Snapshot.id, Snapshot.deduplicated).order_by(Snapshot.id)).all(),
            sorted(map(tuple, db.execute(select(WordForm.form, WordForm.word)))),
            [
                search(db, SearchOrder(asked)).total
                for asked in ("leather", "eathe", "shoe 3", "sheo", "title:hoe")
            ],
        )


def test_it_is_the_same_again(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the number of steps."""
    monkeypatch.setattr("crawler.archive.rebuilding.AT_ONCE", 2)
    filled(database, tmp_path)
    before = state(database)
    assert before[3] == [5, 5, 1, 5, 5]
    rebuild(database, list(WAYS))
    assert state(database) == before


def test_what_was_lost_is_mended(database: Database, tmp_path: Path) -> None:
    """Words, flags, counts."""
    filled(database, tmp_path)
    before = state(database)
    with database.write() as db:
        db.execute(text("DELETE FROM text_words"))
        db.execute(delete(WordForm))
        db.execute(update(Snapshot).values(deduplicated=False))
        db.execute(
            update(PageGroup).values(inlink_count=0, link_key=None, snapshot_count=0, shown_class=None)
        )
        if database.is_sqlite:
            db.execute(text("INSERT INTO snapshot_grams (snapshot_grams) VALUES ('delete-all')"))
        else:
            db.execute(text("DROP INDEX IF EXISTS snapshot_grams"))
    done = {each.what: each.rows for each in rebuild(database, list(WAYS))}
    assert state(database) == before
    assert (done["groups"], done["repeats"], done["words"]) == (5, 1, 5)
