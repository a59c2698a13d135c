"""`vitrine artifacts` where there is nothing: a list, a check, and an id that is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.unit.cli.conftest import Vitrine


def test_of_nothing_everything_is_intact(vitrine: Vitrine, made: None) -> None:
    """And the list says what would bring something."""
    done = vitrine("artifacts", "verify", "--json")
    assert (done.code, done.document["checked"], done.document["failed"]) == (0, 0, [])
    assert vitrine("artifacts", "list", "--json").document["artifacts"] == []
    assert "vitrine crawl pdp" in vitrine("artifacts", "list").err


def test_a_store_is_adopted(vitrine: Vitrine, made: None) -> None:
    """Each time it gets a new mark, so that no other database goes on with it."""
    first, second = vitrine("artifacts", "adopt"), vitrine("artifacts", "adopt")
    assert (first.code, second.code, first.out == second.out) == (0, 0, False)
    assert vitrine("cleanup", "--dry-run").code == 0
