"""What a shop sells: products in categories, in one language, at list prices."""

from __future__ import annotations

from functools import cached_property
from typing import Any
from zlib import crc32

from attrs import define, frozen

from crawler.demo.languages import LANGUAGES


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


def _assortment(language: str, categories: list[dict[str, Any]]) -> Assortment:
    return Assortment(
        language,
        tuple(
            Category(**{**category, "products": tuple(Product(**each) for each in category["products"])})
            for category in categories
        ),
    )


ASSORTMENTS: dict[str, Assortment] = {
    language: _assortment(language, sold["categories"]) for language, sold in LANGUAGES.items()
}
