"""Runs: how each stands, and what it did.

To show one more column of a run takes three lines: the column in `crawler/db/models/runs.py`, a migration in
`crawler/db/migrations/versions/`, and a field of the same name in `RunDocument` here. What is counted besides
is given in `newest` and `shown`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen
from sqlalchemy import case, exists, func, null, or_, select, text

from crawler.access.scope import permanent_lines
from crawler.capture.failures import REFUSALS, Cause
from crawler.catalogue.assets import AssetStatus
from crawler.db.models import (
    Artifact,
    Asset,
    AssetSighting,
    CrawlException,
    CrawlSession,
    Page,
    Run,
    RunDomain,
    Task,
)
from crawler.errors import ExitCode
from crawler.runs import rows, tasks
from crawler.runs.rows import RunStatus
from crawler.runs.task_ends import TaskOutcome
from crawler.urls import redact
from crawler.views.documents import document_of
from crawler.views.paging import ALL, Newest, page

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import ColumnElement
    from sqlalchemy.orm import Session

    from crawler.access.scope import Denial
    from crawler.views.paging import Wanted

MOST = 20  # lines of each list
OPEN = CrawlException.resolved_at.is_(None)
_STORED = Task.outcome == TaskOutcome.STORED


def _had_part(domain: str) -> ColumnElement[bool]:
    """A run that has, or is named by, the domain."""
    has_tasks = exists().where(RunDomain.run_id == Run.id, RunDomain.domain == domain)
    return or_(Run.source == domain, has_tasks)


def _had_end(cause: str) -> ColumnElement[bool]:
    """A run in which a page ended so."""
    return exists().where(Task.run_id == Run.id, Task.status == "error", Task.cause == cause)


NEWEST = Newest(
    table=Run,
    by=(Run.id,),
    time=Run.created_at,
    domain=_had_part,
    cause=_had_end,
)


@frozen(kw_only=True)
class RunDocument:
    """How a run stands, in what indexes answer."""

    id: int
    source: str
    status: str
    started_at: datetime | None
    completed_at: datetime | None
    seconds: float | None  # from its start to its end, or to now
    last_error: str | None
    cause: str | None  # what kept most of its pages away, where it ended without a single one: then it failed
    tasks: dict[str, int]  # by status
    assets: dict[str, dict[str, int]]  # by plugin, and by what the run found of them
    exceptions_open: int
    workers: list[str]  # that are alive
    silent: bool  # running, and no process is at it


@frozen(kw_only=True)
class Waiting:
    """Tasks of a domain that are still to be done."""

    domain: str
    tasks: int


@frozen(kw_only=True)
class PageCounts:
    """What is stored of a run."""

    stored: int
    failed: int
    bytes: int  # of its files that are still there
    visits: int


@frozen(kw_only=True)
class DomainCounts:
    """A domain's tasks, and how they ended."""

    domain: str
    tasks: int
    finished: int
    error: int


@frozen(kw_only=True)
class OpenException:
    """Something that is worth a person's look."""

    id: int
    stage: str
    url: str
    message: str


@frozen(kw_only=True)
class FailedTask:
    """A page that was not to be had."""

    url: str
    attempts: int
    cause: str | None
    last_error: str | None


@frozen(kw_only=True)
class RunReport(RunDocument):
    """Everything that is worth telling of a run; of a large one it takes its time."""

    waiting: list[Waiting]
    outcomes: dict[str, int]  # ended tasks by what became of them, failures by their cause
    pages: PageCounts
    domains: list[DomainCounts]
    exceptions: list[OpenException]
    failures: list[FailedTask]
    learnt: tuple[Denial, ...]
    permanent_lines: tuple[str, ...]  # what to write into the sources, so that it need not be learnt again
    plan: dict[str, Any]

    @property
    def refused(self) -> int:
        """How many of the errors are none: pages that must not be fetched."""
        return sum(count for why, count in self.outcomes.items() if why in REFUSALS)

    @property
    def exit_code(self) -> ExitCode:
        """0 when every page was had that may be had, 3 when some were, 1 when none, or it could not go on."""
        if self.status == RunStatus.FAILED or not self.tasks["finished"]:
            return ExitCode.FAILED
        is_well = self.status == RunStatus.COMPLETED and self.tasks["error"] == self.refused
        return ExitCode.DONE if is_well else ExitCode.PARTLY


