"""`vitrine jobs index`: what a job archived, made findable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from attrs import asdict

from crawler.cli.jobs import JobId, group
from crawler.cli.options import Json
from crawler.cli.output import emit, note, progress_bar, table
from crawler.cli.stores import opened
from crawler.config import load_settings
from crawler.db import lookup
from crawler.db.models import Job
from crawler.errors import ExitCode
from crawler.evidence.warc_tools import NOT_THERE
from crawler.jobs.lifecycle import JobStateError
from crawler.jobs.worker import Worker

if TYPE_CHECKING:
    from crawler.archive.warc_indexing import JobResult
    from crawler.config import Settings
    from crawler.jobs.indexing import Indexed
    from crawler.stores import Stores


def register(_app: typer.Typer) -> None:
    """Add the command to those of jobs."""
    group.command("index")(index)


def index(
    job: JobId,
    *,
    again: Annotated[
        bool, typer.Option("--force", help="Read pages again that were read before, as after an upgrade.")
    ] = False,
    as_json: Json = False,
) -> int:
    """Index a crawled job here and now: a record of each answer, a snapshot of each page.

    Again, it writes only what changed; every snapshot keeps its number. A job that a purge has emptied is
    indexed with no pages. Exit 1: it failed, and nothing is lost; 3: some records cannot be read, or
    files are missing; 5: the job is in no state for it, or a worker is at it.

    Examples:
      vitrine jobs index 7
    """
    settings = load_settings()
    with opened(settings) as stores:
        came = _index(stores, settings, job, again=again)
    if as_json:
        emit(document_of(came))
    else:
        _tell(came)
    if came.status == "completed":
        return ExitCode.INTERRUPTED
    if came.result is None or came.status != "indexed":
        return ExitCode.FAILED
    return ExitCode.PARTLY if came.result.bad or came.result.missing else ExitCode.DONE


def _index(stores: Stores, settings: Settings, job: str, *, again: bool) -> Indexed:
    worker = Worker(stores.database, settings)
    with stores.database.write() as db:
        row = lookup.find(db, Job, job)
        worker.indexer.steps.make_due(db, row)
    work = worker.indexer.steps.acquire(row.id)
    if work is None:
        raise JobStateError(f"job {row.id} is being indexed already")
    with worker.hearing_signals(), progress_bar() as bar:
        task = bar.add_task("indexing", total=None)

        def tell(result: JobResult) -> None:
            bar.update(task, completed=result.bytes_read, total=result.bytes_total)

        came = worker.indexer.work_on(work, again=again, tell=tell)
    if came is None:
        raise JobStateError(f"job {row.id} is being indexed by somebody else")
    return came


def document_of(came: Indexed) -> dict[str, Any]:
    """What came of it, for programs."""
    counts = {} if came.result is None else asdict(came.result)
    return {
        "job": came.job,
        "status": came.status,
        "error": came.error or None,
        "cause": came.cause,
        "emptied_at": came.emptied_at,
        **counts,
    }


def _tell(came: Indexed) -> None:
    if came.result is not None:
        names = ("files", "answers", "pages", "unchanged", "without_text", "removed", "bad")
        values = tuple(getattr(came.result, name) for name in names)
        table(tuple(name.replace("_", " ") for name in names), [values])
        for path in came.result.missing:
            note("{path} is missing: {why}", path=path, why=NOT_THERE)
    if came.error:
        note("{error}", error=came.error)
    note("job {job} is {status}", job=came.job, status=came.status)
    if came.emptied_at:
        note("a purge took the last of what it had archived, at {at}", at=came.emptied_at)
    elif came.status == "indexed":
        note("next: vitrine search WORDS")
