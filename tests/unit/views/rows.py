"""Rows as a crawl leaves them, with whatever a test wants otherwise."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from crawler.db.models import (
    Artifact,
    Asset,
    AssetSighting,
    AssetVersion,
    CrawlException,
    CrawlLog,
    CrawlSession,
    Haul,
    HaulMember,
    Hold,
    Job,
    JobStep,
    Listing,
    Page,
    Price,
    Run,
    Task,
)

THEN = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
NOW = THEN + timedelta(days=1)
URL = "https://shop.example/p/chair"
FACTS = {"name": "A chair", "price": "19.90", "currency": "EUR", "availability": "InStock"}


def a_session(**columns: Any) -> CrawlSession:
    """A visit that found its product page."""
    given = {
        "id": uuid4(), "url": "https://shop.example/", "domain": "shop.example", "mode": "standard",
        "retention_policy": "standard", "status": "completed", "crawl_policy_version": "v1.2",
        "config_snapshot": {"A": "1"}, "epoch": 1, "pdp_url": URL, "created_at": THEN, "started_at": THEN,
        "finished_at": THEN + HOUR,
    }  # fmt: skip
    return CrawlSession(**{**given, **columns})


def a_page(session_id: UUID, **columns: Any) -> Page:
    """The product page of a session."""
    given = {
        "id": uuid4(), "session_id": session_id, "epoch": 1, "page_type": "pdp", "viewport": "desktop",
        "status": "ok", "url": URL, "http_status": 200, "low_confidence_reasons": [], "load_timings": {},
        "verdict": {"is_pdp": True}, "facts": FACTS, "created_at": THEN,
    }  # fmt: skip
    return Page(**{**given, **columns})


def an_artifact(session_id: UUID, **columns: Any) -> Artifact:
    """The HTML of a page."""
    given = {
        "id": uuid4(), "session_id": session_id, "type": "html_gz", "storage_uri": f"a/{uuid4()}.html.gz",
        "size_bytes": 100, "checksum": "c" * 64, "content_sha256": "d" * 64, "content_type": "text/html",
        "created_at": THEN, "retention_until": THEN + timedelta(days=14),
    }  # fmt: skip
    return Artifact(**{**given, **columns})


def a_line(session_id: UUID, message: str, **columns: Any) -> CrawlLog:
    """A line of a session's log."""
    given = {"timestamp": THEN, "level": "info", "event_type": "session", "details": {"n": 1}}
    return CrawlLog(**{**given, "session_id": session_id, "message": message, **columns})


def a_listing(**columns: Any) -> Listing:
    """A chair."""
    key = uuid4()
    given = {
        "id": key, "domain": "shop.example", "url": URL, "url_sha256": key.hex, "name": "A chair",
        "first_seen_at": THEN, "last_seen_at": THEN,
    }  # fmt: skip
    return Listing(**{**given, **columns})


def a_price(listing_id: UUID, price: str, **columns: Any) -> Price:
    """What it cost."""
    given = {
        "listing_id": listing_id, "currency": "EUR", "price": Decimal(price), "availability": "InStock",
        "seen_at": THEN, "url": URL, "content_sha256": "d" * 64, "session_id": uuid4(),
    }  # fmt: skip
    return Price(**{**given, **columns})


def a_run(**columns: Any) -> Run:
    """A run that goes on."""
    given = {
        "source": "shop", "plan": {"start_urls": [URL]}, "status": "running", "created_at": THEN,
        "started_at": THEN,
    }  # fmt: skip
    return Run(**{**given, **columns})


def a_task(run_id: int, url: str, **columns: Any) -> Task:
    """A page that a run is to fetch."""
    given = {
        "run_id": run_id, "domain": "shop.example", "url": url, "url_sha256": url, "next_run_at": THEN,
        "updated_at": THEN, "created_at": THEN,
    }  # fmt: skip
    return Task(**{**given, **columns})


def an_exception(run_id: int, message: str, **columns: Any) -> CrawlException:
    """Something that is worth a look."""
    given = {"stage": "fetch", "url": URL, "context": {"n": 1}, "created_at": THEN, "last_at": THEN}
    return CrawlException(**{**given, "run_id": run_id, "message": message, "key": message, **columns})


def an_asset(run_id: int, key: str, **columns: Any) -> Asset:
    """What a plugin made of a page."""
    given = {
        "source": "shop", "plugin": "page", "domain": "shop.example", "kind": "page", "key": key,
        "key_sha256": key, "url": URL, "checksum": "c" * 64, "first_seen_at": THEN, "last_seen_at": THEN,
        "last_run_id": run_id,
    }  # fmt: skip
    return Asset(**{**given, **columns})


def a_version(asset_id: int, number: int, content: dict[str, Any], **columns: Any) -> AssetVersion:
    """An asset as it was then."""
    given = {"checksum": f"{number}" * 64, "details": {}, "run_id": 1, "seen_at": THEN}
    return AssetVersion(**{**given, "asset_id": asset_id, "number": number, "content": content, **columns})


def a_sighting(run_id: int, asset_id: int, status: str) -> AssetSighting:
    """What a run found of an asset."""
    return AssetSighting(run_id=run_id, asset_id=asset_id, status=status)


def a_haul(name: str, *members: tuple[str, UUID | None], created_at: datetime = THEN) -> Haul:
    """URLs and the sessions that captured them."""
    rows = [HaulMember(position=at, url=url, session_id=key) for at, (url, key) in enumerate(members)]
    return Haul(name=name, source="shops.txt", created_at=created_at, members=rows)


def a_hold(**columns: Any) -> Hold:
    """Somebody's word."""
    given = {"id": uuid4(), "who": "legal", "why": "a case", "created_at": THEN}
    return Hold(**{**given, **columns})


def a_job(**columns: Any) -> Job:
    """An order to archive the shop."""
    given = {
        "name": "shop-20260301", "output_dir": f"/nowhere/{uuid4()}", "status": "queued", "created_at": THEN,
        "updated_at": THEN, "queued_at": THEN,
    }  # fmt: skip
    return Job(**{**given, **columns})


def a_step(job_id: int, **columns: Any) -> JobStep:
    """The crawl of a job."""
    given = {"job_id": job_id, "detail": {}, "next_run_at": THEN, "created_at": THEN, "updated_at": THEN}
    return JobStep(**{**given, **columns})
