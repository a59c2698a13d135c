"""The search for a site's product page: what is still to be tried, and when it is over. Pure."""

from __future__ import annotations

from collections import deque
from enum import Enum
from itertools import islice
from typing import TYPE_CHECKING

from attrs import define, field

from crawler.capture.failures import Cause
from crawler.urls import canonical, same_site

if TYPE_CHECKING:
    from collections.abc import Iterable

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
    _likely: deque[str] = field(factory=deque)
    _hubs: deque[str] = field(factory=deque)
    _sitemaps: deque[str] = field(factory=deque)
    _others: deque[str] = field(factory=deque)
    _seen: set[str] = field(factory=set)
    tried: int = 0
    looked_into: int = 0
    sitemaps_read: int = 0
    refusals: int = 0
    last_refusal: Cause | None = None

    def add_likely(self, urls: Iterable[str]) -> int:
        """Queue links that look like products; how many of them are new."""
        fresh = list(islice((url for url in urls if self._is_new(url)), MAX_CANDIDATES))
        self._likely.extend(fresh)
        return len(fresh)

    def add_others(self, urls: Iterable[str]) -> None:
        """Queue links that may be anything."""
        self._others.extend(urls)

    def add_hubs(self, urls: Iterable[str]) -> None:
        """Queue pages that may lead to products."""
        self._hubs.extend(urls)

    def add_sitemaps(self, urls: Iterable[str]) -> None:
        """Queue sitemaps, those that speak of products first."""
        self._sitemaps.extend(sorted(urls, key=lambda url: "product" not in url.lower()))

    def next(self) -> tuple[Aim, str] | None:
        """What to ask for next; None when the search is over."""
        if self.is_refused:
            return None
        if self.tried < MAX_CANDIDATES and self._likely:
            self.tried += 1
            return Aim.CANDIDATE, self._likely.popleft()
        if self.tried < MAX_CANDIDATES and (url := self._next_place()):
            return url
        if self.tried < MAX_CANDIDATES and (other := self._first_new(self._others)):
            self.tried += 1
            return Aim.CANDIDATE, other
        return None

    def _next_place(self) -> tuple[Aim, str] | None:
        """Where to look for candidates, now that there is none."""
        if self.looked_into < MAX_HUBS and (hub := self._first_new(self._hubs)):
            self.looked_into += 1
            return Aim.HUB, hub
        if self.sitemaps_read < MAX_SITEMAPS and (sitemap := self._first_new(self._sitemaps)):
            self.sitemaps_read += 1
            return Aim.SITEMAP, sitemap
        return None

    def note(self, cause: Cause | None) -> None:
        """Learn what came of a page; None means that it was fetched."""
        if cause is not None and cause.traits.is_block:
            self.refusals += 1
            self.last_refusal = cause
        else:
            self.refusals = 0

    @property
    def is_refused(self) -> bool:
        """Whether the site does not want to be searched."""
        return self.refusals >= MAX_REFUSALS

    def verdict(self) -> Cause:
        """Why no product page was found."""
        if self.is_refused and self.last_refusal:
            return self.last_refusal
        return Cause.NO_VALID_CANDIDATE if self.tried else Cause.NO_CANDIDATES

    def _first_new(self, urls: deque[str]) -> str | None:
        while urls:
            if self._is_new(url := urls.popleft()):
                return url
        return None

    def _is_new(self, url: str) -> bool:
        key = canonical(url)
        if key in self._seen or not same_site(url, self.home):
            return False
        self._seen.add(key)
        return True
