"""Domains: who holds which, which delay applies and why, how well visits go; and freeing one."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from attrs import frozen
from fastapi import APIRouter, Request, Response

from crawler.access.acquisition import open_gate
from crawler.access.gate import Gate
from crawler.errors import CrawlerError, LockedError, NotFoundError
from crawler.retention.holds import note_action
from crawler.urls import domain_of
from crawler.views import domains as views
from crawler.views import sessions as session_views
from crawler.views.domains import DomainDocument, VisitDay
from crawler.views.paging import Wanted
from crawler.views.sessions import SessionDocument
from crawler.web.access import WHO, Change
from crawler.web.answering import page, rows_of, see, shown
from crawler.web.site import Reading, Site, SiteHere

router = APIRouter(prefix="/admin", include_in_schema=False)
DAYS = 30
MOST = 20
COLUMNS = ("domain", "state", "host", "pid", "session", "expires_in_ms", "throttled_for_ms", "delayed_for_ms",
           "delay_reason")  # fmt: skip


@frozen(kw_only=True)
class Passport:
    """Everything about politeness towards a domain."""

    domain: DomainDocument
    days: list[VisitDay]
    sessions: list[SessionDocument]


@page(router, "/domains", "json", "csv")
def domains(request: Request, site: SiteHere, db: Reading) -> Response:
    """Those that are held or delayed."""
    try:
        with _gate(site) as gate:
            found, shared = views.of(db, gate.states()), gate.shared
    except CrawlerError as error:
        return shown(request, "domains.html", [], rows_of([], COLUMNS), shared=True, problem=str(error))
    return shown(request, "domains.html", found, rows_of(found, COLUMNS), shared=shared, problem="")


@page(router, "/domains/{domain}", "json")
def domain(request: Request, site: SiteHere, db: Reading, domain: str) -> Response:
    """One domain."""
    name = domain_of(domain)
    with _gate(site) as gate:
        [state] = views.of(db, [gate.state(name)])
    passport = Passport(
        domain=state,
        days=views.days(db, name, DAYS),
        sessions=session_views.newest(db, db.now, Wanted(domain=name, limit=MOST)),
    )
    return shown(request, "domain.html", passport)


@router.post("/domains/{domain}/release")
def release(site: SiteHere, domain: str, fields: Change) -> Response:
    """Break the lock that was shown, for a holder that is gone for good."""
    name = domain_of(domain)
    with _gate(site) as gate:
        value = gate.state(name).value
        if value is None:
            raise NotFoundError(f"nobody holds {name}")
        if value != fields.get("value") or not gate.break_lock(name, value):
            raise LockedError(f"{name} changed hands meanwhile; nothing was broken")
    with site.database.write() as db:
        note_action(db, "domains.release", name, actor=WHO, now=db.now, value=value)
    return see(f"/admin/domains/{name}")


@contextmanager
def _gate(site: Site) -> Generator[Gate]:
    gate = open_gate(site.settings, site.database)
    try:
        yield gate
    finally:
        gate.close()
