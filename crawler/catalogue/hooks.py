"""Writes along with pages and with the ends of sessions, in their transactions: both stay or neither."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

from attrs import frozen
from sqlalchemy import bindparam, func, insert, select, update

from crawler.capture.failures import Cause
from crawler.catalogue import assets, products
from crawler.catalogue.run_pages import RunPage
from crawler.db.models import Artifact, CrawlSession, Diagnostic, DomainDay, Page, ScrapeRecord
from crawler.db.upsert import for_both
from crawler.pdp import traces_in
from crawler.sessions.outcome import Status
from crawler.sessions.page_rows import Hooks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy import Row, Table
    from sqlalchemy.orm import Session
    from sqlalchemy.sql.dml import ReturningInsert

    from crawler.capture.items import PageCapture
    from crawler.db.upsert import Insert
    from crawler.pdp import Facts, Verdict
    from crawler.sessions.page_rows import KeptPage

_JUDGED = insert(cast("Table", Diagnostic.__table__))


class CatalogueHooks(Hooks):
    """Products, prices and assets of a page, how it was judged, and what stays known of sessions."""

    def pages_kept(self, db: Session, kept: Sequence[KeptPage]) -> None:
        """Note how pages were judged, the products that they show, and the assets of runs' pages."""
        judged = [_diagnostic(each.page, *found) for each in kept if (found := _judgement(each.capture))]
        if judged:
            db.connection().execute(_JUDGED, judged)
        seen = products.see(db, [each for each in kept if _is_product(each.capture)])
        for each in kept:
            _note_assets(db, each.page, each.capture, seen.get(each.page.id))

    def sessions_ended(self, db: Session, session_ids: Sequence[UUID], now: datetime) -> None:
        """Note the ends of sessions, each with its share in its domain's day."""
        note_endings(db, session_ids, now)


def _judgement(capture: PageCapture) -> tuple[Verdict, Facts] | None:
    verdict, facts = capture.verdict, capture.facts
    return None if verdict is None or facts is None else (verdict, facts)


def _is_product(capture: PageCapture) -> bool:
    return capture.facts is not None and capture.verdict is not None and capture.verdict.is_pdp


def _note_assets(db: Session, page: Page, capture: PageCapture, product: products.Product | None) -> None:
    """Write the assets of a run's page, or have those that others have of its product follow it."""
    if isinstance(capture, RunPage):
        task = capture.task
        sight = assets.Sight(page.id, page.created_at, task.run_id, capture.source, task.domain)
        assets.see(db, sight, capture.assets, product)
    elif product is not None and not product.is_new:
        assets.follow(db, assets.Sight(page.id, page.created_at), product)


# ── how a page was judged: where its facts came from, and a score ──


# What each fact adds to the score; all of them make a hundred.
WEIGHTS = {
    "name": 20, "price": 20, "currency": 15, "availability": 10, "image": 15,
    "brand": 5, "sku": 5, "gtin": 5, "breadcrumbs": 5,
}  # fmt: skip
DISAGREEMENT = 5  # what each fact costs about which the page's sources do not agree


def quality_of(facts: Facts) -> int:
    """From 0 to 100: how complete the facts are, less where their sources disagree."""
    complete = sum(weight for name, weight in WEIGHTS.items() if getattr(facts, name))
    return max(0, complete - DISAGREEMENT * len(facts.disagreements))


def _diagnostic(page: Page, verdict: Verdict, facts: Facts) -> dict[str, Any]:
    """Where each fact came from and what other sources say, with the signals and reasons of the verdict."""
    return {
        "timestamp": page.created_at,
        "session_id": page.session_id,
        "page_id": page.id,
        "url": page.url,
        "policy": verdict.policy,
        "is_pdp": verdict.is_pdp,
        "quality": quality_of(facts),
        "traces": traces_in(page.facts or {}, page.verdict or {}),
    }


# ── a median out of counts that can be added up ──


STEP = 1.05  # each step is five percent wide, so a median is right to half of that


def added(counts: Mapping[str, int], latencies_ms: Iterable[float]) -> dict[str, int]:
    """The counts with further latencies in them."""
    sums = dict(counts)
    for latency in latencies_ms:
        key = str(round(math.log(max(latency, 1), STEP)))
        sums[key] = sums.get(key, 0) + 1
    return sums


def median_ms(counts: Mapping[str, int]) -> int | None:
    """The median in milliseconds; None where nothing was counted."""
    left = (sum(counts.values()) + 1) // 2
    for step in sorted(counts, key=int):
        left -= counts[step]
        if left <= 0:
            return round(STEP ** int(step))
    return None


# ── what stays known of a session that ended: its record, and its share in its domain's day ──


_COUNTED = ("sessions", "successes", "blocks", "reached", "products")


