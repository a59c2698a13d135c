"""`vitrine jobs`: archives made on order, how they stand, and what to do about them."""

from __future__ import annotations

import os
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crawler.cli.lists import list_command
from crawler.cli.options import Json, OfSource, person
from crawler.cli.output import Listing, emit, note, say, table
from crawler.cli.stores import opened, reading, writing
from crawler.clock import utc_now
from crawler.config import load_settings
from crawler.db import lookup
from crawler.db.models import Job
from crawler.engines.flags import OPTIONS, checked_option
from crawler.errors import ExitCode, UsageError
from crawler.jobs import orders, registry, steps
from crawler.jobs.crawling import Crawl
from crawler.jobs.lifecycle import JobStateError, JobStatus
from crawler.jobs.presence import workers_at
from crawler.jobs.steps import Archive, Came
from crawler.jobs.worker import Worker, handling_signals
from crawler.retention.holds import note_action
from crawler.runs.sources import known_sources
from crawler.views import jobs as views

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from crawler.views.jobs import JobDocument, StepDocument
    from crawler.views.paging import Wanted

KeptBy = Annotated[
    str | None, typer.Option(metavar="CAUSE", help="Only those of which a step was kept by it.")
]
JobId = Annotated[str, typer.Argument(metavar="JOB", help="Its number.")]
SourceCode = Annotated[str, typer.Option("--source", metavar="CODE", help="A registered source.")]

TIME = "%Y-%m-%d %H:%M:%SZ"
# What a crawl in the foreground ends with.
CRAWL_EXITS = {
    Came.SUCCESS: ExitCode.DONE, Came.FAILED: ExitCode.FAILED, Came.USAGE: ExitCode.USAGE,
    Came.INFRASTRUCTURE: ExitCode.FAILED, Came.NOT_BEGUN: ExitCode.LOCKED,
    Came.INTERRUPTED: ExitCode.INTERRUPTED,
}  # fmt: skip

group = typer.Typer(no_args_is_help=True, help="Archives of whole sources, made on order by workers.")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(group, name="jobs")


@group.command("create")
def create(
    passthrough: Annotated[
        list[str] | None,
        typer.Argument(metavar="[-- ARG...]", help="Passed on to the engine.", show_default=False),
    ] = None,
    *,
    source: SourceCode,
    seed: Annotated[list[str] | None, typer.Option(help="One more URL to begin at.")] = None,
    option: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="An option of the archive tool.")
    ] = None,
    page_limit: Annotated[int | None, typer.Option(min=1, help="Archive no more pages than that.")] = None,
    depth: Annotated[int | None, typer.Option(min=0, help="Follow no more links than that in a row.")] = None,
    as_json: Json = False,
) -> None:
    """Order an archive of a source; a worker makes it.

    Examples:
      vitrine jobs create --source hc --option initial_workers=2
    """
    settings = load_settings()
    known = known_sources(settings.sources_file).get(source.lower())
    order = orders.JobOrder(
        tuple(seed or ()),
        given_options(option or ()),
        tuple(passthrough or ()),
        max_pages=page_limit,
        depth=depth,
    )
    with writing() as db:
        row = registry.find_registered(db, source)
        if known is None:
            raise UsageError(
                f"source {row.code} is in no file", hint="docs/sources.md; SOURCES_FILE says where yours is"
            )
        job = orders.create(db, settings, known, order, now=db.now)
        note_action(db, "job.create", f"job {job.id}", actor=person(), now=db.now, name=job.name)
        document, workers = views.shown(db, job, db.now), workers_at(db, db.now)
    if as_json:
        emit(document)
    else:
        say(
            "job {id}: {name} is queued, for {output_dir}",
            id=document.id,
            name=document.name,
            output_dir=document.output_dir,
        )
        if workers:
            run = "workers run" if workers > 1 else "worker runs"
            note(f"{workers} {run}; next: vitrine jobs show {document.id}")
        else:
            note("no worker runs: nothing is made before one looks for jobs, here or as a service")
            note("next: vitrine worker")


