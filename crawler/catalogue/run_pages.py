"""A page of a durable run: what it gave, written together with the end of its task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen
from sqlalchemy import and_, exists, false, func, not_, or_, select

from crawler.capture.failures import REFUSALS, Cause
from crawler.capture.items import PageCapture
from crawler.catalogue import assets
from crawler.db.models import Asset, Task
from crawler.runs import exceptions, rows, task_ends, tasks
from crawler.runs.task_ends import TaskEnd
from crawler.sessions.page_rows import Hooks
from crawler.sessions.rows import StaleSessionError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import ColumnElement
    from sqlalchemy.orm import Session

    from crawler.catalogue.plugins import AssetRecord, PluginFailure
    from crawler.db.models import Page
    from crawler.runs.sources import Source
    from crawler.runs.tasks import LeasedTask, NewTask
    from crawler.sessions.page_rows import KeptPage


MORE_LINKS = "the page has more links than are looked at; those beyond were not followed"
GONE = ("HTTP 404", "HTTP 410")


class StaleLeaseError(StaleSessionError):
    """The task is somebody else's by now; nothing was written."""

    code = "stale_lease"


@frozen(eq=False, kw_only=True)
class RunPage(PageCapture):
    """All that one page of a run gave; kept as a whole or not at all."""

    task: LeasedTask
    source: str
    links: Sequence[NewTask] = field(factory=tuple, repr=False)
    assets: Sequence[tuple[str, AssetRecord]] = field(factory=tuple, repr=False)  # with the plugin's name
    plugin_failures: Sequence[PluginFailure] = field(factory=tuple, repr=False)
    has_more_links: bool = False  # than are looked at
    error: str = ""  # of a page that failed for good


class RunHooks(Hooks):
    """Writes in the page's transaction: its links, its assets, what is worth a look, its task's end."""

    def pages_kept(self, db: Session, kept: Sequence[KeptPage]) -> None:
        """Write what the pages of runs gave; of a task that is not ours any more, nothing."""
        pages = [(each.capture, each.page) for each in kept if isinstance(each.capture, RunPage)]
        if not pages:
            return
        stored = [(page, _came_of(page, row)) for page, row in pages if page.cause is None]
        if not task_ends.stored_all(db, [(page.task, came) for page, came in stored], now=_now(pages)):
            urls = " or ".join(page.task.url for page, _ in stored)
            raise StaleLeaseError(f"{urls} is another process's by now")
        for page, row in pages:
            if page.cause is not None:
                _end_failed(db, page, row)
            tasks.go_by(db, page.task, page.url)
        for run_id in dict.fromkeys(page.task.run_id for page, _ in pages):
            found = (link for page, _ in pages if page.task.run_id == run_id for link in page.links)
            tasks.add(db, run_id, found, _now(pages))
        for page, row in pages:
            _note_what_is_odd(db, page, row.created_at)


def run_completed(db: Session, run_id: int, source: Source, now: datetime) -> None:
    """Note what the run did not see again, if it looked wherever the one before it had looked."""
    proven = _can_tell_of(db, run_id)
    assets.mark_missing(db, source.code, run_id, now, plugins=source.plugins, within=proven)
    exceptions.note_disappeared(db, run_id, now)


def _now(pages: Sequence[tuple[RunPage, Page]]) -> datetime:
    """The time of their transaction."""
    return pages[0][1].created_at


def _came_of(capture: RunPage, page: Page) -> TaskEnd:
    return TaskEnd(
        capture.cause, capture.error, page_id=None if capture.cause else page.id,
        http_status=capture.http_status, is_final=True,
    )  # fmt: skip


def _end_failed(db: Session, capture: RunPage, page: Page) -> None:
    came = _came_of(capture, page)
    if task_ends.end(db, task_ends.LEASES, capture.task, came, now=page.created_at) is None:
        raise StaleLeaseError(f"{capture.task.url} is another process's by now")


def _note_what_is_odd(db: Session, capture: RunPage, now: datetime) -> None:
    """Have a person look at what was not followed, and at what plugins failed at."""
    run_id = capture.task.run_id
    if capture.has_more_links:
        exceptions.note(db, run_id, "parse", capture.url, MORE_LINKS, {}, now)
    for failure in capture.plugin_failures:
        context = {"plugin": failure.plugin, **failure.context}
        exceptions.note(db, run_id, "plugin", capture.url, failure.message, context, now)


def _can_tell_of(db: Session, run_id: int) -> ColumnElement[bool]:
    """Which assets are missing where a run did not see them: that is a claim, and needs proof.

    Proof is the asset's own page, which was had without it or is gone; or a run that went as far as the one
    before it and had every page, but those that it was not to have: then the asset's page is one of these, or
    nothing leads there any more.
    """
    own = and_(Task.run_id == run_id, Task.url == Asset.url)
    is_gone = and_(Task.cause == Cause.HTTP_ERROR.value, Task.last_error.in_(GONE))
    is_had = and_(Task.status == "finished", Task.outcome == "stored")
    answered = exists().where(own, or_(is_gone, is_had))
    failed = and_(Task.run_id == run_id, Task.status == "error", not_(func.coalesce(is_gone, false())))
    faults = failed & Task.cause.not_in(sorted(REFUSALS))
    if not rows.looked_everywhere(db, run_id) or db.scalar(select(Task.id).where(faults).limit(1)):
        return answered
    return or_(answered, not_(exists().where(own, failed)))
