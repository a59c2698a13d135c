"""What commands take alike, and who is at the command line."""

from __future__ import annotations

import getpass
from datetime import UTC, date, datetime
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated

import typer

from crawler.capture.failures import Cause
from crawler.db import lookup
from crawler.db.models import CrawlSession
from crawler.errors import UsageError
from crawler.retention.holds import Target
from crawler.urls import domain_of
from crawler.views.paging import MANY, Wanted
from crawler.views.products import find as find_listing

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy.orm import Session

MAX_NUMBER = 2**63 - 1  # that a database takes
Json = Annotated[bool, typer.Option("--json", help="One JSON document.")]
JsonLines = Annotated[bool, typer.Option("--jsonl", help="One JSON document a line.")]
FailEmpty = Annotated[bool, typer.Option("--fail-empty", help="Exit 4 when nothing matches.")]
Limit = Annotated[int, typer.Option(min=1, max=MANY, help="The newest so many.")]
Most = Annotated[int, typer.Option("--limit", min=1, max=MANY, help="So many at most.")]
Since = Annotated[str | None, typer.Option("--since", metavar="DAY", help="From this day on, UTC.")]
Until = Annotated[str | None, typer.Option("--until", metavar="DAY", help="Before this day, UTC.")]
InDomain = Annotated[
    str | None, typer.Option("--domain", metavar="D", help="Only of this domain; a URL names its own.")
]


def _known_cause(given: str | None) -> str | None:
    """The cause, if it is one; else an error with that which may be meant."""
    if given is None or given in set(Cause):
        return given
    near = get_close_matches(given, sorted(Cause), n=1)
    hint = f"--cause {near[0]} is one" if near else "docs/troubleshooting.md lists them"
    raise UsageError(f"--cause {given[:40]!r} is unknown", hint=hint)


Caused = Annotated[
    str | None,
    typer.Option(
        "--cause", metavar="CAUSE", help="Only what ended by it, as robots_refused.", callback=_known_cause
    ),
]
After = Annotated[
    str | None,
    typer.Option("--after", metavar="ID", help="Go on behind this one, the last of the page before."),
]
OfSource = Annotated[str | None, typer.Option("--source", metavar="CODE", help="Only of this source.")]
Arguments = Annotated[
    list[str] | None, typer.Option("-a", metavar="NAME=VALUE", help="Passed on to the spider.")
]
Overrides = Annotated[
    list[str] | None, typer.Option("-s", metavar="NAME=VALUE", help="Passed on as a setting.")
]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show the crawl's log.")]
SessionId = Annotated[str, typer.Argument(help="Its id, or how it begins.")]
RunId = Annotated[str, typer.Argument(metavar="RUN", help="Its number.")]
SessionOption = Annotated[
    str | None, typer.Option("--session", metavar="ID", help="A session; its id may be cut short.")
]
ListingOption = Annotated[
    str | None, typer.Option("--listing", metavar="ID", help="A product: its id, or its URL.")
]
DomainOption = Annotated[str | None, typer.Option("--domain", metavar="D", help="A domain, as shop.example.")]


def add_group(app: typer.Typer, name: str, about: str, **commands: Callable[..., object]) -> None:
    """Add a group of commands, each under its name."""
    group = typer.Typer(no_args_is_help=True, help=about)
    for command, function in commands.items():
        group.command(command)(function)
    app.add_typer(group, name=name)


def target_of(
    db: Session, session: str | None = None, listing: str | None = None, domain: str | None = None
) -> Target:
    """The one target of a hold or a purge that was named."""
    given = [value for value in (session, listing, domain) if value is not None]
    if len(given) != 1:
        raise UsageError(
            "name one target", hint="give --session ID, --domain D, or --listing ID where it is taken"
        )
    if session is not None:
        return Target(session_id=lookup.find(db, CrawlSession, session).id)
    if listing is not None:
        return Target(listing_id=find_listing(db, listing).id)
    return Target(domain=domain_of(given[0]))


def day_of(option: str, given: str | None) -> date | None:
    """The day that an option names."""
    if given is None:
        return None
    try:
        return date.fromisoformat(given)
    except ValueError:
        raise UsageError(f"{option} {given[:40]!r} is no day", hint="write it as 2026-05-31") from None


def time_of(option: str, given: str | None) -> datetime | None:
    """The beginning of the day that an option names, UTC."""
    day = day_of(option, given)
    return None if day is None else datetime(day.year, day.month, day.day, tzinfo=UTC)


def wanted_of(
    *,
    domain: str | None = None,
    since: str | None = None,
    until: str | None = None,
    cause: str | None = None,
    after: str | None = None,
    limit: int = MANY,
) -> Wanted:
    """Which rows the options of a list ask for; what could match nothing is refused."""
    begin, end = time_of("--since", since), time_of("--until", until)
    if begin and end and begin >= end:
        raise UsageError(f"--since {since} is not before --until {until}", hint="--until names the day after")
    return Wanted(
        domain=domain_in(domain), since=begin, until=end, cause=cause, after=after, limit=limit
    )  # fmt: skip


def domain_in(given: str | None) -> str | None:
    """The domain that an option names, in any spelling of it, or of a URL of it."""
    return None if given is None else domain_of(given)


def person() -> str:
    """The name of whoever runs the command, for the record."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"  # as in a container without a list of users
