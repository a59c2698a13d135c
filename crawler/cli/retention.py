"""`vitrine retention`: what is kept, and what should not be there."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer
from attrs import asdict
from rich.progress import Progress, TextColumn, TimeElapsedColumn

from crawler.cli import holds, policies
from crawler.cli.cleanup import open_evidence
from crawler.cli.output import emit, note, notes, say, size, table, when
from crawler.cli.targets import person
from crawler.config import load_settings
from crawler.errors import IntegrityError
from crawler.retention.holds import note_action
from crawler.retention.orphans import GRACE, OrphanOrder, find_orphans

if TYPE_CHECKING:
    from crawler.retention.orphans import LostRow, OrphanReport

GRACE_HOURS = GRACE.total_seconds() / 3600


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True, help="What is kept how long, and what should not be there.")
    policies.register(group)
    holds.register(group)
    group.command("orphans")(orphans)
    app.add_typer(group, name="retention")


def orphans(
    *,
    grace_hours: Annotated[
        float, typer.Option(min=0, help="Leave younger files alone; they may still get their row.")
    ] = GRACE_HOURS,
    delete: Annotated[bool, typer.Option("--delete", help="Delete the files that no row names.")] = False,
    mark_missing: Annotated[
        bool, typer.Option("--mark-missing", help="Mark the rows whose file is gone; not those on hold.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> int:
    """Find files without a row and rows without a file; exit 6 when a row's file is missing."""
    order = OrphanOrder(timedelta(hours=grace_hours), delete_files=delete, mark_rows=mark_missing)
    bar = Progress(
        TextColumn("{task.description}"), TimeElapsedColumn(),
        console=notes(), transient=True, disable=not notes().is_terminal,
    )  # fmt: skip
    task = bar.add_task("looking")

    def show(report: OrphanReport) -> None:
        bar.update(task, description=f"{report.files_seen} files, {report.rows_seen} rows")

    with open_evidence(load_settings()) as (database, blobs), bar:
        report = find_orphans(database, blobs, order, show)
        if report.removed or report.marked:
            with database.write() as db:
                now = db.now
                counts = {"deleted": report.removed, "marked": report.marked}
                note_action(db, "retention.orphans", "artifacts", actor=person(), now=now, **counts)
    if as_json:
        emit(asdict(report))
    else:
        _show(report, order)
    return IntegrityError.exit_code if len(report.rows) > report.marked else 0


def _show(report: OrphanReport, order: OrphanOrder) -> None:
    if report.files:
        rows = [(entry.uri, size(entry.size_bytes), when(entry.modified)) for entry in report.files]
        table(("file without a row", "bytes", "written"), rows)
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
