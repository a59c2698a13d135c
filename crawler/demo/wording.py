"""The phrases around the products: what every language has to say; each language says it in `data/`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from crawler.demo.languages import LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Mapping


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
