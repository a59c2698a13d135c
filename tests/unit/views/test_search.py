"""What a search finds, as it is shown: marked, counted, explained, and never as markup."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sqlalchemy import select, update

from crawler.archive.search import SearchOrder
from crawler.db.models import RegisteredSource, Snapshot
from crawler.views import search, snapshots
from tests.unit.archive.stored import index_pages, keep
from tests.unit.archive.written import SHOP, content, index

if TYPE_CHECKING:
    from crawler.db.engine import Database
    from crawler.evidence.folder_store import FolderStore

DAY = datetime(2026, 5, 1, 12, tzinfo=UTC)
PAGE = "<html lang=en><title>Red shoes</title><p>Made of leather, for walking on long ways."


def test_a_hit_and_a_snapshot_say_the_same(database: Database, blobs: FolderStore) -> None:
    """Whoever finds one and asks for it sees it again."""
    keep(database, blobs, PAGE, at=DAY)
    keep(database, blobs, PAGE, at=DAY.replace(day=3))
    index_pages(database, blobs)
    with database.read() as db:
        [hit] = search.results(db, SearchOrder("leather", view="pages")).results
        found = snapshots.summary(db, str(hit.id))
    assert hit.page_snapshots_count == 2
    assert (hit.capture_date, hit.original_url) == ("2026-05-03", "https://shop.example/p")
    for name in ("title", "source_code", "capture_timestamp", "snippet", "raw_snapshot_url", "status_code"):
        assert getattr(hit, name) == getattr(found, name)


def test_what_was_looked_for_is_marked_and_nothing_becomes_markup(database: Database) -> None:
    """In the title and in the passage that has it, though the snippet does not."""
    long = ["Nothing here. " * 30, "The <b>leather</b> & more is down here."]
    index(database, {"content": content("<script>Leather</script>", *long)})
    with database.write() as db:
        db.execute(update(Snapshot).values(snippet="Nothing here."))
    with database.read() as db:
        [hit] = search.results(db, SearchOrder("leather")).results
    assert hit.title_html == "&lt;script&gt;<mark>Leather</mark>&lt;/script&gt;"
    assert "&lt;b&gt;<mark>leather</mark>&lt;/b&gt; &amp; more" in hit.snippet_html
    assert hit.snippet == "Nothing here."


def test_a_search_says_by_what_it_was_answered(database: Database) -> None:
    """With the points of each hit, and how many are of which site."""
    index(database, {}, {"url": f"{SHOP}b"}, {"url": "https://b.example/", "source": "b.example"})
    with database.read() as db:
        found = search.results(db, SearchOrder("leather"), explain=True)
        counted = search.with_facets(db, SearchOrder("leather"))
        nothing = search.with_facets(db, SearchOrder("nowhere"))
    assert found.explain is not None
    assert (found.answered_by, found.total, len(found.explain["points"])) == ("words", 3, 3)
    assert all(
        each["total"] == sum(v for k, v in each.items() if k not in {"id", "total"})
        for each in found.explain["points"]
    )
    assert counted.facets is not None
    assert [(each.value, each.count) for each in counted.facets.sources] == [
        ("shop.example", 2),
        ("b.example", 1),
    ]
    assert (nothing.total, nothing.results, nothing.facets) == (0, [], None)


def test_sources_by_their_keys(database: Database) -> None:
    """Those that are asked for; of none there is none."""
    index(database, {}, {"url": "https://b.example/", "source": "b.example"})
    with database.read() as db:
        keys = list(db.scalars(select(RegisteredSource.id)))
        assert set(search.sources_of(db, keys).values()) == {("shop.example",) * 2, ("b.example",) * 2}
        assert search.sources_of(db, []) == {}
