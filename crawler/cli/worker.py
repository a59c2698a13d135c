"""`vitrine worker`: a process that makes the archives that jobs order."""

from __future__ import annotations

from typing import Annotated

import typer

from crawler.cli.output import note
from crawler.cli.stores import opened
from crawler.config import load_settings
from crawler.errors import ExitCode
from crawler.jobs.worker import Worker


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("worker")(worker)


def worker(
    *,
    poll_interval: Annotated[
        float, typer.Option(min=0.05, max=3600, help="Seconds between two looks for a job.")
    ] = 30.0,
    once: Annotated[
        bool, typer.Option("--once", help="Work on one job, if one is due, index it, and end.")
    ] = False,
) -> int:
    """Work on jobs, one after the other, until a signal says stop: crawl them, index what came of it.

    With nothing else to do, it indexes the pages of sessions and runs.

    The first signal stops the engine and puts the job back as it was; a second one does not wait for it.
    """
    settings = load_settings()
    with opened(settings) as stores:
        at_work = Worker(stores.database, settings, stores.blobs)
        at_work.run(poll_interval=poll_interval, once=once)
    if at_work.stopping.is_set():
        note("stopped; what was under way is put back")
        return ExitCode.INTERRUPTED if once else 0
    return 0
