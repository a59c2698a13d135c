"""Index steps are killed at random, with all that they started, and nothing tells that they were."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from sqlalchemy import select

from crawler.db import revisions
from crawler.db.engine import Database
from crawler.db.models import JobStep
from tests.e2e.conftest import ROOT, Home
from tests.unit.archive.stored import crawled_job
from tests.unit.archive.warcs import Page, write_warc
from tests.unit.jobs.test_index_faults import differing, state, undisturbed

pytestmark = [
    pytest.mark.soak,
    # warcio leaves its temporary files to whoever comes along.
    pytest.mark.filterwarnings(
        "ignore:.*SpooledTemporaryFile:pytest.PytestUnraisableExceptionWarning",
        "ignore:Unclosed:ResourceWarning",
    ),
]
KILLS, PAGES = 40, 1_500
WORDS = ("leather", "rubber", "canvas", "token", "shoe", "boot")
URL = "https://shop.example"


def page(number: int) -> str:
    """A page that leads to some others, with words of its own."""
    chance = random.Random(number)
    links = " ".join(f"<a href=/p/{chance.randrange(PAGES)}>x</a>" for _ in range(40))
    words = " ".join(f"{chance.choice(WORDS)}{chance.randrange(900)}" for _ in range(400))
    return f"<html lang=en><title>Shoe {number}</title><main><h1>Shoe</h1><p>{words} leather {links}</main>"


def test_index_steps_that_are_killed(database_url: str, tmp_path: Path) -> None:
    """Forty times at any moment, the readers with them; the last pass says what an undisturbed one says."""
    dice = random.Random(5)
    folder = tmp_path / "job"
    write_warc(folder / "warcs" / "a.warc.gz", [Page(f"{URL}/p/{n}", page(n)) for n in range(PAGES)])
    home = Home(tmp_path / "home", {"DATABASE_URL": database_url})
    database = Database(database_url)
    revisions.upgrade(database)
    job_id = crawled_job(database, folder).job_id
    command = [sys.executable, "-m", "crawler.cli", "jobs", "index", str(job_id)]
    with ExitStack() as stack:
        for number in range(KILLS):
            # Reads all pages again, for else the first passes would leave nothing to be killed at.
            more = ["--force"] if number % 2 else []
            process = stack.enter_context(
                subprocess.Popen(
                    [*command, *more], cwd=ROOT, env=home.environment, stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                )
            )  # fmt: skip
            wait_until_indexing(database, process)
            time.sleep(dice.random())
            with suppress(ProcessLookupError):  # it was done
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    for more in (["--force"], []):
        done = subprocess.run(
            [*command, *more], cwd=ROOT, env=home.environment, capture_output=True, text=True, check=False,
            timeout=600,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    file = Path("warcs/a.warc.gz")
    expected = undisturbed(tmp_path / "undisturbed", [(folder / file).read_bytes()], file)
    assert differing(state(database), expected) == {}
    database.close()


def wait_until_indexing(database: Database, process: subprocess.Popen[bytes]) -> None:
    """Until its step is under way, or it has ended before anybody could see that."""
    owner = select(JobStep.process).where(JobStep.kind == "index", JobStep.status == "in_progress")
    while process.poll() is None:
        with database.read() as db:
            if f"|{process.pid}|" in (db.scalar(owner) or ""):
                return
        time.sleep(0.02)
