"""`vitrine runs`: durable runs, how they stand, and what to do about them."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crawler.catalogue.run_report import as_json as json_of
from crawler.catalogue.run_report import as_markdown, report_of, summary_of
from crawler.cli.output import Markup, emit, emit_line, note, table, when
from crawler.cli.run_results import describe_run, show_run, shown_status
from crawler.cli.site import crawl_site
from crawler.cli.stores import open_book
from crawler.errors import LockedError
from crawler.retention.holds import note_action
from crawler.runs import rows
from crawler.runs.store import request_stop

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawler.db.engine import Database

NOTHING_MATCHED = 4
Json = Annotated[bool, typer.Option("--json", help="One JSON document.")]
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
    as_jsonl: Annotated[bool, typer.Option("--jsonl", help="One JSON document a line.")] = False,
    fail_empty: Annotated[bool, typer.Option("--fail-empty", help="Exit 4 when nothing matches.")] = False,
) -> int:
    """List runs, the newest first."""
    with open_book() as book, book.database.read() as db:
        now = db.now
        listed = rows.listing(db, now, source=source, limit=limit)
        found = [summary_of(db, one.run, now) for one in listed]
    if as_jsonl:
        for run in found:
            emit_line(run)
    elif as_json:
        emit({"runs": found})
    elif not found:
        note("no runs; `vitrine crawl site URL` makes one")
    else:
        columns = ("run", "source", "status", "started", "finished", "waiting", "failed", "worth a look")
        table(columns, [_row(run) for run in found])
    return NOTHING_MATCHED if fail_empty and not found else 0


def show(run: RunId, *, as_json: Json = False) -> None:
    """Show one run: its tasks, what failed, what its plugins found."""
    with open_book() as book:
        described = describe_run(book.database, find(book.database, run))
    if as_json:
        emit(described)
    else:
        show_run(described)


def stop(run: RunId) -> None:
    """Ask the processes that work on a run to finish what is under way, and to stop."""
    with open_book() as book:
        run_id = find(book.database, run)
        with book.database.write() as db:
            now = db.now
            if not request_stop(db, run_id, now):
                raise LockedError(f"run {run_id} is {rows.find(db, str(run_id)).status} already")
            note_action(db, "run.stop", f"run {run_id}", actor=getpass.getuser(), now=now)
    note(f"run {run_id} stops; `vitrine runs resume {run_id}` goes on with it")


def resume(
    run: RunId,
    *,
    settings: Annotated[
        list[str] | None, typer.Option("-s", metavar="NAME=VALUE", help="Passed on as a setting.")
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show the crawl's log.")] = False,
    as_json: Json = False,
) -> int:
    """Go on with a run where it stopped; beside others that are at it, help them."""
    with open_book() as book:
        run_id = find(book.database, run)
    return crawl_site((f"run_id={run_id}",), tuple(settings or ()), verbose=verbose, as_json=as_json)


def report(
    run: RunId,
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A file instead of the screen.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a run's report, as Markdown or JSON."""
    with open_book() as book, book.database.read() as db:
        document = report_of(db, rows.find(db, run), db.now)
    text = json_of(document) if as_json else as_markdown(document)
    if output is None:
        typer.echo(text, nl=False)
    else:
        output.write_text(text, encoding="utf-8")
        note(f"written to {output}")


def find(database: Database, run: str) -> int:
    """The id of a run that was named, or an error that says where to look."""
    with database.read() as db:
        return rows.find(db, run).id


def _row(run: Mapping[str, Any]) -> tuple[Any, ...]:
    counts = run["tasks"]
    waiting = counts["pending"] + counts["in_progress"]
    return (
        run["id"], run["source"], Markup(shown_status(run)), when(run["started_at"]),
        counts["finished"], waiting, counts["error"], run["exceptions_open"],
    )  # fmt: skip
