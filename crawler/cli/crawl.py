"""Commands that crawl: each starts Scrapy as a process of its own, follows it, and tells what came of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer
from attrs import define, field, frozen
from rich.markup import escape

from crawler.capture.failures import Cause
from crawler.cli import runs, sessions
from crawler.cli.options import Arguments, Json, Overrides, RunId, SessionId, Verbose
from crawler.cli.output import note, progress_bar
from crawler.cli.stores import reading
from crawler.config import CRAWL_ORDER, Settings, load_settings
from crawler.db import lookup
from crawler.db.models import CrawlSession
from crawler.errors import ExitCode, UsageError
from crawler.runs import rows
from crawler.runs.keeping import as_begun
from crawler.views import runs as run_views
from crawler.views import sessions as session_views

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

SECONDS_BETWEEN_LINES = 10.0
ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def register(app: typer.Typer) -> None:
    """Add the commands; two of them are of sessions and of runs."""
    group = typer.Typer(no_args_is_help=True, help="Crawl sites: politely, and with evidence.")
    group.command("pdp")(pdp)
    group.command("site")(site)
    app.add_typer(group, name="crawl")
    sessions.group.command("retry")(retry)
    runs.group.command("resume")(resume)


def pdp(
    urls: Annotated[list[str] | None, typer.Argument(metavar="[URL]...", show_default=False)] = None,
    *,
    file: Annotated[
        Path | None,
        typer.Option("--urls", help="A file of URLs, one a line; run again, it goes on where it stopped."),
    ] = None,
    product: Annotated[
        str | None, typer.Option("--pdp", help="The product page itself, to capture it again.")
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(
            help="standard; debug, which skips delays between sessions; evidence_pack: rendered, recorded."
        ),
    ] = None,
    retention: Annotated[
        str | None, typer.Option(help="How long the HTML is kept: short, standard or long.")
    ] = None,
    policy: Annotated[str | None, typer.Option(help="The rule: v1.2 or v1.3.")] = None,
    render: Annotated[
        str | None, typer.Option(help="In a browser: 0, 1, or auto, where plain pages say nothing.")
    ] = None,
    arguments: Arguments = None,
    settings: Overrides = None,
    verbose: Verbose = False,
    as_json: Json = False,
) -> int:
    """Visit each site once: its home page, its candidates, its first valid product page.

    Examples:
      vitrine crawl pdp https://shop.example/

      vitrine crawl pdp --urls shops.txt --json
    """
    given = {
        "url": " ".join(urls) if urls else None,
        "urls": str(file) if file else None,
        "pdp": product,
        "mode": mode,
        "retention": retention,
        "policy": policy,
        "render": render,
    }
    crawl = Crawl("pdp", _arguments(given, arguments), pairs("-s", settings), verbose=verbose)
    return crawl_and_report(crawl, as_json=as_json)


def site(
    url: Annotated[str | None, typer.Argument(metavar="[URL]", show_default=False)] = None,
    *,
    source: Annotated[str | None, typer.Option(help="A source of sources.toml, instead of a URL.")] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the newest run that was not completed.")
    ] = False,
    max_pages: Annotated[int | None, typer.Option(min=1, help="Plan no more pages than that.")] = None,
    depth: Annotated[int | None, typer.Option(min=0, help="Follow no more links than that in a row.")] = None,
    arguments: Arguments = None,
    settings: Overrides = None,
    verbose: Verbose = False,
    as_json: Json = False,
) -> int:
    """Crawl a whole site as a durable run: stop it, kill it, go on with it.

    Examples:
      vitrine crawl site https://shop.example/ --max-pages 500

      vitrine crawl site --source acme --resume
    """
    given = {
        "start_url": url, "source": source, "resume": "1" if resume else None,
        "max_pages": None if max_pages is None else str(max_pages),
        "depth": None if depth is None else str(depth),
    }  # fmt: skip
    crawl = Crawl("site", _arguments(given, arguments), pairs("-s", settings), verbose=verbose)
    return crawl_and_report(crawl, as_json=as_json)


def _arguments(options: Mapping[str, str | None], words: Sequence[str] | None) -> dict[str, str]:
    """Return the spider's arguments: those options that were given, and what `-a` says, which wins."""
    return {**{name: value for name, value in options.items() if value}, **pairs("-a", words)}


def retry(
    session: SessionId, *, settings: Overrides = None, verbose: Verbose = False, as_json: Json = False
) -> int:
    """Run a session again; what it stored before stays, under its earlier attempt."""
    with reading() as db:
        session_id = lookup.find(db, CrawlSession, session).id
    crawl = Crawl("pdp", {"session": str(session_id)}, pairs("-s", settings), verbose=verbose)
    return crawl_and_report(crawl, as_json=as_json)


def resume(
    run: RunId,
    *,
    retry_errors: Annotated[
        bool, typer.Option("--retry-errors", help="Try again what ended as an error, of a completed run too.")
    ] = False,
    settings: Overrides = None,
    verbose: Verbose = False,
    as_json: Json = False,
) -> int:
    """Go on with a run where it stopped, in the form that it was begun in; beside others, help them."""
    given = pairs("-s", settings)
    said = _ours(given)
    with reading() as db:
        row = rows.find(db, run)
        begun = as_begun(row.plan, load_settings(said))
    # What is said here is not overruled, and refused where it would leave something out.
    names = {name.upper() for name in said}
    kept = {name: value for name, value in begun.items() if name not in names}
    arguments = {"run_id": str(row.id), **({"retry_errors": "1"} if retry_errors else {})}
    crawl = Crawl("site", arguments, {**kept, **given}, verbose=verbose)
    return crawl_and_report(crawl, as_json=as_json)


