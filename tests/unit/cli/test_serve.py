"""`vitrine serve`: what is refused before a port is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.unit.cli.conftest import Vitrine


def test_the_command_refuses_before_it_opens_anything(vitrine: Vitrine) -> None:
    """Exit 2, one line and a hint."""
    done = vitrine("serve", "--host", "0.0.0.0", "--port", "0")  # ruff: ignore[hardcoded-bind-all-interfaces] - refused
    assert done.code == 2
    assert done.err.startswith("error[public_bind]:")
    assert not done.out
