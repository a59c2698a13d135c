"""A page of a durable run: what it gave, written together with the end of its task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

from crawler.capture.items import PageCapture
from crawler.catalogue import assets
from crawler.runs import exceptions, rows, task_ends, tasks
from crawler.runs.task_ends import TaskEnd
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

    def page_kept(self, db: Session, capture: PageCapture, page: Page, _files: Sequence[KeptFile]) -> None:
        """Write what a run's page gave; of a task that is not ours any more, nothing."""
        if not isinstance(capture, RunPage):
            return
        now, run_id = page.created_at, capture.task.run_id
        came = TaskEnd(
            capture.cause, capture.error, page_id=None if capture.cause else page.id,
            http_status=capture.http_status, is_final=True,
        )  # fmt: skip
        if task_ends.end(db, task_ends.LEASES, capture.task, came, now=now) is None:
            raise StaleLeaseError(f"{capture.task.url} is another process's by now")
        tasks.add(db, run_id, capture.links, now)
        for failure in capture.plugin_failures:
            context = {"plugin": failure.plugin, **failure.context}
            exceptions.note(db, run_id, "plugin", capture.url, failure.message, context, now)

    def sessions_ended(self, db: Session, session_ids: Sequence[UUID], now: datetime) -> None:
        """A run's sessions end like any other."""

    def run_completed(self, db: Session, run_id: int, source: Source, now: datetime) -> None:
        """Note what the run did not see again, if it looked wherever the one before it had looked."""
        if not rows.looked_everywhere(db, run_id):
            return
        assets.mark_missing(db, source.code, run_id, now, plugins=source.plugins)
        exceptions.note_disappeared(db, run_id, now)
