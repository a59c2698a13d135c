"""Which domains are public suffixes, as Scrapy's cookies ask it: by the list that comes along."""

from __future__ import annotations

from scrapy.downloadermiddlewares import cookies
from tldextract import TLDExtract


def use_bundled_suffixes() -> None:
    """Keep cookies from fetching a newer list: that request would pass neither gate nor egress policy."""
    bundled = TLDExtract(include_psl_private_domains=True, suffix_list_urls=(), cache_dir=None)
    cookies._split_domain = bundled  # ruff: ignore[private-member-access] - Scrapy has no setting for it
