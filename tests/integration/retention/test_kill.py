"""Cleaners that are killed, again and again, over thousands of files."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from crawler.clock import utc_now
from crawler.db.models import Artifact
from tests.unit.retention.stored import Evidence, row

if TYPE_CHECKING:
    from collections.abc import Mapping

FILES = 6_000
KILLS = 10
CLEANUP = [
    sys.executable,
    str(Path(__file__).parents[3] / "scripts" / "cleanup.py"),
    "--batch-size",
    str(FILES),
]


def fill(evidence: Evidence) -> None:
    """Expired pages of many sessions."""
    names = [f"shop.example__{number // 40:04d}/pages/{number}.html.gz" for number in range(FILES)]
    for name in names:
        evidence.write(name)
    evidence.add_rows(row(evidence.session_id, name, utc_now() - timedelta(days=1)) for name in names)


def marked(evidence: Evidence) -> set[str]:
    """The files of the rows that are marked as deleted."""
    with evidence.database.read() as db:
        return set(db.scalars(select(Artifact.storage_uri).where(Artifact.deleted_at.is_not(None))))


def kill_some(evidence: Evidence, environment: Mapping[str, str]) -> int:
    """Kill cleaners at any moment; how many of them had removed something, and not yet all."""
    chance, at_work = random.Random(20), 0
    for _ in range(KILLS):
        before = len(evidence.files())
        with subprocess.Popen(
            CLEANUP, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as one:
            while len(evidence.files()) == before and one.poll() is None:
                time.sleep(0.01)
            time.sleep(chance.uniform(0.0, 0.05))
            one.kill()
            one.communicate()
        at_work += bool(evidence.files())
        assert not marked(evidence) & evidence.files()
    return at_work


@pytest.mark.soak(minutes=10)
def test_killed_cleaners_leave_nothing_that_does_not_heal(evidence: Evidence, database_url: str) -> None:
    """Never a marked row with its file left; after one more pass, never a live row without its file."""
    fill(evidence)
    environment = {**os.environ, "DATABASE_URL": database_url, "ARTIFACTS_DIR": str(evidence.root)}
    assert kill_some(evidence, environment) > 1
    # The dead are known to be dead, so nobody waits for their leases.
    done = subprocess.run(CLEANUP, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(marked(evidence)) == FILES
    assert evidence.files() == set()
