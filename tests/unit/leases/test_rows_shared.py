"""Several processes lease from one queue: nothing goes out twice, and nobody goes without."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.unit.runs.queues import a_run, page, rows_of

if TYPE_CHECKING:
    from crawler.db.engine import Database

LESSEES = 4  # of those that have to share
FAIR_PART = 0.1  # of an equal share; the least that a lessee must get
PLENTY = 20_000
TRIES = 3


def leased_by_processes(
    url: str, run_id: int, *, seconds: float, batch: int, count: int
) -> list[list[tuple[int, int]]]:
    """The rights that each of the processes was given."""
    command = [sys.executable, "-m", "tests.unit.runs.lessee", url, str(run_id)]
    lessees = [
        subprocess.Popen(
            [*command, f"lessee-{number}", str(seconds), str(batch)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for number in range(count)
    ]  # fmt: skip
    for lessee in lessees:
        assert lessee.stdout
        assert lessee.stdout.readline() == "ready\n"
    for lessee in lessees:
        assert lessee.stdin
        lessee.stdin.write("go\n")
        lessee.stdin.flush()
    printed = [lessee.communicate(timeout=seconds + 60)[0] for lessee in lessees]
    assert [lessee.returncode for lessee in lessees] == [0] * count
    return [[(number, epoch) for number, epoch in json.loads(rights)] for rights in printed]


@pytest.mark.soak(minutes=1)
def test_each_lessee_gets_its_share(database: Database, database_url: str) -> None:
    """Of four, for two seconds, none starves; SQLite's own waiting serves one of them only, each time.

    One that the machine let wait for most of that time says nothing of the queue: then it is tried again.
    """
    run_id = a_run(database, *map(page, range(PLENTY)))
    tries: list[list[int]] = []
    while len(tries) < TRIES and not any(map(is_fair, tries)):
        given = leased_by_processes(database_url, run_id, seconds=2, batch=1, count=LESSEES)
        tries.append([len(rights) for rights in given])
    assert sum(map(sum, tries)) < PLENTY, "the queue ran dry, so the shares say nothing"
    assert is_fair(tries[-1]), tries


def is_fair(shares: list[int]) -> bool:
    """Whether each has something near an equal share."""
    return min(shares) >= FAIR_PART * sum(shares) / LESSEES


def test_no_task_is_handed_out_twice(database: Database, database_url: str) -> None:
    """Two empty a queue, and each task was leased once and finished once."""
    tasks = 600
    run_id = a_run(database, *map(page, range(tasks)))
    given = leased_by_processes(database_url, run_id, seconds=300, batch=7, count=2)
    assert Counter(number for rights in given for number, _ in rights).most_common(1)[0][1] == 1
    rows = rows_of(database, run_id)
    assert {(row.status, row.attempts, row.lease_epoch) for row in rows} == {("finished", 1, 1)}
    assert sum(map(len, given)) == len(rows) == tasks
