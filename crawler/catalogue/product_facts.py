"""Which product a page shows: its canonical URL where that is to be believed, else its own. Pure."""

from __future__ import annotations

import hashlib
import re
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from attrs import field, frozen

from crawler.errors import BadUrlError
from crawler.storable import plain_amount
from crawler.urls import canonical, domain_of, require_http_url, root_of, same_site, without_tracking

if TYPE_CHECKING:
    from crawler.pdp import Facts


@frozen
class Identity:
    """What a listing is known by."""

    domain: str
    url: str
    is_own: bool = field(default=True, eq=False)  # rather than what the page declares
    url_sha256: str = field(init=False)  # a short stand-in for the URL

    @url_sha256.default
    def _digest(self) -> str:
        return hashlib.sha256(self.url.encode()).hexdigest()


def identity_of(final_url: str, declared: str | None) -> Identity:
    """Return the identity of the product at `final_url`, whose page declares `declared` as its canonical URL.

    Parameters that only track visitors are no part of it.
    """
    own = without_tracking(canonical(final_url))
    url = _believed(final_url, declared) or own
    return Identity(domain_of(url), url, is_own=url == own)


def _believed(final_url: str, declared: str | None) -> str | None:
    """The declared URL if it is of the same site, and not the home page that careless themes declare."""
    if not declared:
        return None
    try:
        url = without_tracking(canonical(require_http_url(urljoin(final_url, declared.strip()))))
        if not same_site(url, final_url):
            return None
        is_home = url == canonical(root_of(url)) != canonical(final_url)
    except (BadUrlError, ValueError):
        return None
    return None if is_home else url


# ── what a page says of its product, made fit to be kept: no endless, unspeakable or absurd value. Pure ──


CODES = ("brand", "sku", "gtin", "mpn")
MAX_NAME_CHARS = 500
MAX_CODE_CHARS = 100
MAX_IMAGE_CHARS = 2048
MAX_AMOUNT = Decimal(1_000_000_000_000)
MIN_EXPONENT = -12  # an amount with more decimals than this is no price
_CURRENCY = re.compile(r"[A-Z]{3}")
_UNSPEAKABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]+")


@frozen
class PriceTag:
    """What the product costs."""

    currency: str
    price: Decimal
    list_price: Decimal | None
    availability: str | None


@frozen
class Sighting:
    """What a page says of its product; None where it says nothing that can be kept."""

    identity: Identity
    name: str | None
    brand: str | None
    sku: str | None
    gtin: str | None
    mpn: str | None
    image: str | None
    tag: PriceTag | None  # a price without a currency is none


def sighting_of(url: str, declared: str | None, facts: Facts) -> Sighting:
    """The product of the page at `url`, which declares `declared` as its canonical URL."""
    image = text_of(facts.image, MAX_IMAGE_CHARS + 1)
    return Sighting(
        identity=identity_of(url, declared),
        name=text_of(facts.name, MAX_NAME_CHARS),
        **{name: text_of(getattr(facts, name), MAX_CODE_CHARS) for name in CODES},
        image=image if image and len(image) <= MAX_IMAGE_CHARS and image.startswith("http") else None,
        tag=_tag_of(facts),
    )


def content_of(sighting: Sighting) -> dict[str, str | None]:
    """What is compared of a product from one day to the next; a picture's address changes too often."""
    tag = sighting.tag
    return {
        **{name: getattr(sighting, name) for name in ("name", *CODES)},
        "price": str(tag.price) if tag else None,
        "list_price": str(tag.list_price) if tag and tag.list_price is not None else None,
        "currency": tag.currency if tag else None,
        "availability": tag.availability if tag else None,
    }


def amount_of(value: object) -> Decimal | None:
    """An amount of money, in its one spelling: finite, from zero to a trillion; None for anything else."""
    try:
        amount = Decimal(str(value)[:MAX_CODE_CHARS])
    except InvalidOperation:
        return None
    if not amount.is_finite() or amount.adjusted() < MIN_EXPONENT or not 0 <= amount <= MAX_AMOUNT:
        return None
    return plain_amount(amount.quantize(Decimal("0.0001")))


def text_of(value: object, limit: int) -> str | None:
    """A text on one line, of at most `limit` characters; None for what is empty or no text."""
    if not isinstance(value, str):
        return None
    return " ".join(_UNSPEAKABLE.sub(" ", value[: limit * 4]).split())[:limit] or None


def _tag_of(facts: Facts) -> PriceTag | None:
    price = amount_of(facts.price)
    if price is None or not _CURRENCY.fullmatch(facts.currency):
        return None
    availability = text_of(facts.availability, MAX_CODE_CHARS)
    return PriceTag(facts.currency, price, amount_of(facts.list_price), availability)
