"""`vitrine cleanup`: one retention pass; also behind scripts/cleanup.py."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from crawler.cli.output import emit, note, notes, say, size
from crawler.cli.targets import person
from crawler.config import Settings, load_settings
from crawler.db.engine import Database
from crawler.db.revisions import require_current
from crawler.evidence.bodies import open_blobs
from crawler.retention.cleanup import CleanupOrder, Part, clean_up

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from crawler.evidence.blobs import BlobStore
    from crawler.retention.plan import CleanupResult

ALL_DONE, NOTHING_DONE, SOME_FAILED = 0, 1, 3


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("cleanup")(cleanup)


def cleanup(
    *,
    dry_run: Annotated[
        bool | None,
        typer.Option(
            help="Print what would be deleted, and write nothing. Default: RETENTION_CLEANUP_DRY_RUN."
        ),
    ] = None,
    batch_size: Annotated[
        int | None,
        typer.Option(
            min=1, max=100_000, help="Artifacts in one batch. Default: RETENTION_CLEANUP_BATCH_SIZE."
        ),
    ] = None,
    only: Annotated[Part | None, typer.Option(help="Leave the other part alone.")] = None,
    max_seconds: Annotated[
        float | None, typer.Option(min=0, help="Go on with further batches for so long, for a backlog.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> int:
    """Delete what is past its date, oldest first: a batch of evidence, a hundred rows of each collection.

    Exit codes: 0 done, 1 nothing could be done, 3 some could not be.

    Examples: vitrine cleanup --dry-run; vitrine cleanup --batch-size 500 --max-seconds 300
    """
    settings = load_settings()
    order = CleanupOrder(
        batch_size=batch_size or settings.retention_cleanup_batch_size,
        dry_run=settings.retention_cleanup_dry_run if dry_run is None else dry_run,
        only=only,
        max_seconds=max_seconds,
        who=person(),
    )
    with open_evidence(settings) as (database, blobs), _shown_progress(order) as show:
        result = clean_up(database, blobs, order, show)
    if as_json:
        emit(result.as_document())
    else:
        _report(result)
    return _exit_code(result)


@contextmanager
def open_evidence(settings: Settings) -> Generator[tuple[Database, BlobStore]]:
    """The database at its right revision, and the store of the files."""
    database = Database(settings.database)
    try:
        require_current(database)
        yield database, open_blobs(settings)
    finally:
        database.close()


def _report(result: CleanupResult) -> None:
    for row in result.artifacts:
        where = f"{row['storage_uri']} ({size(row['size_bytes'])})"
        say(escape(f"artifact {row['artifact_id']} would go: {where}"))
    say(f"Cleanup complete: {result}")
    for each in result.collections:
        _report_collection(each, dry_run=result.dry_run)
    if result.dry_run:
        say(f"dry run: {result.candidates} of {result.remaining} would have been deleted")
    elif result.remaining:
        note(f"still past their date: {result.remaining}; --max-seconds works off a backlog")


def _report_collection(each: dict[str, Any], *, dry_run: bool) -> None:
    name = each["collection"]
    if each["error"]:
        note(f"{name}: not looked after: {escape(each['error'])}")
    elif each["expired_docs"]:
        done = (
            "would go"
            if dry_run
            else f"are past their {each['ttl_days']} days, {each['deleted_docs']} deleted"
        )
        say(f"{name}: {each['expired_docs']} of {each['total_docs']} {done}")


def _exit_code(result: CleanupResult) -> int:
    if not result.failed and result.collections_processed == len(result.collections):
        return ALL_DONE
    return SOME_FAILED if result.deleted or not result.failed else NOTHING_DONE


@contextmanager
def _shown_progress(order: CleanupOrder) -> Generator[Callable[[CleanupResult], None]]:
    """A bar on a terminal; elsewhere the log says it."""
    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        console=notes(), transient=True, disable=not notes().is_terminal,
    )  # fmt: skip
    task = bar.add_task("cleanup", total=order.batch_size if order.max_seconds is None else None)

    def show(result: CleanupResult) -> None:
        bar.update(task, completed=result.candidates)

    with bar:
        yield show
