"""A page as plugins see it: nothing in it can be changed, and its HTML is decoded when one asks. Pure."""

from __future__ import annotations

import json
import unicodedata
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from crawler.catalogue.identity import identity_of
from crawler.pdp import charset as charsets

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from crawler.sessions.items import PageCapture

HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})


def _read_only(value: Any) -> Any:
    """A copy of JSON that nobody can change: one plugin's slip is not the next one's input."""
    if isinstance(value, dict):
        return MappingProxyType({name: _read_only(inner) for name, inner in value.items()})
    return tuple(map(_read_only, value)) if isinstance(value, list | tuple) else value


@frozen(eq=False)
class PluginPage:
    """What was fetched, and what was read in it."""

    url: str  # where it was found in the end
    canonical_url: str  # what its product is known by: the declared one where that is to be believed
    content_type: str = ""
    charset: str = ""
    body: bytes = field(default=b"", repr=False)
    title: str | None = None
    visible_text: str = field(default="", repr=False)
    verdict: Mapping[str, Any] = field(factory=dict, converter=_read_only, repr=False)
    facts: Mapping[str, Any] = field(factory=dict, converter=_read_only, repr=False)
    depth: int = 0  # links between it and a start URL
    links: tuple[str, ...] = field(default=(), repr=False)
    media: tuple[str, ...] = field(default=(), repr=False)

    @property
    def is_pdp(self) -> bool:
        """Whether the rule takes it for a product page."""
        return bool(self.verdict.get("is_pdp"))

    @property
    def media_type(self) -> str:
        """The content type without its parameters, as `text/html`."""
        return self.content_type.partition(";")[0].strip().lower()

    @property
    def is_html(self) -> bool:
        """Whether it is HTML: as declared, or where nothing is declared, as it was read."""
        if self.media_type:
            return self.media_type in HTML_TYPES
        return bool(self.verdict) and "not_html" not in self.verdict.get("reasons", ())

    @cached_property
    def html(self) -> str:
        """The body as text, in the charset that the page was read in."""
        try:
            source = charsets.as_utf8(self.body, self.charset)
        except KeyError:  # nobody has decided yet
            source = charsets.as_utf8(self.body, charsets.decide(self.body, self.content_type))
        return source.decode("utf-8", "replace")


def plugin_page(
    capture: PageCapture, *, depth: int = 0, links: Iterable[str] = (), media: Iterable[str] = ()
) -> PluginPage:
    """The page of a capture."""
    return PluginPage(
        url=capture.url,
        canonical_url=identity_of(capture.url, capture.canonical_url).url,
        content_type=capture.content_type or "",
        charset=capture.charset or "",
        body=capture.body or capture.media or b"",
        title=_title(capture.features),
        visible_text=(capture.visible_text or b"").decode("utf-8", "replace"),
        verdict=capture.verdict or {},
        facts=capture.facts or {},
        depth=depth,
        links=tuple(links),
        media=tuple(media),
    )


def normalised(text: str) -> str:
    """A text whose digest does not change with blanks, line ends, or the way an accent is composed."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def _title(features: bytes | None) -> str | None:
    title = json.loads(features).get("meta", {}).get("title") if features else None
    return title if isinstance(title, str) else None
