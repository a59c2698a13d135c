"""`vitrine jobs` for what is done by hand: cleaning up, counting, putting right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from crawler.cli.jobs import JobId, given_options, group
from crawler.cli.options import Json, person
from crawler.cli.output import emit, note, say, size, table
from crawler.cli.stores import opened, reading, writing
from crawler.config import load_settings
from crawler.db import lookup
from crawler.db.models import Job
from crawler.errors import CrawlerError, ExitCode
from crawler.jobs import cleanup as cleaning
from crawler.jobs import steps, upkeep
from crawler.jobs.cleanup import CleanupMode
from crawler.views import jobs as views
from crawler.views.documents import document_of
from crawler.views.jobs import StorageDocument

if TYPE_CHECKING:
    from crawler.jobs.cleanup import CleanupPlan

Apply = Annotated[bool, typer.Option("--apply", help="Do it; without this it is only shown.")]


def register(_app: typer.Typer) -> None:
    """Add the commands to those of jobs."""
    group.command("cleanup")(cleanup)
    group.command("status")(status)
    group.command("storage")(storage)
    group.command("validate")(validate)
    group.command("patch")(patch)
    group.command("reset-retries")(reset_retries)
    group.command("consolidate")(consolidate)


def cleanup(
    job: JobId,
    *,
    mode: Annotated[
        CleanupMode, typer.Option(help="What goes: temporary folders as they are, or without WARC files.")
    ] = CleanupMode.TEMP,
    force: Annotated[bool, typer.Option("--force", help="Even where replay may need what goes.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would go, and touch nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Remove a job's temporary folders, the WARC files in them included, and its state file.

    Only of a job that is indexed or whose index failed. With `--mode temp-nonwarc` each WARC file gets a
    place in `warcs/` first, and what says how the archive came about one in `provenance/`.
    """
    settings = load_settings()
    with opened(settings, makes_room=True) as stores:
        with stores.database.read() as db:
            row = lookup.find(db, Job, job)
            planned = cleaning.plan(db, row, mode)
        if not dry_run:
            planned = cleaning.clean_up(
                stores.database, settings, row.id, force=force, who=person(), mode=mode
            )
    if as_json:
        emit({**_as_document(planned), "dry_run": dry_run})
    else:
        _tell_plan(planned, dry_run=dry_run)


def status(*, as_json: Json = False) -> None:
    """Show how many jobs there are of each state."""
    with reading() as db:
        counts = views.counts(db, db.now)
    if as_json:
        emit({"counts": counts})
    else:
        table(("status", "jobs"), counts.items())


def storage(
    job: Annotated[
        str | None, typer.Argument(metavar="[JOB]", help="One job; all of them otherwise.")
    ] = None,
    *,
    scan: Annotated[bool, typer.Option("--scan", help="Count the files anew.")] = False,
    as_json: Json = False,
) -> int:
    """Report what archives take on the disk, as it was counted last."""
    code = _scan(job) if scan else ExitCode.DONE
    with reading() as db:
        rows = [lookup.find(db, Job, job)] if job else views.all_jobs(db)
        found = [document_of(StorageDocument, row) for row in rows]
    if as_json:
        emit({"jobs": found})
    else:
        columns = ("job", "name", "WARC files", "WARC", "all", "temporary", "of that no WARC", "counted")
        table(columns, map(_storage_row, found))
    return code


def validate(job: JobId, *, as_json: Json = False) -> int:
    """Check what a job is told: seeds, options, arguments; exit 1 when something is wrong."""
    settings = load_settings()
    problem = ""
    with reading() as db:
        row = lookup.find(db, Job, job)
        try:
            upkeep.validate(row, settings)
        except CrawlerError as error:
            problem = str(error)
    if as_json:
        emit({"job": row.id, "ok": not problem, "problem": problem or None})
    else:
        say("job {id}: {what}", id=row.id, what=problem or "nothing is wrong with it")
    return ExitCode.FAILED if problem else ExitCode.DONE


def patch(
    job: JobId,
    *,
    option: Annotated[
        list[str], typer.Option(metavar="NAME=VALUE", help="An option of the tool; NAME= takes it out.")
    ],
    apply: Apply = False,
    as_json: Json = False,
) -> None:
    """Change the options of a job that is not at work."""
    with writing() as db:
        steps.tidy(db)
        row = lookup.find(db, Job, job)
        config = upkeep.patched(row, given_options(option, removes=True))
        if apply:
            upkeep.write_config(db, row, config, who=person(), now=db.now)
    if as_json:
        emit({"job": row.id, "applied": apply, "tool_options": config["tool_options"]})
        return
    table(("option", "value"), config["tool_options"].items())
    _hint(apply=apply)


def reset_retries(job: JobId, *, apply: Apply = False) -> None:
    """Forget how often a job failed; its state stays."""
    with writing() as db:
        steps.tidy(db)
        row = lookup.find(db, Job, job)
        counts = {"retries": row.retry_count, "infra": row.infra_errors}
        say("job {id}: {retries} retries, {infra} errors of the machine", id=row.id, **counts)
        if apply:
            upkeep.reset_retries(db, row, who=person(), now=db.now)
    _hint(apply=apply)


def consolidate(job: JobId, *, apply: Apply = False, as_json: Json = False) -> None:
    """Give the WARC files of temporary folders a place below warcs/, with a manifest."""
    with opened() as stores:
        with stores.database.read() as db:
            row = lookup.find(db, Job, job)
        names = sorted(upkeep.to_move(cleaning.folder_of(row)))
        if apply:
            names = [each.name for each in upkeep.consolidate(stores.database, row.id, who=person())]
    if as_json:
        emit({"job": row.id, "applied": apply, "files": names})
        return
    for name in names:
        say("warcs/{name}", name=name)
    _hint(apply=apply)


def _storage_row(each: StorageDocument) -> tuple[Any, ...]:
    sizes = (
        each.warc_bytes_total, each.output_bytes_total, each.tmp_bytes_total, each.tmp_non_warc_bytes_total,
    )  # fmt: skip
    return each.id, each.name, each.warc_file_count, *map(size, sizes), each.storage_scanned_at


def _scan(job: str | None) -> int:
    """Count anew; a folder that cannot be read hides no other."""
    broken = 0
    with writing() as db:
        for row in [lookup.find(db, Job, job)] if job else views.all_jobs(db):
            try:
                upkeep.measure(db, row)
            except OSError as error:
                broken += 1
                note("job {id}: {path}: {error}", id=row.id, path=error.filename, error=error.strerror)
    return ExitCode.PARTLY if broken else ExitCode.DONE


def _hint(*, apply: bool) -> None:
    note("done" if apply else "nothing is changed; --apply does it")


def _tell_plan(planned: CleanupPlan, *, dry_run: bool) -> None:
    if planned.is_empty:
        note("there is nothing to clean up in {folder}", folder=planned.folder)
        return
    would = "would go" if dry_run else "gone"
    say(
        "{would}: {folders} of {folder}, {bytes}, {warcs} WARC files, {records} captures; "
        "{moved} WARC files moved to warcs/", would=would, moved=planned.moved,
        folders=", ".join(planned.folders), folder=planned.folder, bytes=planned.bytes,
        warcs=planned.warc_files, records=planned.records,
    )  # fmt: skip


def _as_document(planned: CleanupPlan) -> dict[str, Any]:
    return {
        "job": planned.job, "folder": planned.folder, "mode": planned.mode, "folders": list(planned.folders),
        "state_file": planned.state_file, "bytes": planned.bytes, "warc_files": planned.warc_files,
        "records": planned.records, "moved": planned.moved,
    }  # fmt: skip
