"""A batch of read pages: which are one page, what is shown of them, who leads to them, and what stays."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import delete, func, select, table

from crawler.archive import unused
from crawler.archive.groups import (
    BY_PATH,
    Links,
    add_to_counts,
    group_key,
    link_key,
    packed,
    unpacked,
    write_links,
)
from crawler.archive.writing import ReadPage, no_content, write_in_turn
from crawler.db.models import LinkCount, PageGroup, Snapshot, Text, WordForm
from crawler.html.content import MAX_URL_CHARS
from tests.unit.archive.written import NOON, SHOP, a_page, content, index

if TYPE_CHECKING:
    from datetime import datetime

    from crawler.db.engine import Database, Transaction
    from crawler.html.content import Content

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
RED, BLUE = content("Red", "leather"), content("Blue", "rubber")
P = "https://shop.example/p"


def groups(database: Database) -> dict[str, PageGroup]:
    """All groups, by what comes after the shop's address."""
    with database.read() as db:
        return {row.group_key.removeprefix(SHOP): row for row in db.scalars(select(PageGroup))}


def count(database: Database, *tables: str) -> list[int]:
    """How many rows some tables have."""
    with database.read() as db:
        return [db.execute(select(func.count()).select_from(table(each))).scalar_one() for each in tables]


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://Shop.example:443/p?b=2&a=1#x", f"{P}?a=1&b=2"), ("http://[", "http://["),
        (f"{P}?b=2&utm_source=x&PHPSESSID=7&a=1", f"{P}?a=1&b=2"),
        (P + "x" * 9_999, (P + "x" * 9_999)[:MAX_URL_CHARS]),
    ],
)  # fmt: skip
def test_spellings_of_one_page_are_one_group(url: str, key: str) -> None:
    """The query stays, in one order, but for what follows visitors; what is no URL is its own group."""
    assert group_key(url) == key
    assert group_key(f"{P}?a=1", BY_PATH) == P


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ("http://www.shop.example/p?a=1", True), (f"{P}?a=1#b", True), (f"{P}?a=2", False),
        ("https://shop.example.evil.example/p?a=1", False),
    ],
)  # fmt: skip
def test_links_find_a_page_whatever_their_scheme(other: str, *, same: bool) -> None:
    """And whether or not it is called www; by path, queries do not count; any text has a key."""
    assert (link_key(f"{P}?a=1") == link_key(other)) is same
    assert link_key(P, BY_PATH) == link_key(f"{P}?a=2", BY_PATH)
    keys = {link_key(odd) for odd in ("http://[", "", "https://shop.example/\ud800", "javascript:alert(1)")}
    assert unpacked(packed(keys)) == tuple(sorted(keys))


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_of_one_day_the_newest_that_says_the_same_is_shown(
    database: Database, order: tuple[int, ...]
) -> None:
    """In whatever order they come; of the next day, and of another content, one more; of one moment one."""
    times: list[datetime] = [NOON, NOON + HOUR, NOON + 13 * HOUR]
    for each in order:
        index(database, {"at": times[each], "content_hash": "same"})
    index(database, {"at": NOON + HOUR / 2, "content_hash": "other"})
    index(database, *[{"url": f"{SHOP}b", "content_hash": "twins"}] * 2)
    with database.read() as db:
        hidden = db.scalars(select(Snapshot).where(Snapshot.deduplicated)).all()
        assert sorted((row.url, row.captured_at) for row in hidden) == [(SHOP, NOON), (f"{SHOP}b", NOON)]


def test_what_captures_come_to(database: Database) -> None:
    """The newest of all, and the newest good one that is shown; refreshed with each batch."""
    index(database, {"at": NOON}, {"at": NOON + 2 * DAY, "status_code": 404})
    index(database, {"at": NOON + DAY, "status_code": None}, {"url": f"{SHOP}bad", "status_code": 500})
    [page, bad] = [groups(database)[key] for key in ("", "bad")]
    assert (page.snapshot_count, page.first_at, page.last_at) == (3, NOON, NOON + 2 * DAY)
    assert (page.shown_class, page.shown_at) == (0, NOON + DAY)
    assert page.latest_snapshot_id != page.latest_ok_snapshot_id
    assert (bad.snapshot_count, bad.shown_class, bad.latest_ok_snapshot_id) == (1, None, None)


