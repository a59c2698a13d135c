"""All that a page leads to: its links, its media, and what it tells crawlers about them."""

from __future__ import annotations

import re
from operator import attrgetter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crawler.pdp.candidates import NO_ADDRESS, base_of, looks_like_product, resolved, top_of
from crawler.urls import MAX_URL_CHARS, UNSPEAKABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.pdp.outline import Element
    from crawler.pdp.page import Page

MAX_LINKS = 5_000
MAX_ANCHORS = 20_000
MAX_MEDIA = 500
MAX_DIRECTIVES = 20
MAX_SRCSET_CHARS = 20_000
MAX_ROBOTS_CHARS = 1_000
_NO_HOST = tuple(f"{scheme}://{mark}" for scheme in ("http", "https") for mark in "/?")
# An address, or its part behind the host, that is taken as it is: plain segments, and perhaps a query.
_PLAIN = re.compile(
    r"(https?://[a-z0-9.-]+(?::\d+)?)?((?:/(?![/.])[^\x00-\x20\x7f\\#\[?/]*)+)(?:\?[^\x00-\x20\x7f\\#\[@]*)?"
)
_DESCRIPTOR = re.compile(r"\d{1,6}(?:\.\d{1,3})?[wx]")
_DIRECTIVE = re.compile(r"[a-z][a-z0-9:_-]{0,39}")
_PDF = ".pdf"
_MEDIA_TAGS = ("img", "source", "video", "audio", "a")
_STYLES = {"stylesheet", "icon", "preload"}
_BY_ORDER = attrgetter("order")


def page_links(page: Page) -> dict[str, bool]:
    """Where the page's links lead, in document order, and whether each looks like one to a product.

    Links to PDF files are left out: these are media, and no pages.
    """
    base, top = _start(page)
    blocks: dict[int, str] = {}
    found: dict[str, bool] = {}
    for link in sorted(page.outline.all("a", "area"), key=_BY_ORDER)[:MAX_ANCHORS]:
        url, path = _place(base, top, link.get("href"))
        # Where a link stands may tell more the second time.
        if url and not found.get(url) and path[-4:].lower() != _PDF:
            found[url] = looks_like_product(link, path, blocks)
            if len(found) == MAX_LINKS:
                break
    return found


def page_media(page: Page) -> tuple[str, ...]:
    """The addresses of pictures, videos, sounds and PDF files in document order, each once."""
    base, top = _start(page)
    found: dict[str, None] = {}
    for element in sorted(page.outline.all(*_MEDIA_TAGS), key=_BY_ORDER):
        url = next(filter(None, (_address(base, top, reference) for reference in _references(element))), "")
        if url:
            found[url] = None
            if len(found) == MAX_MEDIA:
                break
    return tuple(found)


def page_styles(page: Page) -> tuple[str, ...]:
    """The addresses of stylesheets, icons and preloaded fonts in document order, each once."""
    base, top = _start(page)
    found: dict[str, None] = {}
    for element in page.outline.by_tag["link"]:
        is_one = _STYLES & set(element.get("rel").lower().split())
        if is_one and (url := _address(base, top, element.get("href"))):
            found[url] = None
    return tuple(found)[:MAX_MEDIA]


def robots_directives(page: Page) -> tuple[str, ...]:
    """What the page tells all robots in its robots meta elements, such as `nofollow`."""
    said: dict[str, None] = {}
    for element in page.outline.by_tag["meta"]:
        if element.get("name").strip().lower() == "robots":
            words = re.split(r"[\s,]+", element.get("content")[:MAX_ROBOTS_CHARS].lower())
            said |= dict.fromkeys(word for word in words if _DIRECTIVE.fullmatch(word))
    if "none" in said:
        said |= {"noindex": None, "nofollow": None}
    return tuple(said)[:MAX_DIRECTIVES]


def _start(page: Page) -> tuple[str, str]:
    """What references are read against: the page's base, if that is an address that can be asked for."""
    base = base_of(page)
    top = top_of(base)
    return (page.url, top_of(page.url)) if "@" in top or UNSPEAKABLE.search(base) else (base, top)


def _place(base: str, top: str, href: str) -> tuple[str, str]:
    """The address that a reference leads to, and its path."""
    plain = _PLAIN.fullmatch(href) if len(href) <= MAX_URL_CHARS else None
    if plain:
        return (href if plain[1] else top + href), plain[2]
    url = _address(base, top, href)
    return url, "/" + url.partition("?")[0].partition("://")[2].partition("/")[2]


def _address(base: str, top: str, reference: str) -> str:
    """The address that a reference leads to; empty where that is the page itself, or no page at all."""
    if len(reference) > MAX_URL_CHARS:
        return ""
    href = reference.partition("#")[0].strip()
    if not href or UNSPEAKABLE.search(href) or href.startswith(NO_ADDRESS):
        return ""
    url = resolved(base, top, href)
    if url.startswith(_NO_HOST) or ("@" in url and "@" in urlsplit(url).netloc):
        return ""
    return url if len(url) <= MAX_URL_CHARS else ""


def _references(element: Element) -> Iterator[str]:
    """What an element shows, the best first."""
    if element.tag == "a":
        href = element.get("href")
        if href[:MAX_URL_CHARS].partition("#")[0].partition("?")[0].strip()[-4:].lower() == _PDF:
            yield href
        return
    for name in ("srcset", "data-srcset"):
        yield _largest(element.get(name))
    yield element.get("src")
    yield element.get("data-src")


def _largest(srcset: str) -> str:
    """The reference with the greatest width or density, the first of equals."""
    best, size = "", -1.0
    for reference, descriptor in _choices(srcset[:MAX_SRCSET_CHARS].split()):
        number = float(descriptor[:-1]) if _DESCRIPTOR.fullmatch(descriptor) else 1.0
        if number > size:
            best, size = reference, number
    return best


def _choices(words: list[str]) -> Iterator[tuple[str, str]]:
    """The references of a srcset with their descriptors; commas part them, and may be a part of one."""
    reference = descriptor = ""
    for word in words:
        rest = word
        if reference:
            said, comma, rest = word.partition(",")
            descriptor = descriptor or said
            if not comma:
                continue
            yield reference, descriptor
        reference, descriptor = rest.lstrip(","), ""
        if reference.endswith(","):
            yield reference.rstrip(","), ""
            reference = ""
    if reference:
        yield reference, descriptor
