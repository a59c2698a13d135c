"""A page of a durable run: what it gave, written together with the end of its task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

from crawler.capture.items import PageCapture
from crawler.catalogue import assets
from crawler.catalogue.run_records import note_run, note_task
from crawler.db.models import Task
from crawler.leases.rows import Leases
from crawler.leases.rules import LeaseRules
from crawler.runs import exceptions, rows, tasks
from crawler.sessions.rows import StaleSessionError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy.orm import Session

    from crawler.catalogue.plugins import AssetRecord, PluginFailure
    from crawler.db.models import Page
    from crawler.evidence.files import KeptFile
    from crawler.runs.sources import Source
    from crawler.runs.tasks import LeasedTask, NewTask

STORED, FAILED = "stored", "failed"


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
    error: str = ""  # of a page that failed for good


class RunHooks:
    """Writes in the page's transaction: its links, its assets, what is worth a look, its task's end."""

    # Ending a task asks for no times.
    _leases = Leases(Task, LeaseRules())

    def page_kept(self, db: Session, capture: PageCapture, page: Page, _files: Sequence[KeptFile]) -> None:
        """Write what a run's page gave; of a task that is not ours any more, nothing."""
        if not isinstance(capture, RunPage):
            return
        now = page.created_at
        if capture.cause is not None:
            self._fail(db, capture, now)
            return
        lease, run_id = capture.task.lease, capture.task.run_id
        if not self._leases.finish(db, lease, now, outcome=STORED, page_id=page.id):
            raise StaleLeaseError(f"{capture.task.url} is another process's by now")
        note_task(db, capture.task, "finished", cause=None, now=now)
        tasks.add(db, run_id, capture.links, now)
        for failure in capture.plugin_failures:
            context = {"plugin": failure.plugin, **failure.context}
            exceptions.note(db, run_id, "plugin", capture.url, failure.message, context, now)

    def _fail(self, db: Session, capture: RunPage, now: datetime) -> None:
        cause = capture.cause
        assert cause is not None  # ruff: ignore[assert] - see the caller
        lease, run_id = capture.task.lease, capture.task.run_id
        if self._leases.fail(db, lease, capture.error or cause, now, final=True) is None:
            raise StaleLeaseError(f"{capture.task.url} is another process's by now")
        note_task(db, capture.task, "error", cause=cause, now=now)
        context = {
            "cause": cause, "http_status": capture.http_status, "attempts": lease.attempts,
        }  # fmt: skip
        stage = "parse" if cause.traits.is_of_content else "fetch"
        exceptions.note(db, run_id, stage, capture.url, capture.error or cause.summary, context, now)

    def sessions_ended(self, db: Session, session_ids: Sequence[UUID], now: datetime) -> None:
        """A run's sessions end like any other."""

    def run_ended(self, db: Session, run_id: int, now: datetime) -> None:
        """Keep what is to be known of a run when its own rows are gone."""
        note_run(db, run_id, now)

    def run_completed(self, db: Session, run_id: int, source: Source, now: datetime) -> None:
        """Note what the run did not see again, if it looked wherever the one before it had looked."""
        if not rows.looked_everywhere(db, run_id):
            return
        assets.mark_missing(db, source.code, run_id, now, plugins=source.plugins)
        exceptions.note_disappeared(db, run_id, now)