def _adding_to_day(adding: Insert) -> ReturningInsert[Any]:
    more = {name: _DAYS.c[name] + adding.excluded[name] for name in _COUNTED}
    statement = adding.on_conflict_do_update(
        index_elements=[DomainDay.domain, DomainDay.timestamp], set_=more
    )
    return statement.returning(_DAYS.c.latencies, _DAYS.c.products, _DAYS.c.reached)


_SESSIONS = cast("Table", CrawlSession.__table__)
_PAGES = cast("Table", Page.__table__)
_ARTIFACTS = cast("Table", Artifact.__table__)
_DAYS = cast("Table", DomainDay.__table__)
_SESSION = (
    select(
        _SESSIONS,
        func.count(_ARTIFACTS.c.id).label("files"),
        func.sum(_ARTIFACTS.c.size_bytes).label("bytes"),
    )
    .outerjoin(_ARTIFACTS, _ARTIFACTS.c.session_id == _SESSIONS.c.id)
    .where(_SESSIONS.c.id == bindparam("its_id"))
    .group_by(_SESSIONS.c.id)
)
_LAST_PAGES = select(_PAGES.c.status, _PAGES.c.load_timings).where(
    _PAGES.c.session_id == bindparam("its_id"), _PAGES.c.epoch == bindparam("its_epoch")
)
_RECORD = insert(cast("Table", ScrapeRecord.__table__))
_ADD_TO_DAY = for_both(DomainDay, _adding_to_day)
_DERIVE = (
    update(_DAYS)
    .where(_DAYS.c.domain == bindparam("its_domain"), _DAYS.c.timestamp == bindparam("its_day"))
    .values({name: bindparam(name) for name in ("verdict_rate", "latencies", "median_latency_ms")})
)


@frozen
class Ending:
    """A session that ended, and what its last attempt brought."""

    session: Row[Any]  # with the number of its artifacts, and their bytes
    pages_ok: int
    pages_failed: int
    latencies_ms: tuple[float, ...]


def note_endings(db: Session, session_ids: Iterable[UUID], now: datetime) -> None:
    """Write the records of sessions that end in this transaction, and count them for their domains."""
    # Days are locked in one order, so that two processes never wait for each other.
    endings = (_ending(db, session_id) for session_id in session_ids)
    for ending in sorted(endings, key=lambda each: each.session.domain):
        _note_ending(db, ending, now)


def _ending(db: Session, session_id: UUID) -> Ending:
    session = db.connection().execute(_SESSION, {"its_id": session_id}).one()
    its = {"its_id": session_id, "its_epoch": session.epoch}
    pages = db.connection().execute(_LAST_PAGES, its).all()
    latencies = [timings.get("fetch_ms") for status, timings in pages if status == "ok"]
    return Ending(
        session=session,
        pages_ok=sum(status == "ok" for status, _ in pages),
        pages_failed=sum(status == "failed" for status, _ in pages),
        latencies_ms=tuple(each for each in latencies if isinstance(each, int | float)),
    )


def _record(ending: Ending, now: datetime) -> dict[str, Any]:
    session = ending.session
    took = now - session.started_at if session.started_at else None
    details = {
        "summary": session.error_summary,
        "attempt": session.epoch,
        "mode": session.mode,
        "policy": session.crawl_policy_version,
        "pdp_url": session.pdp_url,
        "pages_ok": ending.pages_ok,
        "pages_failed": ending.pages_failed,
        "artifacts": session.files,
        "bytes": int(session.bytes or 0),
    }
    return {
        "timestamp": now,
        "kind": "session",
        "subject_id": str(session.id),
        "domain": session.domain,
        "url": session.url,
        "status": session.status,
        "cause": session.cause,
        "duration_ms": round(took.total_seconds() * 1000) if took else None,
        "details": details,
    }


def _note_ending(db: Session, ending: Ending, now: datetime) -> None:
    """Write a session's record, and add it to its domain's day, whose row is ours from then on."""
    session, connection = ending.session, db.connection()
    connection.execute(_RECORD, _record(ending, now))
    if not session.domain:
        return
    start = now.replace(hour=0, minute=0, second=0, microsecond=0)
    counts = {
        "sessions": 1,
        "successes": int(session.status == Status.COMPLETED),
        "blocks": int(session.cause is not None and Cause(session.cause).traits.is_block),
        "reached": int(ending.pages_ok > 0),
        "products": int(session.pdp_url is not None),
    }
    row = {"domain": session.domain, "timestamp": start, "latencies": {}, **counts}
    day = connection.execute(_ADD_TO_DAY[connection.dialect.name], row).one()
    latencies = added(day.latencies, ending.latencies_ms)
    derived = {
        "verdict_rate": round(day.products / day.reached, 4) if day.reached else None,
        "latencies": latencies,
        "median_latency_ms": median_ms(latencies),
    }
    connection.execute(_DERIVE, {"its_domain": session.domain, "its_day": start, **derived})
