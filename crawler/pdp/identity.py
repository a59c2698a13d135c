"""What a page calls itself: its addresses and its headings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import frozen

from crawler.pdp.title import titles

if TYPE_CHECKING:
    from crawler.pdp.outline import Outline

MAX_TITLES = 4
MIN_NAME_CHARS = 4


@frozen
class PageIdentity:
    """Addresses and headings that name the subject of one page."""

    addresses: frozenset[str]
    titles: tuple[str, ...]

    def has_address(self, url: str) -> bool:
        """Whether `url` is an address of this page."""
        bare = bare_address(url)
        return "/" in bare and bare in self.addresses

    def has_title(self, name: str) -> bool:
        """Whether `name` is what the page's headings say, or a part of it, or the other way round."""
        plain = _plain(name)
        return len(plain) >= MIN_NAME_CHARS and any(plain in title or title in plain for title in self.titles)


def identity_of(url: str, outline: Outline) -> PageIdentity:
    """Collect what names the page: its own URL, the canonical one, Open Graph, h1 and product titles."""
    addresses = [
        url,
        *(link.get("href") for link in outline.by_tag["link"] if "canonical" in link.get("rel").lower()),
    ]
    headings = [text for (_, text), _ in zip(titles(outline), range(MAX_TITLES), strict=False)]
    for meta in outline.by_tag["meta"]:
        name = meta.get("property").lower()
        if name == "og:url":
            addresses.append(meta.get("content"))
        elif name == "og:title":
            headings.append(meta.get("content"))
    plain = (_plain(heading) for heading in headings)
    return PageIdentity(
        addresses=frozenset(bare_address(address) for address in addresses if address),
        titles=tuple(title for title in dict.fromkeys(plain) if len(title) >= MIN_NAME_CHARS),
    )


def bare_address(url: str) -> str:
    """An address without scheme, `www.`, query, fragment and trailing slash."""
    return (
        re.sub(r"^https?://(?:www\.)?", "", url.strip()[:2000].lower())
        .split("#")[0]
        .split("?")[0]
        .rstrip("/")
    )


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text[:300].lower()))
