"""A page as it came in: decoded, parsed once, and read on demand."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from attrs import field, frozen

from crawler.html.parse import parse
from crawler.pdp.buy_controls import BuyControl, buy_controls
from crawler.pdp.outline import Element, Outline, read_outline
from crawler.pdp.own_control import own_controls
from crawler.pdp.own_product import is_range, own_item, own_node
from crawler.pdp.place import Surroundings
from crawler.pdp.structured_data import Item, LinkedNode, read_items, read_linked_data
from crawler.pdp.title import PageIdentity, declares_product, identity_of, titles

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

MAX_PRICES = 300


@frozen(eq=False)
class Page:
    """What was fetched from `url`, ready to be judged. A page with a `problem` has an empty tree.

    What several readers need is read once, when the first of them asks.
    """

    url: str
    charset: str
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


def read_page(body: bytes, *, url: str, content_type: str = "") -> Page:
    """Parse `body`; any bytes give a page, bad ones a page with a problem."""
    document = parse(body, content_type=content_type)
    return Page(url, document.charset, document.problem, document.tree)
