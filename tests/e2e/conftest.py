"""Runs commands in a home of their own, against the demo's shops."""

from __future__ import annotations

import io
import json
import logging
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
from attrs import field, frozen
from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError

from crawler.cli.app import run
from crawler.config import Settings
from crawler.db.engine import Database
from crawler.db.models import CrawlSession
from crawler.demo import NETWORK, DemoServer, serve
from crawler.errors import CrawlerError
from crawler.evidence.blobs import MARK

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

ROOT = Path(__file__).parents[2]
# No test waits for politeness that it is not about.
# What is waited for on a page, at a tenth.
QUICK_RENDERING = {
    "RENDER_IDLE_MS": "150", "RENDER_STABLE_MS": "200", "RENDER_MIN_MS": "500", "RENDER_READY_MAX_MS": "1500",
    "RENDER_SCROLL_WAIT_MS": "250", "RENDER_BOTTOM_MS": "200", "RENDER_SETTLE_MS": "500",
    "RENDER_POPUP_SETTLE_MS": "100", "RENDER_SCROLL_STEPS": "2",
}  # fmt: skip
# Commands that start processes, or react to signals.
IN_A_PROCESS = {
    ("crawl",), ("demo",), ("worker",), ("serve",), ("runs", "resume"), ("sessions", "retry"),
    ("prices", "refresh"), ("hauls", "create"), ("jobs", "crawl"), ("jobs", "run"), ("jobs", "index"),
}  # fmt: skip
QUICK = {"DOMAIN_MIN_DELAY_MS": "50", "DOMAIN_LOCK_BACKOFF_BASE_MS": "50", "DOMAIN_LOCK_TTL_SECONDS": "6"}


@frozen
class Home:
    """A folder with everything that Vitrine keeps, and the commands at work in it."""

    path: Path
    extra: dict[str, str] = field(factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """Ours, without any setting that could lead out of the folder."""
        ours = {name.upper() for name in Settings.model_fields}
        inherited = {name: value for name, value in os.environ.items() if name not in ours}
        return {**inherited, **QUICK, "VITRINE_HOME": str(self.path), "EGRESS_ALLOW": NETWORK, **self.extra}

    def vitrine(self, *arguments: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        """Run `vitrine` to its end: in this process, unless the command needs one of its own.

        Starting Python and loading the libraries would take longer than most commands do.
        """
        if not needs_a_process(arguments):
            return in_this_process(arguments, self.environment)
        return self._run([sys.executable, "-m", "crawler.cli", *arguments], timeout)

    def python(self, *arguments: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        """Run a program of the project's to its end."""
        return self._run([sys.executable, *arguments], timeout)

    def scrapy(self, *arguments: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        """Run `scrapy` to its end."""
        return self._run([sys.executable, "-m", "scrapy", *arguments], timeout)

    def crawl(self, *arguments: str, delay: float = 0, timeout: float = 120) -> list[dict[str, Any]]:
        """Crawl, and give back the sessions."""
        done = self.vitrine(
            "crawl", "pdp", "--json", "-s", f"DOWNLOAD_DELAY={delay}", *arguments, timeout=timeout
        )
        assert done.stdout, done.stderr
        return list(json.loads(done.stdout)["sessions"])

    def sessions(self) -> list[dict[str, Any]]:
        """All sessions, the newest first."""
        done = self.vitrine("sessions", "list", "--json", "--limit", "1000")
        assert done.returncode == 0, done.stderr
        return list(json.loads(done.stdout)["sessions"])

    def start_scrapy(self, *arguments: str) -> subprocess.Popen[str]:
        """Start `scrapy` and do not wait; the caller ends it."""
        return self._start("scrapy", *arguments)

    def start_vitrine(self, *arguments: str) -> subprocess.Popen[str]:
        """Start `vitrine` and do not wait; the caller ends it."""
        return self._start("crawler.cli", *arguments)

    def _start(self, module: str, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            cwd=ROOT, env=self.environment, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    @property
    def artifacts(self) -> Path:
        """Where the files lie."""
        return self.path / "artifacts"

    def files(self) -> set[str]:
        """The storage URIs of all files that there are."""
        files = {
            str(file.relative_to(self.artifacts)) for file in self.artifacts.rglob("*") if file.is_file()
        }
        return files - {MARK}

    def database(self) -> Database:
        """The home's database, for looking into it; the caller closes it."""
        return Database(self.extra.get("DATABASE_URL") or f"sqlite:///{self.path / 'vitrine.db'}")

    def _run(self, command: list[str], timeout: float) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=ROOT, env=self.environment, text=True, timeout=timeout, check=False,
            stdin=subprocess.DEVNULL, capture_output=True,
        )  # fmt: skip


def needs_a_process(arguments: Sequence[str]) -> bool:
    """Whether a command starts processes, or reacts to signals."""
    words = tuple(word for word in arguments if not word.startswith("-"))[:2]
    return words[:1] in IN_A_PROCESS or words in IN_A_PROCESS or "--live" in arguments


def in_this_process(
    arguments: Sequence[str], environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a `vitrine` command with its own environment and streams; its result as of a process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        with (
            mock.patch.dict(os.environ, environment, clear=True), redirect_stdout(out), redirect_stderr(err),
            ThreadPoolExecutor(1) as thread,
        ):  # fmt: skip
            code = thread.submit(run, [*arguments]).result()  # pytest-twisted's loop runs in this one
    finally:
        root.handlers[:], root.level = handlers, level
    said = [stream.buffer.getvalue().decode("utf-8", "replace") for stream in (out, err)]
    return subprocess.CompletedProcess(["vitrine", *arguments], code, *said)


@pytest.fixture(scope="session")
def shops() -> Iterator[DemoServer]:
    """The demo's shops, and twenty numbered ones."""
    with serve(bulk=20) as server:
        yield server


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """An empty home."""
    return Home(tmp_path / "home")


@pytest.fixture
def endings() -> Generator[list[subprocess.Popen[str]]]:
    """Processes that are over when the test is, whatever became of it."""
    started: list[subprocess.Popen[str]] = []
    yield started
    for process in started:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        said = process.communicate(timeout=120)
        # Where the test failed, pytest shows this.
        sys.stderr.write(f"{process.args!r} ended with {process.returncode}: {said}\n"[-10_000:])


def rows(home: Home) -> list[CrawlSession]:
    """The sessions as they are stored, read without a command's help; none before there is a database."""
    if "DATABASE_URL" not in home.extra and not (home.path / "vitrine.db").exists():
        return []
    database = home.database()
    try:
        with database.read() as db:
            return list(db.scalars(select(CrawlSession)))
    except (SQLAlchemyError, CrawlerError):
        return []  # its tables are just being made
    finally:
        database.close()


def with_status(home: Home, status: str) -> set[str]:
    """The URLs of the sessions that are at this."""
    return {row.url for row in rows(home) if row.status == status}
