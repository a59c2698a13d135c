"""What is asked about a page, and what one pass over it answers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from attrs import frozen

from crawler.html.visible import visible_text
from crawler.pdp.candidates import discover, fallback_links
from crawler.pdp.facts import Facts, read_facts
from crawler.pdp.features import features
from crawler.pdp.links import page_links, page_media, page_styles, robots_directives
from crawler.pdp.page import read_page
from crawler.pdp.verdict import Signals, Verdict, judge

if TYPE_CHECKING:
    from crawler.pdp.page import Page

ANY_LINK = 3  # the tier of links that say nothing about where they lead
UNJUDGED = ""  # the policy of who judges nothing
NO_HTML = {"not_html", "empty_page"}


@frozen
class PageQuestion:
    """A page to be read."""

    body: bytes
    url: str
    content_type: str
    policy: str  # UNJUDGED: only where the page leads is wanted
    with_links: bool  # look for candidates and hubs as well
    all_links: bool = False  # collect every link, the media and what robots are told


@frozen
class Reading:
    """What one pass over a page found."""

    verdict: Verdict
    facts: Facts
    is_html: bool  # whether there was a page to be read at all
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
    styles: tuple[str, ...] = ()  # stylesheets, icons and preloaded fonts
    title: str | None = None  # of the document

    @property
    def is_judged(self) -> bool:
        """Whether the verdict, the facts, the text and what else is not of links say anything."""
        return self.verdict.policy != UNJUDGED


def reading_of(question: PageQuestion) -> Reading:
    """Judge and read a page."""
    page = read_page(question.body, url=question.url, content_type=question.content_type)
    if question.policy == UNJUDGED:
        return _unjudged(page)
    verdict, facts = judge(page, question.policy), read_facts(page)
    found = features(page, verdict, facts)
    links = discover(page) if question.with_links else []
    return Reading(
        verdict=verdict,
        facts=facts,
        is_html=NO_HTML.isdisjoint(verdict.reasons),
        features=json.dumps(found, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace"),
        text=visible_text(page.tree).encode("utf-8", "replace"),
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
        styles=page_styles(page) if question.all_links else (),
        title=found["meta"]["title"],
    )


def _unjudged(page: Page) -> Reading:
    """Where a page leads, and nothing else."""
    return Reading(
        verdict=Verdict(UNJUDGED, is_pdp=False, signals=Signals()),
        facts=Facts(),
        is_html=page.problem not in NO_HTML,
        features=b"{}",
        text=b"",
        charset=page.charset,
        canonical_url=None,
        candidates=(),
        others=(),
        hubs=(),
        links=page_links(page),
        media=page_media(page),
        robots_directives=robots_directives(page),
        has_h1=False,
        has_cta=False,
        styles=page_styles(page),
    )
