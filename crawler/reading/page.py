"""What is asked about a page, and what one pass over it answers. Pure."""

from __future__ import annotations

import json
from typing import Any

from attrs import frozen

from crawler.pdp import (
    discover,
    facts_as_dict,
    fallback_links,
    features,
    judge,
    page_links,
    page_media,
    read_facts,
    read_page,
    robots_directives,
    verdict_as_dict,
    visible_text,
)

ANY_LINK = 3  # the tier of links that say nothing about where they lead
NO_HTML = {"not_html", "empty_page"}


@frozen
class PageQuestion:
    """A page to be read."""

    body: bytes
    url: str
    content_type: str
    policy: str
    with_links: bool  # look for candidates and hubs as well
    all_links: bool = False  # collect every link, the media and what robots are told


@frozen
class Reading:
    """What one pass over a page found."""

    verdict: dict[str, Any]
    facts: dict[str, Any]
    features: bytes
    text: bytes
    charset: str
    canonical_url: str | None  # as the page declares it
    candidates: tuple[str, ...]  # links that look like products, where they stand or where they lead
    others: tuple[str, ...]  # links that may be anything
    hubs: tuple[str, ...]  # pages that may lead to products
    links: dict[str, bool]  # where the page leads, in its order → whether that looks like a product
    media: tuple[str, ...]  # pictures, videos, sounds and PDF files
    robots_directives: tuple[str, ...]  # what a robots meta element says: nofollow, noindex …
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


def read_page_of(question: PageQuestion) -> Reading:
    """Judge and read a page."""
    page = read_page(question.body, url=question.url, content_type=question.content_type)
    verdict, facts = judge(page, question.policy), read_facts(page)
    found = features(page, verdict, facts)
    links = discover(page) if question.with_links else []
    return Reading(
        verdict=verdict_as_dict(verdict),
        facts=facts_as_dict(facts),
        features=json.dumps(found, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace"),
        text=visible_text(page).encode("utf-8", "replace"),
        charset=page.charset,
        canonical_url=found["meta"]["canonical_url"],
        candidates=tuple(link.url for link in links if link.tier < ANY_LINK),
        others=tuple(link.url for link in links if link.tier >= ANY_LINK),
        hubs=tuple(fallback_links(page)) if question.with_links else (),
        links=page_links(page) if question.all_links else {},
        media=page_media(page) if question.all_links else (),
        robots_directives=robots_directives(page) if question.all_links else (),
        has_h1=bool(found["headings"]["h1"]),
        has_cta=bool(found["ctas"]),
    )
