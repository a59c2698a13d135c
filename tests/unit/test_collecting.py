"""Tests are found in less time, and none is lost by it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.collecting import dealt, in_turn

MODULES = [Path(f"test_{number}.py") for number in range(10)]


@pytest.mark.parametrize("processes", [1, 2, 4, 16])
def test_each_process_reads_all_and_begins_elsewhere(processes: int) -> None:
    """So that what one compiles is there when the next one comes to it."""
    turns = [in_turn(MODULES, place, processes) for place in range(processes)]
    assert all(sorted(turn) == MODULES for turn in turns)
    assert turns[0] == MODULES
    assert len({turn[0] for turn in turns}) == min(processes, len(MODULES))


def test_whoever_waits_is_dealt_evenly_and_is_not_the_last() -> None:
    """Each process gets as many tests that wait, with others between and behind them."""
    waiting = [["waits", str(number)] for number in range(8)]
    others = [["computes", str(number)] for number in range(40)]
    found = dealt([*waiting, *others], lambda module: module[0] == "waits", 4)
    pieces = [found[first : first + 12] for first in range(0, 48, 12)]
    for piece in pieces:
        assert [module[0][0] for module in piece] == list("wcccwccccccc")


@pytest.mark.parametrize(("waiting", "others"), [(0, 3), (3, 0), (5, 1), (1, 9)])
def test_none_is_lost(waiting: int, others: int) -> None:
    """However few there are of a kind."""
    modules = [["waits", str(number)] for number in range(waiting)]
    modules += [["computes", str(number)] for number in range(others)]
    assert sorted(dealt(modules, lambda module: module[0] == "waits", 4)) == sorted(modules)
