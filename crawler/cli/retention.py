"""`vitrine retention`: how long things are kept, what stays whatever its date, and what is out of place."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated

import typer

from crawler.cli.lists import list_command
from crawler.cli.options import (
    DomainOption,
    Json,
    ListingOption,
    SessionOption,
    person,
    target_of,
)
from crawler.cli.output import Listing, emit, note, progress_bar, say, size, table
from crawler.cli.stores import opened, reading, writing
from crawler.config import load_settings
from crawler.config.writing import write_setting
from crawler.errors import IntegrityError, UsageError
from crawler.retention import holds
from crawler.retention import policies as retention_policies
from crawler.retention.orphans import GRACE, OrphanOrder, find_orphans
from crawler.retention.policies import days_of
from crawler.views import retention as views
from crawler.views.paging import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.retention.holds import HoldResult, Target
    from crawler.retention.orphans import LostRow, OrphanReport
    from crawler.views.paging import Wanted
    from crawler.views.retention import Forecast, HoldDocument

MAX_WORDS = 1000
HTML_DAYS = "html"
GRACE_HOURS = GRACE.total_seconds() / 3600
_WORDS = {
    "html": "The HTML of pages, and the WARC files of sessions",
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


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True, help="What is kept how long, and what should not be there.")
    group.command("policies")(policies)
    # A negative number is a wrong number, and no unknown option.
    group.command("set", context_settings={"ignore_unknown_options": True})(set_days)
    group.command("hold")(hold)
    group.command("unhold")(unhold)
    group.command("holds")(list_holds)
    group.command("orphans")(orphans)
    app.add_typer(group, name="retention")


# ── policies ──


def policies(*, as_json: Json = False) -> None:
    """Show how long everything is kept, how much of it there is, and what goes next."""
    with reading() as db:
        found = views.policies(db, db.now, load_settings().html_retention_days)
    if as_json:
        emit(found)
        return
    for kind in found.policies:
        say(_sentence(kind))
    if found.last_cleanup is None:
        note("no cleanup has looked after the collections yet; next: vitrine cleanup --dry-run")
    else:
        note(
            "last cleanup of the collections: {moment}, {count} rows deleted",
            moment=found.last_cleanup.timestamp, count=found.last_cleanup.total_deleted,
        )  # fmt: skip


def set_days(
    collection: Annotated[str, typer.Argument(help="A collection, as `policies` lists them.")],
    days: Annotated[str, typer.Argument(help="A whole number from 1.")],
    *,
    as_json: Json = False,
) -> None:
    """Set how many days a collection is kept; the next cleanup goes by it.

    The days of `html` are a setting: they are written into `.env`, and what is kept from then on goes by it.

    Examples: vitrine retention set html 3
    """
    number = days_of(days)
    if collection == HTML_DAYS:
        _set_html_days(number, as_json=as_json)
        return
    with writing() as db:
        kept = retention_policies.set_days(db, collection, number, actor=person(), now=db.now)
    if as_json:
        emit({"policies": kept})
    else:
        say(f"{_WORDS[collection]} are kept for {_days(number)}.")
        note("next: vitrine cleanup --dry-run --only collections")


def _set_html_days(number: int, *, as_json: bool) -> None:
    before = load_settings().html_retention_days
    with writing() as db:
        path = write_setting("HTML_RETENTION_DAYS", str(number))
        change = {"before": before, "after": number, "file": str(path)}
        holds.note_action(db, "retention.html", "html", actor=person(), now=db.now, **change)
    if as_json:
        emit({"html": number, "file": path})
    else:
        say("The HTML of pages is kept for {days}, from the next page on, as {file} says.",
            days=_days(number), file=path)  # fmt: skip
        note("what is kept already keeps its date; servers that run are to be started again")


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


# ── holds ──


def hold(
    *,
    who: Annotated[str, typer.Option(help="Who wants it kept.")],
    why: Annotated[str, typer.Option(help="The reason, for the record.")],
    session: SessionOption = None,
    listing: ListingOption = None,
    domain: DomainOption = None,
    until: Annotated[
        str | None, typer.Option(metavar="DATE", help="The hold ends at the beginning of this day, UTC.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Keep everything of a session, a product or a domain until further notice, or until a date.

    Examples: vitrine retention hold --domain shop.example --who legal --why "case 17" --until 2030-01-01
    """
    for name, words in (("--who", who), ("--why", why)):
        if not words.strip() or len(words) > MAX_WORDS or "\x00" in words:
            raise UsageError(f"{name} takes 1 to {MAX_WORDS} characters")
    with writing() as db:
        now = db.now
        target = target_of(db, session, listing, domain)
        result = holds.hold(db, target, who=who, why=why, until=_date(until, now), now=now)
    _report(target, result, "held", as_json=as_json)


