"""Cleaners that are killed, again and again, over thousands of files."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from crawler.clock import utc_now
from crawler.db.models import Artifact
from crawler.evidence.blobs import MARK
from crawler.retention.cleanup import CleanupOrder, clean_up
from tests.unit.retention.stored import Evidence, row

if TYPE_CHECKING:
    from collections.abc import Generator

FILES = 6_000
KILLS = 10  # of cleaners that take 500 files each


@pytest.fixture
def cleaners(evidence: Evidence, database_url: str) -> Generator[subprocess.Popen[str]]:
    """A process that forks cleaners."""
    command = [sys.executable, "-m", "tests.integration.retention.cleaners", database_url, str(evidence.root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        assert process.stdin
        process.stdin.close()


def fill(evidence: Evidence) -> None:
    """Expired pages of many sessions."""
    names = [f"shop.example__{number // 40:04d}/pages/{number}.html.gz" for number in range(FILES)]
    for name in names:
        evidence.write(name)
    evidence.add_rows(row(evidence.session_id, name, utc_now() - timedelta(days=1)) for name in names)


def start(cleaners: subprocess.Popen[str]) -> int:
    """The process id of a new cleaner."""
    assert cleaners.stdin
    assert cleaners.stdout
    cleaners.stdin.write("\n")
    cleaners.stdin.flush()
    return int(cleaners.stdout.readline())


def kill(pid: int) -> None:
    """Kill -9, and wait until it is gone."""
    try:
        os.kill(pid, signal.SIGKILL)
        while True:
            time.sleep(0.001)
            os.kill(pid, 0)
    except ProcessLookupError:
        return


def uris(evidence: Evidence, *, deleted: bool) -> set[str]:
    """The files of the rows that are marked, or of those that are not."""
    which = Artifact.deleted_at.is_not(None) if deleted else Artifact.deleted_at.is_(None)
    with evidence.database.read() as db:
        return set(db.scalars(select(Artifact.storage_uri).where(which)))


@pytest.mark.soak(minutes=10)
def test_killed_cleaners_leave_nothing_that_does_not_heal(
    evidence: Evidence, cleaners: subprocess.Popen[str]
) -> None:
    """Never a marked row with its file left; after one more pass, never a live row without its file."""
    chance = random.Random(20)
    fill(evidence)
    for _ in range(KILLS // 2):
        for pid in (start(cleaners), start(cleaners)):
            time.sleep(chance.uniform(0.0, 0.06))
            kill(pid)
            assert not uris(evidence, deleted=True) & evidence.files()
    left = len(uris(evidence, deleted=False))
    # The dead are known to be dead, so nobody waits for their leases.
    result = clean_up(evidence.database, evidence.blobs, CleanupOrder(batch_size=FILES))
    assert (result.candidates, result.deleted, result.failed, result.remaining) == (left, left, 0, 0)
    assert evidence.files() == set()
    assert [path.name for path in evidence.root.iterdir() if path.name != MARK] == []
