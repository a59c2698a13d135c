"""`vitrine hauls`: URLs that are captured together and shown together."""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crawler.catalogue import hauls
from crawler.cli.crawl import INTERRUPTED, Crawl, FinishedCrawl, run_crawl
from crawler.cli.options import (
    After,
    FailEmpty,
    InDomain,
    Json,
    JsonLines,
    Limit,
    Overrides,
    Since,
    Until,
    Verbose,
    add_group,
    wanted_of,
)
from crawler.cli.output import Listing, emit, note, say, show_list, table
from crawler.cli.sessions import exit_code
from crawler.cli.stores import reading, writing
from crawler.errors import UsageError
from crawler.sessions.batches import read_url_file
from crawler.views import hauls as views
from crawler.views import sessions as session_views

if TYPE_CHECKING:
    from crawler.views.hauls import MemberDocument

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
    with writing(may_make=True) as db:
        urls = [line.url for line in lines]
        hauls.open_haul(db, name, source=str(file), urls=urls, now=db.now)
        is_complete = hauls.link(db, name)
    crawl = Crawl("pdp", (f"urls={file.resolve()}",), tuple(settings or ()), verbose=verbose)
    finished = FinishedCrawl() if is_complete else run_crawl(crawl)
    with writing() as db:
        hauls.link(db, name)
        sessions = session_views.of(db, db.now, finished.sessions)
    show(name, as_json=as_json)
    if finished.interrupted:
        note("interrupted; the same command goes on where it stopped")
        return INTERRUPTED
    return exit_code(sessions) if sessions else finished.exit_code


def list_hauls(
    *,
    domain: InDomain = None,
    since: Since = None,
    until: Until = None,
    after: After = None,
    limit: Limit = 50,
    as_json: Json = False,
    as_jsonl: JsonLines = False,
    fail_empty: FailEmpty = False,
) -> int:
    """List hauls, the newest first."""
    wanted = wanted_of(domain=domain, since=since, until=until, after=after, limit=limit)
    with reading() as db:
        found = views.newest(db, wanted)
    return show_list(HAULS, found, as_json=as_json, as_jsonl=as_jsonl, fail_empty=fail_empty, limit=limit)


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


HAULS = Listing(
    "hauls",
    ("haul", "id", "created", "URLs", "captured"),
    attrgetter("name", "id", "created_at", "urls", "captured"),
    empty="no hauls; `vitrine hauls create NAME --urls FILE` makes one",
    then="vitrine hauls show NAME",
    key=attrgetter("id"),
)
