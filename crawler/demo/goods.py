"""What a shop sells and says, in one language: `data/` has a file for each that the demo speaks."""

from __future__ import annotations

import json
from functools import cached_property
from importlib import resources
from typing import Any
from zlib import crc32

from attrs import define, frozen

_DATA = resources.files("crawler.demo").joinpath("data")
_LANGUAGES = ("en", "de", "fr", "es", "pl", "ja")
_RELATED = 4


@frozen
class Category:
    """What is true of all products of one kind."""

    slug: str
    name: str
    motif: str  # which shape their photos show
    blurb: str  # the line under the category's heading
    story: str  # how such things are made
    care: str  # how they are looked after

    @property
    def path(self) -> str:
        """The path of the category's page."""
        return f"/c/{self.slug}"


@frozen
class Product:
    """One thing on sale."""

    slug: str  # its part of the address, and its identity within the assortment
    name: str
    price: int  # in the currency's smallest unit, so that no rounding happens
    made_of: str
    size: str
    line: str  # two or three sentences that are true of this thing only
    category: Category

    @property
    def sku(self) -> str:
        """An article number that never changes for a slug."""
        return f"VT-{crc32(self.slug.encode()) % 900_000 + 100_000}"

    def photo(self, view: int) -> str:
        """The path of one of the product's three photos."""
        return f"/photo/{self.slug}-{view}.svg"


@define(frozen=True, slots=False)
class Assortment:
    """Everything that a shop of one language sells, and the phrases of its pages."""

    words: dict[str, Any]  # a phrase, or a list of them, by its use
    categories: tuple[Category, ...]
    products: tuple[Product, ...]  # in shelf order

    @cached_property
    def by_slug(self) -> dict[str, Product]:
        """Each product by its slug."""
        return {product.slug: product for product in self.products}

    @cached_property
    def by_category(self) -> dict[str, Category]:
        """Each category by its slug."""
        return {category.slug: category for category in self.categories}

    def shelf(self, category: Category) -> tuple[Product, ...]:
        """The products of a category."""
        return tuple(product for product in self.products if product.category is category)

    @cached_property
    def featured(self) -> tuple[Product, ...]:
        """The first two products of each category, taken in turn."""
        rows = zip(*(self.shelf(category)[:2] for category in self.categories), strict=True)
        return tuple(product for row in rows for product in row)

    def neighbours(self, product: Product) -> tuple[Product, ...]:
        """The products that follow this one on the shelf, around the corner if need be."""
        start = self.products.index(product) + 1
        return (self.products + self.products)[start : start + _RELATED]


def _assortment(language: str) -> Assortment:
    document = json.loads(_DATA.joinpath(f"{language}.json").read_text(encoding="utf-8"))
    stock = [(category.pop("products"), Category(**category)) for category in document["categories"]]
    products = (Product(**each, category=category) for sold, category in stock for each in sold)
    return Assortment(document["words"], tuple(category for _, category in stock), tuple(products))


ASSORTMENTS: dict[str, Assortment] = {language: _assortment(language) for language in _LANGUAGES}

NO_BREAK = "\N{NO-BREAK SPACE}"
THIN_NO_BREAK = "\N{NARROW NO-BREAK SPACE}"


@frozen
class Notation:
    """How one country writes one currency."""

    pattern: str
    decimal: str
    group: str
    digits: int = 2


NOTATIONS: dict[tuple[str, str], Notation] = {
    ("en", "USD"): Notation("${}", ".", ","),
    ("en", "GBP"): Notation("£{}", ".", ","),
    ("de", "EUR"): Notation(f"{{}}{NO_BREAK}€", ",", "."),
    ("de", "CHF"): Notation(f"CHF{NO_BREAK}{{}}", ".", "'"),
    ("fr", "EUR"): Notation(f"{{}}{NO_BREAK}€", ",", THIN_NO_BREAK),
    ("es", "EUR"): Notation(f"{{}}{NO_BREAK}€", ",", "."),
    ("pl", "PLN"): Notation(f"{{}}{NO_BREAK}zł", ",", NO_BREAK),
    ("ja", "JPY"): Notation("{}円", "", ",", digits=0),
}

# A moving price takes these shares of the list price in turn, in percent; no two neighbours are equal.
_MOODS = (100, 92, 108, 85, 97, 115, 89)


def price_text(amount: int, language: str, currency: str) -> str:
    """`amount` smallest units as a shopper of that language reads it."""
    notation = NOTATIONS[language, currency]
    whole, rest = divmod(amount, 10**notation.digits)
    number = f"{whole:,}".replace(",", notation.group)
    if notation.digits:
        number += f"{notation.decimal}{rest:0{notation.digits}}"
    return notation.pattern.format(number)


def price_value(amount: int, currency: str) -> str:
    """`amount` as structured data gives it: a plain decimal number."""
    return str(amount) if currency == "JPY" else f"{amount // 100}.{amount % 100:02}"


def moved(amount: int, slug: str, step: int) -> int:
    """The price of `slug` at `step`; two steps in a row never give the same."""
    mood = _MOODS[(crc32(slug.encode()) + step) % len(_MOODS)]
    return max(amount * mood // 100, 1)
