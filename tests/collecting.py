"""Tests are found in less time, and dealt so that those that wait lie beside those that compute.

Every test process imports every module of tests. One that was changed is compiled, with its assertions
rewritten, by whoever comes first; so each begins elsewhere, and finds the others' work where they began.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Sized
from contextlib import suppress
from importlib import import_module
from itertools import groupby, starmap
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

T = TypeVar("T", bound=Sized)

TESTS = Path(__file__).parent
SELDOM = (10_000, 20, 20)  # objects, and looks among the young, before the next look for garbage
WAITING = (TESTS / "e2e", TESTS / "integration")  # for servers, sites and clocks, most of their time


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """What is there once all tests are found stays: no later look for garbage goes through it.

    Nor does one come as often as usual: a fifth of the CPU time of all units went there.
    """
    gc.disable()
    try:
        if _is_all(session.config):
            _import_in_turn(sorted(TESTS.rglob("test_*.py")))
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        gc.set_threshold(*SELDOM)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Each process has modules that wait between others, none at its end: no single test is the last minute.

    Soak tests have an order of their own (`tests.bounds`).
    """
    is_soak = all(item.get_closest_marker("soak") for item in items)
    if _processes() > 1 and _is_all(config) and not is_soak:
        modules = [list(tests) for _, tests in groupby(items, lambda item: item.path)]
        items[:] = [item for module in dealt(modules, _waits, _processes()) for item in module]


def dealt(modules: Sequence[T], waits: Callable[[T], bool], processes: int) -> list[T]:
    """The modules in pieces of as many tests, of which pytest-xdist gives one to each process.

    Those that wait lie in the first three quarters of each, evenly.
    """
    waiting = _evenly([each for each in modules if waits(each)], processes)
    others = _evenly([each for each in modules if not waits(each)], processes)
    pieces = list(starmap(_between, zip(waiting, others, strict=True)))
    return [module for piece in pieces for module in piece]


def _evenly(modules: Sequence[T], processes: int) -> list[list[T]]:
    """Each to whoever has the fewest tests so far."""
    hands: list[list[T]] = [[] for _ in range(processes)]
    for module in modules:
        min(hands, key=lambda hand: sum(map(len, hand))).append(module)
    return hands


def _between(waiting: list[T], others: list[T]) -> list[T]:
    step = 3 * len(others) // (4 * len(waiting)) if waiting else 0
    mixed = [[each, *others[place * step : (place + 1) * step]] for place, each in enumerate(waiting)]
    return [module for part in mixed for module in part] + others[len(waiting) * step :]


def _waits(module: list[pytest.Item]) -> bool:
    return any(module[0].path.is_relative_to(folder) for folder in WAITING)


def _is_all(config: pytest.Config) -> bool:
    return [Path(each).resolve() for each in config.args] == [TESTS]


def _import_in_turn(modules: Sequence[Path]) -> None:
    for path in in_turn(modules, _place(), _processes()):
        name = ".".join(path.relative_to(TESTS.parent).with_suffix("").parts)
        with suppress(Exception, pytest.skip.Exception):  # which is told when it is collected
            import_module(name)


def in_turn(modules: Sequence[Path], place: int, processes: int) -> list[Path]:
    """All of them, from the part of the process that has this place."""
    first = len(modules) * place // processes
    return [*modules[first:], *modules[:first]]


def _place() -> int:
    return int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))


def _processes() -> int:
    return int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
