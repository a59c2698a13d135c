"""The shops of the demo: who they are, what each is for, and how a visit to it should end."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Any, Literal

from attrs import frozen

from crawler.demo.goods import ASSORTMENTS, Assortment, Product
from crawler.errors import UsageError


@frozen
class Shop:
    """One shop: a domain of its own, and everything that decides what it answers."""

    name: str  # the last label of its host name before the suffix
    title: str
    purpose: str  # why it is here, in one line
    language: str = "en"
    currency: str = "USD"
    markup: Literal["JSON-LD", "JSON-LD @graph", "microdata", "none"] = "JSON-LD"
    buy: Literal["button", "input", "link"] = "button"  # which element the buy button is
    product_path: str = "/products/{}"
    layout: Literal["storefront", "hub", "story", "one product", "decoys", "guarded"] = "storefront"
    robots: Literal["usual", "forbids all", "status 500"] = "usual"  # what /robots.txt answers
    crawl_delay: int = 0  # seconds, told in robots.txt when not 0
    in_stock: bool = True
    prices_move: bool = False
    related_buy: bool = False  # whether the tiles of related products have buy buttons too
    scenario: str = ""  # how it misbehaves, a name in SCENARIOS
    only_start: bool = False  # whether it misbehaves on its start page alone
    colours: tuple[str, str] = ("#1f4e46", "#f6f3ec")  # accent and paper
    status: str = "completed"  # how a session that visits it should end
    summary: str = ""  # with which error summary

    @property
    def goods(self) -> Assortment:
        """What the shop sells and says."""
        return ASSORTMENTS[self.language]

    @property
    def has_product_pages(self) -> bool:
        """Whether any page of the shop sells a single product."""
        return self.layout not in {"hub", "story"}

    def address(self, product: Product) -> str:
        """The path of a product's page in this shop."""
        return self.product_path.format(product.slug)


def _table(name: str) -> dict[str, dict[str, Any]]:
    text = resources.files("crawler.demo").joinpath("data", f"{name}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


SCENARIO_TABLE = _table("scenarios")


def _misbehaving(name: str, **more: Any) -> Shop:
    return Shop(name, f"Trouble & Sons ({name})", scenario=name, colours=("#5a5a5a", "#f5f5f5"), **more)


SHOPS: dict[str, Shop] = {name: Shop(name, **values) for name, values in _table("shops").items()}
SHOPS |= {name: _misbehaving(name, **values["shop"]) for name, values in SCENARIO_TABLE.items()}

# Six that tell the story: three countries, a page that is none, a refusal, and a price that moves.
DEMO_SIX: tuple[Shop, ...] = tuple(
    SHOPS[name] for name in ("plain", "german", "japanese", "hub", "bot-block", "price-changes")
)

_BULK_COLOURS = ("#1f4e46", "#5b6b1e", "#7a2e4d", "#a3471d", "#2f4b6e", "#6b4226")
MAX_BULK = 9999


def _bulk_shop(number: int) -> Shop:
    """The plain assortment under a sign of its own: `shop-0001` and so on."""
    return Shop(
        f"shop-{number:04}",
        f"Hollin & Wick No. {number}",
        "one of many equal shops",
        colours=(_BULK_COLOURS[number % len(_BULK_COLOURS)], "#f6f3ec"),
    )


def all_shops(bulk: int) -> dict[str, Shop]:
    """Every named shop and the first `bulk` numbered ones, by name."""
    if not 0 <= bulk <= MAX_BULK:
        raise UsageError(f"bulk={bulk} is not a number of shops from 0 to {MAX_BULK}")
    numbered = map(_bulk_shop, range(1, bulk + 1))
    return SHOPS | {shop.name: shop for shop in numbered}
