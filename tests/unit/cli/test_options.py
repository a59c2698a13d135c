"""What is named on the command line, and by whom."""

from __future__ import annotations

import getpass
from typing import TYPE_CHECKING

import pytest
from typer.main import get_command

from crawler.cli.app import complete_app
from crawler.cli.options import _known_cause, person, target_of, wanted_of
from crawler.errors import BadUrlError, UsageError
from crawler.retention.holds import Target
from crawler.views.paging import MANY
from tests.unit.views.rows import a_listing, a_session

if TYPE_CHECKING:
    from collections.abc import Iterator

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


# A list of what is so now: there is nothing to be cut by days.
WITHOUT_DAYS = WITHOUT_DOMAIN = {"domains list"}


def lists() -> Iterator[tuple[str, set[str]]]:
    """Each command that lists, and the options that it takes."""
    for name, group in get_command(complete_app()).commands.items():  # type: ignore[attr-defined]
        for each, command in getattr(group, "commands", {}).items():
            if each in {"list", "holds"}:
                yield f"{name} {each}", {option for one in command.params for option in one.opts}


def test_every_list_takes_the_same_options() -> None:
    """For machines by line, cut by domain and days, page by page, and a code where nothing matches."""
    found = dict(lists())
    assert len(found) >= 15
    for name, options in found.items():
        assert options >= {"--json", "--jsonl", "--fail-empty", "--after", "--limit"}, name
        assert options >= {"--since", "--until"} or name in WITHOUT_DAYS, name
        assert "--domain" in options or name in WITHOUT_DOMAIN, name


@pytest.mark.parametrize(("since", "until"), [("2026-05-02", "2026-05-01"), ("2026-05-01", "2026-05-01")])
def test_days_between_which_nothing_lies_are_refused(since: str, until: str) -> None:
    """Instead of an empty list."""
    with pytest.raises(UsageError, match=f"--since {since} is not before --until {until}"):
        wanted_of(since=since, until=until)
    assert wanted_of(since="2026-05-01", until="2026-05-02").limit == MANY


def test_a_cause_that_there_is_not_names_the_one_that_is_like_it() -> None:
    """Rather than all of them."""
    assert _known_cause("robots_refused") == "robots_refused"
    with pytest.raises(UsageError, match="'robot_refused' is unknown") as told:
        _known_cause("robot_refused")
    assert told.value.hint == "--cause robots_refused is one"
