"""A browser that has rendered enough is replaced when nobody is in it."""

from __future__ import annotations

from typing import Any

from crawler.rendering.lifetime import Lifetime
from tests.unit.components import awaited


class Ended:
    """Counts how often a browser is let go."""

    def __init__(self) -> None:
        self.times = 0

    async def let_go(self) -> None:
        """Once more."""
        self.times += 1


def test_it_ends_after_its_pages_and_not_before() -> None:
    """The next one begins to count anew."""
    lifetime, ended = Lifetime(2), Ended()
    awaited(lifetime.end(ended.let_go))
    assert ended.times == 0
    lifetime.pages = 2
    awaited(lifetime.end(ended.let_go))
    assert (ended.times, lifetime.pages) == (1, 0)


def test_a_further_session_waits_until_an_old_browser_is_empty(monkeypatch: Any) -> None:
    """Or until it is not wanted any more itself; a young browser takes everybody."""
    monkeypatch.setattr("crawler.rendering.lifetime.LOOK_SECONDS", 0)
    looks = 0

    def is_used() -> bool:
        nonlocal looks
        looks += 1
        return looks < 5

    awaited(Lifetime(2, pages=1).admit(is_used, lambda: True))
    assert looks == 0
    awaited(Lifetime(2, pages=2).admit(is_used, lambda: True))
    assert looks == 5
    awaited(Lifetime(2, pages=2).admit(lambda: True, lambda: False))
