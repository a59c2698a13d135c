"""Reads along as the book is written: listings, prices and records come into being with their pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import bindparam, insert, update

from crawler.catalogue import listings
from crawler.catalogue.endings import note_endings
from crawler.catalogue.identity import identity_of
from crawler.catalogue.prices import Proof, note_price
from crawler.catalogue.quality import quality_of, traces_of
from crawler.catalogue.sighting import sighting_of
from crawler.db.models import Diagnostic, Page

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy import Table
    from sqlalchemy.orm import Session

    from crawler.sessions.files import KeptFile
    from crawler.sessions.items import PageCapture

# Built once: building a statement costs more than running it.
_PAGES = cast("Table", Page.__table__)
_JUDGED = insert(cast("Table", Diagnostic.__table__))
_SHOWS = update(_PAGES).where(_PAGES.c.id == bindparam("its_id")).values(listing_id=bindparam("its_listing"))


class CatalogueClerk:
    """Writes in the transaction of the page, or of the session's end: both stay or neither."""

    def page_kept(self, db: Session, capture: PageCapture, page: Page, files: Sequence[KeptFile]) -> None:
        """Note how a page was judged; of a valid product page, its product and price as well."""
        if page.verdict is None:
            return
        facts = page.facts or {}
        db.connection().execute(_JUDGED, _diagnostic(page, page.verdict, facts))
        if page.verdict.get("is_pdp"):
            _note_product(db, page, capture.canonical_url, files)

    def sessions_ended(self, db: Session, session_ids: Sequence[UUID], now: datetime) -> None:
        """Note the ends of sessions."""
        note_endings(db, session_ids, now)


def _note_product(db: Session, page: Page, declared: str | None, files: Sequence[KeptFile]) -> None:
    sighting = sighting_of(page.facts or {})
    identity = identity_of(page.url, declared)
    page.listing_id = listings.see(db, identity, sighting, session_id=page.session_id, now=page.created_at)
    db.connection().execute(_SHOWS, {"its_id": page.id, "its_listing": page.listing_id})
    if sighting.tag:
        proof = Proof(page.url, _digest(files), page.session_id)
        note_price(db, page.listing_id, sighting.tag, proof, now=page.created_at)


def _diagnostic(page: Page, verdict: dict[str, Any], facts: dict[str, Any]) -> dict[str, Any]:
    return {
        "timestamp": page.created_at,
        "session_id": page.session_id,
        "page_id": page.id,
        "url": page.url,
        "policy": str(verdict.get("policy")),
        "is_pdp": bool(verdict.get("is_pdp")),
        "quality": quality_of(facts),
        "traces": traces_of(verdict, facts),
    }


def _digest(files: Sequence[KeptFile]) -> str | None:
    return next((file.packed.content_sha256 for file in files if file.type == "html_gz"), None)
