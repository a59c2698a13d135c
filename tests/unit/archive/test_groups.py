"""Which URLs are one page, what its captures come to, and how many pages lead to it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

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
from crawler.db.models import LinkCount, PageGroup
from crawler.html.content import MAX_URL_CHARS
from tests.unit.archive.written import NOON, SHOP, content, index

if TYPE_CHECKING:
    from crawler.db.engine import Database

DAY = timedelta(days=1)
INT64 = st.integers(-(2**63), 2**63 - 1)


def groups(database: Database) -> dict[str, PageGroup]:
    """All of them, by what comes after the shop's address."""
    with database.read() as db:
        return {row.group_key.removeprefix(SHOP): row for row in db.scalars(select(PageGroup))}


def test_spellings_of_one_page_are_one_group() -> None:
    """The query stays, in one order; what is no URL is its own group."""
    assert group_key("https://Shop.example:443/p?b=2&a=1#x") == "https://shop.example/p?a=1&b=2"
    assert (
        group_key("https://shop.example/p?b=2&utm_source=x&PHPSESSID=7&a=1")
        == "https://shop.example/p?a=1&b=2"
    )
    assert group_key("http://[") == "http://["
    assert group_key("https://shop.example/p?a=1", BY_PATH) == "https://shop.example/p"
    assert len(group_key(f"{SHOP}{'x' * 100_000}")) == MAX_URL_CHARS


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ("http://www.shop.example/p?a=1", True), ("https://shop.example/p?a=1#b", True),
        ("https://shop.example/p?a=2", False), ("https://shop.example.evil.example/p?a=1", False),
    ],
)  # fmt: skip
def test_links_find_a_page_whatever_their_scheme(other: str, *, same: bool) -> None:
    """And whether or not it is called www; by path, queries do not count."""
    url = "https://shop.example/p?a=1"
    assert (link_key(url) == link_key(other)) is same
    assert link_key(url, BY_PATH) == link_key("https://shop.example/p?a=2", BY_PATH)


def test_links_of_any_bytes_have_a_number() -> None:
    """Half a character and no host too; it fits the databases' own numbers."""
    for odd in ("http://[", "", "https://shop.example/\ud800", "javascript:alert(1)"):
        assert -(2**63) <= link_key(odd) < 2**63


@given(st.sets(INT64, max_size=20))
def test_what_is_packed_is_unpacked(keys: set[int]) -> None:
    """Sorted, in eight bytes each."""
    assert unpacked(packed(keys)) == tuple(sorted(keys))
    assert len(packed(keys)) == 8 * len(keys)


def test_what_captures_come_to(database: Database) -> None:
    """The newest of all, and the newest good one that is shown; refreshed with each batch."""
    index(database, {"at": NOON}, {"at": NOON + 2 * DAY, "status_code": 404})
    index(database, {"at": NOON + DAY, "status_code": None}, {"url": f"{SHOP}bad", "status_code": 500})
    [page, bad] = [groups(database)[key] for key in ("", "bad")]
    assert (page.snapshot_count, page.first_at, page.last_at) == (3, NOON, NOON + 2 * DAY)
    assert (page.shown_class, page.shown_at) == (0, NOON + DAY)
    assert page.latest_snapshot_id != page.latest_ok_snapshot_id
    assert (bad.snapshot_count, bad.shown_class, bad.latest_ok_snapshot_id) == (1, None, None)


def test_links_of_the_newest_capture_count(database: Database) -> None:
    """What it has no more counts no more; an older one that comes later changes nothing."""
    old = content("Red", links=(f"{SHOP}a", f"{SHOP}b", SHOP))
    new = content("Red", links=(f"{SHOP}b", f"{SHOP}c"))
    for name in "abc":
        index(database, {"url": f"{SHOP}{name}"})
    index(database, {"at": NOON, "content": old})
    assert [groups(database)[name].inlink_count for name in ("a", "b", "c", "")] == [1, 1, 0, 0]
    index(database, {"at": NOON + DAY, "content": new})
    index(database, {"at": NOON - DAY, "content": old})
    assert [groups(database)[name].inlink_count for name in ("a", "b", "c", "")] == [0, 1, 1, 0]
    assert groups(database)[""].outlink_count == 2
    with database.read() as db:
        assert sorted(db.scalars(select(LinkCount.target))) == sorted(map(link_key, (f"{SHOP}b", f"{SHOP}c")))


def test_a_page_that_comes_later_knows_who_leads_to_it(database: Database) -> None:
    """Links were counted before there was anything of what they lead to."""
    index(database, {"content": content("Red", links=("http://www.shop.example/later",))})
    index(database, {"url": f"{SHOP}later"})
    assert groups(database)["later"].inlink_count == 1


def test_counts_never_become_less_than_nothing(database: Database) -> None:
    """Whatever is taken away from what is not there; more than one statement may name."""
    with database.write() as db:
        add_to_counts(db, {7: -1, 8: 2, 9: 0})
        add_to_counts(db, {8: -2})
        add_to_counts(db, dict.fromkeys(range(100, 1_300), 1))
    with database.read() as db:
        assert list(db.scalars(select(LinkCount.target).order_by(LinkCount.target))) == list(
            range(100, 1_300)
        )


def test_links_of_a_group_that_went_meanwhile(database: Database) -> None:
    """Are nobody's."""
    with database.write() as db:
        write_links(db, {4711: Links(NOON, frozenset({1, 2}))})
    with database.read() as db:
        assert db.scalars(select(LinkCount)).all() == []
