"""Visits without a network: what a crawl would write, written by the store of sessions."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from attrs import frozen
from sqlalchemy import func, select, update

from crawler.capture.items import PageCapture
from crawler.catalogue.hooks import CatalogueHooks
from crawler.clock import utc_now
from crawler.config import load_settings
from crawler.db.models import Artifact, Base, CrawlSession
from crawler.evidence.folder_store import FolderStore
from crawler.evidence.store_mark import adopt_store
from crawler.fleet.store import FleetStore
from crawler.pdp import Facts, Signals, Verdict
from crawler.sessions.journal import Journal
from crawler.sessions.rows import SessionOrder
from crawler.sessions.store import SessionStore
from crawler.sessions.visit import ProductPage
from crawler.sessions.visit_writes import EndWrite, LogWrite, StartWrite
from crawler.urls import domain_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from crawler.capture.failures import Cause
    from crawler.db.engine import Database

DAY = timedelta(days=1)
PRODUCT = "https://shop.example/p/chair"
AMOUNTS = {"price", "list_price"}
CHAIR = {"name": "A chair", "price": "19.90", "currency": "EUR", "availability": "InStock", "brand": "Oak"}


@frozen
class Visits:
    """A store of sessions with a catalogue beside it."""

    store: SessionStore

    @property
    def database(self) -> Database:
        """Where it writes."""
        return self.store.database

    @property
    def blobs(self) -> FolderStore:
        """Where its files are."""
        assert isinstance(self.store.writes.blobs, FolderStore)
        return self.store.writes.blobs

    def visit(
        self,
        facts: Mapping[str, Any] | None = None,
        *,
        url: str = PRODUCT,
        is_pdp: bool = True,
        declared: str | None = None,
        cause: Cause | None = None,
        by_fleet: bool = False,
    ) -> UUID:
        """A session that captured one page, of a crawl's own or one that waited for anybody; its id."""
        order = SessionOrder(url, domain_of(url), entry_id=str(uuid4()) if by_fleet else None)
        if by_fleet:
            fleet = FleetStore(self.store)
            fleet.add([order], {})
            [key] = [each.session_id for each in fleet.waiting(1, ())]
        else:
            [key] = self.store.queue([order], {})
        visit = self.store.writes.post_now(StartWrite(self.store, order, Journal(str(key), order.domain)))
        said = {"is_pdp": is_pdp, "declared": declared, "cause": cause}
        self.store.writes.post_now(self.store.writes.page(visit, page(str(key), url, facts or CHAIR, **said)))
        if is_pdp and not cause:
            visit.pdp = ProductPage(url, missing=None)
        self.store.writes.post_now(EndWrite(self.store, visit))
        self.store.writes.post_now(LogWrite(self.store.database, visit.fence.session_id, visit.journal))
        return key

    def rows(self, table: type[Base]) -> list[Any]:
        """A table's rows in the order of their keys."""
        with self.database.read() as db:
            return list(db.scalars(select(table).order_by(*table.__mapper__.primary_key)))

    def count(self, table: type[Base]) -> int:
        """How many rows a table has."""
        with self.database.read() as db:
            return db.execute(select(func.count()).select_from(table)).scalar_one()

    def change(self, table: type[Base], *which: Any, **columns: Any) -> None:
        """Somebody writes to rows, or time goes by."""
        with self.database.write() as db:
            db.execute(update(table).where(*which).values(**columns))

    def lose_files(self, session: UUID, age: timedelta = 2 * DAY) -> None:
        """The files of a session have had their time."""
        self.change(Artifact, Artifact.session_id == session, deleted_at=utc_now() - age)
        self.change(CrawlSession, CrawlSession.id == session, finished_at=utc_now() - age)


def page(session: str, url: str, facts: Mapping[str, Any], **said: Any) -> PageCapture:
    """A page as a spider yields it."""
    if said["cause"]:
        return PageCapture(session_id=session, page_type="pdp", url=url, cause=said["cause"])
    return PageCapture(
        session_id=session,
        page_type="pdp",
        url=url,
        http_status=200,
        load_timings={"fetch_ms": 120},
        body=b"<html>a page</html>",
        visible_text=b"a page",
        features=b"{}",
        verdict=Verdict("v1.2", is_pdp=said["is_pdp"], signals=Signals(has_price=True)),
        facts=facts_of(facts),
        canonical_url=said["declared"],
    )


def facts_of(said: Mapping[str, Any]) -> Facts:
    """Facts whose amounts are given as texts; None says nothing."""
    known: dict[str, Any] = {name: value for name, value in said.items() if value is not None}
    return Facts(**{**known, **{name: Decimal(known[name]) for name in AMOUNTS & known.keys()}})


def new_visits(database: Database, folder: Path) -> Visits:
    """A store of sessions with nothing in it."""
    settings = load_settings({"artifacts_dir": str(folder)})
    adopt_store(database, FolderStore(folder))
    return Visits(SessionStore(settings, database, FolderStore(folder), (CatalogueHooks(),)))
