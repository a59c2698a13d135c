"""The phrases around the products: what every language has to say."""

from __future__ import annotations

from attrs import frozen


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
