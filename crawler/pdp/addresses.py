"""Where the references of a page lead: absolute addresses, against the base that the page sets."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

if TYPE_CHECKING:
    from crawler.pdp.page import Page

NO_ADDRESS = ("#", "javascript:", "mailto:", "tel:", "data:")


def base_of(page: Page) -> str:
    """The address that references are read against."""
    declared = next((href for element in page.outline.by_tag["base"] if (href := element.get("href"))), "")
    return joined(page.url, declared) or page.url


def top_of(base: str) -> str:
    """The scheme and the host of an address, which a path is put behind."""
    parts = urlsplit(base)
    return f"{parts.scheme}://{parts.netloc}"


def joined(base: str, href: str) -> str:
    """The http address that `href` leads to, without its fragment; empty where it leads to none."""
    try:
        url = urljoin(base, href)
    except ValueError:
        return ""
    return url.partition("#")[0] if url.startswith(("http://", "https://")) else ""


def resolved(base: str, top: str, href: str) -> str:
    """What `joined` returns, for less where the reference, which has no fragment, is plain."""
    if "[" in href or "/." in href or "//" in href[:2]:
        return joined(base, href)
    if href[0] == "/":
        return top + href
    # A host beyond ASCII may be one that no parser takes.
    if "]" in href or not href.isascii() or not href.startswith(("http://", "https://")):
        return joined(base, href)
    return href if "/" in href[8:] else joined(href, "/") if "?" not in href else href