def test_links_of_the_newest_good_capture_count(database: Database) -> None:
    """What it has no more counts no more; older ones, failures, and pages without a text change nothing."""
    old = content("Red", links=(f"{SHOP}a", f"{SHOP}b", SHOP))
    new = content("Red", links=(f"{SHOP}b", "http://www.shop.example/later"))
    index(database, *({"url": f"{SHOP}{name}"} for name in "ab"))
    index(database, {"at": NOON, "content": old})
    assert [groups(database)[name].inlink_count for name in ("a", "b", "")] == [1, 1, 0]
    index(
        database, {"at": NOON + DAY, "content": new}, {"at": NOON - DAY, "content": old},
        {"at": NOON + 2 * DAY, "content": old, "status_code": 500},
        {"at": NOON + 3 * DAY, "content": no_content("empty_page")}, {"url": f"{SHOP}later"},
    )  # fmt: skip
    index(database, {"at": NOON - 2 * DAY, "content": old})
    found = groups(database)
    assert [found[name].inlink_count for name in ("a", "b", "later", "")] == [0, 1, 1, 0]
    assert (found[""].outlink_count, found[""].links_at) == (2, NOON + DAY)


def test_counts_never_become_less_than_nothing(database: Database) -> None:
    """Whatever is taken away; more than one statement may name; links of a group that went are nobody's."""
    with database.write() as db:
        add_to_counts(db, {7: -1, 8: 2, 9: 0})
        add_to_counts(db, {8: -2})
        add_to_counts(db, dict.fromkeys(range(100, 1_300), 1))
        write_links(db, {4711: Links(NOON, frozenset({1, 2}))})
        unused.delete_unused(db, unused.Named(set(range(1, 70_000)), set(range(1, 70_000))))
    with database.read() as db:
        assert sorted(db.scalars(select(LinkCount.target))) == list(range(100, 1_300))


def test_the_same_text_is_stored_once(database: Database) -> None:
    """Within a batch and between batches, whatever its language and links; a page without one has none."""
    same = content("Red", "leather")
    index(database, {"content": same}, {"url": f"{SHOP}b", "content": content("Red", "leather", links=(P,))})
    index(
        database, {"url": f"{SHOP}c", "content": same},
        {"url": f"{SHOP}d", "content": no_content("too_deep")},
        {"url": f"{SHOP}e", "content": content("Blue", "leather")},
    )  # fmt: skip
    with database.read() as db:
        rows = {row.url.removeprefix(SHOP): row for row in db.scalars(select(Snapshot))}
    assert rows[""].text_id == rows["b"].text_id == rows["c"].text_id is not None
    assert (rows["d"].text_id, rows["d"].problem) == (None, "too_deep")
    assert count(database, "texts", "text_words") == [2, 2]


def test_a_text_that_went_before_the_turn_came_is_stored_again(database: Database) -> None:
    """A purge, or whoever had the turn, deletes what nobody names."""
    tries: list[int] = []

    def pages_of(db: Transaction) -> list[ReadPage]:
        tries.append(len(db.scalars(select(Text)).all()))
        if len(tries) == 1:
            db.execute(delete(Text))
        return [a_page(db, content=RED)]

    [page] = write_in_turn(database, [RED], pages_of)
    assert (page.content, tries) == (RED, [1, 1])
    assert count(database, "snapshots", "texts", "text_words") == [1, 1, 1]


@pytest.mark.parametrize("others", [(), (BLUE,)])
def test_a_text_whose_page_has_gone_meanwhile_goes_too(
    database: Database, others: tuple[Content, ...]
) -> None:
    """With its words: what a purge has removed does not stay behind, without a snapshot."""
    write_in_turn(
        database, [RED, *others],
        lambda db: [a_page(db, f"{SHOP}{n}", content=each) for n, each in enumerate(others)],
    )  # fmt: skip
    with database.read() as db:
        assert list(db.scalars(select(Text.title))) == [each.title for each in others]
        assert db.scalars(select(func.count()).where(WordForm.word == "leather")).one() == 0
    assert count(database, "text_words") == [len(others)]
