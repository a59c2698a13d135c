"""`vitrine products` and `prices`: the products that are known, what each cost, and what it costs now."""

from __future__ import annotations

import re
from datetime import timedelta
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crawler.cli.crawl import Crawl, crawl_and_report, pairs
from crawler.cli.lists import list_command
from crawler.cli.options import (
    FailEmpty,
    InDomain,
    Json,
    Limit,
    Overrides,
    Since,
    Until,
    Verbose,
    add_group,
    domain_in,
    wanted_of,
)
from crawler.cli.output import NOTHING_MATCHED, Listing, emit, note, say, short_id, table
from crawler.cli.stores import reading
from crawler.errors import UsageError
from crawler.views import products as views
from crawler.views.paging import listed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from crawler.views.paging import Wanted
    from crawler.views.products import PricedListing, PriceOfProduct

BARS = "▁▂▃▄▅▆▇█"
_AGE = re.compile(r"(\d{1,6})([mhdw])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def register(app: typer.Typer) -> None:
    """Add the commands."""
    add_group(app, "products", "The products that are known.", list=list_products)
    add_group(app, "listings", "The same as `vitrine products`, by its former name.", list=list_listings)
    add_group(app, "prices", "What products cost, and when.", list=list_prices, show=show, refresh=refresh)


def _row(listing: PricedListing) -> dict[str, Any]:
    price = f"{listing.price} {listing.currency}" if listing.price is not None else None
    return {
        "id": str(listing.id)[:8],
        "domain": listing.domain,
        "product": listing.name,
        "price": price,
        "availability": listing.availability,
        "seen": listing.last_seen_at,
    }


PRODUCTS, LISTINGS = (
    Listing(
        name, _row, empty="no products yet; `vitrine crawl pdp URL` finds some",
        then="vitrine prices show ID", key=short_id,
    )
    for name in ("products", "listings")
)  # fmt: skip
PRICES = Listing(
    "prices",
    lambda one: {
        "price": one.id,
        "seen": one.seen_at,
        "domain": one.domain,
        "product": one.name,
        "amount": f"{one.price} {one.currency}",
        "availability": one.availability,
        "session": str(one.session_id)[:8],
    },
    empty="no prices yet; `vitrine crawl pdp URL` finds some",
    then="vitrine prices show URL",
    key=attrgetter("id"),
)


@list_command(PRODUCTS)
def list_products(wanted: Wanted) -> Sequence[PricedListing]:
    """List products with their newest prices, those seen last first.

    Examples:
      vitrine products list --domain shop.example
    """
    with reading() as db:
        return listed(db, views.LISTINGS, wanted)


@list_command(LISTINGS)
def list_listings(wanted: Wanted) -> Sequence[PricedListing]:
    """List products with their newest prices, as `vitrine products list` does."""
    with reading() as db:
        return listed(db, views.LISTINGS, wanted)


@list_command(PRICES)
def list_prices(wanted: Wanted) -> Sequence[PriceOfProduct]:
    """List the prices that were seen, of all products, the newest first.

    Examples: vitrine prices list --domain shop.example --since 2026-05-01 --jsonl
    """
    with reading() as db:
        return views.newest_prices(db, wanted)


def show(
    product: Annotated[str, typer.Argument(metavar="URL|LISTING", help="Its page, or its id, cut short.")],
    *,
    since: Since = None,
    until: Until = None,
    limit: Limit = 30,
    as_json: Json = False,
) -> None:
    """Show the price history of a product, each price with what proves it."""
    wanted = wanted_of(since=since, until=until, limit=limit)
    with reading() as db:
        found = views.history(db, product, wanted)
    if as_json:
        emit(found)
        return
    listing = found.listing
    say(
        "[bold]{name}[/]  {brand}\n{url}  listing {id}",
        name=listing.name or listing.url, brand=listing.brand or "", url=listing.url, id=listing.id,
    )  # fmt: skip
    if not found.prices:
        note("no price is known")
        return
    by_currency = sorted(found.prices, key=attrgetter("currency"))
    for currency, of_it in groupby(by_currency, key=attrgetter("currency")):
        amounts = [price.price for price in of_it]
        say(f"{currency}  {sparkline(amounts)}  {amounts[-1]}  (from {min(amounts)} to {max(amounts)})")
    rows = [
        (price.seen_at, f"{price.price} {price.currency}", price.list_price, price.availability,
         str(price.session_id)[:8], (price.content_sha256 or "")[:12])
        for price in reversed(found.prices)
    ]  # fmt: skip
    table(("seen", "price", "list price", "availability", "session", "sha256"), rows)


def refresh(
    *,
    older_than: Annotated[
        str, typer.Option(metavar="AGE", help="Only products not seen for so long: 30m, 12h, 1d, 2w.")
    ] = "1d",
    domain: InDomain = None,
    limit: Annotated[
        int, typer.Option(min=1, max=2000, help="At most so many, those that waited longest.")
    ] = 500,
    settings: Overrides = None,
    fail_empty: FailEmpty = False,
    verbose: Verbose = False,
    as_json: Json = False,
) -> int:
    """Capture known products again, so that their prices are of today."""
    age = _age(older_than)
    with reading() as db:
        due = views.unseen_since(db, db.now - age, domain=domain_in(domain), limit=limit)
    if not due:
        note(f"every known product was seen within {older_than}")
        if as_json:
            emit({"sessions": []})
        return NOTHING_MATCHED if fail_empty else 0
    words = " ".join(map(str, due))
    crawl = Crawl("pdp", {"listing": words}, pairs("-s", settings), verbose=verbose)
    return crawl_and_report(crawl, as_json=as_json)


def sparkline(values: Sequence[Decimal], width: int = 60) -> str:
    """The last `width` values as bars, from the lowest to the highest; equal ones lie in the middle."""
    shown = values[-width:]
    if not shown:
        return ""
    low, high = min(shown), max(shown)
    if low == high:
        return BARS[len(BARS) // 2 - 1] * len(shown)
    return "".join(BARS[int((value - low) / (high - low) * (len(BARS) - 1))] for value in shown)


def _age(text: str) -> timedelta:
    found = _AGE.fullmatch(text.strip())
    if not found:
        raise UsageError(f"--older-than {text!r} is no age", hint="write it as 30m, 12h, 1d or 2w")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})
