"""What is named on the command line, and by whom."""

from __future__ import annotations

import getpass
from typing import TYPE_CHECKING

import pytest

from crawler.cli.options import person, target_of
from crawler.errors import BadUrlError, UsageError
from crawler.retention.holds import Target
from tests.unit.views.rows import a_listing, a_session

if TYPE_CHECKING:
    from crawler.db.engine import Database


def test_a_target_is_named_in_one_way(database: Database) -> None:
    """A session and a product by how their ids begin, a domain as anybody writes it."""
    session, listing = a_session(), a_listing()
    with database.write() as db:
        db.add_all([session, listing])
    with database.read() as db:
        assert target_of(db, session=session.id.hex[:12]) == Target(session_id=session.id)
        assert target_of(db, listing=listing.id.hex[:12]) == Target(listing_id=listing.id)
        assert target_of(db, domain="www.Shop.example") == Target(domain="shop.example")
        with pytest.raises(BadUrlError):
            target_of(db, domain="")


@pytest.mark.parametrize("given", [{}, {"session": "a", "domain": "shop.example"}])
def test_none_or_several_targets_are_wrong_usage(database: Database, given: dict[str, str]) -> None:
    """Nothing is guessed."""
    with database.read() as db, pytest.raises(UsageError, match="name one target"):
        target_of(db, **given)


@pytest.mark.parametrize("error", [KeyError("uid"), OSError("no user")])
def test_who_has_no_name_is_unknown(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """As in a container without a list of users."""

    def nobody() -> str:
        raise error

    monkeypatch.setattr(getpass, "getuser", nobody)
    assert person() == "unknown"