def unhold(
    *,
    who: Annotated[str | None, typer.Option(help="Who lifts it. Default: whoever runs this.")] = None,
    of: Annotated[
        str | None, typer.Option("--of", metavar="NAME", help="Whose hold it is, where several have set one.")
    ] = None,
    why: Annotated[str, typer.Option(help="The reason, for the record.")] = "",
    session: SessionOption = None,
    listing: ListingOption = None,
    domain: DomainOption = None,
    as_json: Json = False,
) -> None:
    """Lift one person's holds on a session, a product or a domain; what another hold covers stays.

    Exit code 5 where several people hold it, and none was named.
    """
    with writing() as db:
        target = target_of(db, session, listing, domain)
        result = holds.unhold(db, target, who=who or person(), why=why, now=db.now, of=of)
    _report(target, result, "given free", as_json=as_json)


def _date(text: str | None, now: datetime) -> datetime | None:
    if text is None:
        return None
    try:
        date = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"--until {text!r} is not a date", hint="write it as 2030-01-31") from None
    date = date if date.tzinfo else date.replace(tzinfo=UTC)
    if date <= now:
        raise UsageError(f"--until {text} is over")
    return date


def _report(target: Target, result: HoldResult, what: str, *, as_json: bool) -> None:
    if as_json:
        emit(
            {"target": str(target), "holds": result.holds, "artifacts": result.artifacts,
             "too_late": result.too_late, "unknown": result.is_empty, "lifted": list(result.lifted)}
        )  # fmt: skip
        return
    say(f"{{target}}: {result.artifacts} artifacts {what}", target=target)
    for each in result.lifted:
        say("  lifted the hold of {each}", each=each)
    if result.is_empty:
        note("nothing of {target} is known here; what comes of it will be kept", target=target)
    if result.too_late:
        note(f"{result.too_late} of them were just being deleted by a cleanup; their files may be gone")


HOLDS = Listing(
    "holds",
    lambda one: {
        "on": one.target,
        "who": one.who,
        "why": one.why,
        "since": one.created_at,
        "until": one.until,
    },
    empty="no holds",
    key=attrgetter("id"),
)


@list_command(HOLDS)
def list_holds(wanted: Wanted) -> Sequence[HoldDocument]:
    """List the holds that stand, the newest first: on what, whose, why, until when.

    With --domain those on it and in it; --since and --until go by the day on which they were set.
    """
    with reading() as db:
        return listed(db, views.HOLDS, wanted, standing_at=db.now)


# ── files and rows without each other ──


def orphans(
    *,
    grace_hours: Annotated[
        float, typer.Option(min=0, help="Leave younger files alone; they may still get their row.")
    ] = GRACE_HOURS,
    delete: Annotated[bool, typer.Option("--delete", help="Delete the files that no row names.")] = False,
    mark_missing: Annotated[
        bool, typer.Option("--mark-missing", help="Mark the rows whose file is gone; not those on hold.")
    ] = False,
    as_json: Json = False,
) -> int:
    """Find files without a row and rows without a file; exit 6 when a row's file is missing."""
    order = OrphanOrder(timedelta(hours=grace_hours), delete_files=delete, mark_rows=mark_missing)
    bar = progress_bar(counted=False)
    task = bar.add_task("looking")

    def show(report: OrphanReport) -> None:
        bar.update(task, description=f"{report.files_seen} files, {report.rows_seen} rows")

    with opened(makes_room=delete) as stores, bar:
        report = find_orphans(stores.database, stores.blobs, order, show)
        if report.removed or report.marked:
            with stores.database.write() as db:
                now = db.now
                counts = {"deleted": report.removed, "marked": report.marked}
                holds.note_action(db, "retention.orphans", "artifacts", actor=person(), now=now, **counts)
    if as_json:
        emit(report)
    else:
        _show_orphans(report, order)
    return IntegrityError.exit_code if len(report.rows) > report.marked else 0


def _show_orphans(report: OrphanReport, order: OrphanOrder) -> None:
    if report.files:
        files = [(file.uri, file.size_bytes, file.modified) for file in report.files]
        table(("file without a row", "bytes", "written"), files)
    if report.rows:
        lost = [(row.id, row.storage_uri, _remark(row)) for row in report.rows]
        table(("row without a file", "storage_uri", "remark"), lost)
    say(
        f"{report.files_seen} files, {report.rows_seen} live rows: {len(report.files)} files without a row, "
        f"{len(report.rows)} rows without a file; deleted {report.removed} files "
        f"({size(report.removed_bytes)}), marked {report.marked} rows"
    )
    if report.files and not order.delete_files:
        note("next: vitrine retention orphans --delete")


def _remark(row: LostRow) -> str:
    remarks = {"on hold": row.legal_hold, "unsafe path": row.unsafe_path}
    return ", ".join(remark for remark, holds in remarks.items() if holds)
