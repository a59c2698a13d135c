"""A capture is kept by its visit, and becomes what feeds export."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.capture.failures import Cause
from crawler.capture.items import PageCapture, StoredPage
from crawler.evidence.blobs import DiskFullError
from crawler.sessions.rows import StaleSessionError
from crawler.urls import redacted

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from crawler.crawl.visits import Visits
    from crawler.sessions.page_rows import KeptPage


async def keep(crawler: Crawler, visits: Visits, capture: PageCapture) -> StoredPage:
    """Store a page; one that cannot be stored ends its session, unless that is another's by now."""
    try:
        kept = await visits.keep(capture)
    except StaleSessionError:
        raise
    except Exception as error:
        # Whatever it was: a session that cannot keep what it sees must not end as if it had.
        cause = Cause.DISK_FULL if isinstance(error, DiskFullError) else Cause.STORE_FAILED
        visits.stop(capture.session_id, cause, error=f"{type(error).__name__}: {error}")
        raise
    _count(crawler, kept)
    return _as_stored(capture, kept)


def _count(crawler: Crawler, kept: KeptPage) -> None:
    stats = crawler.stats
    stats.inc_value("vitrine/pages/stored")
    stats.inc_value("vitrine/artifacts/stored", len(kept.files))
    stats.inc_value("vitrine/artifacts/bytes", sum(len(file.packed.data) for file in kept.files))


def _as_stored(capture: PageCapture, kept: KeptPage) -> StoredPage:
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
