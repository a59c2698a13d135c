"""Retention: what is kept how long, what a cleanup would take, and taking it (SPEC E124-134)."""

from __future__ import annotations

import hashlib
import json
import time
from typing import Annotated, Any

from attrs import frozen
from fastapi import APIRouter, Depends, Request, Response
from sqlalchemy.exc import SQLAlchemyError

from crawler.clock import utc_now
from crawler.db.engine import DatabaseUnavailableError
from crawler.errors import CrawlerError, LockedError, UsageError
from crawler.retention import policies
from crawler.retention.cleanup import CleanupOrder, clean_up
from crawler.retention.plan import CleanupResult
from crawler.views import retention as views
from crawler.views.paging import listed
from crawler.views.retention import HOLDS, HoldDocument, PoliciesDocument
from crawler.web.access import WHO, Change, change
from crawler.web.admin.done import sentence_of
from crawler.web.answering import page, rows_of, see, shown
from crawler.web.answers import JsonAnswer, in_camel
from crawler.web.site import Reading, Site, SiteHere

router = APIRouter(prefix="/admin", include_in_schema=False)
COLUMNS = ("name", "days", "rows", "bytes", "held", "due_now", "due_in_7_days", "due_in_30_days")


class RequestError(UsageError):
    """The request is not one that retention takes."""

    code = "retention_request"


class PlanChangedError(LockedError):
    """The plan is not what it was; nothing was deleted."""

    code = "plan_changed"


class NotSavedError(CrawlerError):
    """The policy could not be saved; nothing was changed."""

    code = "not_saved"
    http_status = 503


async def _document(request: Request) -> dict[str, Any]:
    """The JSON object that was sent."""
    try:
        found = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise RequestError("Invalid JSON body") from None
    if not isinstance(found, dict):
        raise RequestError("Invalid JSON body")
    return found


@frozen(kw_only=True)
class RetentionRoom:
    """What is kept how long, what goes next, and what is held."""

    policies: PoliciesDocument
    holds: list[HoldDocument]


@page(router, "/retention", "json", "csv")
def room(request: Request, site: SiteHere, db: Reading, *, plan: str = "", done: str = "") -> Response:
    """The policies as sentences; with `plan` what a cleanup would take now."""
    found = RetentionRoom(
        policies=views.policies(db, db.now, site.settings.html_retention_days),
        holds=listed(db, HOLDS, standing_at=db.now),
    )
    planned = run_cleanup(site, dry_run=True) if plan else None
    return shown(
        request, "retention.html", found, rows_of(found.policies.policies, COLUMNS), planned=planned,
        done=sentence_of(db, done),
        digest=digest_of(planned) if planned else "", settable=set(policies.DEFAULT_DAYS),
    )  # fmt: skip


@router.post("/retention/days")
def change_days(site: SiteHere, fields: Change) -> Response:
    """Change one policy."""
    collection = fields.get("collection", "")
    set_days(site, collection, policies.days_of(fields.get("days", "")[:20]))
    return see("/admin/retention?done=retention.set")


@router.post("/retention/cleanup")
def apply_plan(site: SiteHere, fields: Change) -> Response:
    """Delete what the plan said; refuse where something else would go by now."""
    if fields.get("digest", "") != digest_of(run_cleanup(site, dry_run=True)):
        raise PlanChangedError(hint="look at the plan again")
    run_cleanup(site, dry_run=False)
    return see("/admin/retention?done=retention.cleanup")


@router.get("/api/retention")
def show(site: SiteHere) -> JsonAnswer:
    """The policies, and what the last cleanup did."""
    return JsonAnswer(in_camel({"config": config_of(site), "last_cleanup": _last(site)}))


@router.post("/api/retention", dependencies=[Depends(change)])
def act(site: SiteHere, body: Annotated[dict[str, Any], Depends(_document)]) -> JsonAnswer:
    """Change one policy, or clean up."""
    action = body.get("action")
    if action == "update_policy":
        set_days(site, body.get("collectionName"), body.get("ttlDays"))
        return JsonAnswer(in_camel({"config": config_of(site)}))
    if action == "cleanup":
        if not isinstance(body.get("dryRun"), bool):
            raise RequestError("Missing dryRun", hint="true counts only, false deletes")
        began, now = time.monotonic(), utc_now()
        result = _as_result(run_cleanup(site, dry_run=body["dryRun"]))
        took = round((time.monotonic() - began) * 1000)
        done = {"timestamp": now.isoformat(), **result, "duration_ms": took}
        return JsonAnswer(in_camel({"result": done}))
    raise RequestError(f"Unknown action: {str(action)[:80]}")


# ── what both ways share ──


def set_days(site: Site, collection: object, days: object) -> None:
    """Change one policy; the audit log says so."""
    if not isinstance(collection, str) or not collection or not days:
        raise RequestError("Missing collectionName or ttlDays")
    if not isinstance(days, int) or isinstance(days, bool):
        raise RequestError("TTL must be a whole number of days")
    try:
        with site.database.write() as db:
            policies.set_days(db, collection, days, actor=WHO, now=db.now)
    except (SQLAlchemyError, DatabaseUnavailableError) as error:
        raise NotSavedError from error


def run_cleanup(site: Site, *, dry_run: bool) -> CleanupResult:
    """One pass; a dry run only counts."""
    batch = site.settings.retention_cleanup_batch_size
    if not dry_run:
        site.stores.take_over()
    return clean_up(site.database, site.blobs, CleanupOrder(batch_size=batch, dry_run=dry_run, who=WHO))


def digest_of(plan: CleanupResult) -> str:
    """What stands for a plan: it changes when anything else would go."""
    goes = [
        sorted(str(each["artifact_id"]) for each in plan.artifacts),
        [(each["collection"], each["ttl_days"], each["expired_docs"]) for each in plan.collections],
        [plan.unclaimed, *(each["storage_uri"] for each in plan.unclaimed_files)],
    ]
    return hashlib.sha256(json.dumps(goes).encode()).hexdigest()


def config_of(site: Site) -> dict[str, Any]:
    """The days of each collection, and what has none."""
    with site.database.read() as db:
        days = policies.load(db)
    return {
        "policies": [{"collection_name": name, "ttl_days": number} for name, number in days.items()],
        "exempt": [policies.EXEMPT],
        "html_retention_days": site.settings.html_retention_days,
    }


def _last(site: Site) -> dict[str, Any] | None:
    with site.database.read() as db:
        last = views.last_result(db)
    if last is None:
        return None
    return {
        "timestamp": last.timestamp.isoformat(), "dry_run": last.dry_run,
        "collections_processed": sum(not each.get("error") for each in last.details),
        "total_documents_deleted": last.total_deleted, "details": [_detail(each) for each in last.details],
        "duration_ms": last.duration_ms,
    }  # fmt: skip


def _as_result(done: CleanupResult) -> dict[str, Any]:
    figures = ("candidates", "deleted", "failed", "reclaimed_bytes", "remaining", "unclaimed")
    return {
        "dry_run": done.dry_run, "collections_processed": done.collections_processed,
        "total_documents_deleted": sum(each["deleted_docs"] for each in done.collections),
        "details": [_detail(each) for each in done.collections],
        "artifacts": {name: getattr(done, name) for name in figures},
    }  # fmt: skip


def _detail(each: dict[str, Any]) -> dict[str, Any]:
    """Return what a cleanup did to a collection; its error only where it has one."""
    names = ("collection", "ttl_days", "total_docs", "expired_docs", "deleted_docs")
    return {name: each[name] for name in (*names, "error") if name in names or each.get(name)}
