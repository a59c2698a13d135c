"""`vitrine assets`: what plugins made of pages, and how it changed."""

from __future__ import annotations

import json
from itertools import pairwise, starmap
from typing import TYPE_CHECKING, Annotated, Any

import typer
from attrs import asdict
from rich.markup import escape

from crawler.catalogue import assets
from crawler.catalogue.assets import Change, changes
from crawler.cli.cleanup import open_evidence
from crawler.cli.output import emit, emit_line, note, say, table, when
from crawler.config import load_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.db.models import Asset, AssetVersion

NOTHING_MATCHED = 4
MAX_ID = assets.MAX_ID
ASSET_FIELDS = (
    "id", "source", "plugin", "kind", "key", "url", "title", "checksum", "versions", "first_seen_at",
    "last_seen_at", "last_run_id", "missing_since", "listing_id",
)  # fmt: skip
VERSION_FIELDS = ("number", "checksum", "run_id", "page_id", "seen_at", "content", "details")
MAX_SHOWN_CHARS = 120
SIGNS = {"added": "+", "removed": "-", "changed": "~"}
Json = Annotated[bool, typer.Option("--json", help="One JSON document.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True, help="What plugins made of pages, and how it changed.")
    group.command("list")(list_assets)
    group.command("show")(show)
    app.add_typer(group, name="assets")


def list_assets(
    *,
    source: Annotated[str | None, typer.Option(metavar="CODE", help="Only those of this source.")] = None,
    run: Annotated[
        int | None,
        typer.Option(
            metavar="ID", min=1, max=assets.MAX_ID, help="As this run found them. Default: as they are now."
        ),
    ] = None,
    status: Annotated[assets.AssetStatus | None, typer.Option(help="Only those that were found so.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="The newest so many.")] = 50,
    as_json: Json = False,
    as_jsonl: Annotated[bool, typer.Option("--jsonl", help="One JSON document a line.")] = False,
    fail_empty: Annotated[bool, typer.Option("--fail-empty", help="Exit 4 when nothing matches.")] = False,
) -> int:
    """List assets, the newest first, each with what the run found of it.

    Examples: vitrine assets list --run 7 --status updated
    """
    with open_evidence(load_settings()) as (database, _), database.read() as db:
        found = assets.listing(db, source=source, run_id=run, status=status, limit=limit)
    documents = [{**_fields(asset, ASSET_FIELDS), "status": standing} for asset, standing in found]
    if as_jsonl:
        for each in documents:
            emit_line(each)
    elif as_json:
        emit({"assets": documents})
    else:
        _show_list(found)
    return NOTHING_MATCHED if fail_empty and not found else 0


def show(
    asset: Annotated[int, typer.Argument(metavar="ID", help="Its number.")],
    *,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="The newest so many versions.")] = 20,
    as_json: Json = False,
) -> None:
    """Show an asset: its versions, the oldest first, and what changed from each to the next."""
    with open_evidence(load_settings()) as (database, _), database.read() as db:
        found = assets.get(db, asset)
        # One more, to tell what changed in the oldest one that is shown.
        versions = assets.history(db, asset, limit + 1)
    steps = _steps(versions)[-limit:]
    if as_json:
        emit({**_fields(found, ASSET_FIELDS), "history": list(starmap(_version_document, steps))})
    else:
        _show(found, steps)


def _steps(versions: Sequence[AssetVersion]) -> list[tuple[AssetVersion, list[Change]]]:
    """Each version with what changed in it; in the first one everything is new, and nothing changed."""
    first: list[tuple[AssetVersion, list[Change]]] = [(version, []) for version in versions[:1]]
    return first + [(new, changes(old.content, new.content)) for old, new in pairwise(versions)]


def _version_document(version: AssetVersion, changed: list[Change]) -> dict[str, Any]:
    return {**_fields(version, VERSION_FIELDS), "changes": [asdict(change) for change in changed]}


def _show_list(found: list[tuple[Asset, str | None]]) -> None:
    if not found:
        note("no assets match; a run finds some: `vitrine crawl site URL`")
        return
    rows = [
        (asset.id, standing, asset.source, asset.plugin, asset.title or asset.url, asset.versions,
         when(asset.last_seen_at))
        for asset, standing in found
    ]  # fmt: skip
    table(("asset", "status", "source", "plugin", "what", "versions", "seen"), rows)
    note("next: vitrine assets show ASSET")


def _show(asset: Asset, steps: list[tuple[AssetVersion, list[Change]]]) -> None:
    say(f"[bold]{escape(asset.title or asset.url)}[/]  {escape(asset.kind)} of {escape(asset.source)}")
    say(escape(f"{asset.url}  asset {asset.id}, by {asset.plugin}"))
    if asset.listing_id:
        say(f"listing {asset.listing_id}")
    if asset.missing_since:
        say(f"missing since {when(asset.missing_since)}")
    for version, changed in steps:
        run = f"run {version.run_id}" if version.run_id else "outside of runs"
        say(f"version {version.number}  {when(version.seen_at)}  {run}  {version.checksum[:12]}")
        for change in changed or _everything(version):
            say(escape(f"  {SIGNS[change.kind]} {change.path}: {_told(change)}"))


def _everything(version: AssetVersion) -> list[Change]:
    """A version that nothing is compared with, as what it says."""
    return changes({}, version.content)


def _told(change: Change) -> str:
    if change.kind == "changed":
        return f"{_short(change.before)} → {_short(change.after)}"
    return _short(change.after if change.kind == "added" else change.before)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_SHOWN_CHARS else f"{text[:MAX_SHOWN_CHARS]}…"


def _fields(row: object, names: Sequence[str]) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names}