def crawl_and_report(crawl: Crawl, *, as_json: bool) -> int:
    """Run a crawl, show its sessions or its run, and give the exit code that tells the truth."""
    finished = run_crawl(crawl)
    if finished.run is None and not finished.sessions:  # it never began, and has said why
        return ExitCode.INTERRUPTED if finished.interrupted else finished.refusal or finished.exit_code or 1
    with reading(load_settings(_ours(crawl.settings))) as db:
        if finished.run is None:
            code = sessions.tell(session_views.of(db, db.now, finished.sessions), as_json=as_json)
        else:
            code = runs.tell(run_views.shown(db, db.now, str(finished.run)), as_json=as_json)
    if finished.interrupted:
        goes_on = "urls" in crawl.arguments
        note("interrupted" + ("; the same command goes on where it stopped" if goes_on else ""))
        return ExitCode.INTERRUPTED
    # What the crawl itself knows of its failure may not have reached the database.
    return finished.exit_code if finished.exit_code == ExitCode.FAILED else code or finished.exit_code


def pairs(option: str, words: Sequence[str] | None) -> dict[str, str]:
    """Return what NAME=VALUE words say; the last one of a name wins."""
    if any("=" not in word for word in words or ()):
        raise UsageError(f"Invalid {option} value, use {option} NAME=VALUE")
    return dict(word.partition("=")[::2] for word in words or ())


def _ours(settings: Mapping[str, str]) -> dict[str, str]:
    """Those of the crawl's settings that are Vitrine's: what it wrote is looked for where it wrote."""
    return {name: value for name, value in settings.items() if name.lower() in Settings.model_fields}


# ── the crawl's process ──


@frozen
class Crawl:
    """The order of a crawl; its arguments and settings reach the crawl's process as JSON."""

    spider: str
    arguments: Mapping[str, str] = field(factory=dict)  # of the spider
    settings: Mapping[str, str] = field(factory=dict)
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
    with _passing_on_signals(finished) as pass_on_to, os.fdopen(read_end) as events:
        process = subprocess.Popen(  # ruff: ignore[subprocess-without-shell-equals-true] - our own command line
            _command(crawl, write_end),
            pass_fds=[write_end],
            env=_environment(crawl),
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # a Ctrl-C reaches it once, through us
        )
        os.close(write_end)
        try:
            pass_on_to(process)
            shown = _ShownProgress()
            with shown.bar:
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
    # -P: what lies in the folder one stands in is not ours to run
    command = [sys.executable, "-P", "-m", "crawler.commands", "crawl", crawl.spider]
    return [*command, "-s", f"PROGRESS_FD={progress}"]


def _environment(crawl: Crawl) -> dict[str, str]:
    """Return the crawl's environment, with its order and the name of the project, wherever it lies.

    Every user of the machine can read a process's arguments, and only its own user its environment.
    """
    given = os.environ if crawl.environment is None else crawl.environment
    settings = {**({} if crawl.verbose else {"LOG_LEVEL": "ERROR"}), **crawl.settings}
    order = json.dumps({"arguments": dict(crawl.arguments), "settings": settings})
    return {**given, "SCRAPY_SETTINGS_MODULE": "crawler.settings", CRAWL_ORDER: order}


@contextmanager
def _passing_on_signals(finished: FinishedCrawl) -> Generator[Callable[[subprocess.Popen[bytes]], None]]:
    """Signals go on to the process that is named; one that comes before it is named reaches it then."""
    begun: list[subprocess.Popen[bytes]] = []

    def pass_on(_number: int, _frame: Any) -> None:
        if finished.interrupted:
            note("stopping at once")
        else:
            note("stopping: what is under way is finished first; again to stop at once")
        finished.interrupted = True
        for process in begun:
            process.send_signal(signal.SIGTERM)

    def pass_on_to(process: subprocess.Popen[bytes]) -> None:
        begun.append(process)
        if finished.interrupted:
            process.send_signal(signal.SIGTERM)

    before = {number: signal.signal(number, pass_on) for number in ENDING_SIGNALS}
    try:
        yield pass_on_to
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
        where = event["domain"] or event["url"]
        note("{status}  {where}  {why}", status=event["status"], where=where, why=why)
        if event.get("cause") == Cause.EGRESS_REFUSED:
            note(
                "hint: {where} is not fetched because it is private; EGRESS_ALLOW={host} allows it",
                where=where, host=where.partition(":")[0],
            )  # fmt: skip

    def run_begun(self, event: Mapping[str, Any]) -> None:
        """A durable crawl counts tasks."""
        again = "goes on with" if event["resumed"] else "begins"
        note(f"{again} run {event['run']} of {{source}}", source=event["source"])
        self.bar.update(self.task, description="tasks")

    def tasks(self, event: Mapping[str, Any]) -> None:
        """How the run stands: on a terminal in its bar, elsewhere a line now and then."""
        refused, waiting = event["refused"], event["waiting"]
        done, failed = event["finished"], event["error"] - refused
        said = [f"{done} done", f"{waiting} waiting", f"{failed} failed", f"{event['rate']:.1f}/s"]
        if refused:
            said.insert(3, f"{refused} refused")
        if event["seconds_left"] is not None:
            said.append(f"about {_span(event['seconds_left'])} left")
        if event["slowest"]:
            said.append(f"slowest {escape(event['slowest'])}")
        line = ", ".join(said)
        ended = done + failed + refused
        self.bar.update(self.task, completed=ended, total=ended + waiting, description=line)
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
    elif event["event"] == "warned":
        note("[yellow]warning:[/] {what}", what=event["note"])
    elif event["event"] == "refused":
        finished.refusal = event["exit_code"]
