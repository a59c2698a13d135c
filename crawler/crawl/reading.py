"""Responses, read: by the crawl's reading processes, and made into captures and verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from attrs import frozen

from crawler.capture.items import PageCapture
from crawler.reading import PageQuestion, Reading
from crawler.sessions.outcome import low_confidence_reasons

if TYPE_CHECKING:
    from scrapy.http import Response

    from crawler.capture.failures import Cause
    from crawler.reading import Readers

MEDIA = "media"  # the page type of what is no HTML


@frozen
class PageVerdict:
    """What the rule makes of a page, for `scrapy parse` and feeds."""

    url: str
    policy: str
    is_pdp: bool
    signals: dict[str, bool]
    reasons: list[str]
    facts: dict[str, Any]
    candidates: list[str]

    @classmethod
    def of(cls, url: str, reading: Reading) -> Self:
        """The verdict's part of a reading."""
        return cls(
            url=url,
            policy=reading.verdict["policy"],
            is_pdp=reading.is_pdp,
            signals=reading.verdict["signals"],
            reasons=list(reading.reasons),
            facts=reading.facts,
            candidates=list(reading.candidates),
        )


async def read(
    readers: Readers, response: Response, policy: str, *, with_links: bool = False, all_links: bool = False
) -> Reading:
    """Judge and read a response; `with_links` looks for candidates and hubs, `all_links` for every link."""
    content_type = _content_type(response)
    question = PageQuestion(
        response.body, response.url, content_type, policy, with_links, all_links=all_links
    )
    return await readers.read(question)


def to_capture(response: Response, session_id: str, page_type: str, reading: Reading) -> PageCapture:
    """A page that was fetched and read, on its way to the book."""
    return PageCapture(**capture_fields(response, session_id, page_type, reading))


def capture_fields(response: Response, session_id: str, page_type: str, reading: Reading) -> dict[str, Any]:
    """The same as fields, for captures that carry more."""
    base = {
        "session_id": session_id,
        "url": response.url,
        "http_status": response.status,
        "content_type": _content_type(response) or None,
        "load_timings": {"fetch_ms": round(1000 * response.meta.get("download_latency", 0))},
    }
    if not reading.is_html:
        return {**base, "page_type": MEDIA, "media": response.body}
    signals = reading.verdict["signals"]
    return {
        **base,
        "page_type": page_type,
        "charset": reading.charset,
        "body": response.body,
        "visible_text": reading.text,
        "features": reading.features,
        "verdict": reading.verdict,
        "facts": reading.facts,
        "canonical_url": reading.canonical_url,
        "low_confidence_reasons": low_confidence_reasons(
            page_type=page_type,
            text_chars=len(reading.text.decode()),
            has_h1=reading.has_h1,
            has_cta=reading.has_cta,
            has_price=signals["has_price"],
            has_add_to_cart=signals["has_add_to_cart"],
        ),
    }


def to_failure(url: str, session_id: str, page_type: str, cause: Cause) -> PageCapture:
    """A page that could not be had."""
    return PageCapture(session_id=session_id, page_type=page_type, url=url, cause=cause)


def _content_type(response: Response) -> str:
    return (response.headers.get("Content-Type") or b"").decode("latin-1")
