"""`vitrine listings`: the products that are known."""

from __future__ import annotations

from itertools import starmap
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crawler.catalogue import products
from crawler.cli.cleanup import open_evidence
from crawler.cli.output import emit, emit_line, note, table, when
from crawler.config import load_settings
from crawler.urls import domain_of

if TYPE_CHECKING:
    from crawler.db.models import Listing, Price

NOTHING_MATCHED = 4
LISTING_FIELDS = (
    "id", "domain", "url", "name", "brand", "sku", "gtin", "mpn", "image", "first_seen_at", "last_seen_at",
    "last_session_id",
)  # fmt: skip


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True, help="The products that are known.")
    group.command("list")(list_listings)
    app.add_typer(group, name="listings")


def list_listings(
    *,
    domain: Annotated[str | None, typer.Option(help="Only those of this domain.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="Those seen last, so many.")] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
    as_jsonl: Annotated[bool, typer.Option("--jsonl", help="One JSON document a line.")] = False,
    fail_empty: Annotated[bool, typer.Option("--fail-empty", help="Exit 4 when nothing matches.")] = False,
) -> int:
    """List products with their newest prices, those seen last first."""
    with open_evidence(load_settings()) as (database, _), database.read() as db:
        found = products.newest(db, domain=domain_of(domain) if domain else None, limit=limit)
    documents = list(starmap(document, found))
    if as_jsonl:
        for each in documents:
            emit_line(each)
    elif as_json:
        emit({"listings": documents})
    else:
        _show(found)
    return NOTHING_MATCHED if fail_empty and not found else 0


def document(listing: Listing, price: Price | None) -> dict[str, Any]:
    """A product for machines, with its newest price."""
    return {
        **{name: getattr(listing, name) for name in LISTING_FIELDS},
        "price": str(price.price) if price else None,
        "currency": price.currency if price else None,
        "availability": price.availability if price else None,
        "price_seen_at": price.seen_at if price else None,
    }


def _show(found: list[tuple[Listing, Price | None]]) -> None:
    if not found:
        note("no products yet; `vitrine crawl pdp URL` finds some")
        return
    rows = [
        (
            str(listing.id)[:8],
            listing.domain,
            listing.name,
            f"{price.price} {price.currency}" if price else None,
            price.availability if price else None,
            when(listing.last_seen_at),
        )
        for listing, price in found
    ]
    table(("listing", "domain", "product", "price", "availability", "seen"), rows)
    note("next: vitrine prices show LISTING")
