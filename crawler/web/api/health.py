"""Whether the service works, for whoever watches it."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter

from crawler import logs
from crawler.db import lookup
from crawler.db.models import Snapshot
from crawler.errors import CrawlerError
from crawler.views import jobs as views
from crawler.web.answers import JsonAnswer
from crawler.web.site import SiteHere

log = logs.get_logger(__name__)
router = APIRouter(tags=["health"])


@router.get("/health")
def alive() -> dict[Literal["status"], Literal["ok"]]:
    """Say that this process answers, and nothing else (SPEC F155)."""
    return {"status": "ok"}


@router.get("/api/health")
def health(site: SiteHere) -> JsonAnswer:
    """Ask the database for the jobs of each state and the snapshots (SPEC 71)."""
    checks: dict[str, Any]
    try:
        with site.database.read() as db:
            jobs, snapshots = views.counts(db, db.now), lookup.count(db, Snapshot)
    except (CrawlerError, OSError) as error:
        log.error("health.failed", error=str(error))  # ruff: ignore[error-instead-of-exception] - it is told
        return JsonAnswer({"status": "error", "checks": {"db": "error"}}, 500)
    checks = {"db": "ok", "jobs": jobs, "snapshots": {"total": snapshots}}
    return JsonAnswer({"status": "ok", "checks": checks}, headers={"Cache-Control": "no-store"})
