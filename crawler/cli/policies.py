"""`vitrine retention policies` and `set`: how long things are kept, in sentences."""

from __future__ import annotations

from typing import Annotated

import typer
from attrs import asdict

from crawler.cli.cleanup import open_evidence
from crawler.cli.output import emit, note, say, size, when
from crawler.cli.targets import person
from crawler.config import load_settings
from crawler.retention import policies as retention_policies
from crawler.retention.forecast import Forecast, forecast, last_result
from crawler.retention.policies import days_of

Json = Annotated[bool, typer.Option("--json", help="One JSON document.")]
_WORDS = {
    "html": "The HTML of pages",
    "other_files": "Every other file (texts, features, session logs), after the end of its session",
    "diagnostics": "Diagnostics (traces of verdicts, lines of crawl logs)",
    "price_history": "Prices with their proofs",
    "assets": "Assets and their versions",
    "scrape_metadata": "The record of ended sessions (and sessions that nothing names any more)",
    "audit_log": "The log of actions",
    "scraper_health": "The health of domains, day by day,",
    "export_history": "The record of exports",
    "hauls": "Hauls",
    "listings": "Products",
}


def register(group: typer.Typer) -> None:
    """Add the commands to `vitrine retention`."""
    group.command("policies")(policies)
    # A negative number is a wrong number, and no unknown option.
    group.command("set", context_settings={"ignore_unknown_options": True})(set_days)


def policies(*, as_json: Json = False) -> None:
    """Show how long everything is kept, how much of it there is, and what goes next."""
    settings = load_settings()
    with open_evidence(settings) as (database, _), database.read() as db:
        kinds = forecast(db, settings.html_retention_days, db.now)
        last = last_result(db)
    if as_json:
        cleanup = None if last is None else {
            "timestamp": last.timestamp, "dry_run": last.dry_run, "total_deleted": last.total_deleted,
            "duration_ms": last.duration_ms, "details": last.details,
        }  # fmt: skip
        emit({"policies": [asdict(kind) for kind in kinds], "last_cleanup": cleanup})
        return
    for kind in kinds:
        say(_sentence(kind))
    if last is None:
        note("no cleanup has looked after the collections yet; next: vitrine cleanup --dry-run")
    else:
        note(f"last cleanup of the collections: {when(last.timestamp)}, {last.total_deleted} rows deleted")


def set_days(
    collection: Annotated[str, typer.Argument(help="A collection, as `policies` lists them.")],
    days: Annotated[str, typer.Argument(help="A whole number from 1.")],
    *,
    as_json: Json = False,
) -> None:
    """Set how many days a collection is kept; the next cleanup goes by it."""
    number = days_of(days)
    with open_evidence(load_settings()) as (database, _), database.write() as db:
        kept = retention_policies.set_days(db, collection, number, actor=person(), now=db.now)
    if as_json:
        emit({"policies": kept})
    else:
        say(f"{_WORDS[collection]} are kept for {_days(number)}.")
        note("next: vitrine cleanup --dry-run --only collections")


def _sentence(kind: Forecast) -> str:
    kept = f"kept for {_days(kind.days)}" if kind.days else "kept without an end"
    about = "" if kind.name in {"html", "other_files"} else "about "
    amount = f"{kind.rows:,} of them, {about}{size(kind.bytes)}"
    sentence = f"[bold]{kind.name}[/]: {_WORDS[kind.name].removesuffix(',')}: {kept}; {amount}"
    if kind.days:
        sentence += (
            f"; {kind.due_now:,} due now, {kind.due_in_7_days:,} within 7 days, "
            f"{kind.due_in_30_days:,} within 30"
        )
    return sentence + (f"; {kind.held:,} held" if kind.held else "") + "."


def _days(number: int) -> str:
    return "1 day" if number == 1 else f"{number:,} days"
