"""What came of a durable run, for people and for machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from crawler.capture.failures import TRAITS
from crawler.catalogue.run_report import report_of
from crawler.cli.output import note, say, status_mark, table, when
from crawler.runs import rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawler.db.engine import Database

# Of pages that are not to be had, by the site's rules or the source's.
REFUSED = {cause for cause, traits in TRAITS.items() if traits.is_refusal}
ALL_WELL, NONE_WELL, SOME_WELL = 0, 1, 3


def describe_run(database: Database, run_id: int) -> dict[str, Any]:
    """The contract's document of one run."""
    with database.read() as db:
        return report_of(db, rows.find(db, str(run_id)), db.now)


def show_run(run: Mapping[str, Any]) -> None:
    """A run for people."""
    say(f"run {run['id']} of [bold]{escape(run['source'])}[/]: {shown_status(run)}")
    say(f"  started {when(run['started_at'])}, ended {when(run['completed_at'])}")
    say("  tasks: " + ", ".join(f"{count} {status}" for status, count in run["tasks"].items()))
    pages = run["pages"]
    say(f"  pages: {pages['stored']} stored in {pages['visits']} visits")
    if run["last_error"]:
        say(f"  [red]{escape(run['last_error'])}[/]")
    for plugin, counts in run["assets"].items():
        say(f"  {escape(plugin)}: " + ", ".join(f"{count} {status}" for status, count in counts.items()))
    if run["failures"]:
        table(
            ("tries", "URL", "cause", "why"),
            [(row["attempts"], row["url"], row["cause"], row["last_error"]) for row in run["failures"]],
        )
    if run["permanent_lines"]:
        say("\nLogins were met; to leave them out for good, in sources.toml:")
        for line in run["permanent_lines"]:
            say("  " + escape(line))
    if run["exceptions_open"]:
        note(f"{run['exceptions_open']} worth a look: `vitrine exceptions list --run {run['id']}`")
    if run["status"] in {"stopped", "failed"} or (run["status"] == "running" and not run["workers"]):
        note(f"`vitrine runs resume {run['id']}` goes on with it")


def exit_code(run: Mapping[str, Any]) -> int:
    """0 when every page was had that may be had, 3 when some were, 1 when none was or it could not go on."""
    if run["status"] == "failed" or not run["tasks"]["finished"]:
        return NONE_WELL
    refused = sum(count for why, count in run["outcomes"].items() if why in REFUSED)
    is_well = run["status"] == "completed" and run["tasks"]["error"] == refused
    return ALL_WELL if is_well else SOME_WELL


def shown_status(run: Mapping[str, Any]) -> str:
    """How it stands; already markup."""
    if run["status"] == "running" and not run["workers"]:
        return "[yellow]![/] running, but no process is at it"
    return status_mark(run["status"])
