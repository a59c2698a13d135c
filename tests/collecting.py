"""Tests are found in less time: no test process does what another does beside it, and garbage is looked for later.

Every process imports every module of tests. One that was changed is compiled, with its assertions rewritten,
by whoever comes first; so each begins elsewhere, and finds the others' work where they began.
"""

from __future__ import annotations

import gc
import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

TESTS = Path(__file__).parent


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """What is there once all tests are found stays: no later look for garbage goes through it."""
    gc.disable()
    try:
        if [Path(each).resolve() for each in session.config.args] == [TESTS]:  # and not a few
            _import_in_turn(sorted(TESTS.rglob("test_*.py")))
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def _import_in_turn(modules: Sequence[Path]) -> None:
    for path in in_turn(modules, _place(), _processes()):
        name = ".".join(path.relative_to(TESTS.parent).with_suffix("").parts)
        try:
            import_module(name)
        except (Exception, pytest.skip.Exception):  # ruff: ignore[blind-except] - told when it is collected
            continue


def in_turn(modules: Sequence[Path], place: int, processes: int) -> list[Path]:
    """All of them, from the part of the process that has this place."""
    first = len(modules) * place // processes
    return [*modules[first:], *modules[:first]]


def _place() -> int:
    return int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))


def _processes() -> int:
    return int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
