"""Hauls as documents, on SQLite and PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from crawler.errors import NotFoundError
from crawler.views import hauls
from crawler.views.paging import Wanted
from tests.unit.views.rows import HOUR, NOW, THEN, URL, a_haul, a_page, a_session

if TYPE_CHECKING:
    from crawler.db.engine import Database


def test_a_haul_is_shown_with_what_came_of_its_urls(database: Database) -> None:
    """In the order of the file: one that was captured, one whose session is gone, one that waits."""
    session, gone = a_session(), uuid4()
    with database.write() as db:
        db.add(session)
        db.flush()
        db.add(a_page(session.id))
        db.add(a_haul("spring", ("https://a.example/", session.id), ("b", gone), ("c", None)))
    with database.read() as db:
        found = hauls.shown(db, NOW, "spring")
        with pytest.raises(NotFoundError, match="there is no haul 'autumn'"):
            hauls.shown(db, NOW, "autumn")
    assert (found.name, found.source, found.urls, found.captured) == ("spring", "shops.txt", 3, 2)
    one, two, three = found.members
    assert (one.url, one.session_id, one.status, one.pdp_url) == (
        "https://a.example/", session.id, "completed", URL,
    )  # fmt: skip
    assert (one.name, one.price, one.currency, one.availability) == ("A chair", "19.90", "EUR", "InStock")
    assert (two.session_id, two.status, two.name) == (gone, None, None)
    assert (three.session_id, three.status, three.price) == (None, None, None)


def test_the_newest_hauls_stand_first(database: Database) -> None:
    """With how many of their URLs were captured."""
    with database.write() as db:
        db.add(a_haul("old", ("a", uuid4()), ("b", None)))
        db.add(a_haul("new", created_at=THEN + HOUR))
    with database.read() as db:
        found = hauls.newest(db, Wanted(limit=9))
        assert hauls.newest(db, Wanted(limit=1)) == found[:1]
    assert [(each.name, each.urls, each.captured) for each in found] == [("new", 0, 0), ("old", 2, 1)]
