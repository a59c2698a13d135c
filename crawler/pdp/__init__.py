"""Decides by rule which pages are product pages, and reads what they say. Pure: bytes in, values out."""

from crawler.pdp.account import Rating, Variant
from crawler.pdp.candidates import discover, fallback_links, is_product_like
from crawler.pdp.facts import Facts, read_facts
from crawler.pdp.features import facts_as_dict, features, verdict_as_dict
from crawler.pdp.links import page_links, page_media, robots_directives
from crawler.pdp.page import Page, read_page
from crawler.pdp.reading import UNJUDGED, PageQuestion, Reading, reading_of
from crawler.pdp.sitemaps import sitemap_urls
from crawler.pdp.verdict import (
    POLICIES,
    Evidence,
    Signals,
    UnknownPolicyError,
    Verdict,
    evaluate_pdp_validation_signals,
    is_valid_pdp_page,
    judge,
    policy_of,
)

__all__ = [
    "POLICIES",
    "UNJUDGED",
    "Evidence",
    "Facts",
    "Page",
    "PageQuestion",
    "Rating",
    "Reading",
    "Signals",
    "UnknownPolicyError",
    "Variant",
    "Verdict",
    "discover",
    "evaluate_pdp_validation_signals",
    "facts_as_dict",
    "fallback_links",
    "features",
    "is_product_like",
    "is_valid_pdp_page",
    "judge",
    "page_links",
    "page_media",
    "policy_of",
    "read_facts",
    "read_page",
    "reading_of",
    "robots_directives",
    "sitemap_urls",
    "verdict_as_dict",
]
