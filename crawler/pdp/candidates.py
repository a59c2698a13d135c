"""Which links of a page are worth judging as product pages, the likeliest first (SPEC F153)."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from attrs import frozen

from crawler.errors import BadUrlError
from crawler.pdp.place import ancestors
from crawler.urls import canonical, site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from selectolax.lexbor import LexborNode

    from crawler.pdp.outline import Element
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
    """What `joined` returns, without its trouble where the reference, which has no fragment, is plain."""
    if "[" in href or "/." in href or "//" in href[:2]:
        return joined(base, href)
    if href[0] == "/":
        return top + href
    # A host beyond ASCII may be one that no parser takes.
    if "]" in href or not href.isascii() or not href.startswith(("http://", "https://")):
        return joined(base, href)
    return href if "/" in href[8:] else joined(href, "/") if "?" not in href else href


MAX_CANDIDATES = 20
MAX_LINKS = 5_000
_CLIMB = 7
_NO_FALLBACK = 3
_NO_CANDIDATE = 9
_OUTSIDE_TAGS = frozenset({"nav", "header", "footer", "body", "html", "-document"})
_REASONS = {1: "grid", 2: "path", 3: "link"}  # by tier

_PRODUCT_PATH = re.compile(
    r"/(?:products?|p|items?|shop|dp|pd|pr|prod|artikel|produkt(?:e|y)?|produit|prodotto|producto|produto|tovar|goods)/[^/]"
    r"|/collections/[^/]{1,100}/products/[^/]|/gp/product/|[-/]p-?\d{3,}|-\d{4,}\.html?$|product_info\.php|/listing/\d",
    re.IGNORECASE,
)
_LISTING_PATH = re.compile(
    r"/(?:collections|category|categories|c|kategorie|categorie)/[^/]+/?$", re.IGNORECASE
)
# What is in an account or a cart, and what is no page at all.
_NO_PAGE = re.compile(
    r"/(?:account|cart|checkout|logout|login|signin|signout|basket|wishlist|register)(?=/|$)"
    r"|\.(?:jpe?g|png|gif|webp|svg|pdf|zip|css|js|xml|mp4|ico)$",
    re.IGNORECASE | re.ASCII,
)
_GRID = re.compile(
    r"(?:^|[^a-z])(?:products?|items?|tiles?|cards?|grids?|collections?|featured|bestsellers?|catalog\w*|goods|listing)(?:[^a-z]|$)"
)


@frozen
class Candidate:
    """A link that may lead to a product page."""

    url: str
    tier: int  # 1: a product grid or a featured section, 2: a product-like address, 3: any other link
    reason: str  # grid, path or link


def discover(page: Page) -> list[Candidate]:
    """The candidates in order of tier, within a tier in document order, none twice."""
    blocks: dict[int, str] = {}
    ranked = [
        (tier, url)
        for url, links in _site_links(page).items()
        if (tier := min(_tier(link, url, blocks) for link in links)) in _REASONS
    ]
    ranked.sort(key=itemgetter(0))
    found = _canonical_ones(page, ((url, tier) for tier, url in ranked))
    return [Candidate(url, tier, _REASONS[tier]) for url, tier in islice(found, MAX_CANDIDATES)]


def _canonical_ones(page: Page, links: Iterable[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """The links by canonical URL, each once, as they are asked for: to make a URL canonical takes long."""
    seen = {"", _if_good(canonical, page.url)}
    for url, rank in links:
        key = _if_good(canonical, url)
        if key not in seen:
            seen.add(key)
            yield key, rank


def is_product_like(url: str) -> bool:
    """Whether an address alone looks like a product page's, as in a sitemap."""
    try:
        return bool(_PRODUCT_PATH.search(urlsplit(url).path)) and _may_lead_on(url)
    except ValueError:  # it is none
        return False


def looks_like_product(link: Element, path: str, blocks: dict[int, str]) -> bool:
    """Whether a link's path, or the grid that it stands in, says that it leads to a product.

    `blocks` remembers what is known of the page's parts from one link to the next.
    """
    if not _PRODUCT_PATH.search(path) and (_LISTING_PATH.search(path) or not _in_grid(link, blocks)):
        return False
    return _NO_PAGE.search(path) is None


def fallback_links(page: Page) -> list[str]:
    """Category and navigation pages to look into where the page itself shows no product."""
    ranked = [(_fallback_rank(links[0], url), url) for url, links in _site_links(page).items()]
    ranked.sort(key=itemgetter(0))
    useful = ((url, rank) for rank, url in ranked if rank < _NO_FALLBACK)
    return [url for url, _ in islice(_canonical_ones(page, useful), MAX_CANDIDATES)]


def _fallback_rank(link: Element, url: str) -> int:
    if _LISTING_PATH.search(urlsplit(url).path):
        return 0
    if any(around.tag == "nav" for around in ancestors(link.node)):
        return 1
    return 2 if len(urlsplit(url).path) > 1 else 3


def _tier(link: Element, url: str, blocks: dict[int, str]) -> int:
    path = urlsplit(url).path
    looks_like_product = bool(_PRODUCT_PATH.search(path))
    if not looks_like_product and _LISTING_PATH.search(path):
        return _NO_CANDIDATE  # tiles of categories look like a grid of products; they are places to look into
    if _in_grid(link, blocks):
        return 1
    return 2 if looks_like_product else 3


def _in_grid(link: Element, blocks: dict[int, str]) -> bool:
    around = link.node.parent
    for _ in range(_CLIMB):
        if around is None:
            return False
        identity = around.mem_id
        kind = blocks.get(identity)
        if kind is None:
            kind = blocks[identity] = _kind_of(around)
        if kind:
            return kind == "grid"
        around = around.parent
    return False


def _kind_of(block: LexborNode) -> str:
    """Whether a block is a `grid` of products, or `outside` of all such; empty where it is neither."""
    if block.tag in _OUTSIDE_TAGS:
        return "outside"
    attributes = block.attributes
    if not attributes:
        return ""
    names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"[:300]
    return _kind_by_names(names)


@lru_cache(maxsize=2048)
def _kind_by_names(names: str) -> str:
    """Whether a block's names are those of a grid; the pages of a site have few of them, and many times."""
    return "grid" if _GRID.search(names.lower()) else ""


def _site_links(page: Page) -> dict[str, list[Element]]:
    """Links to other pages of the same site by address, without those to an account or a cart."""
    base = base_of(page)
    by_href: dict[str, list[Element]] = {}
    for link in page.outline.by_tag["a"][:MAX_LINKS]:
        href = link.get("href").strip().partition("#")[0]
        if href and not href.startswith(NO_ADDRESS):
            by_href.setdefault(href, []).append(link)
    site, top = _if_good(site_of, page.url), top_of(base)
    by_url: dict[str, list[Element]] = {}
    sites: dict[str, str] = {}
    for href, links in by_href.items():
        url = resolved(base, top, href)
        host = urlsplit(url).netloc
        if host not in sites:
            sites[host] = _if_good(site_of, url)
        if sites[host] == site and _may_lead_on(url):
            by_url.setdefault(url, []).extend(links)
    return by_url


def _if_good(made_of: Callable[[str], str], url: str) -> str:
    """What is made of a URL; empty where that is none."""
    try:
        return made_of(url)
    except BadUrlError:
        return ""


def _may_lead_on(url: str) -> bool:
    return _NO_PAGE.search(urlsplit(url).path) is None
