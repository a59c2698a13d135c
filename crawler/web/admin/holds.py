"""Holds: somebody's word that evidence stays, given and taken back."""

from __future__ import annotations

from datetime import UTC, datetime, time
from typing import TYPE_CHECKING

from attrs import frozen
from fastapi import APIRouter, Request, Response

from crawler.db import lookup
from crawler.db.models import CrawlSession
from crawler.errors import CrawlerError
from crawler.retention import holds
from crawler.retention.holds import Target
from crawler.urls import domain_of
from crawler.views import products
from crawler.web.access import Change
from crawler.web.answering import see, shown
from crawler.web.parameters import Field, day_of
from crawler.web.site import Reading, SiteHere

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawler.db.engine import Transaction

router = APIRouter(prefix="/admin/holds", include_in_schema=False)
KINDS = ("session", "domain", "listing")
MAX_WORDS = 500


class HoldFormError(CrawlerError):
    """The form does not say all that a hold needs."""

    code = "hold_form"
    http_status = 422


@frozen(kw_only=True)
class Wanted:
    """What is to be held."""

    kind: str
    name: str
    target: str


@router.get("/new")
def form(request: Request, db: Reading, *, kind: Field = "domain", name: Field = "") -> Response:
    """Ask for whose word it is, and why."""
    said = str(_target(db, kind, name)) if name else ""
    return shown(request, "hold.html", Wanted(kind=kind, name=name, target=said), kinds=KINDS)


@router.post("")
def hold(site: SiteHere, fields: Change) -> Response:
    """Set one, beside any others."""
    who, why = (_words(fields, name) for name in ("who", "why"))
    with site.database.write() as db:
        now = db.now
        until = _until(fields.get("until", "").strip(), now)
        target = _target(db, fields.get("kind", ""), fields.get("name", "").strip())
        holds.hold(db, target, who=who, why=why, until=until, now=now)
    return see("/admin/retention?done=retention.hold")


@router.post("/lift")
def lift(site: SiteHere, fields: Change) -> Response:
    """Lift one person's holds on a target; what another hold covers stays."""
    who, why = (_words(fields, name) for name in ("who", "why"))
    with site.database.write() as db:
        target = _target(db, fields.get("kind", ""), fields.get("name", ""))
        holds.unhold(db, target, who=who, why=why, now=db.now, of=fields.get("of", ""))
    return see("/admin/retention?done=retention.unhold")


def _words(fields: Mapping[str, str], name: str) -> str:
    words = fields.get(name, "").strip()
    if not words or len(words) > MAX_WORDS or "\x00" in words:
        raise HoldFormError(f"“{name}” takes 1 to {MAX_WORDS} characters")
    return words


def _until(text: str, now: datetime) -> datetime | None:
    """The beginning of the day that is named."""
    if not text:
        return None
    remarks: list[str] = []
    day = day_of(text, remarks)
    if day is None:
        raise HoldFormError(remarks[0])
    at = datetime.combine(day, time(), UTC)
    if at <= now:
        raise HoldFormError(f"{day} is over")
    return at


def _target(db: Transaction, kind: str, name: str) -> Target:
    """The one thing that a hold is about."""
    if kind not in KINDS or not name:
        raise HoldFormError("a hold is on a session, a domain or a listing")
    if kind == "session":
        return Target(session_id=lookup.find(db, CrawlSession, name).id)
    if kind == "listing":
        return Target(listing_id=products.find(db, name).id)
    return Target(domain=domain_of(name))
