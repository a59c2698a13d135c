"""Products: which are known, what each cost and when, and which were not looked at for long.

To show one more column takes the column in `crawler/db/models/listings.py`, a migration, and a field of the
same name in `ListingDocument` or `PriceDocument` here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen
from sqlalchemy import select
from sqlalchemy.orm import aliased

from crawler.catalogue.product_facts import identity_of
from crawler.db import lookup
from crawler.db.models import Listing, Price
from crawler.errors import BadUrlError, NotFoundError
from crawler.views.documents import document_of, documents
from crawler.views.paging import ALL, Newest, Resource, equals, page

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from decimal import Decimal
    from uuid import UUID

    from sqlalchemy import ScalarSelect
    from sqlalchemy.orm import Session

    from crawler.views.paging import Wanted

_HINT = "`vitrine products list` shows them"
NEWEST_PRICES = Newest(
    table=Price,
    by=(Price.seen_at, Price.id),
    time=Price.seen_at,
    domain=equals(Listing.domain),
)


@frozen(kw_only=True)
class ListingDocument:
    """A product on a domain."""

    id: UUID
    domain: str
    url: str
    name: str | None
    brand: str | None
    sku: str | None
    gtin: str | None
    mpn: str | None
    image: str | None
    first_seen_at: datetime
    last_seen_at: datetime
    last_session_id: UUID | None


@frozen(kw_only=True)
class PricedListing(ListingDocument):
    """A product with its newest price, where one is known."""

    price: Decimal | None
    currency: str | None
    availability: str | None
    price_seen_at: datetime | None


@frozen(kw_only=True)
class PriceDocument:
    """What a product cost at a time, and what proves it."""

    id: int
    currency: str
    availability: str | None
    seen_at: datetime
    url: str
    content_sha256: str | None
    session_id: UUID
    price: Decimal
    list_price: Decimal | None


@frozen(kw_only=True)
class PriceOfProduct(PriceDocument):
    """A price in a list of those of many products."""

    listing_id: UUID
    domain: str
    name: str | None


@frozen
class PriceHistory:
    """A product and its prices, the oldest first."""

    listing: ListingDocument
    prices: tuple[PriceDocument, ...]


def _newest_price() -> ScalarSelect[int]:
    other = aliased(Price)
    return (
        select(other.id)
        .where(other.listing_id == Listing.id)
        .order_by(other.seen_at.desc(), other.id.desc())
        .limit(1)
        .correlate(Listing)
        .scalar_subquery()
    )


LISTINGS = Resource(
    table=Listing,
    by=(Listing.last_seen_at, Listing.id),
    time=Listing.last_seen_at,
    domain=equals(Listing.domain),
    query=select(
        Listing, Price.price, Price.currency, Price.availability, Price.seen_at.label("price_seen_at")
    ).outerjoin(Price, Price.id == _newest_price()),
    document=PricedListing,
)


def find(db: Session, given: str) -> Listing:
    """The product with this URL, or whose id begins so."""
    if "/" not in given:
        return lookup.find(db, Listing, given)
    try:
        identity = identity_of(given, None)
    except BadUrlError as error:
        raise NotFoundError(str(error), hint=_HINT) from None
    is_it = (Listing.domain == identity.domain) & (Listing.url_sha256 == identity.url_sha256)
    found = db.scalars(select(Listing).where(is_it)).one_or_none()
    if found is None:
        raise NotFoundError(f"there is no product {given!r}", hint=_HINT)
    return found


def newest_prices(db: Session, wanted: Wanted = ALL) -> list[PriceOfProduct]:
    """The prices seen last, of whichever product."""
    query = select(Price, Listing.domain, Listing.name).join(Listing, Listing.id == Price.listing_id)
    return [
        document_of(PriceOfProduct, price, domain=domain, name=name, **_list_price(price))
        for price, domain, name in db.execute(page(db, query, NEWEST_PRICES, wanted))
    ]


def history(db: Session, given: str, wanted: Wanted = ALL) -> PriceHistory:
    """The newest prices of the product with this URL, or whose id begins so."""
    listing = find(db, given)
    query = select(Price).where(Price.listing_id == listing.id)
    newest_first = page(db, query, NEWEST_PRICES, wanted)
    found = documents(db, newest_first, PriceDocument, _list_price)
    prices = tuple(document for _, document in reversed(found))
    return PriceHistory(document_of(ListingDocument, listing), prices)


def _list_price(price: Price) -> dict[str, Any]:
    """A list price of nothing is none."""
    return {"list_price": price.list_price or None}


def unseen_since(db: Session, moment: datetime, *, domain: str | None, limit: int) -> Sequence[UUID]:
    """The products that were not seen since, those that waited longest first."""
    query = select(Listing.id).where(Listing.last_seen_at <= moment)
    query = query.where(Listing.domain == domain) if domain else query
    return db.scalars(query.order_by(Listing.last_seen_at, Listing.id).limit(limit)).all()
