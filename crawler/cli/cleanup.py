"""`vitrine cleanup` and `purge`: what is past its date goes, and what somebody wants gone now.

`scripts/cleanup.py` is the former under another name.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer
from attrs import asdict, fields

from crawler.cli.options import DomainOption, Json, SessionOption, person, target_of
from crawler.cli.output import emit, note, progress_bar, say, size
from crawler.cli.stores import opened
from crawler.config import load_settings
from crawler.errors import UsageError
from crawler.jobs import steps
from crawler.retention import purge as purging
from crawler.retention.cleanup import CleanupOrder, Part, clean_up
from crawler.retention.purge import Figures

if TYPE_CHECKING:
    from crawler.retention.plan import CleanupResult

SOME_FAILED = 3


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("cleanup")(cleanup)
    app.command("purge")(purge)


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
    as_json: Json = False,
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
    bar = progress_bar()
    task = bar.add_task("cleanup", total=order.batch_size if order.max_seconds is None else None)

    def show(result: CleanupResult) -> None:
        bar.update(task, completed=result.candidates)

    with opened(settings, for_work=not order.dry_run, makes_room=True) as stores, bar:
        result = clean_up(stores.database, stores.blobs, order, show)
    if as_json:
        emit(result.as_document())
    else:
        _report(result)
    return result.exit_code


def _report(result: CleanupResult) -> None:
    for row in result.artifacts:
        say(
            "artifact {id} would go: {uri} ({bytes})",
            id=row["artifact_id"], uri=row["storage_uri"], bytes=row["size_bytes"],
        )  # fmt: skip
    for file in result.unclaimed_files:
        say("file without a row would go: {uri} ({bytes})", uri=file["storage_uri"], bytes=file["size_bytes"])
    say(f"Cleanup complete: {result}")
    for each in result.collections:
        _report_collection(each, dry_run=result.dry_run)
    if result.dry_run:
        say(f"dry run: {result.candidates} artifacts would go; past their date are {result.remaining}")
        if result.unclaimed:
            say(f"dry run: {result.unclaimed} files without a row would go")
    elif result.remaining:
        note(f"still past their date: {result.remaining}; --max-seconds works off a backlog")


def _report_collection(each: dict[str, Any], *, dry_run: bool) -> None:
    name = each["collection"]
    if each["error"]:
        note(f"{name}: not looked after: {{error}}", error=each["error"])
    elif each["expired_docs"]:
        done = (
            "would go"
            if dry_run
            else f"are past their {each['ttl_days']} days, {each['deleted_docs']} deleted"
        )
        say(f"{name}: {each['expired_docs']} of {each['total_docs']} {done}")


def purge(
    *,
    session: SessionOption = None,
    domain: DomainOption = None,
    prices: Annotated[
        bool, typer.Option("--prices", help="Prices as well, and of a domain its products too.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: Json = False,
) -> int:
    """Delete the files and rows of a session or a domain at once, whatever their dates; a hold forbids it.

    Exit codes: 0 done, 3 some files could not be removed, 5 a hold or a session at work forbids it.

    Examples: vitrine purge --domain shop.example --prices
    """
    with opened(for_work=True, makes_room=True) as stores:
        database = stores.database
        with database.write() as db:
            steps.tidy(db)  # a job whose worker is gone is nobody's work
        with database.read() as db:
            target = target_of(db, session=session, domain=domain)
            order = purging.PurgeOrder(
                target, with_prices=prices, who=person(), before=db.now,
                reports=load_settings().vitrine_home / "reports",
            )  # fmt: skip
        with purging.refusals_on_record(database, target, order.who), database.read() as db:
            figures = purging.preview(db, order)
            is_begun, unread = purging.was_begun(db, order), purging.unread(db, order)
            logs = purging.logs_of(db, order)
        figures = purging.with_logs(figures, logs, order)
        if unread:
            note("{unread} WARC files were never indexed, and are read to their ends for it", unread=unread)
        elif not any(asdict(figures).values()) and not is_begun:
            note(f"there is nothing of {target}")
            return 0
        if not yes:
            _ask(str(target), figures)
        with purging.refusals_on_record(database, target, order.who):
            details = purging.purge(database, stores.blobs, order)
    if as_json:
        emit({"target": str(target), **details})
    else:
        say(f"{target}: deleted {_in_words(details)}")
        if failed := details["failed"]:
            note(f"{failed} files could not be removed, and their rows stay; the same command goes on")
    return SOME_FAILED if details["failed"] else 0


def _ask(target: str, figures: Figures) -> None:
    note(f"{target}: {_in_words(asdict(figures))}")
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError("a purge asks first, and nobody is there to answer", hint="give --yes")
    typer.confirm("Delete all of this now?", abort=True, err=True)


def _in_words(figures: dict[str, Any]) -> str:
    names = [each.name for each in fields(Figures) if each.name != "bytes"]
    amounts = [f"{figures[name]} {name.replace('_', ' ')}" for name in names if figures[name]]
    return ", ".join([*amounts, size(figures["bytes"])])
