"""`vitrine diff` and `vitrine changes`: what a page says otherwise than before."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crawler.archive.asked import as_known
from crawler.archive.changes import ChangesOrder, ChangesResult, compute_changes
from crawler.archive.comparing import ADDED, REMOVED, SAME
from crawler.cli.lists import Found, list_command
from crawler.cli.options import Json, add_group, day_of
from crawler.cli.output import Listing, emit, note, progress_bar, say, table
from crawler.cli.stores import opened
from crawler.clock import utc_now
from crawler.engines.live import look_at
from crawler.errors import UsageError
from crawler.views import changes as views
from crawler.views.live import live_diff

if TYPE_CHECKING:
    from datetime import datetime

    from crawler.archive.comparing import Line, SectionChange
    from crawler.views.live import LiveDiff
    from crawler.views.paging import Wanted

SAME_CODE, FAILED_CODE, DIFFERENT_CODE = 0, 1, 3
MAX_LISTED = 1_000
LIVE_SECONDS = 600.0  # who waits at a terminal can end it; a domain may be held for long
_SIGNS = {SAME: " ", ADDED: "+", REMOVED: "-"}
_COLOURS = {SAME: "dim", ADDED: "green", REMOVED: "red"}
SnapshotId = Annotated[str, typer.Argument(help="A snapshot's number.")]
SourceOption = Annotated[str | None, typer.Option("--source", help="Of this source, or this domain, only.")]
_Listed = Annotated[int, typer.Option(min=1, max=MAX_LISTED, help="The newest so many.")]
_CHANGES = Listing(
    "changes",
    lambda each: {
        "id": each.change_id,
        "at": as_known(each.to_capture_timestamp, each.to_date_precision),
        "change": each.change_type,
        "summary": each.summary,
        "from": each.from_snapshot_id,
        "to": each.to_snapshot_id,
        "source": each.source_code,
        "page": each.normalized_url_group,
    },
    empty="no changes; `vitrine changes compute` compares what was indexed",
    then="vitrine diff FROM TO",
    key=attrgetter("change_id"),
)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("diff")(diff)
    add_group(app, "changes", "What changed from one capture to the next.", compute=compute, list=list_)


def diff(
    before: SnapshotId,
    after: Annotated[str | None, typer.Argument(help="Another one's number.")] = None,
    *,
    live: Annotated[
        bool, typer.Option("--live", help="Instead of another one: the page as it is now; visits the site.")
    ] = False,
    as_json: Json = False,
) -> int:
    """Show what differs between two captures of a page, or between one and the page as it is now.

    Exits 0 where a reader sees the same, 3 where something differs, 1 where they cannot be compared.

    Examples:
      vitrine diff 12 15

      vitrine diff 12 --live
    """
    if (after is None) != live:
        raise UsageError("a snapshot is compared with another one, or with --live")
    if after is None:
        return _diff_live(before, as_json=as_json)
    with opened() as stores, stores.database.read() as db:
        found = views.diff(db, stores.settings, before, after)
    if as_json:
        emit(_as_contract(found))
    else:
        _show(found)
    return SAME_CODE if found.change_type == "unchanged" else DIFFERENT_CODE


def _diff_live(before: str, *, as_json: bool) -> int:
    with opened() as stores:
        look = partial(look_at, seconds=LIVE_SECONDS)
        found = live_diff(stores.database, stores.settings, before, look)
    if as_json:
        emit(found)
    else:
        _show_live(found)
    return FAILED_CODE if found.cause else SAME_CODE if found.change_type == "unchanged" else DIFFERENT_CODE


def _show_live(found: LiveDiff) -> None:
    old = found.snapshot
    say("[bold]{title}[/]  {url}", title=old.title or old.url, url=found.url or old.url)
    at = found.fetched_at or "now"
    say("  {before} → {at}: {summary}", before=_captured(old), at=at, summary=found.summary)
    for section in found.sections:
        _show_section(section)


def _captured(one: views.ComparedSnapshot) -> datetime | str:
    return as_known(one.captured_at, one.date_precision)


def _as_contract(found: views.DiffDocument) -> dict[str, Any]:
    names = (
        "change_type", "summary", "added_lines", "removed_lines", "added_sections", "removed_sections",
        "changed_sections", "change_ratio", "high_noise", "is_coarse", "is_cut", "facts", "sections",
    )  # fmt: skip
    return {
        "from": found.from_snapshot,
        "to": found.to_snapshot,
        **{name: getattr(found, name) for name in names},
    }


def _show(found: views.DiffDocument) -> None:
    old, new = found.from_snapshot, found.to_snapshot
    say("[bold]{title}[/]  {url}", title=new.title or new.url, url=new.url)
    say(
        "  {before} → {after}: {summary}",
        before=_captured(old),
        after=_captured(new),
        summary=found.summary,
    )
    for fact in found.facts:
        say("  {name}: [red]{old}[/] → [green]{new}[/]", name=fact.name, old=fact.before, new=fact.after)
    for section in found.sections:
        _show_section(section)
    if found.is_coarse:
        note("the texts are too large to be compared line by line: whole stretches count as replaced")
    if found.is_cut:
        note("more lines differ than are shown; all of them are counted")


def _show_section(section: SectionChange) -> None:
    say("\n[bold]{heading}[/] [dim]({change})[/]", heading=section.heading or "(top)", change=section.change)
    for line in section.lines:
        _show_line(line)


def _show_line(line: Line) -> None:
    colour, sign = _COLOURS[line.change], _SIGNS[line.change]
    pieces = line.words or ((line.change if line.change == SAME else "", line.text),)
    marked = "".join(
        f"[{colour} reverse]{{w{number}}}[/]" if change not in {SAME, ""} else f"[{colour}]{{w{number}}}[/]"
        for number, (change, _) in enumerate(pieces)
    )
    say(f"[{colour}]{sign}[/] {marked}", **{f"w{number}": text for number, (_, text) in enumerate(pieces)})


def compute(
    *,
    source: SourceOption = None,
    since_days: Annotated[
        int | None, typer.Option(min=1, max=36_500, help="Captured within so many days.")
    ] = None,
    max_events: Annotated[int | None, typer.Option(min=1, help="Compare at most so many.")] = None,
    backfill: Annotated[bool, typer.Option("--backfill", help="Compare all of them again.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be found, and write nothing.")
    ] = False,
    as_json: Json = False,
) -> int:
    """Compare each capture with the one before it; what was compared already is left alone.

    Examples:
      vitrine changes compute

      vitrine changes compute --source shop.example --backfill
    """
    since = None if since_days is None else utc_now() - timedelta(days=since_days)
    order = ChangesOrder(source=source, since=since, again=backfill, most=max_events)
    with opened() as stores, progress_bar(counted=False) as bar:
        if not stores.settings.change_tracking_enabled:
            raise UsageError("changes are not tracked here", hint="CHANGE_TRACKING_ENABLED switches it on")
        task = bar.add_task("comparing", total=None)

        def tell(so_far: ChangesResult) -> None:
            bar.update(task, description=f"comparing: {so_far.computed}")

        by = "backfill" if backfill else "cli"
        result = compute_changes(stores.database, order, computed_by=by, dry_run=dry_run, on_progress=tell)
    if as_json:
        emit(result)
    else:
        row = (result.computed, result.new_page, result.updated, result.unchanged, result.error)
        table(("compared", "new pages", "updated", "unchanged", "failed"), [row])
        note("next: vitrine changes list")
    return 3 if result.error else 0


@list_command(_CHANGES, limits=_Listed)
def list_(
    wanted: Wanted,
    *,
    source: SourceOption = None,
    job: Annotated[int | None, typer.Option(min=1, max=2**53, help="Found by this job only.")] = None,
    first: Annotated[
        str | None, typer.Option("--from", metavar="DAY", help="Captured on or after it.")
    ] = None,
    last: Annotated[str | None, typer.Option("--to", metavar="DAY", help="Captured on or before it.")] = None,
    include_unchanged: Annotated[
        bool, typer.Option("--include-unchanged", help="Captures, too, that say the same.")
    ] = False,
) -> Found:
    """List what changed, the newest first.

    Examples:
      vitrine changes list --domain shop.example --since 2026-05-01
    """
    order = views.FeedOrder(
        source=source, job=job, latest=False, with_unchanged=include_unchanged, since=day_of("--from", first),
        until=day_of("--to", last), wanted=wanted,
    )  # fmt: skip
    with opened() as stores, stores.database.read() as db:
        found = views.feed(db, stores.settings, order)
    return Found(found.results, {"enabled": found.enabled, "total": found.total})
