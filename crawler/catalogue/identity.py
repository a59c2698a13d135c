"""Which product a page shows: its canonical URL where that is to be believed, else its own. Pure."""

from __future__ import annotations

import hashlib
from urllib.parse import urljoin

from attrs import frozen

from crawler.errors import BadUrlError
from crawler.urls import canonical, domain_of, require_http_url, root_of, same_site


@frozen
class Identity:
    """What a listing is known by."""

    domain: str
    url: str

    @property
    def url_sha256(self) -> str:
        """A short stand-in for the URL."""
        return hashlib.sha256(self.url.encode()).hexdigest()


def identity_of(final_url: str, declared: str | None) -> Identity:
    """The identity of the product at `final_url`, whose page declares `declared` as its canonical URL."""
    url = _believed(final_url, declared) or canonical(final_url)
    return Identity(domain_of(url), url)


def _believed(final_url: str, declared: str | None) -> str | None:
    """The declared URL if it is of the same site, and not the home page that careless themes declare."""
    if not declared:
        return None
    try:
        url = canonical(require_http_url(urljoin(final_url, declared.strip())))
        if not same_site(url, final_url):
            return None
        is_home = url == canonical(root_of(url)) != canonical(final_url)
    except (BadUrlError, ValueError):
        return None
    return None if is_home else url
