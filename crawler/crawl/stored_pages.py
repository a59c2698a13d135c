"""Stored pages as feeds export them and as Scrapy's stats count them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.capture.items import StoredPage
from crawler.urls import redacted

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from crawler.sessions.page_rows import KeptPage


def stored_page(crawler: Crawler, kept: KeptPage) -> StoredPage:
    """Count a page that was stored, and return it as feeds export it."""
    stats = crawler.stats
    stats.inc_value("vitrine/pages/stored")
    stats.inc_value("vitrine/artifacts/stored", len(kept.files))
    stats.inc_value("vitrine/artifacts/bytes", sum(len(file.packed.data) for file in kept.files))
    capture = kept.capture
    verdict, facts = capture.verdict, capture.facts
    return StoredPage(
        session_id=capture.session_id,
        page_id=str(kept.page.id),
        page_type=capture.page_type,
        viewport=capture.viewport,
        url=redacted(capture.url),
        status=kept.page.status,
        http_status=capture.http_status,
        is_pdp=verdict is not None and verdict.is_pdp,
        policy=verdict.policy if verdict else None,
        reasons=list(verdict.reasons) if verdict else [],
        name=(facts and facts.name) or None,
        price=str(facts.price) if facts and facts.price is not None else None,
        currency=(facts and facts.currency) or None,
        low_confidence_reasons=list(capture.low_confidence_reasons),
        artifacts=[file.uri for file in kept.files],
    )
