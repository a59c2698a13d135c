"""When a page is ready, and how it is scrolled through; no test waits for any of it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest
from attrs import define, field

from crawler.rendering.waiting import Limits, Look, Place, Scroll, scroll_through, until_quiet
from tests.unit.components import awaited

if TYPE_CHECKING:
    from collections.abc import Callable

LOADED = partial(Look, True)  # ruff: ignore[boolean-positional-value-in-call] - so that a film is a line
READY = Limits(idle=0.8, stable=1.0, least=2.0, most=15.0)


@define
class Film:
    """A page whose looks are told by the time; a clock that stands but for sleep."""

    scene: Callable[[float], Look]
    time: float = 0.0

    def now(self) -> float:
        """Seconds since it began."""
        return self.time

    async def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.time += seconds

    async def look(self) -> Look:
        """What the page is like now."""
        return self.scene(self.time)


def waited(scene: Callable[[float], Look], limits: Limits = READY) -> tuple[float, tuple[str, ...]]:
    """For how long, and what was still missing."""
    film = Film(scene)
    missing = awaited(until_quiet(film.look, limits, film))
    return round(film.time, 1), missing


@pytest.mark.parametrize(
    ("scene", "expected"),
    [
        pytest.param(lambda _: Look(is_loaded=True), (2.0, ()), id="quiet from the start"),
        pytest.param(lambda now: Look(is_loaded=now >= 3), (5.0, ()), id="loaded late"),
        pytest.param(lambda now: LOADED(int(now < 4)), (4.7, ()), id="requests until four"),
        pytest.param(lambda now: LOADED(0, int(now < 4 and now * 10)), (4.8, ()), id="short requests"),
        pytest.param(lambda now: LOADED(shape=(int(min(now, 5) * 2),)), (6.0, ()), id="grows until five"),
        pytest.param(lambda _: LOADED(1), (15.0, ("network",)), id="never idle"),
        pytest.param(lambda now: LOADED(shape=(int(now * 10),)), (15.0, ("dom",)), id="never still"),
        pytest.param(lambda _: Look(), (15.0, ("load",)), id="never loaded"),
    ],
)
def test_a_page_is_ready_once_it_is_quiet_or_has_had_its_time(
    scene: Callable[[float], Look], expected: tuple[float, tuple[str, ...]]
) -> None:
    """Loaded, idle and still, each for so long; the cap ends every wait and says what was missing."""
    time, missing = waited(scene)
    assert missing == expected[1]
    assert time == pytest.approx(expected[0], abs=0.25)


@define
class Window(Film):
    """A window over a page of some height, which may grow when its bottom is seen."""

    scene: Callable[[float], Look] = field(default=lambda _: Look(is_loaded=True))
    height: int = 1000
    grows: int = 0  # times
    at: int = 0
    tops: list[int] = field(factory=list)

    async def down(self, share: float) -> Place:
        """Move by a share of a hundred pixels."""
        if share == 0 and self.grows:
            self.grows -= 1
            self.height += 300
        self.at = min(self.at + int(share * 100), self.height - 100)
        self.tops.append(self.at)
        return Place(self.at + 100, self.height)

    async def top(self) -> None:
        """Go back."""
        self.at = 0


HOW = Scroll(steps=20, wait_ms=2000, bottom_ms=2000)


def scrolled(window: Window, how: Scroll = HOW) -> int:
    """How many steps it took."""
    return awaited(scroll_through(window, how, window))
