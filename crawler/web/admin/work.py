"""Runs and sessions: what was visited, what came of it, and stopping a run."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse

from crawler.errors import LockedError
from crawler.retention.holds import note_action
from crawler.runs import rows as run_rows
from crawler.runs.rows import RunStatus
from crawler.runs.store import request_stop
from crawler.sessions.outcome import Status
from crawler.views import runs as run_views
from crawler.views import sessions as session_views
from crawler.web.access import Change
from crawler.web.answering import Rows, page, rows_of, shown
from crawler.web.parameters import Id
from crawler.web.site import Reading, SiteHere

router = APIRouter(prefix="/admin", include_in_schema=False)
MOST = 100
WHO = "web"
SEE_OTHER = 303
Field = Annotated[str, Query(max_length=500)]
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
    found = run_views.newest(db, db.now, source=source or None, limit=MOST)
    if status in set(RunStatus):
        found = [each for each in found if each.status == status]
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
    return shown(request, "run.html", run_views.shown(db, db.now, str(run_id)), done=done)


@router.post("/runs/{run_id}/stop")
def stop(site: SiteHere, run_id: Id, _: Change) -> Response:
    """Ask its processes to finish what is under way, and to stop."""
    with site.database.write() as db:
        found = run_rows.find(db, str(run_id))
        if not request_stop(db, found.id, db.now):
            raise LockedError(f"run {found.id} is {found.status} already")
        note_action(db, "run.stop", f"run {found.id}", actor=WHO, now=db.now)
    return RedirectResponse(f"/admin/runs/{run_id}?done=asked+to+stop", SEE_OTHER)


@page(router, "/sessions", "json", "csv")
def sessions(request: Request, db: Reading, status: Field = "", domain: Field = "") -> Response:
    """The newest sessions."""
    known = status if status in set(Status) else None
    found = session_views.newest(db, db.now, status=known, domain=domain or None, limit=MOST)
    return shown(
        request, "sessions.html", found, rows_of(found, SESSION_COLUMNS), status=known or "", domain=domain,
        statuses=list(Status), most=MOST,
    )  # fmt: skip


@page(router, "/sessions/{session_id}", "json")
def session(request: Request, db: Reading, session_id: str) -> Response:
    """One session, with its log."""
    return shown(request, "session.html", session_views.shown(db, db.now, session_id))
