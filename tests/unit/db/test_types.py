"""Times and amounts are the same on both databases."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import Column, MetaData, Table, insert, select
from sqlalchemy.exc import StatementError

from crawler.db.types import Money, UtcTime

if TYPE_CHECKING:
    from crawler.db.engine import Database

NOON = datetime(2026, 5, 4, 12, 0, 0, 123456, tzinfo=UTC)
TABLE = Table("typed", MetaData(), Column("at", UtcTime), Column("amount", Money))


@pytest.fixture
def typed(database: Database) -> Database:
    """With a table that has a column of each."""
    with database.write() as db:
        TABLE.create(db.connection())
    return database


def test_times_are_aware_and_in_utc(typed: Database) -> None:
    """To the microsecond, from whatever zone they came."""
    with typed.write() as db:
        db.execute(insert(TABLE), {"at": NOON.astimezone(timezone(timedelta(hours=9)))})
    with typed.read() as db:
        found = db.execute(select(TABLE.c.at)).scalar_one()
    assert (found, found.utcoffset()) == (NOON, timedelta(0))


def test_a_time_without_a_zone_is_refused(typed: Database) -> None:
    """Nobody could say which moment it means."""
    with pytest.raises(StatementError, match="has no time zone"), typed.write() as db:
        db.execute(insert(TABLE), {"at": NOON.replace(tzinfo=None)})


@pytest.mark.parametrize(
    ("amount", "stored"),
    [
        ("19.9", "19.90"),
        ("0.00005", "0.00"),
        ("0.00015", "0.0002"),
        ("499999999999.9999", "499999999999.9999"),
        ("12345678901234.5678", "12345678901234.5678"),
        ("99999999999999.9999", "99999999999999.9999"),
    ],
)
def test_amounts_are_exact_to_four_places(typed: Database, amount: str, stored: str) -> None:
    """Whatever the database can count with."""
    with typed.write() as db:
        db.execute(insert(TABLE), {"amount": Decimal(amount)})
    with typed.read() as db:
        assert str(db.execute(select(TABLE.c.amount)).scalar_one()) == stored


def test_amounts_are_compared_as_amounts(typed: Database) -> None:
    """Nine is less than ten."""
    with typed.write() as db:
        db.execute(insert(TABLE), [{"amount": Decimal(9)}, {"amount": Decimal(10)}])
    with typed.read() as db:
        found = db.execute(select(TABLE.c.amount).where(TABLE.c.amount < Decimal("9.5"))).scalars().all()
    assert found == [Decimal(9)]
