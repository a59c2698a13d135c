"""A named batch of URLs: opened once, and linked to the sessions that captured it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from crawler.catalogue import hauls
from crawler.errors import LockedError, NotFoundError, UsageError
from tests.unit.views.rows import NOW, a_session

if TYPE_CHECKING:
    from crawler.db.engine import Database

URLS = ["https://shop.example/p/1", "https://shop.example/p/2"]
HOUR = timedelta(hours=1)


def test_one_that_is_not_done_is_gone_on_with(database: Database) -> None:
    """As long as it is of the same URLs."""
    with database.write() as db:
        first = hauls.open_haul(db, "spring", source="a.txt", urls=URLS, now=NOW)
        again = hauls.open_haul(db, "spring", source="a.txt", urls=URLS, now=NOW + HOUR)
        assert (again.id, again.created_at) == (first.id, NOW)
        assert [(member.position, member.url) for member in again.members] == list(enumerate(URLS, 1))
        for urls in (URLS[:1], URLS[::-1]):
            with pytest.raises(LockedError, match="there is a haul 'spring' already"):
                hauls.open_haul(db, "spring", source="a.txt", urls=urls, now=NOW)


@pytest.mark.parametrize("name", ["", "  ", "x" * 201, "a\nb", "a\x00b"])
def test_a_name_can_be_shown(database: Database, name: str) -> None:
    """On a line, and not an endless one."""
    with database.write() as db, pytest.raises(UsageError, match="1 to 200 printable characters"):
        hauls.open_haul(db, name, source="a.txt", urls=URLS, now=NOW)


def test_members_are_linked_to_what_captured_them(database: Database) -> None:
    """Sessions since the haul is there that have ended; what is linked stays so."""
    with database.write() as db:
        hauls.open_haul(db, "spring", source="a.txt", urls=URLS, now=NOW)
        db.add(a_session(url=URLS[0], created_at=NOW - HOUR))
        db.add(a_session(url=URLS[0], created_at=NOW + HOUR, status="running", finished_at=None))
        assert not hauls.link(db, "spring")
        one = a_session(url=URLS[0], created_at=NOW + HOUR)
        db.add(one)
        db.flush()
        assert not hauls.link(db, "spring")
        db.add(a_session(url=URLS[0], created_at=NOW + 2 * HOUR))
        db.add(a_session(url=URLS[1], created_at=NOW + 2 * HOUR, status="failed"))
        db.flush()
        assert hauls.link(db, "spring")
        assert hauls.get(db, "spring").members[0].session_id == one.id
        with pytest.raises(LockedError):
            hauls.open_haul(db, "spring", source="a.txt", urls=URLS, now=NOW)


def test_one_that_is_not_there_is_told(database: Database) -> None:
    """By its name."""
    with database.read() as db, pytest.raises(NotFoundError, match="there is no haul 'autumn'"):
        hauls.get(db, "autumn")
