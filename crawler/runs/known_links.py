"""Links that need no second look: late in a crawl nearly all of a page's are those of every other page.

A link of a stored page is decided for good: it is a task of the run by now, or the run's scope, which only
shrinks, keeps it out. What pages led to is remembered once they are stored, by the process that stored them;
others, and the same after a restart, ask the database.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from attrs import define, field, frozen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.runs.sources import Source

MOST = 10_000  # of each generation


@frozen
class Leads:
    """Where a page that is about to be stored leads."""

    urls: tuple[str, ...] = ()  # that were decided with it
    domains: frozenset[str] = frozenset()  # of its new tasks


NOWHERE = Leads()


@define(eq=False)
class KnownLinks:
    """Two generations of URLs: when the younger is full, the elder goes, but for what was asked for again."""

    most: int = MOST
    _young: set[str] = field(factory=set)
    _old: set[str] = field(factory=set)
    _open: dict[int, Leads] = field(factory=dict)  # by the task of the page, until that has ended

    @classmethod
    def of(cls, source: Source) -> Self:
        """Those of a run; one that takes only so many pages may have room again for what it had none for."""
        return cls(0 if source.max_pages is not None else MOST)

    def unknown(self, urls: Iterable[str]) -> list[str]:
        """Those that are to be looked at."""
        return [url for url in urls if not self._has(url)]

    def expect(self, task_id: int, leads: Leads) -> None:
        """Remember where a page leads, as soon as it is stored."""
        self._open[task_id] = leads

    def settle(self, task_id: int, *, is_stored: bool) -> Leads:
        """A task has ended: where its page led, if that is stored."""
        leads = self._open.pop(task_id, NOWHERE)
        if not is_stored:
            return NOWHERE
        if self.most:
            self._young.update(leads.urls)
            self._age()
        return leads

    def _has(self, url: str) -> bool:
        if url in self._young:
            return True
        if url not in self._old:
            return False
        self._young.add(url)
        return True

    def _age(self) -> None:
        if len(self._young) > self.most:
            self._old, self._young = self._young, set()
