"""What is made of snapshots is the same when it is made anew, and mends what was lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import delete, select, text, update

from crawler.archive import rebuilding
from crawler.archive.rebuilding import WAYS, BeingIndexedError, rebuild
from crawler.archive.search import SearchOrder, search
from crawler.clock import utc_now
from crawler.db.engine import Database
from crawler.db.models import LinkCount, PageGroup, Snapshot, WordForm
from crawler.evidence.folder_store import FolderStore
from tests.unit.archive.stored import index_pages, keep

if TYPE_CHECKING:
    from pathlib import Path

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
            db.execute(select(LinkCount.target, LinkCount.pages).order_by(LinkCount.target)).all(),
            [
                search(db, SearchOrder(asked)).total
                for asked in ("leather", "eathe", "shoe 3", "sheo", "title:hoe")
            ],
        )


def test_what_was_lost_is_mended(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words, flags, counts; what is right stays the same, whatever the number of steps."""
    monkeypatch.setattr("crawler.archive.rebuilding.AT_ONCE", 2)
    filled(database, tmp_path)
    before = state(database)
    assert before[4] == [5, 5, 1, 5, 5]
    assert sorted(row.pages for row in before[3]) == [1, 1, 1, 1, 1, 4]
    rebuild(database, list(WAYS))
    assert state(database) == before
    with database.write() as db:
        db.execute(text("DELETE FROM text_words"))
        db.execute(delete(WordForm))
        some = db.scalar(select(LinkCount.target).limit(1))
        db.execute(delete(LinkCount).where(LinkCount.target == some))
        db.execute(update(LinkCount).values(pages=LinkCount.pages + 2))
        db.add(LinkCount(target=7, pages=1))
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


def test_links_are_not_counted_while_they_are_written(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was counted would be wrong: nothing is changed, and the message says what to do."""
    filled(database, tmp_path)
    before = state(database)
    monkeypatch.setattr(rebuilding, "_state_of_links", lambda _: object())
    with pytest.raises(BeingIndexedError, match="at this moment"):
        rebuild(database, ["groups"])
    assert state(database) == before


def test_what_is_deleted_while_an_index_is_made_anew(database: Database, tmp_path: Path) -> None:
    """Snapshots that are not in it yet can go, and the rest is found when it is whole again."""
    filled(database, tmp_path)
    with database.write() as db:
        if database.is_sqlite:
            db.execute(text("INSERT INTO snapshot_grams (snapshot_grams) VALUES ('delete-all')"))
        db.execute(delete(Snapshot).where(Snapshot.find_title != "shoe 3"))
        db.execute(update(Snapshot).values(find_title="boot 3"))
    rebuild(database, ["parts"])
    with database.write() as db:
        assert [search(db, SearchOrder(asked)).total for asked in ("title:boo", "title:hoe")] == [1, 0]
        db.execute(delete(Snapshot))


def test_an_index_of_parts_whose_maker_was_killed(postgres_database: str, tmp_path: Path) -> None:
    """PostgreSQL leaves what is no use and in the way; it is made anew."""
    database = Database(postgres_database)
    filled(database, tmp_path)
    with database.write() as db:
        db.execute(text("UPDATE pg_index SET indisvalid = false "
                        "WHERE indexrelid = to_regclass('snapshot_grams')"))  # fmt: skip
    assert rebuild(database, ["parts"])[0].rows == 1
    with database.read() as db:
        assert db.scalar(text("SELECT indisvalid FROM pg_index WHERE indexrelid = "
                              "to_regclass('snapshot_grams')"))  # fmt: skip
    database.close()
