"""Which links of a page are worth judging as product pages, the likeliest first (SPEC F153)."""

from __future__ import annotations

import re
from operator import itemgetter
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from attrs import frozen

from crawler.errors import BadUrlError
from crawler.pdp.place import ancestors
from crawler.urls import canonical, site_of

if TYPE_CHECKING:
    from crawler.pdp.outline import Element
    from crawler.pdp.page import Page

MAX_CANDIDATES = 20
MAX_LINKS = 5_000
_CLIMB = 7
_NO_FALLBACK = 3
_NO_ADDRESS = ("#", "javascript:", "mailto:", "tel:", "data:")

EXCLUDED_SEGMENTS = frozenset(
    ["account", "cart", "checkout", "logout", "login", "signin", "signout", "basket", "wishlist", "register"]
)
_PRODUCT_PATH = re.compile(
    r"/(?:products?|p|items?|shop|dp|pd|pr|prod|artikel|produkt(?:e|y)?|produit|prodotto|producto|produto|tovar|goods)/[^/]"
    r"|/collections/[^/]{1,100}/products/[^/]|/gp/product/|[-/]p-?\d{3,}|-\d{4,}\.html?$|product_info\.php|/listing/\d",
    re.IGNORECASE,
)
_LISTING_PATH = re.compile(
    r"/(?:collections|category|categories|c|kategorie|categorie)/[^/]+/?$", re.IGNORECASE
)
_NO_PAGE = re.compile(r"\.(?:jpe?g|png|gif|webp|svg|pdf|zip|css|js|xml|mp4|ico)$", re.IGNORECASE)
_GRID = re.compile(
    r"(?:^|[^a-z])(?:products?|items?|tiles?|cards?|grids?|collections?|featured|bestsellers?|catalog\w*|goods|listing)(?:[^a-z]|$)"
)


@frozen
class Candidate:
    """A link that may lead to a product page."""

    url: str
    tier: int  # 1: a product grid or a featured section, 2: a product-like address, 3: any other link
    reason: str  # grid, path or link


def discover(page: Page, *, limit: int = MAX_CANDIDATES) -> list[Candidate]:
    """The candidates in order of tier, within a tier in document order, none twice."""
    found: dict[str, Candidate] = {}
    for key, links in _site_links(page).items():
        candidates = [candidate for link in links if (candidate := _candidate(link, key)) is not None]
        if candidates:
            found[key] = min(candidates, key=lambda candidate: candidate.tier)
    return sorted(found.values(), key=lambda candidate: candidate.tier)[:limit]


def is_product_like(url: str) -> bool:
    """Whether an address alone looks like a product page's, as in a sitemap."""
    return bool(_PRODUCT_PATH.search(urlsplit(url).path)) and _may_lead_on(url)


def fallback_links(page: Page, *, limit: int = MAX_CANDIDATES) -> list[str]:
    """Category and navigation pages to look into where the page itself shows no product."""
    ranked = [(_fallback_rank(links[0], url), url) for url, links in _site_links(page).items()]
    ranked.sort(key=itemgetter(0))
    return [url for rank, url in ranked if rank < _NO_FALLBACK][:limit]


def _fallback_rank(link: Element, url: str) -> int:
    if _LISTING_PATH.search(urlsplit(url).path):
        return 0
    if any(around.tag == "nav" for around in ancestors(link.node)):
        return 1
    return 2 if len(urlsplit(url).path) > 1 else 3


def _candidate(link: Element, url: str) -> Candidate | None:
    path = urlsplit(url).path
    looks_like_product = bool(_PRODUCT_PATH.search(path))
    if _LISTING_PATH.search(path) and not looks_like_product:
        return None  # tiles of categories look like a grid of products; they are places to look into
    if _in_grid(link):
        return Candidate(url, 1, "grid")
    return Candidate(url, 2, "path") if looks_like_product else Candidate(url, 3, "link")


def _in_grid(link: Element) -> bool:
    for around, _ in zip(ancestors(link.node), range(_CLIMB), strict=False):
        if around.tag in {"nav", "header", "footer"}:
            return False
        attributes = around.attributes
        if _GRID.search(f"{attributes.get('class') or ''} {attributes.get('id') or ''}"[:300].lower()):
            return True
    return False


def _site_links(page: Page) -> dict[str, list[Element]]:
    """Links to other pages of the same site by canonical URL, without those to an account or a cart."""
    base = _base(page)
    by_url: dict[str, list[Element]] = {}
    for link in page.outline.by_tag["a"][:MAX_LINKS]:
        href = link.get("href").strip().partition("#")[0]
        if href and not href.startswith(_NO_ADDRESS):
            by_url.setdefault(_joined(base, href), []).append(link)
    here, site = _canonical(page.url), _site(page.url)
    by_canonical: dict[str, list[Element]] = {}
    sites: dict[str, str] = {}
    for url, links in by_url.items():
        host = urlsplit(url).netloc
        if host not in sites:
            sites[host] = _site(url)
        if sites[host] != site or not _may_lead_on(url):
            continue
        key = _canonical(url)
        if key not in {"", here}:
            by_canonical.setdefault(key, []).extend(links)
    return by_canonical


def _site(url: str) -> str:
    try:
        return site_of(url)
    except BadUrlError:
        return ""


def _may_lead_on(url: str) -> bool:
    path = urlsplit(url).path.lower()
    return EXCLUDED_SEGMENTS.isdisjoint(path.split("/")) and not _NO_PAGE.search(path)


def _base(page: Page) -> str:
    declared = next((element.get("href") for element in page.outline.by_tag["base"]), "")
    return _joined(page.url, declared) or page.url


def _joined(base: str, href: str) -> str:
    try:
        url = urljoin(base, href)
    except ValueError:
        return ""
    return url.partition("#")[0] if url.startswith(("http://", "https://")) else ""


def _canonical(url: str) -> str:
    try:
        return canonical(url)
    except BadUrlError:
        return ""