def _row(job: JobDocument) -> dict[str, Any]:
    return {
        "job": job.id,
        "source": job.source,
        "name": job.name,
        "status": job.status,
        "why": next((step.last_error for step in job.steps if step.last_error), None),
        "queued": job.queued_at,
        "ended": job.finished_at,
        "retries": job.retry_count,
        "pages": job.pages_crawled,
        "WARC files": job.warc_file_count,
    }


JOBS = Listing(
    "jobs",
    _row,
    empty="No jobs found; `vitrine jobs create --source CODE` orders one",
    then="vitrine jobs show JOB",
    key=attrgetter("id"),
)


@group.command("list")
@list_command(JOBS, cause=KeptBy, limit=20)
def list_jobs(
    wanted: Wanted,
    *,
    source: OfSource = None,
    status: Annotated[list[JobStatus] | None, typer.Option(help="Only those in this state.")] = None,
) -> Sequence[JobDocument]:
    """List jobs, the newest first."""
    with reading() as db:
        return views.newest(db, db.now, wanted, source=source, statuses=status or ())


@group.command("show")
def show(job: JobId, *, as_json: Json = False) -> None:
    """Show one job: how it stands, its attempts, where its files lie."""
    with reading() as db:
        document = views.shown(db, lookup.find(db, Job, job), db.now)
    if as_json:
        emit(document)
    else:
        tell(document)


@group.command("retry")
def retry(job: JobId) -> None:
    """Let a job be tried again that failed; exit 5 when there is nothing to try again."""
    with writing() as db:
        steps.tidy(db)
        row = lookup.find(db, Job, job)
        before = row.status
        after = orders.retry(db, row, db.now)
        note_action(db, "job.retry", f"job {row.id}", actor=person(), now=db.now, before=before, after=after)
    note(f"job {job} is {after}")


@group.command("crawl")
def crawl(job: JobId, *, as_json: Json = False) -> int:
    """Crawl one job here and now that is queued or retryable, whatever it waits for.

    Exit 5 when a worker is at it, or its state does not allow it.
    """
    settings = load_settings()
    with opened(settings) as stores:
        worker = Worker(stores.database, settings)
        with stores.database.write() as db:
            row = lookup.find(db, Job, job)
            steps.make_due(db, row, worker.steps.leases)
        work = worker.steps.acquire(row.id)
        if work is None:
            raise JobStateError(f"job {row.id} is worked on already")
        with worker.hearing_signals():
            result, _ = worker.work_on(work)
        with stores.database.read() as db:
            document = views.shown(db, db.get_one(Job, row.id), db.now)
    if as_json:
        emit(document)
    else:
        tell(document)
    return CRAWL_EXITS[result.came]


@group.command("run")
def run_crawl(
    more: Annotated[
        list[str] | None, typer.Argument(metavar="[URL]...", help="More seeds.", show_default=False)
    ] = None,
    *,
    name: Annotated[str, typer.Option(help="The archive's name.")],
    seeds: Annotated[list[str], typer.Option(help="A URL to begin at; may be said several times.")],
    initial_workers: Annotated[int, typer.Option(min=1, max=64, help="Workers of the engine.")] = 1,
    log_level: Annotated[str, typer.Option(help="How much the tool logs.")] = "INFO",
    cleanup: Annotated[bool, typer.Option("--cleanup", help="Remove temporary folders afterwards.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Make what is there anew.")] = False,
) -> int:
    """Make an archive here and now, in a folder of its own, without any job.

    Examples: vitrine jobs run --name shop --seeds https://shop.example/
    """
    settings = load_settings()
    name = orders.checked_name(name.replace(" ", "_"))
    options = {
        "initial_workers": initial_workers, "log_level": checked_option("log_level", log_level),
        "cleanup": cleanup, "overwrite": overwrite,
    }  # fmt: skip
    config = {"seeds": registry.checked_seeds([*seeds, *(more or ())], settings), "tool_options": options}
    folder = settings.archives / f"{utc_now().strftime(registry.STAMP)}__{name}"
    if os.path.lexists(folder):
        raise JobStateError(f"{folder} is there already")
    crawl = Crawl(settings, Archive(name, folder, config))
    with handling_signals(lambda _number: crawl.stop()):
        result = crawl.run()
    say("{stage}: {folder}", stage=result.stage or str(result.came), folder=folder)
    if result.error:
        note("{error}", error=result.error)
    return CRAWL_EXITS[result.came]


