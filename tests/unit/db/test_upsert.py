"""INSERT … ON CONFLICT on both databases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from crawler.db.models import DomainGate
from crawler.db.upsert import for_both, insert_into

if TYPE_CHECKING:
    from crawler.db.engine import Database

TAKE = for_both(
    DomainGate,
    lambda adding: adding.on_conflict_do_update(
        index_elements=[DomainGate.domain], set_={"token": adding.excluded.token}
    ).returning(DomainGate.token),
)


def test_what_is_there_stays_where_nothing_is_to_be_done(database: Database) -> None:
    """The second insert is none."""
    with database.write() as db:
        for token in ("one", "two"):
            added = insert_into(db, DomainGate).values(domain="a.example", token=token)
            db.execute(added.on_conflict_do_nothing())
        assert db.scalars(select(DomainGate.token)).all() == ["one"]


def test_a_statement_is_built_once_for_both(database: Database) -> None:
    """And says what the row is like afterwards."""
    with database.write() as db:
        statement = TAKE[db.connection().dialect.name]
        for token in ("one", "two"):
            assert db.execute(statement, {"domain": "a.example", "token": token}).scalar_one() == token
