"""Starts a crawl as a process of its own and follows it: crawls and commands share no event loop."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from uuid import UUID

from attrs import define, field, frozen
from rich.markup import escape

from crawler.cli.output import note, progress_bar

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping


SECONDS_BETWEEN_LINES = 10.0
ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@frozen
class Crawl:
    """A crawl to be run."""

    spider: str
    arguments: tuple[str, ...] = ()  # NAME=VALUE for the spider
    settings: tuple[str, ...] = ()  # NAME=VALUE for Scrapy
    environment: Mapping[str, str] | None = None  # None: ours
    verbose: bool = False


@define
class FinishedCrawl:
    """What a crawl's process left behind."""

    sessions: list[UUID] = field(factory=list)  # in the order of queueing
    run: int | None = None  # of a durable crawl
    exit_code: int = 0
    interrupted: bool = False
    refusal: int = 0  # the exit code of what kept it from beginning


def run_crawl(crawl: Crawl) -> FinishedCrawl:
    """Run a crawl to its end; an interruption is passed on, and waited for."""
    finished = FinishedCrawl()
    read_end, write_end = os.pipe()
    process = subprocess.Popen(  # ruff: ignore[subprocess-without-shell-equals-true] - our own command line
        _command(crawl, write_end),
        pass_fds=[write_end],
        env=_environment(crawl),
        stdin=subprocess.DEVNULL,
        start_new_session=True,  # a Ctrl-C reaches it once, through us
    )
    os.close(write_end)
    shown = _ShownProgress()
    try:
        with _passing_on_signals(process, finished), shown.bar, os.fdopen(read_end) as events:
            for line in events:
                _take(json.loads(line), finished, shown)
            finished.exit_code = process.wait()
    finally:
        if process.poll() is None:  # whatever went wrong here, no crawl goes on unattended
            process.terminate()
            process.wait()
    if finished.exit_code < 0 and not finished.interrupted:
        note(f"error\\[crawl_died]: the crawl was ended by signal {-finished.exit_code}")
    finished.exit_code = max(finished.exit_code, 0) or int(finished.exit_code < 0)
    return finished


def _command(crawl: Crawl, progress: int) -> list[str]:
    level = () if crawl.verbose else ("-s", "LOG_LEVEL=ERROR")
    return [
        # -P: what lies in the folder one stands in is not ours to run
        sys.executable, "-P", "-m", "scrapy", "crawl", crawl.spider,
        "-s", f"PROGRESS_FD={progress}", *level,
        *(part for pair in crawl.settings for part in ("-s", pair)),
        *(part for pair in crawl.arguments for part in ("-a", pair)),
    ]  # fmt: skip


def _environment(crawl: Crawl) -> dict[str, str]:
    """The crawl's environment; it names the project, which Scrapy finds by itself in its own folder only."""
    given = os.environ if crawl.environment is None else crawl.environment
    return {**given, "SCRAPY_SETTINGS_MODULE": "crawler.settings"}


@contextmanager
def _passing_on_signals(process: subprocess.Popen[bytes], finished: FinishedCrawl) -> Generator[None]:
    def pass_on(_number: int, _frame: Any) -> None:
        if finished.interrupted:
            note("stopping at once")
        else:
            note("stopping: what is under way is finished first; again to stop at once")
        finished.interrupted = True
        process.send_signal(signal.SIGTERM)

    before = {number: signal.signal(number, pass_on) for number in ENDING_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _ShownProgress:
    """A bar on a terminal, a line for each ended session elsewhere."""

    def __init__(self) -> None:
        self.failed = 0
        self.bar = progress_bar()
        self.next_line = 0.0
        self.task = self.bar.add_task("sessions", total=0)

    def queued(self, count: int) -> None:
        """More to do."""
        self.bar.update(self.task, total=(self.bar.tasks[0].total or 0) + count)

    def ended(self, event: Mapping[str, Any]) -> None:
        """One less to do."""
        self.failed += event["status"] == "failed"
        failures = f", [red]{self.failed} failed[/]" if self.failed else ""
        self.bar.update(self.task, advance=1, description=f"sessions{failures}")
        why = f"{event['summary']} ({event['cause']})" if event.get("summary") else ""
        note(
            "{status}  {where}  {why}", status=event["status"], where=event["domain"] or event["url"], why=why
        )

    def run_begun(self, event: Mapping[str, Any]) -> None:
        """A durable crawl counts tasks."""
        again = "goes on with" if event["resumed"] else "begins"
        note(f"{again} run {event['run']} of {{source}}", source=event["source"])
        self.bar.update(self.task, description="tasks")

    def tasks(self, event: Mapping[str, Any]) -> None:
        """How the run stands: on a terminal in its bar, elsewhere a line now and then."""
        done, failed, waiting = event["finished"], event["error"], event["waiting"]
        said = [f"{done} done", f"{waiting} waiting", f"{failed} failed", f"{event['rate']:.1f}/s"]
        if event["seconds_left"] is not None:
            said.append(f"about {_span(event['seconds_left'])} left")
        if event["slowest"]:
            said.append(f"slowest {escape(event['slowest'])}")
        line = ", ".join(said)
        self.bar.update(self.task, completed=done + failed, total=done + failed + waiting, description=line)
        if self.bar.disable and time.monotonic() >= self.next_line:
            self.next_line = time.monotonic() + SECONDS_BETWEEN_LINES
            note(line)


def _span(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min" if minutes else f"{rest} s"


def _take(event: Mapping[str, Any], finished: FinishedCrawl, shown: _ShownProgress) -> None:
    if event["event"] == "queued" and finished.run is None:
        finished.sessions.extend(UUID(session) for session in event["sessions"])
        shown.queued(len(event["sessions"]))
    elif event["event"] == "ended" and finished.run is None:
        shown.ended(event)
    elif event["event"] == "run":
        finished.run = event["run"]
        shown.run_begun(event)
    elif event["event"] == "tasks":
        shown.tasks(event)
    elif event["event"] == "refused":
        finished.refusal = event["exit_code"]
