"""What a hold or a purge is about, as the command line names it; and who is at the command line."""

from __future__ import annotations

import getpass
from typing import TYPE_CHECKING, Annotated

import typer

from crawler.catalogue import products
from crawler.errors import UsageError
from crawler.retention.holds import Target
from crawler.sessions import rows
from crawler.urls import domain_of

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

SessionOption = Annotated[
    str | None, typer.Option("--session", metavar="ID", help="A session; its id may be cut short.")
]
ListingOption = Annotated[
    str | None, typer.Option("--listing", metavar="ID", help="A product: its id, or its URL.")
]
DomainOption = Annotated[str | None, typer.Option("--domain", metavar="D", help="A domain, as shop.example.")]


def target_of(
    db: Session, session: str | None = None, listing: str | None = None, domain: str | None = None
) -> Target:
    """The one target that was named."""
    given = [value for value in (session, listing, domain) if value is not None]
    if len(given) != 1:
        raise UsageError(
            "name one target", hint="give --session ID, --domain D, or --listing ID where it is taken"
        )
    if session is not None:
        return Target(session_id=rows.find(db, session).id)
    if listing is not None:
        return Target(listing_id=products.find(db, listing).id)
    return Target(domain=domain_of(given[0]))


def person() -> str:
    """The name of whoever runs the command, for the record."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"  # as in a container without a list of users
