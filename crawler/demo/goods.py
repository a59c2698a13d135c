"""What a shop sells and says, in one language: `data/` has a file for each that the demo speaks."""

from __future__ import annotations

import json
from functools import cached_property
from importlib import resources
from typing import TYPE_CHECKING, Any
from zlib import crc32

from attrs import define, frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

_DATA = resources.files("crawler.demo").joinpath("data")
_SPOKEN = ("en", "de", "fr", "es", "pl", "ja")

LANGUAGES: dict[str, dict[str, Any]] = {
    language: json.loads(_DATA.joinpath(f"{language}.json").read_text(encoding="utf-8"))
    for language in _SPOKEN
}


@frozen
class Words:
    """Every phrase of the page furniture, in one language."""

    home: str
    about: str
    delivery: str
    members: str
    account: str
    basket: str
    search: str
    all_categories: str
    featured: str
    look: str  # the link on a tile
    add: str  # the buy button
    sold_out: str
    in_stock: str
    notify: str
    quantity: str
    description: str
    how_made: str
    care: str
    details: str
    made_of: str
    size: str
    article: str
    related: str
    reviews: str
    tax: str  # what stands beside a price
    welcome: str
    about_text: tuple[str, ...]
    delivery_text: tuple[str, ...]
    footer: str
    praise: tuple[str, ...]  # sentences of reviews
    people: tuple[str, ...]  # who wrote them


def _words(given: Mapping[str, str | list[str]]) -> Words:
    phrases = {name: tuple(phrase) if isinstance(phrase, list) else phrase for name, phrase in given.items()}
    return Words(**phrases)  # type: ignore[arg-type]


WORDS: dict[str, Words] = {language: _words(said["words"]) for language, said in LANGUAGES.items()}


@frozen
class Product:
    """One thing on sale."""

    slug: str  # its part of the address, and its identity within the assortment
    name: str
    price: int  # in the currency's smallest unit, so that no rounding happens
    made_of: str
    size: str
    line: str  # two or three sentences that are true of this thing only

    @property
    def sku(self) -> str:
        """An article number that never changes for a slug."""
        return f"VT-{crc32(self.slug.encode()) % 900_000 + 100_000}"


@frozen
class Category:
    """Things of one kind, and what is true of all of them."""

    slug: str
    name: str
    motif: str  # which shape their photos show
    blurb: str  # the line under the category's heading
    story: str  # how such things are made
    care: str  # how they are looked after
    products: tuple[Product, ...]


@define(frozen=True, slots=False)
class Assortment:
    """Everything that a shop of one language sells."""

    language: str
    categories: tuple[Category, ...]

    @cached_property
    def products(self) -> tuple[Product, ...]:
        """All products, in shelf order."""
        return tuple(product for category in self.categories for product in category.products)

    @cached_property
    def shelf(self) -> dict[str, Category]:
        """The category in which each product's slug stands."""
        return {product.slug: category for category in self.categories for product in category.products}

    @cached_property
    def by_slug(self) -> dict[str, Product]:
        """Each product by its slug."""
        return {product.slug: product for product in self.products}

    def neighbours(self, product: Product, count: int) -> tuple[Product, ...]:
        """The `count` products that follow this one on the shelf, around the corner if need be."""
        start = self.products.index(product) + 1
        ring = self.products + self.products
        return ring[start : start + count]


ASSORTMENTS: dict[str, Assortment] = {
    language: Assortment(
        language,
        tuple(
            Category(**{**category, "products": tuple(Product(**each) for each in category["products"])})
            for category in sold["categories"]
        ),
    )
    for language, sold in LANGUAGES.items()
}


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
