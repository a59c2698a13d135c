"""Workers, tools and their database are killed at random, and no job is lost, doubled or lied about.

What ran is told by the stub's own log of starts and ends.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from attrs import define, field

from crawler.db import revisions
from crawler.db.engine import Database
from crawler.views.jobs import newest
from tests.e2e.conftest import ROOT, Home
from tests.processes import below
from tests.servers import own_postgresql
from tests.unit.engines.test_process import alive
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from crawler.views.jobs import JobDocument
    from tests.servers import Server

pytestmark = pytest.mark.soak
STUB = ROOT / "tests" / "stubs" / "archive_tool.py"
SOURCE = '[sources.shop]\nstart_urls = ["https://shop.example/"]\n'
GONE_SECONDS = 15


@define
class Yard:
    """Workers at work in a home, and how to kill what works."""

    home: Home
    log: Path
    dice: random.Random
    workers: list[subprocess.Popen[bytes]] = field(factory=list)
    left: list[tuple[float, list[int]]] = field(factory=list)  # what a killed worker had below it, and when
    server: Server | None = None  # where it is ours to kill

    def hire(self) -> None:
        """One more worker."""
        command = [sys.executable, "-m", "crawler.cli", "worker", "--poll-interval", "0.1"]
        with (self.log.parent / "workers.log").open("a", encoding="utf-8") as said:
            self.workers.append(
                subprocess.Popen(
                    command, env=self.home.environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said
                )
            )

    def kill_worker(self) -> None:
        """One of them, as if its power were cut; another takes its place."""
        worker = self.dice.choice(self.workers)
        self.workers.remove(worker)
        engines = below(worker.pid)
        worker.kill()
        worker.wait()
        self.left.append((time.monotonic(), engines))
        self.hire()

    def kill_tool(self) -> None:
        """One of the tools that run, whoever guards it."""
        running = [note["pid"] for note in self.notes() if note["word"] == "start" and alive(note["pid"])]
        if running:
            os.kill(self.dice.choice(running), signal.SIGKILL)

    def stop_worker(self) -> None:
        """One is told to stop, and comes back."""
        worker = self.dice.choice(self.workers)
        self.workers.remove(worker)
        worker.send_signal(signal.SIGTERM)
        worker.wait(120)
        self.hire()

    def kill_database(self) -> None:
        """As if its power were cut; it is back after a while."""
        assert self.server is not None
        self.server.kill()
        time.sleep(self.dice.uniform(0, 3))
        self.server.start()

    def notes(self) -> list[dict[str, Any]]:
        """What the stub did."""
        lines = self.log.read_text("utf-8").splitlines() if self.log.exists() else []
        return [json.loads(line) for line in lines]

    def jobs(self) -> list[JobDocument]:
        """All of them, as they are shown; read here, so that looking costs the workers little."""
        database = self.home.database()
        try:
            with database.read() as db:
                return newest(db, db.now)
        finally:
            database.close()


@pytest.fixture
def yard(tmp_path: Path, database_url: str) -> Generator[Yard]:
    """A home on either database, with the stub as its tool."""
    yield from yard_in(tmp_path, database_url)


@pytest.fixture
def yard_of_its_own(tmp_path: Path) -> Generator[Yard]:
    """The same on a PostgreSQL that may be killed."""
    with own_postgresql(synchronous_commit="on", fsync="on", full_page_writes="on") as server:
        database = Database(server.url)
        revisions.upgrade(database)
        database.close()
        for yard in yard_in(tmp_path, server.url):
            yard.server = server
            yield yard


def yard_in(tmp_path: Path, database_url: str) -> Generator[Yard]:
    """A yard in a folder, which is empty again afterwards."""
    (tmp_path / "sources.toml").write_text(SOURCE, encoding="utf-8")
    extra = {
        "SOURCES_FILE": str(tmp_path / "sources.toml"), "DATABASE_URL": database_url,
        "JOB_DISK_LIMIT_PERCENT": "100",
        "STUB_LOG": str(tmp_path / "stub.log"), "STUB_PLAN": '["slow:0.4"]',
        "TOOL_CMD": f"'{sys.executable}' '{STUB}'",
    }  # fmt: skip
    home = Home(tmp_path / "home", extra)
    assert home.vitrine("sources", "seed").returncode == 0
    yard = Yard(home, tmp_path / "stub.log", random.Random(7))
    yield yard
    for worker in yard.workers:
        worker.kill()
        worker.wait()
    wait_for(lambda: not any(alive(note["pid"]) for note in yard.notes()), 60)


def overlapping(notes: list[dict[str, Any]]) -> list[str]:
    """Jobs that two tools wrote to at once, by what the tools noted; one that was killed ended unnoted."""
    at_it: dict[str, int] = {}
    twice = []
    for note in notes:
        if note["word"] == "end":
            at_it.pop(note["job"], None)
        elif note["job"] in at_it and alive(at_it[note["job"]]):
            twice.append(note["job"])
            at_it[note["job"]] = note["pid"]
        else:
            at_it[note["job"]] = note["pid"]
    return twice


def torment(yard: Yard, *, jobs: int, workers: int, kills: int) -> None:
    """Order jobs, and kill until there were so many kills; then let them come to their ends."""
    for _ in range(jobs):
        assert yard.home.vitrine("jobs", "create", "--source", "shop").returncode == 0
    for _ in range(workers):
        yard.hire()
    ways = [yard.kill_worker, yard.kill_worker, yard.kill_tool, yard.stop_worker]
    ways += [yard.kill_database] if yard.server else []
    for _ in range(kills):
        time.sleep(yard.dice.uniform(0.1, 1.0))
        yard.dice.choice(ways)()
        for since, engines in yard.left:
            if time.monotonic() - since > GONE_SECONDS:
                assert not [pid for pid in engines if alive(pid)]
    wait_for(lambda: {job.status for job in yard.jobs()} <= {"indexed", "index_failed", "failed"}, 600)


def check(yard: Yard, jobs: int) -> None:
    """None is lost, none was worked on twice at once, each count is what its history says."""
    found, notes = yard.jobs(), yard.notes()
    assert len(found) == jobs
    assert overlapping(notes) == []
    for job in found:
        history = job.steps[0].history
        outcomes = [one["outcome"] for one in history]
        failed = outcomes.count("failed")
        assert job.retry_count == min(failed, 2), history
        assert (job.status == "failed") == (failed > 2), history
        assert (job.status != "failed") == (outcomes[-1] == "success"), history
        assert set(outcomes) <= {"success", "failed", "worker_died", "interrupted"}


@pytest.mark.soak(minutes=40)
def test_sixty_kills(yard: Yard) -> None:
    """Four workers, twenty jobs."""
    torment(yard, jobs=20, workers=4, kills=60)
    check(yard, 20)


@pytest.mark.soak(minutes=40)
def test_sixty_kills_and_the_database_among_them(yard_of_its_own: Yard) -> None:
    """A worker whose database is away for a moment loses neither its engine nor what came of it."""
    torment(yard_of_its_own, jobs=20, workers=4, kills=60)
    check(yard_of_its_own, 20)
