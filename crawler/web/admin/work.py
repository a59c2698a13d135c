"""Runs and sessions: what was visited, what came of it, and stopping a run."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from attrs import evolve
from fastapi import APIRouter, Request, Response

from crawler.capture.artifact_types import SCREENSHOT
from crawler.db import lookup
from crawler.db.models import CrawlSession
from crawler.errors import LockedError
from crawler.fleet.intake import ask_for
from crawler.retention.holds import note_action
from crawler.runs import rows as run_rows
from crawler.runs.rows import RunStatus
from crawler.runs.store import request_stop
from crawler.sessions.outcome import Status
from crawler.sessions.rows import order_of
from crawler.views import artifacts as artifact_views
from crawler.views import runs as run_views
from crawler.views import sessions as session_views
from crawler.views.paging import Wanted
from crawler.web.access import WHO, Change
from crawler.web.admin.done import sentence_of
from crawler.web.answering import Rows, page, rows_of, see, shown
from crawler.web.parameters import Field, Id
from crawler.web.site import Reading, SiteHere

if TYPE_CHECKING:
    from crawler.views.sessions import ArtifactDocument, SessionDocument

router = APIRouter(prefix="/admin", include_in_schema=False)
MOST = 100
ENDED = (Status.COMPLETED, Status.PARTIAL, Status.FAILED)
RUN_COLUMNS = (
    "id",
    "source",
    "status",
    "started_at",
    "completed_at",
    "pending",
    "in_progress",
    "finished",
    "error",
)
SESSION_COLUMNS = ("id", "domain", "url", "status", "cause", "created_at", "finished_at", "pdp_url")


@page(router, "/runs", "json", "csv")
def runs(request: Request, db: Reading, source: Field = "", status: Field = "") -> Response:
    """The newest runs."""
    known = status if status in set(RunStatus) else None
    found = run_views.newest(db, db.now, Wanted(limit=MOST), source=source or None, status=known)
    rows = [
        (each.id, each.source, each.status, each.started_at, each.completed_at,
         *(each.tasks[name] for name in RUN_COLUMNS[5:]))
        for each in found
    ]  # fmt: skip
    return shown(
        request, "runs.html", found, Rows(RUN_COLUMNS, rows), source=source, status=status,
        statuses=list(RunStatus), most=MOST,
    )  # fmt: skip


@page(router, "/runs/{run_id}", "json")
def run(request: Request, db: Reading, run_id: Id, done: Field = "") -> Response:
    """One run, and what became of its tasks."""
    return shown(request, "run.html", run_views.shown(db, db.now, str(run_id)), done=sentence_of(db, done))


@router.post("/runs/{run_id}/stop")
def stop(site: SiteHere, run_id: Id, _: Change) -> Response:
    """Ask its processes to finish what is under way, and to stop."""
    with site.database.write() as db:
        found = run_rows.find(db, str(run_id))
        if not request_stop(db, found.id, db.now):
            raise LockedError(f"run {found.id} is {found.status} already")
        note_action(db, "run.stop", f"run {found.id}", actor=WHO, now=db.now)
    return see(f"/admin/runs/{run_id}?done=run.stop")


@page(router, "/sessions", "json", "csv")
def sessions(request: Request, db: Reading, status: Field = "", domain: Field = "") -> Response:
    """The newest sessions."""
    known = status if status in set(Status) else None
    found = session_views.newest(db, db.now, Wanted(domain=domain or None, limit=MOST), status=known)
    return shown(
        request, "sessions.html", found, rows_of(found, SESSION_COLUMNS), status=known or "", domain=domain,
        statuses=list(Status), most=MOST,
    )  # fmt: skip


@page(router, "/sessions/{session_id}", "json")
def session(request: Request, site: SiteHere, db: Reading, *, session_id: str, done: Field = "") -> Response:
    """One session, with its log."""
    found = session_views.shown(db, db.now, session_id)
    return shown(
        request, "session.html", found, has_fleet=bool(site.settings.redis_url), done=sentence_of(db, done),
        may_go_again=found.status in ENDED, pictures=_pictures(found),
    )  # fmt: skip


@router.post("/sessions/{session_id}/again")
def again(site: SiteHere, session_id: str, _: Change) -> Response:
    """Have the fleet make the same visit once more, as a session of its own."""
    with site.database.read() as db:
        row = lookup.find(db, CrawlSession, session_id)
        if row.status not in ENDED:
            raise LockedError(f"session {row.id} is {row.status}; it has not ended yet")
        order, before = order_of(row), row.id
    new = ask_for(site.stores.sessions, evolve(order, batch_id=None))
    with site.database.write() as db:
        note_action(db, "session.again", f"session {before}", actor=WHO, now=db.now, asked=str(new))
    return see(f"/admin/sessions/{new}?done=session.again")


@router.get("/sessions/{session_id}/pictures/{artifact_id}")
def picture(site: SiteHere, db: Reading, session_id: str, artifact_id: UUID) -> Response:
    """What a browser took of a page of it."""
    found = artifact_views.picture(db, db.now, session_id, artifact_id)
    return Response(site.blobs.read(found.storage_uri), media_type=found.content_type)


def _pictures(found: SessionDocument) -> list[ArtifactDocument]:
    return [each for each in found.artifacts if each.type == SCREENSHOT.name and each.deleted_at is None]
