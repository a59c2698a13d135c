"""A response, read: the rule's verdict, the facts and the text, found in one pass off the reactor."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Self

from attrs import frozen
from scrapy.utils.asyncio import run_in_thread

from crawler.pdp import (
    discover,
    facts_as_dict,
    fallback_links,
    features,
    judge,
    read_facts,
    read_page,
    verdict_as_dict,
    visible_text,
)
from crawler.sessions.items import PageCapture
from crawler.sessions.outcome import low_confidence_reasons

if TYPE_CHECKING:
    from scrapy.http import Response

    from crawler.sessions.outcome import Trouble

ANY_LINK = 3  # the tier of links that say nothing about where they lead
NO_HTML = {"not_html", "empty_page"}


@frozen
class Reading:
    """What one pass over a page found."""

    verdict: dict[str, Any]
    facts: dict[str, Any]
    features: bytes
    text: bytes
    charset: str
    candidates: tuple[str, ...]  # links that look like products, where they stand or where they lead
    others: tuple[str, ...]  # links that may be anything
    hubs: tuple[str, ...]  # pages that may lead to products
    has_h1: bool
    has_cta: bool

    @property
    def is_pdp(self) -> bool:
        """Whether the rule takes the page for a product page."""
        return bool(self.verdict["is_pdp"])

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the rule refuses it."""
        return tuple(self.verdict["reasons"])

    @property
    def is_html(self) -> bool:
        """Whether there was a page to be read at all."""
        return NO_HTML.isdisjoint(self.reasons)


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


async def read(response: Response, policy: str, *, with_links: bool = False) -> Reading:
    """Judge and read a response in a thread; `with_links` looks for candidates and hubs as well."""
    content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
    return await run_in_thread(
        read_body, response.body, response.url, content_type, policy, with_links=with_links
    )


def read_body(body: bytes, url: str, content_type: str, policy: str, *, with_links: bool = False) -> Reading:
    """Judge and read a page."""
    page = read_page(body, url=url, content_type=content_type)
    verdict, facts = judge(page, policy), read_facts(page)
    found = features(page, verdict, facts)
    links = discover(page) if with_links else []
    return Reading(
        verdict=verdict_as_dict(verdict),
        facts=facts_as_dict(facts),
        features=json.dumps(found, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace"),
        text=visible_text(page).encode("utf-8", "replace"),
        charset=page.charset,
        candidates=tuple(link.url for link in links if link.tier < ANY_LINK),
        others=tuple(link.url for link in links if link.tier >= ANY_LINK),
        hubs=tuple(fallback_links(page)) if with_links else (),
        has_h1=bool(found["headings"]["h1"]),
        has_cta=bool(found["ctas"]),
    )


def to_capture(response: Response, session_id: str, page_type: str, reading: Reading) -> PageCapture:
    """A page that was fetched and read, on its way to the book."""
    signals = reading.verdict["signals"]
    latency = response.meta.get("download_latency", 0)
    return PageCapture(
        session_id=session_id,
        page_type=page_type,
        url=response.url,
        http_status=response.status,
        content_type=(response.headers.get("Content-Type") or b"").decode("latin-1") or None,
        charset=reading.charset,
        load_timings={"fetch_ms": round(latency * 1000)},
        body=response.body,
        visible_text=reading.text,
        features=reading.features,
        verdict=reading.verdict,
        facts=reading.facts,
        low_confidence_reasons=low_confidence_reasons(
            page_type=page_type,
            text_chars=len(reading.text.decode()),
            has_h1=reading.has_h1,
            has_cta=reading.has_cta,
            has_price=signals["has_price"],
            has_add_to_cart=signals["has_add_to_cart"],
        ),
    )


def to_failure(url: str, session_id: str, page_type: str, trouble: Trouble) -> PageCapture:
    """A page that could not be had."""
    return PageCapture(session_id=session_id, page_type=page_type, url=url, trouble=trouble)