def newest(
    db: Session,
    now: datetime,
    wanted: Wanted = ALL,
    *,
    source: str | None = None,
    status: str | None = None,
) -> list[RunDocument]:
    """Return the newest runs first, of one source or one status where that is wanted."""
    query = select(Run).where(Run.source == source) if source else select(Run)
    query = query.where(_is_shown_as(status)) if status else query
    found = db.scalars(page(db, query, NEWEST, wanted))
    return [document_of(RunDocument, run, **_figures(db, run, now)) for run in found]


def shown(db: Session, now: datetime, given: str) -> RunReport:
    """Everything about the run with this number, or the newest of this source."""
    run = rows.find(db, given)
    learnt = rows.learnt_of(db, run.id)
    return document_of(
        RunReport, run, **_figures(db, run, now), waiting=_waiting(db, run.id),
        outcomes=_outcomes(db, run.id), pages=_pages(db, run.id), domains=_domains(db, run.id),
        exceptions=_exceptions(db, run.id), failures=_failures(db, run.id), learnt=learnt,
        permanent_lines=permanent_lines(learnt),
    )  # fmt: skip


def _figures(db: Session, run: Run, now: datetime) -> dict[str, Any]:
    end, causes = run.completed_at or now, barred_by(db, run)
    is_open = (CrawlException.run_id == run.id) & OPEN
    workers = rows.living_workers(db, run.id, now)
    return {
        "seconds": round((end - run.started_at).total_seconds(), 1) if run.started_at else None,
        "status": str(RunStatus.FAILED if causes else run.status),
        "last_error": run.last_error or (reason_of(db, run.id) if causes else None),
        "cause": next(iter(causes), None),
        "tasks": tasks.counts(db, run.id),
        "assets": assets_found(db, run.id),
        "exceptions_open": db.scalar(select(func.count()).where(is_open)),
        "workers": workers,
        "silent": run.status == RunStatus.RUNNING and not workers,
    }


def _is_shown_as(status: str) -> ColumnElement[bool]:
    """Return the condition that a run is shown in a state; `barred_by` looks at one run for the same."""
    of_run = Task.run_id == Run.id
    has_errors, has_pages = exists().where(of_run, Task.status == "error"), exists().where(of_run, _STORED)
    is_barred = (Run.status == RunStatus.COMPLETED) & has_errors & ~has_pages
    shown_status: ColumnElement[str] = case((is_barred, RunStatus.FAILED.value), else_=Run.status)
    return shown_status == status


def barred_by(db: Session, run: Run) -> dict[str, int]:
    """Return what kept the pages of a run away that ended without a single one, the most frequent first.

    Its row says `completed`, since nothing is left to be gone on with; people are shown that it failed.
    """
    found = tasks.counts(db, run.id)
    if run.status not in {RunStatus.COMPLETED, RunStatus.FAILED} or not found["error"]:
        return {}
    stored = select(Task.id).where(Task.run_id == run.id, _STORED).limit(1)
    return {} if found["finished"] and db.scalar(stored) else _failed_by(db, run.id)


def reason_of(db: Session, run_id: int) -> str:
    """Return why a run has no page, with numbers: "12 of 12 pages answered 404"."""
    is_answer = Task.last_error.like(text("'HTTP ___'"))  # no parameter, for PostgreSQL compares the groups
    answer = case((is_answer, Task.last_error), else_=null())
    query = select(Task.cause, answer, func.count()).where(Task.run_id == run_id, Task.status == "error")
    rows_of = db.execute(query.group_by(Task.cause, answer).order_by(func.count().desc(), Task.cause)).all()
    pages = sum(tasks.counts(db, run_id).values())
    return ", ".join(f"{count} of {pages} pages {_words(cause, said)}" for cause, said, count in rows_of)


