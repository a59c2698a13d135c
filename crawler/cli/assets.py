"""`vitrine assets`: what plugins made of pages, and how it changed."""

from __future__ import annotations

import json
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crawler.catalogue.assets import AssetStatus, Change, changes
from crawler.cli.lists import list_command
from crawler.cli.options import MAX_NUMBER, Json, OfSource, add_group
from crawler.cli.output import Listing, emit, say
from crawler.cli.stores import reading
from crawler.views import assets as views

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.views.assets import SeenAsset
    from crawler.views.paging import Wanted

MAX_SHOWN_CHARS = 120
SIGNS = {"added": "+", "removed": "-", "changed": "~"}


def register(app: typer.Typer) -> None:
    """Add the commands."""
    add_group(app, "assets", "What plugins made of pages, and how it changed.", list=list_assets, show=show)


def _row(asset: SeenAsset) -> dict[str, Any]:
    what = asset.title or asset.url
    return {
        "asset": asset.id,
        "status": asset.status,
        "source": asset.source,
        "plugin": asset.plugin,
        "what": what,
        "versions": asset.versions,
        "seen": asset.last_seen_at,
    }


ASSETS = Listing(
    "assets",
    _row,
    empty="no assets match; a run finds some: `vitrine crawl site URL`",
    then="vitrine assets show ASSET",
    key=attrgetter("id"),
)


@list_command(ASSETS)
def list_assets(
    wanted: Wanted,
    *,
    source: OfSource = None,
    run: Annotated[
        int | None,
        typer.Option(
            metavar="ID", min=1, max=MAX_NUMBER, help="As this run found them. Default: as they are now."
        ),
    ] = None,
    status: Annotated[AssetStatus | None, typer.Option(help="Only those that were found so.")] = None,
) -> Sequence[SeenAsset]:
    """List assets, the newest first, each with what the run found of it.

    Examples: vitrine assets list --run 7 --status updated
    """
    with reading() as db:
        return views.newest(db, wanted, source=source, run_id=run, status=status)


def show(
    asset: Annotated[int, typer.Argument(metavar="ID", help="Its number.")],
    *,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="The newest so many versions.")] = 20,
    as_json: Json = False,
) -> None:
    """Show an asset: its versions, the oldest first, and what changed from each to the next."""
    with reading() as db:
        found = views.history(db, asset, limit)
    if as_json:
        emit(found)
        return
    say(
        "[bold]{what}[/]  {kind} of {source}\n{url}  asset {id}, by {plugin}",
        what=found.title or found.url, kind=found.kind, source=found.source, url=found.url, id=found.id,
        plugin=found.plugin,
    )  # fmt: skip
    if found.listing_id:
        say(f"listing {found.listing_id}")
    if found.missing_since:
        say("missing since {moment}", moment=found.missing_since)
    for version in found.history:
        say(
            "version {number}  {seen}  {run}  {checksum}",
            number=version.number, seen=version.seen_at, checksum=version.checksum[:12],
            run=f"run {version.run_id}" if version.run_id else "outside of runs",
        )  # fmt: skip
        # A version that nothing is compared with is told as what it says.
        for change in version.changes or changes({}, version.content):
            told = _told(change)
            say("  {sign} {path}: {told}", sign=SIGNS[change.kind], path=change.path, told=told)


def _told(change: Change) -> str:
    if change.kind == "changed":
        return f"{_short(change.before)} → {_short(change.after)}"
    return _short(change.after if change.kind == "added" else change.before)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_SHOWN_CHARS else f"{text[:MAX_SHOWN_CHARS]}…"
