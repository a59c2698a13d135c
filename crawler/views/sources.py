"""Sources: what is odd about each, and what it makes of a URL."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from attrs import frozen
from sqlalchemy import select

from crawler.access.scope import Ruling
from crawler.db.models import RegisteredSource
from crawler.errors import NotFoundError
from crawler.runs.sources import oddities, told
from crawler.urls import redact

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from datetime import datetime

    from sqlalchemy.orm import Session

    from crawler.runs.sources import Oddity, Source
    from crawler.views.paging import Wanted


@frozen(kw_only=True)
class SourceItem:
    """A source as its file and its register have it."""

    code: str
    name: str
    base_url: str
    engine: str
    enabled: bool
    is_registered: bool
    start_urls: list[str]


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


def items(db: Session, sources: Mapping[str, Source]) -> list[SourceItem]:
    """The sources of the file and those that are registered, by their codes; the file is believed."""
    registered = {row.code: row for row in db.scalars(select(RegisteredSource))}
    return [
        _of_file(code, sources[code], is_registered=code in registered)
        if code in sources
        else _of_register(registered[code])
        for code in sorted({*sources, *registered})
    ]


def _of_file(code: str, source: Source, *, is_registered: bool) -> SourceItem:
    return SourceItem(
        code=code, name=source.name, base_url=source.base_url or "", engine=source.engine,
        enabled=source.enabled, is_registered=is_registered, start_urls=list(source.start_urls),
    )  # fmt: skip


def _of_register(row: RegisteredSource) -> SourceItem:
    return SourceItem(
        code=row.code, name=row.name, base_url=row.base_url or "", engine="", enabled=row.enabled,
        is_registered=True, start_urls=[],
    )  # fmt: skip


def wanted_codes(
    sources: Mapping[str, Source], registered: Mapping[str, datetime], wanted: Wanted
) -> list[str]:
    """The codes that are wanted, in their order; days are those on which sources were registered."""
    codes = list(sources)
    if wanted.after is not None:
        if (last := wanted.after.lower()) not in sources:
            raise NotFoundError(f"there is no source {last!r}", hint="`vitrine sources list` shows them")
        codes = codes[codes.index(last) + 1 :]
    found = (code for code in codes if _is_wanted(sources[code], registered.get(code), wanted))
    return list(islice(found, wanted.limit))


def _is_wanted(source: Source, since: datetime | None, wanted: Wanted) -> bool:
    if wanted.domain is not None and wanted.domain not in source.allowed_domains:
        return False
    if wanted.since is None and wanted.until is None:
        return True
    return since is not None and (
        (wanted.since is None or wanted.since <= since) and (wanted.until is None or since < wanted.until)
    )


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
