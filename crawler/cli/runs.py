"""`vitrine runs`: durable runs, how they stand, and what to do about them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crawler.catalogue.run_report import as_json as json_of
from crawler.catalogue.run_report import as_markdown
from crawler.cli.crawl import crawl_and_report, show_run, shown_run_status
from crawler.cli.options import FailEmpty, Json, JsonLines, Overrides, Verbose, person
from crawler.cli.output import Listing, emit, note, show_list
from crawler.cli.running import Crawl
from crawler.cli.stores import reading, writing
from crawler.errors import LockedError
from crawler.retention.holds import note_action
from crawler.runs import rows
from crawler.runs.store import request_stop
from crawler.views import runs as views

if TYPE_CHECKING:
    from collections.abc import Mapping

RunId = Annotated[str, typer.Argument(metavar="RUN", help="Its number.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True, help="Durable runs: how they stand, stop and go on.")
    group.command("list")(list_runs)
    group.command("show")(show)
    group.command("stop")(stop)
    group.command("resume")(resume)
    group.command("report")(report)
    app.add_typer(group, name="runs")


def list_runs(
    *,
    source: Annotated[str | None, typer.Option(help="Only those of this source.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="The newest so many.")] = 50,
    as_json: Json = False,
    as_jsonl: JsonLines = False,
    fail_empty: FailEmpty = False,
) -> int:
    """List runs, the newest first."""
    with reading() as db:
        found = views.newest(db, db.now, source=source, limit=limit)
    return show_list(RUNS, found, as_json=as_json, as_jsonl=as_jsonl, fail_empty=fail_empty)


def show(run: RunId, *, as_json: Json = False) -> None:
    """Show one run: its tasks, what failed, what its plugins found."""
    with reading() as db:
        found = views.shown(db, db.now, run)
    if as_json:
        emit(found)
    else:
        show_run(found)


def stop(run: RunId) -> None:
    """Ask the processes that work on a run to finish what is under way, and to stop."""
    with writing() as db:
        run_id, now = rows.find(db, run).id, db.now
        if not request_stop(db, run_id, now):
            raise LockedError(f"run {run_id} is {rows.find(db, run).status} already")
        note_action(db, "run.stop", f"run {run_id}", actor=person(), now=now)
    note(f"run {run_id} stops; `vitrine runs resume {run_id}` goes on with it")


def resume(run: RunId, *, settings: Overrides = None, verbose: Verbose = False, as_json: Json = False) -> int:
    """Go on with a run where it stopped; beside others that are at it, help them."""
    with reading() as db:
        run_id = rows.find(db, run).id
    crawl = Crawl("site", (f"run_id={run_id}",), tuple(settings or ()), verbose=verbose)
    return crawl_and_report(crawl, as_json=as_json)


def report(
    run: RunId,
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A file instead of the screen.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a run's report, as Markdown or JSON."""
    with reading() as db:
        document = views.shown(db, db.now, run)
    text = json_of(document) if as_json else as_markdown(document)
    if output is None:
        typer.echo(text, nl=False)
    else:
        output.write_text(text, encoding="utf-8")
        note(f"written to {output}")


def _row(run: Mapping[str, Any]) -> tuple[Any, ...]:
    counts = run["tasks"]
    waiting = counts["pending"] + counts["in_progress"]
    return (
        run["id"], run["source"], shown_run_status(run), run["started_at"], counts["finished"], waiting,
        counts["error"], run["exceptions_open"],
    )  # fmt: skip


RUNS = Listing(
    "runs",
    ("run", "source", "status", "started", "finished", "waiting", "failed", "worth a look"),
    _row,
    empty="no runs; `vitrine crawl site URL` makes one",
)
