"""Tests are found in less time, and none is lost by it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.collecting import in_turn

MODULES = [Path(f"test_{number}.py") for number in range(10)]


@pytest.mark.parametrize("processes", [1, 2, 4, 16])
def test_each_process_reads_all_and_begins_elsewhere(processes: int) -> None:
    """So that what one compiles is there when the next one comes to it."""
    turns = [in_turn(MODULES, place, processes) for place in range(processes)]
    assert all(sorted(turn) == MODULES for turn in turns)
    assert turns[0] == MODULES
    assert len({turn[0] for turn in turns}) == min(processes, len(MODULES))
