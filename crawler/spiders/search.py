"""The search for a site's product page: what is still to be tried, and when it is over. Pure."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from attrs import define, field

from crawler.sessions.outcome import Cause
from crawler.urls import canonical, same_site

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_CANDIDATES = 20
MAX_HUBS = 3
# After so many refusals in a row a site is left alone.
MAX_REFUSALS = 2
REFUSALS = (Cause.BLOCKED, Cause.RATE_LIMITED, Cause.BOT_BLOCK)


@define
class Search:
    """Candidates first; pages that may lead to some when those have run out (SPEC F153)."""

    home: str
    _candidates: deque[str] = field(factory=deque)
    _hubs: deque[str] = field(factory=deque)
    _seen: set[str] = field(factory=set)
    tried: int = 0
    looked_into: int = 0
    refusals: int = 0
    last_refusal: Cause | None = None

    def add_candidates(self, urls: Iterable[str]) -> int:
        """Queue what was not queued before; how many that were."""
        room = MAX_CANDIDATES - self.tried - len(self._candidates)
        fresh = [url for url in urls if self._is_new(url)][: max(0, room)]
        self._candidates.extend(fresh)
        return len(fresh)

    def add_hubs(self, urls: Iterable[str]) -> None:
        """Queue pages that may lead to products."""
        self._hubs.extend(url for url in urls if self._is_new(url))

    def next_candidate(self) -> str | None:
        """The next page to judge."""
        if not self._candidates or self.is_refused:
            return None
        self.tried += 1
        return self._candidates.popleft()

    def next_hub(self) -> str | None:
        """The next page to look for candidates on."""
        if not self._hubs or self.looked_into >= MAX_HUBS or self.is_refused or self.tried >= MAX_CANDIDATES:
            return None
        self.looked_into += 1
        return self._hubs.popleft()

    def note(self, trouble: Cause | None) -> None:
        """Learn what came of a page; None means that it was fetched."""
        if trouble in REFUSALS:
            self.refusals += 1
            self.last_refusal = trouble
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

    def _is_new(self, url: str) -> bool:
        key = canonical(url)
        if key in self._seen or not same_site(url, self.home):
            return False
        self._seen.add(key)
        return True