def _words(cause: str | None, answer: str | None) -> str:
    """Return what became of pages, as the end of a sentence."""
    if answer:
        return f"answered {answer.removeprefix('HTTP ')}"
    if cause == Cause.ROBOTS_REFUSED:
        return "are forbidden by robots.txt"
    return f"failed ({cause})"


def assets_found(db: Session, run_id: int) -> dict[str, dict[str, int]]:
    """How many assets a run found new, updated, unchanged and missing, by plugin."""
    query = (
        select(Asset.plugin, AssetSighting.status, func.count())
        .join(Asset, Asset.id == AssetSighting.asset_id)
        .where(AssetSighting.run_id == run_id)
        .group_by(Asset.plugin, AssetSighting.status)
        .order_by(Asset.plugin)
    )
    by_plugin: dict[str, dict[str, int]] = {}
    for plugin, status, number in db.execute(query):
        # With every status, so that none has to be guessed.
        by_plugin.setdefault(plugin, dict.fromkeys(map(str, AssetStatus), 0))[status] = number
    return by_plugin


def _waiting(db: Session, run_id: int) -> list[Waiting]:
    return [Waiting(domain=domain, tasks=count) for domain, count in tasks.waiting(db, run_id, MOST)]


def _outcomes(db: Session, run_id: int) -> dict[str, int]:
    name = func.coalesce(Task.cause, Task.outcome, Task.status)
    ended = select(name, func.count()).where(Task.run_id == run_id, Task.status.in_(["finished", "error"]))
    return dict(db.execute(ended.group_by(name).order_by(func.count().desc(), name)).all())


def _failed_by(db: Session, run_id: int) -> dict[str, int]:
    name = func.coalesce(Task.cause, Task.status)
    failed = select(name, func.count()).where(Task.run_id == run_id, Task.status == "error")
    return dict(db.execute(failed.group_by(name).order_by(func.count().desc(), name)).all())


def _pages(db: Session, run_id: int) -> PageCounts:
    visits = select(CrawlSession.id).where(CrawlSession.run_id == run_id)
    pages = select(Page.status, func.count()).where(Page.session_id.in_(visits)).group_by(Page.status)
    by_status: dict[str, int] = dict(db.execute(pages).all())
    is_there = Artifact.session_id.in_(visits) & Artifact.deleted_at.is_(None)
    size = db.scalar(select(func.sum(Artifact.size_bytes)).where(is_there))
    number = db.scalar(select(func.count()).where(CrawlSession.run_id == run_id))
    return PageCounts(
        stored=by_status.get("ok", 0), failed=by_status.get("failed", 0), bytes=int(size or 0),
        visits=number or 0,
    )  # fmt: skip


def _domains(db: Session, run_id: int) -> list[DomainCounts]:
    finished, error = (
        func.sum(case((Task.status == status, 1), else_=0)).label(status) for status in ("finished", "error")
    )
    query = select(Task.domain, func.count().label("tasks"), finished, error).where(Task.run_id == run_id)
    most_first = query.group_by(Task.domain).order_by(func.count().desc()).limit(MOST)
    return [document_of(DomainCounts, row) for row in db.execute(most_first)]


def _exceptions(db: Session, run_id: int) -> list[OpenException]:
    query = select(CrawlException).where(CrawlException.run_id == run_id, OPEN)
    newest_first = query.order_by(CrawlException.id.desc()).limit(MOST)
    return [document_of(OpenException, row) for row in db.scalars(newest_first)]


def _failures(db: Session, run_id: int) -> list[FailedTask]:
    query = select(Task.url, Task.attempts, Task.cause, Task.last_error)
    failed = query.where(Task.run_id == run_id, Task.status == "error")
    rows_of = db.execute(failed.order_by(Task.id.desc()).limit(MOST))
    return [document_of(FailedTask, row, url=redact(row.url)) for row in rows_of]