@group.command("register")
def register_folder(
    *,
    source: SourceCode,
    output_dir: Annotated[Path, typer.Option(metavar="DIR", help="The folder of a finished archive.")],
    name: Annotated[str | None, typer.Option(help="Its name; default: the folder's.")] = None,
    as_json: Json = False,
) -> None:
    """Make a completed job of an archive that is there already."""
    with writing() as db:
        job = orders.register(db, source, output_dir, name, now=db.now)
        note_action(db, "job.register", f"job {job.id}", actor=person(), now=db.now, folder=job.output_dir)
        document = views.shown(db, job, db.now)
    if as_json:
        emit(document)
    else:
        say("job {id}: {name} is registered as completed", id=document.id, name=document.name)


def tell(job: JobDocument) -> None:
    """A job for people."""
    say(
        "job {id} [bold]{name}[/] of {source}: {status}\n  queued {queued}, started {started}, "
        "ended {ended}\n"
        "  pages: {crawled} of {total}, {failed} failed; WARC files: {warcs}, {bytes}\n  in {folder}",
        id=job.id, name=job.name, source=job.source, status=job.status, queued=job.queued_at,
        started=job.started_at, ended=job.finished_at, crawled=job.pages_crawled, total=job.pages_total,
        failed=job.pages_failed, warcs=job.warc_file_count, bytes=job.warc_bytes_total,
        folder=job.output_dir,
    )  # fmt: skip
    for line in _facts(job):
        say("  {line}", line=line)
    for step in job.steps:
        _tell_step(step)


def _facts(job: JobDocument) -> Iterator[str]:
    """What is worth a line of its own."""
    if job.worker:
        yield f"worked on by {job.worker}"
    if job.crawler_status:
        yield f"the crawl: {job.crawler_status}, exit code {job.crawler_exit_code}, stage {job.crawler_stage}"
    if job.retry_count or job.infra_errors:
        yield f"failed crawls: {job.retry_count}; errors of the machine in a row: {job.infra_errors}"
    if job.cleaned_at:
        yield f"cleaned up ({job.cleanup_status}) at {job.cleaned_at:{TIME}}"
    if job.emptied_at:
        yield f"a purge took the last of its WARC files at {job.emptied_at:{TIME}}"


def _tell_step(step: StepDocument) -> None:
    if step.last_error:
        kind = f"{step.kind}, {step.cause}" if step.cause else step.kind
        say("  [red]{kind}: {error}[/]", kind=kind, error=step.last_error)
    if step.next_run_at and step.next_run_at > utc_now():
        say("  {kind} rests until {time}", kind=step.kind, time=step.next_run_at)
    elif step.next_run_at and step.last_error:
        say("  {kind} waits for a worker", kind=step.kind)
    names = ("started_at", "ended_at", "outcome", "exit_code", "error")
    if step.history:
        rows = [tuple(map(one.get, names)) for one in step.history]
        table(("began", "ended", "came to", "exit", "why"), rows, title=step.kind)


def given_options(given: Iterable[str], *, removes: bool = False) -> dict[str, Any]:
    """Options of the tool as the command line says them; an empty value may stand for none."""
    options: dict[str, Any] = {}
    for pair in given:
        name, is_pair, value = pair.partition("=")
        if not is_pair:
            raise UsageError(f"--option {name} says no value", hint="write it as NAME=VALUE")
        options[name] = "" if removes and name in OPTIONS and not value else checked_option(name, value)
    return options
