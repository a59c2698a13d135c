"""What a page calls itself: its addresses and its headings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import frozen

from crawler.pdp.title import document_title, heading_text, words_of

if TYPE_CHECKING:
    from crawler.pdp.outline import Element, Outline

MAX_TITLES = 4
LONG_NAME_CHARS = 10


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
        plain = words_of(name)
        return bool(plain) and any(_is_part(plain, title) for title in self.titles)


def identity_of(url: str, outline: Outline, title: tuple[Element, str] | None) -> PageIdentity:
    """Collect what names the page: its own URL, the canonical one, Open Graph, h1 and product titles."""
    addresses = [
        url,
        *(link.get("href") for link in outline.by_tag["link"] if "canonical" in link.get("rel").lower()),
    ]
    headings = [title[1]] if title else []
    headings += [heading_text(element) for element in outline.by_tag["h1"][:MAX_TITLES]]
    headings.append(document_title(outline))
    for meta in outline.by_tag["meta"]:
        name = meta.get("property").lower()
        if name == "og:url":
            addresses.append(meta.get("content"))
        elif name == "og:title":
            headings.append(meta.get("content"))
    plain = (words_of(heading) for heading in headings)
    return PageIdentity(
        addresses=frozenset(bare_address(address) for address in addresses if address),
        titles=tuple(filter(None, dict.fromkeys(plain))),
    )


def bare_address(url: str) -> str:
    """An address without scheme, `www.`, query, fragment and trailing slash."""
    return (
        re.sub(r"^https?://(?:www\.)?", "", url.strip()[:2000].lower())
        .split("#")[0]
        .split("?")[0]
        .rstrip("/")
    )


def _is_part(one: str, other: str) -> bool:
    """Whether the shorter text stands in the longer one and is no mere word of it."""
    shorter, longer = sorted((one, other), key=len)
    return shorter in longer and (len(shorter) >= LONG_NAME_CHARS or shorter == longer)
