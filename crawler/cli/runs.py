"""`vitrine runs`: durable runs, how they stand, and what to do about them."""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crawler.cli.lists import list_command
from crawler.cli.options import Caused, Json, OfSource, RunId, person
from crawler.cli.output import LEFT, Listing, emit, note, say, table
from crawler.cli.stores import reading, writing
from crawler.errors import LockedError
from crawler.retention.holds import note_action
from crawler.runs import rows
from crawler.runs.store import request_stop
from crawler.views import runs as views
from crawler.views.documents import as_json as json_of
from crawler.views.run_report import as_markdown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.views.paging import Wanted
    from crawler.views.runs import RunDocument, RunReport


group = typer.Typer(no_args_is_help=True, help="Durable runs: how they stand, stop and go on.")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(group, name="runs")


def _row(run: RunDocument) -> dict[str, Any]:
    counts = run.tasks
    waiting = counts["pending"] + counts["in_progress"]
    return {
        "run": run.id,
        "source": run.source,
        "status": _shown_status(run),
        "started": run.started_at,
        "finished": counts["finished"],
        "waiting": waiting,
        "failed": counts["error"],
        "worth a look": run.exceptions_open,
    }


RUNS = Listing(
    "runs",
    _row,
    empty="no runs; `vitrine crawl site URL` makes one",
    then="vitrine runs show RUN",
    key=attrgetter("id"),
)


@group.command("list")
@list_command(RUNS, cause=Caused)
def list_runs(
    wanted: Wanted,
    *,
    source: OfSource = None,
) -> Sequence[RunDocument]:
    """List runs, the newest first; with --cause those in which a page ended by it.

    Examples: vitrine runs list --domain shop.example --since 2026-05-01
    """
    with reading() as db:
        return views.newest(db, db.now, wanted, source=source)


@group.command("show")
def show(run: RunId, *, as_json: Json = False) -> None:
    """Show one run: its tasks, what failed, what its plugins found."""
    with reading() as db:
        found = views.shown(db, db.now, run)
    if as_json:
        emit(found)
    else:
        _show(found)


@group.command("stop")
def stop(run: RunId) -> None:
    """Ask the processes that work on a run to finish what is under way, and to stop."""
    with writing() as db:
        run_id, now = rows.find(db, run).id, db.now
        if not request_stop(db, run_id, now):
            raise LockedError(f"run {run_id} is {rows.find(db, run).status} already")
        note_action(db, "run.stop", f"run {run_id}", actor=person(), now=now)
    note(f"run {run_id} stops; `vitrine runs resume {run_id}` goes on with it")


@group.command("report")
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
    text = json_of(document, indent=2) + "\n" if as_json else as_markdown(document)
    if output is None:
        typer.echo(text, nl=False)
    else:
        output.write_text(text, encoding="utf-8")
        note(f"written to {output}")


def tell(run: RunReport, *, as_json: bool) -> int:
    """What a run came to, and the exit code that says so."""
    if as_json:
        emit(run)
    else:
        _show(run)
    return run.exit_code


def _show(run: RunReport) -> None:
    """A run for people."""
    pages = run.pages
    say(
        "run {id} of [bold]{source}[/]: {status}\n  started {started}, ended {ended}\n  tasks: {tasks}\n"
        "  pages: {stored} stored in {visits} visits",
        id=run.id, source=run.source, status=_shown_status(run), started=run.started_at,
        ended=run.completed_at, tasks=_counts(run.tasks), stored=pages.stored,
        visits=pages.visits,
    )  # fmt: skip
    if run.last_error and not run.cause:
        say("  [red]{error}[/]", error=run.last_error)
    for plugin, counts in run.assets.items():
        say("  {plugin}: {counts}", plugin=plugin, counts=_counts(counts))
    if run.failures:
        failures = [(row.attempts, row.url, row.cause, row.last_error) for row in run.failures]
        table(("tries", "URL", "cause", "why"), failures)
    if run.permanent_lines:
        lines = "\n  ".join(run.permanent_lines)
        say("\nLogins were met; to leave them out for good, in sources.toml:\n  {lines}", lines=lines)
    if run.exceptions_open:
        note(f"{run.exceptions_open} worth a look: `vitrine exceptions list --run {run.id}`")
    if run.cause and not run.tasks["pending"] + run.tasks["in_progress"]:
        note(f"`vitrine runs resume {run.id} --retry-errors` tries its pages again")
    elif run.status in {"stopped", "failed"} or run.silent:
        note(f"`vitrine runs resume {run.id}` goes on with it")


def _shown_status(run: RunDocument) -> str:
    """How it stands, whether anybody is at it, and whether it came to anything."""
    nothing = f": {run.last_error}" if run.cause else ""
    return run.status + (LEFT if run.silent else nothing)


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {what}" for what, count in counts.items())
