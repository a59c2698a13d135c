"""A page as it came in: decoded, parsed once, and read on demand."""

from __future__ import annotations

from functools import cached_property

from attrs import field, frozen
from selectolax.lexbor import LexborHTMLParser

from crawler.html import charset as charsets
from crawler.html import nesting
from crawler.pdp.buy_controls import BuyControl, buy_controls
from crawler.pdp.identity import PageIdentity, identity_of
from crawler.pdp.linked_data import LinkedNode, read_linked_data
from crawler.pdp.microdata import Item, read_items
from crawler.pdp.outline import Element, Outline, read_outline
from crawler.pdp.own_control import own_controls
from crawler.pdp.own_product import is_range, own_item, own_node
from crawler.pdp.place import Surroundings
from crawler.pdp.title import declares_product, titles

DEFAULT_MAX_BYTES = 16 * 1024 * 1024
MAX_PRICES = 300

_NO_HTML_SIGNATURES = (b"%PDF", b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"PK\x03\x04", b"\x1f\x8b", b"RIFF")
_HTML_TYPES = ("html", "xml", "text/plain", "octet-stream")


@frozen(eq=False)
class Page:
    """What was fetched from `url`, ready to be judged. A page with a `problem` has an empty tree.

    What several readers need is read once, when the first of them asks.
    """

    url: str
    charset: str
    size: int
    problem: str  # a reason code; empty where the page could be read
    tree: LexborHTMLParser = field(repr=False)

    @cached_property
    def outline(self) -> Outline:
        """The elements that carry evidence, collected in one walk."""
        return read_outline(self.tree)

    @cached_property
    def linked_data(self) -> tuple[LinkedNode, ...]:
        """The typed nodes of all JSON-LD scripts."""
        scripts = self.outline.by_tag["script"]
        return read_linked_data(
            script.node.text() for script in scripts if "ld+json" in script.get("type").lower()
        )

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """The microdata items."""
        return read_items(self.outline)

    @cached_property
    def identity(self) -> PageIdentity:
        """The addresses and headings that name this page's subject."""
        return identity_of(self.url, self.outline, self.title)

    @cached_property
    def title(self) -> tuple[Element, str] | None:
        """The likeliest heading of the page's product, with its text."""
        return next(titles(self.outline), None)

    @cached_property
    def surroundings(self) -> Surroundings:
        """What is around the title and the prices."""
        prices = [element.node for element in self.outline.hinted("price")[:MAX_PRICES]]
        return Surroundings.of(self.title[0].node if self.title else None, prices)

    @cached_property
    def controls(self) -> tuple[BuyControl, ...]:
        """The buy controls of the page's own product."""
        return tuple(own_controls(buy_controls(self.outline), self.surroundings, self.url))

    @cached_property
    def product_node(self) -> LinkedNode | None:
        """The page's own product in JSON-LD."""
        node = own_node(self.linked_data, self.identity)
        is_list = node is not None and is_range(node.value) and not self.sells and self.lists_prices
        return None if is_list else node

    @cached_property
    def product_item(self) -> Item | None:
        """The page's own product in microdata."""
        return own_item(self.items, self.identity, self.surroundings)

    @cached_property
    def lists_prices(self) -> bool:
        """Whether every price stands in one of several tiles."""
        prices = [element.node for element in self.outline.hinted("price")[:MAX_PRICES]]
        beside = [price for price in prices if not self.surroundings.is_aside(price)]
        return bool(beside) and all(map(self.surroundings.is_in_tile, beside))

    @cached_property
    def sells(self) -> bool:
        """Whether a buy control or the head says that the page is about goods."""
        return bool(self.controls) or declares_product(self.outline)


def read_page(body: bytes, *, url: str, content_type: str = "", max_bytes: int = DEFAULT_MAX_BYTES) -> Page:
    """Decide the charset of `body` and parse it; any bytes give a page, bad ones a page with a problem."""
    problem = _problem(body, content_type, max_bytes)
    if problem:
        return Page(url=url, charset="", size=len(body), problem=problem, tree=LexborHTMLParser(b""))
    charset = charsets.decide(body, content_type)
    source = charsets.as_utf8(body, charset)
    problem = nesting.problem_of(source)
    tree = LexborHTMLParser(b"" if problem else source)
    return Page(url=url, charset=charset, size=len(body), problem=problem, tree=tree)


def _problem(body: bytes, content_type: str, max_bytes: int) -> str:
    if not body.strip(b" \t\r\n\0"):
        return "empty_page"
    if len(body) > max_bytes:
        return "too_large"
    declared = content_type.partition(";")[0].strip().lower()
    if declared and not any(name in declared for name in _HTML_TYPES):
        return "not_html"
    return "not_html" if body.startswith(_NO_HTML_SIGNATURES) else ""
