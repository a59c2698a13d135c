"""`vitrine prices`: what a product cost, and captured again what it costs now."""

from __future__ import annotations

import re
from datetime import timedelta
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from crawler.catalogue import products
from crawler.cli.cleanup import open_evidence
from crawler.cli.crawl import crawl_and_report
from crawler.cli.listings import LISTING_FIELDS
from crawler.cli.output import emit, note, say, table, when
from crawler.cli.running import Crawl
from crawler.cli.sparkline import sparkline
from crawler.config import load_settings
from crawler.errors import UsageError
from crawler.urls import domain_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.db.models import Listing, Price

NOTHING_MATCHED = 4
PRICE_FIELDS = ("id", "currency", "availability", "seen_at", "url", "content_sha256", "session_id")
_AGE = re.compile(r"(\d{1,6})([mhdw])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
Json = Annotated[bool, typer.Option("--json", help="One JSON document.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True, help="What products cost, and when.")
    group.command("show")(show)
    group.command("refresh")(refresh)
    app.add_typer(group, name="prices")


def show(
    product: Annotated[str, typer.Argument(metavar="URL|LISTING", help="Its page, or its id, cut short.")],
    *,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="The newest so many.")] = 30,
    as_json: Json = False,
) -> None:
    """Show the price history of a product, each price with what proves it."""
    with open_evidence(load_settings()) as (database, _), database.read() as db:
        listing = products.find(db, product)
        history = products.history(db, listing.id, limit)
    if as_json:
        emit({"listing": _fields(listing, LISTING_FIELDS), "prices": [_document(price) for price in history]})
    else:
        _show(listing, history)


def refresh(
    *,
    older_than: Annotated[
        str, typer.Option(metavar="AGE", help="Only products not seen for so long: 30m, 12h, 1d, 2w.")
    ] = "1d",
    domain: Annotated[str | None, typer.Option(help="Only those of this domain.")] = None,
    limit: Annotated[
        int, typer.Option(min=1, max=2000, help="At most so many, those that waited longest.")
    ] = 500,
    settings: Annotated[
        list[str] | None, typer.Option("-s", metavar="NAME=VALUE", help="Passed on as a setting.")
    ] = None,
    fail_empty: Annotated[bool, typer.Option("--fail-empty", help="Exit 4 when none is due.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show the crawl's log.")] = False,
    as_json: Json = False,
) -> int:
    """Capture known products again, so that their prices are of today."""
    age = _age(older_than)
    with open_evidence(load_settings()) as (database, _), database.read() as db:
        moment = db.now - age
        due = products.seen_before(db, moment, domain=domain_of(domain) if domain else None, limit=limit)
    if not due:
        note(f"every known product was seen within {older_than}")
        if as_json:
            emit({"sessions": []})
        return NOTHING_MATCHED if fail_empty else 0
    words = " ".join(str(listing.id) for listing in due)
    crawl = Crawl("pdp", (f"listing={words}",), tuple(settings or ()), verbose=verbose)
    return crawl_and_report(crawl, as_json=as_json)


def _age(text: str) -> timedelta:
    found = _AGE.fullmatch(text.strip())
    if not found:
        raise UsageError(f"--older-than {text!r} is no age", hint="write it as 30m, 12h, 1d or 2w")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def _show(listing: Listing, history: Sequence[Price]) -> None:
    say(f"[bold]{escape(listing.name or listing.url)}[/]  {escape(listing.brand or '')}")
    say(escape(f"{listing.url}  listing {listing.id}"))
    if not history:
        note("no price is known")
        return
    by_currency = sorted(history, key=attrgetter("currency"))
    for currency, of_it in groupby(by_currency, key=attrgetter("currency")):
        amounts = [price.price for price in of_it]
        say(f"{currency}  {sparkline(amounts)}  {amounts[-1]}  (from {min(amounts)} to {max(amounts)})")
    rows = [
        (when(price.seen_at), f"{price.price} {price.currency}", price.list_price, price.availability,
         str(price.session_id)[:8], (price.content_sha256 or "")[:12])
        for price in reversed(history)
    ]  # fmt: skip
    table(("seen", "price", "list price", "availability", "session", "sha256"), rows)


def _document(price: Price) -> dict[str, Any]:
    amounts = {"price": str(price.price), "list_price": str(price.list_price) if price.list_price else None}
    return {**_fields(price, PRICE_FIELDS), **amounts}


def _fields(row: object, names: Sequence[str]) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names}
