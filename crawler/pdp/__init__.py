"""Decides by rule which pages are product pages, and reads what they say. Pure: bytes in, values out."""

from crawler.pdp.account import Rating, Variant
from crawler.pdp.candidates import is_product_like
from crawler.pdp.facts import Facts, read_facts
from crawler.pdp.features import facts_as_dict, traces_in, verdict_as_dict
from crawler.pdp.page import read_page
from crawler.pdp.reading import UNJUDGED, PageQuestion, Reading, reading_of
from crawler.pdp.sitemaps import sitemap_urls
from crawler.pdp.stored import facts_in, verdict_in
from crawler.pdp.verdict import (
    POLICIES,
    Evidence,
    Signals,
    Verdict,
    evaluate_pdp_validation_signals,
    is_valid_pdp_page,
    judge,
)

__all__ = [
    "POLICIES",
    "UNJUDGED",
    "Evidence",
    "Facts",
    "PageQuestion",
    "Rating",
    "Reading",
    "Signals",
    "Variant",
    "Verdict",
    "evaluate_pdp_validation_signals",
    "facts_as_dict",
    "facts_in",
    "is_product_like",
    "is_valid_pdp_page",
    "judge",
    "read_facts",
    "read_page",
    "reading_of",
    "sitemap_urls",
    "traces_in",
    "verdict_as_dict",
    "verdict_in",
]
