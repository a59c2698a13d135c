"""Rows are found by their ids, on SQLite and PostgreSQL."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import UUID

import pytest

from crawler.db import lookup
from crawler.db.models import Listing, Run
from crawler.errors import NotFoundError

if TYPE_CHECKING:
    from crawler.db.engine import Database

THEN = datetime(2026, 3, 1, 12, tzinfo=UTC)
ONE = UUID("abcdef00-0000-4000-8000-000000000001")
TWO = UUID("abcde000-0000-4000-8000-000000000002")


@pytest.fixture
def listings(database: Database) -> Database:
    """Two products whose ids begin alike."""
    with database.write() as db:
        for key in (ONE, TWO):
            db.add(
                Listing(
                    id=key, domain="a.example", url=str(key), url_sha256=str(key), first_seen_at=THEN,
                    last_seen_at=THEN,
                )
            )  # fmt: skip
    return database


@pytest.mark.parametrize("given", [str(ONE), ONE.hex, str(ONE).upper(), "abcdef", "ABCDEF00-00"])
def test_a_few_letters_do(listings: Database, given: str) -> None:
    """With or without dashes, in any case."""
    with listings.read() as db:
        assert lookup.find(db, Listing, given).id == ONE


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("abcde", "several products begin with 'abcde'"),
        ("abc0", "there is no product 'abc0'"),
        ("", "there is no product ''"),
        ("zz", "there is no product 'zz'"),
        (f"{ONE}0", "there is no product"),
    ],
)
def test_what_names_nothing_or_several_is_told(listings: Database, given: str, message: str) -> None:
    """With the command that shows what there is."""
    with listings.read() as db, pytest.raises(NotFoundError, match=message) as caught:
        lookup.find(db, Listing, given)
    assert caught.value.hint == "`vitrine products list` shows them"


def test_a_number_is_given_whole(database: Database) -> None:
    """A part of it would be another number; what is none is told, however odd it is."""
    with database.write() as db:
        db.add_all([Run(id=number, source="shop", plan={}, created_at=THEN) for number in (1, 12)])
    with database.read() as db:
        assert [lookup.find(db, Run, given).id for given in ("1", "01")] == [1, 1]
        for given in ("0", "-1", "7", "x", "", "1.0", "٣", "9" * 30):
            with pytest.raises(NotFoundError, match="there is no"):
                lookup.find(db, Run, given)
