"""`vitrine hauls`: URLs that are captured together and shown together."""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crawler.catalogue import hauls
from crawler.cli.crawl import Crawl, FinishedCrawl, pairs, run_crawl
from crawler.cli.lists import list_command
from crawler.cli.options import Json, Overrides, Verbose, add_group
from crawler.cli.output import Listing, emit, note, say, table
from crawler.cli.sessions import exit_code
from crawler.cli.stores import reading, writing
from crawler.errors import ExitCode, UsageError
from crawler.sessions.batches import read_url_file
from crawler.views import hauls as views
from crawler.views import sessions as session_views
from crawler.views.paging import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.views.hauls import HaulDocument, MemberDocument
    from crawler.views.paging import Wanted

Name = Annotated[str, typer.Argument(metavar="NAME", help="The haul's name.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    about = "Batches of URLs, captured and shown together."
    add_group(app, "hauls", about, create=create, list=list_hauls, show=show)


def create(
    name: Name,
    *,
    file: Annotated[Path, typer.Option("--urls", help="A file of URLs, one a line.")],
    settings: Overrides = None,
    verbose: Verbose = False,
    as_json: Json = False,
) -> int:
    """Capture a batch of URLs under a name; run again after an interruption, it goes on.

    Examples: vitrine hauls create spring-sale --urls shops.txt
    """
    lines = read_url_file(file)
    if wrong := next((line for line in lines if line.error), None):
        raise UsageError(f"{file}, line {wrong.number}: {wrong.error}")
    if not file.is_file():
        raise UsageError(f"{file} can be read once only", hint="write the URLs to a file to go on from")
    with writing(may_make=True) as db:
        urls = [line.url for line in lines]
        hauls.open_haul(db, name, source=str(file), urls=urls, now=db.now)
        is_complete = hauls.link(db, name)
    crawl = Crawl("pdp", {"urls": str(file.resolve())}, pairs("-s", settings), verbose=verbose)
    finished = FinishedCrawl() if is_complete else run_crawl(crawl)
    with writing() as db:
        hauls.link(db, name)
        sessions = session_views.of(db, db.now, finished.sessions)
    show(name, as_json=as_json)
    if finished.interrupted:
        note("interrupted; the same command goes on where it stopped")
        return ExitCode.INTERRUPTED
    return exit_code(sessions) if sessions else finished.exit_code


HAULS = Listing(
    "hauls",
    lambda one: {
        "haul": one.name,
        "id": one.id,
        "created": one.created_at,
        "URLs": one.urls,
        "captured": one.captured,
    },
    empty="no hauls; `vitrine hauls create NAME --urls FILE` makes one",
    then="vitrine hauls show NAME",
    key=attrgetter("id"),
)


@list_command(HAULS)
def list_hauls(wanted: Wanted) -> Sequence[HaulDocument]:
    """List hauls, the newest first."""
    with reading() as db:
        return listed(db, views.HAULS, wanted)


def show(name: Name, *, as_json: Json = False) -> None:
    """Show a haul: each URL with its product, its price and how its session ended."""
    with reading() as db:
        found = views.shown(db, db.now, name)
    if as_json:
        emit(found)
        return
    say("{name}, {created}", name=found.name, created=found.created_at)
    table(("url", "status", "product", "price", "session"), map(_member_row, found.members))


def _member_row(member: MemberDocument) -> tuple[Any, ...]:
    price = " ".join(part for part in (member.price, member.currency) if part)
    return member.url, member.status, member.name, price, str(member.session_id or "")[:8]
