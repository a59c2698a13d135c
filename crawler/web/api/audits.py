"""Visits that other programs ask for, and what came of them (SPEC F155, F156).

What is asked for is worked by the fleet; this side only has it wait, and reads.
"""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from crawler import logs
from crawler.db.engine import Transaction
from crawler.errors import BadUrlError, CrawlerError, NotFoundError
from crawler.fleet.intake import ask_for
from crawler.jobs.registry import why_private
from crawler.sessions.outcome import Status
from crawler.sessions.rows import SessionOrder
from crawler.urls import MAX_URL_CHARS, domain_of, redact, require_http_url, spelling
from crawler.views import sessions as views
from crawler.views.documents import as_json
from crawler.views.sessions import SessionDocument
from crawler.web.access import ReadOnlyError, api_clients, require_own_origin
from crawler.web.answers import ErrorModel
from crawler.web.site import Reading, SiteHere

log = logs.get_logger(__name__)
router = APIRouter(prefix="/audits", tags=["audits"], dependencies=[Depends(api_clients)])
# As text: whatever is no id is unknown, and not a mistake.
AuditId = Annotated[str, Path(max_length=100)]


class AuditRequest(BaseModel):
    """What is to be visited."""

    model_config = ConfigDict(extra="forbid")

    # Longer ones are told so by the same sentence as elsewhere.
    url: str = Field(max_length=2 * MAX_URL_CHARS)
    mode: Literal["standard", "debug"] = "standard"


class QueuedAudit(BaseModel):
    """What waits now."""

    id: UUID
    status: Literal["queued"]
    url: str


class AuditNotQueuedError(CrawlerError):
    """Failed to enqueue audit job. Please try again later."""

    code = "audit_not_queued"
    http_status = 503


@router.post("", status_code=201, responses={503: {"model": ErrorModel, "description": "Not queued"}})
def ask(request: Request, site: SiteHere, wanted: AuditRequest) -> QueuedAudit:
    """Have a page's site visited by the fleet."""
    require_own_origin(request, is_program=True)
    settings = site.settings
    if settings.web_read_only:
        raise ReadOnlyError(hint="WEB_READ_ONLY is set")
    url = spelling(require_http_url(wanted.url))
    if reason := why_private(url, settings):
        raise BadUrlError(f"{redact(url)} is not visited: {reason}", hint="EGRESS_ALLOW names exceptions")
    order = SessionOrder(
        url=url, domain=domain_of(url), mode=wanted.mode, crawl_policy_version=settings.crawl_policy_version
    )
    try:
        session_id = ask_for(site.stores.sessions, order)
    except CrawlerError as error:
        log.warning("audit.not_queued", code=error.code, error=str(error))
        raise AuditNotQueuedError(hint=error.hint) from error
    log.info("audit.queued", session_id=str(session_id), domain=order.domain)
    return QueuedAudit(id=session_id, status=Status.QUEUED.value, url=url)


@router.get("/{audit_id}", response_class=Response)
def audit(db: Reading, audit_id: AuditId) -> Response:
    """The session, with its pages and files, as `vitrine sessions show --json` has it."""
    return _json(_found(db, audit_id))


@router.get("/{audit_id}/artifacts", response_class=Response)
def artifacts(db: Reading, audit_id: AuditId) -> Response:
    """Its files, those that are gone included."""
    return _json(_found(db, audit_id).artifacts)


def _found(db: Transaction, given: str) -> SessionDocument:
    try:
        ids = [UUID(given)]
    except ValueError:
        ids = []
    for each in views.of(db, db.now, ids):
        return each
    raise NotFoundError("Audit not found")


def _json(document: object) -> Response:
    return Response(as_json(document), media_type="application/json", headers={"Cache-Control": "no-store"})
