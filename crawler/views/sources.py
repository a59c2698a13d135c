"""Sources: what is odd about each, and what it makes of a URL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from crawler.access.scope import Ruling
from crawler.runs.sources import oddities, told
from crawler.urls import redact

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from crawler.runs.sources import Oddity, Source


@frozen(kw_only=True)
class UrlRuling:
    """What a source makes of a URL, and by which of its rules."""

    url: str
    allowed: bool
    reason: str | None
    by: str | None
    rule: str | None

    @property
    def told(self) -> str:
        """The rule in words."""
        return told(Ruling(self.reason, self.by or "", self.rule or ""))


@frozen(kw_only=True)
class SourceCheck:
    """What is odd about a source, and what it makes of the URLs that were asked about."""

    source: str  # its code
    ok: bool
    oddities: tuple[Oddity, ...]
    urls: tuple[UrlRuling, ...]


def check(source: Source, plugins: Collection[str], urls: Iterable[str]) -> SourceCheck:
    """Look at one source; no password of a URL is repeated."""
    odd = oddities(source, plugins)
    rulings = {redact(url): source.scope.ruling(url) for url in urls}
    return SourceCheck(
        source=source.code,
        ok=not odd,
        oddities=odd,
        urls=tuple(
            UrlRuling(
                url=url, allowed=ruling.reason is None, reason=ruling.reason, by=ruling.by or None,
                rule=ruling.rule or None,
            )
            for url, ruling in rulings.items()
        ),
    )  # fmt: skip
