"""The search for a site's product page: what is still to be tried, and when it is over. Pure."""

from __future__ import annotations

from collections import deque
from enum import Enum
from itertools import islice
from typing import TYPE_CHECKING, Self
from urllib.parse import urljoin

from attrs import define, field

from crawler.capture.failures import Cause
from crawler.errors import BadUrlError
from crawler.urls import canonical, require_http_url, same_site

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.pdp import Reading

MAX_CANDIDATES = 20
MAX_HUBS = 3
MAX_SITEMAPS = 3
# After so many refusals in a row a site is left alone.
MAX_REFUSALS = 2


class Aim(Enum):
    """What the search's next request is for."""

    CANDIDATE = "candidate"  # to be judged
    HUB = "hub"  # to be looked through for candidates
    SITEMAP = "sitemap"


@define
class Search:
    """Links that look like products first; then what may lead to some; any other link last (SPEC F153)."""

    home: str
    likely: deque[str] = field(factory=deque)
    _hubs: deque[str] = field(factory=deque)
    _sitemaps: deque[str] = field(factory=deque)
    _others: deque[str] = field(factory=deque)
    _seen: set[str] = field(factory=set)
    tried: int = 0
    looked_into: int = 0
    sitemaps_read: int = 0
    refusals: int = 0
    last_refusal: Cause | None = None

    @classmethod
    def of(cls, home: str, reading: Reading) -> Self:
        """The search that begins at a home page."""
        search = cls(home)
        search.add_page(reading)
        search._hubs.extend(reading.hubs)
        search.add_sitemap((), [urljoin(home, "/sitemap.xml")])
        return search

    def add_page(self, reading: Reading) -> int:
        """Queue the links of a page; how many new ones look like products."""
        self._others.extend(reading.others)
        return self._add_likely(reading.candidates)

    def add_sitemap(self, candidates: Iterable[str], sitemaps: Iterable[str]) -> int:
        """Queue what a sitemap lists; of further sitemaps those first that speak of products."""
        self._sitemaps.extend(sorted(sitemaps, key=lambda url: "product" not in url.lower()))
        return self._add_likely(candidates)

    def next(self) -> tuple[Aim, str] | Cause:
        """What to ask for next; why no product page was found when the search is over."""
        if self.refusals >= MAX_REFUSALS and self.last_refusal:
            return self.last_refusal
        if self.tried < MAX_CANDIDATES:
            if self.likely:
                return self._try(self.likely.popleft())
            if place := self._next_place():
                return place
            if other := self._first_new(self._others):
                return self._try(other)
        return Cause.NO_VALID_CANDIDATE if self.tried else Cause.NO_CANDIDATES

    def note(self, cause: Cause | None) -> None:
        """Learn what came of a page; None means that it was fetched."""
        if cause is not None and cause.traits.is_block:
            self.refusals += 1
            self.last_refusal = cause
        else:
            self.refusals = 0

    def _try(self, url: str) -> tuple[Aim, str]:
        self.tried += 1
        return Aim.CANDIDATE, url

    def _next_place(self) -> tuple[Aim, str] | None:
        """Where to look for candidates, now that there is none."""
        if self.looked_into < MAX_HUBS and (hub := self._first_new(self._hubs)):
            self.looked_into += 1
            return Aim.HUB, hub
        if self.sitemaps_read < MAX_SITEMAPS and (sitemap := self._first_new(self._sitemaps)):
            self.sitemaps_read += 1
            return Aim.SITEMAP, sitemap
        return None

    def _add_likely(self, urls: Iterable[str]) -> int:
        fresh = list(islice((url for url in urls if self._is_new(url)), MAX_CANDIDATES))
        self.likely.extend(fresh)
        return len(fresh)

    def _first_new(self, urls: deque[str]) -> str | None:
        while urls:
            if self._is_new(url := urls.popleft()):
                return url
        return None

    def _is_new(self, url: str) -> bool:
        try:
            key = canonical(require_http_url(url))
        except (BadUrlError, ValueError):  # a sitemap may hold anything
            return False
        if key in self._seen or not same_site(url, self.home):
            return False
        self._seen.add(key)
        return True
