"""`vitrine hauls`: URLs that are captured together and shown together."""

from __future__ import annotations

from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crawler.catalogue import hauls
from crawler.cli.crawl import INTERRUPTED
from crawler.cli.output import Markup, emit, note, status_mark, table, when
from crawler.cli.results import describe, exit_code, product_facts
from crawler.cli.running import Crawl, FinishedCrawl, run_crawl
from crawler.cli.stores import open_book
from crawler.errors import UsageError
from crawler.sessions.batches import read_url_file

if TYPE_CHECKING:
    from crawler.db.models import Haul
    from crawler.sessions.store import SessionStore

Json = Annotated[bool, typer.Option("--json", help="One JSON document.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="The haul's name.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True, help="Batches of URLs, captured and shown together.")
    group.command("create")(create)
    group.command("list")(list_hauls)
    group.command("show")(show)
    app.add_typer(group, name="hauls")


def create(
    name: Name,
    *,
    file: Annotated[Path, typer.Option("--urls", help="A file of URLs, one a line.")],
    settings: Annotated[
        list[str] | None, typer.Option("-s", metavar="NAME=VALUE", help="Passed on as a setting.")
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show the crawl's log.")] = False,
    as_json: Json = False,
) -> int:
    """Capture a batch of URLs under a name; run again after an interruption, it goes on.

    Examples: vitrine hauls create spring-sale --urls shops.txt
    """
    lines = read_url_file(file)
    if wrong := next((line for line in lines if line.error), None):
        raise UsageError(f"{file}, line {wrong.number}: {wrong.error}")
    with open_book() as book, book.database.write() as db:
        urls = [line.url for line in lines]
        hauls.open_haul(db, name, source=str(file), urls=urls, now=db.now)
        is_complete = hauls.link(db, name)
    crawl = Crawl("pdp", (f"urls={file.resolve()}",), tuple(settings or ()), verbose=verbose)
    finished = FinishedCrawl() if is_complete else run_crawl(crawl)
    with open_book() as book:
        with book.database.write() as db:
            hauls.link(db, name)
        sessions = describe(book, finished.sessions)
    show(name, as_json=as_json)
    if finished.interrupted:
        note("interrupted; the same command goes on where it stopped")
        return INTERRUPTED
    return exit_code(sessions) if sessions else finished.exit_code


def list_hauls(
    *,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="The newest so many.")] = 50,
    as_json: Json = False,
) -> None:
    """List hauls, the newest first."""
    with open_book() as book, book.database.read() as db:
        found = hauls.newest(db, limit)
    if as_json:
        emit({"hauls": list(starmap(_summary, found))})
    elif found:
        rows = [(haul.name, when(haul.created_at), members, captured) for haul, members, captured in found]
        table(("haul", "created", "URLs", "captured"), rows)
    else:
        note("no hauls; `vitrine hauls create NAME --urls FILE` makes one")


def show(name: Name, *, as_json: Json = False) -> None:
    """Show a haul: each URL with its product, its price and how its session ended."""
    with open_book() as book:
        with book.database.read() as db:
            haul = hauls.get(db, name)
        members = _members(book, haul)
    if as_json:
        captured = sum(member["session_id"] is not None for member in members)
        emit({**_summary(haul, len(members), captured), "members": members})
        return
    rows = [
        (member["url"], Markup(status_mark(member["status"] or "-")), member["name"], _price(member),
         str(member["session_id"] or "")[:8])
        for member in members
    ]  # fmt: skip
    table(
        ("url", "status", "product", "price", "session"), rows, title=f"{haul.name}, {when(haul.created_at)}"
    )


def _members(book: SessionStore, haul: Haul) -> list[dict[str, Any]]:
    keys = [member.session_id for member in haul.members if member.session_id]
    sessions = {session["id"]: session for session in describe(book, keys)}
    return [
        _member(member.url, member.session_id, sessions.get(member.session_id)) for member in haul.members
    ]


def _member(url: str, session_id: object, session: dict[str, Any] | None) -> dict[str, Any]:
    facts = product_facts(session) if session and session["pdp_url"] else {}
    return {
        "url": url,
        "session_id": session_id,
        "status": session["status"] if session else None,
        "pdp_url": session["pdp_url"] if session else None,
        **{fact: facts.get(fact) for fact in ("name", "price", "currency", "availability")},
    }


def _price(member: dict[str, Any]) -> str:
    return " ".join(str(member[part]) for part in ("price", "currency") if member[part])


def _summary(haul: Haul, members: int, captured: int) -> dict[str, Any]:
    return {
        "name": haul.name, "created_at": haul.created_at, "source": haul.source,
        "urls": members, "captured": captured,
    }  # fmt: skip
