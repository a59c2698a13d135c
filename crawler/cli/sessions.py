"""`vitrine sessions`: what happened, and once more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from crawler.cli.crawl import crawl_and_report, shown_status, why_not
from crawler.cli.options import FailEmpty, Json, JsonLines, Limit, Overrides, SessionId, Verbose
from crawler.cli.output import Listing, emit, say, show_list, table
from crawler.cli.running import Crawl
from crawler.cli.stores import reading
from crawler.db import lookup
from crawler.db.models import CrawlSession
from crawler.errors import UsageError
from crawler.sessions.outcome import Status
from crawler.views import sessions as views

if TYPE_CHECKING:
    from crawler.views.sessions import SessionDocument, SessionWithLog


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True, help="What was visited, and what came of it.")
    group.command("list")(list_sessions)
    group.command("show")(show)
    group.command("retry")(retry)
    app.add_typer(group, name="sessions")


def list_sessions(
    *,
    status: Annotated[str | None, typer.Option(help="Only those that stand so.")] = None,
    domain: Annotated[str | None, typer.Option(help="Only those of this domain.")] = None,
    limit: Limit = 50,
    as_json: Json = False,
    as_jsonl: JsonLines = False,
    fail_empty: FailEmpty = False,
) -> int:
    """List sessions, the newest first."""
    if status is not None and status not in set(Status):
        raise UsageError(f"--status {status} is unknown", hint="it takes " + ", ".join(Status))
    with reading() as db:
        found = views.newest(db, db.now, status=status, domain=domain, limit=limit)
    return show_list(SESSIONS, found, as_json=as_json, as_jsonl=as_jsonl, fail_empty=fail_empty)


def show(session: SessionId, *, as_json: Json = False) -> None:
    """Show one session: its pages, its artifacts, its log."""
    with reading() as db:
        found = views.shown(db, db.now, session)
    if as_json:
        emit(found)
    else:
        _show(found)


def retry(
    session: SessionId, *, settings: Overrides = None, verbose: Verbose = False, as_json: Json = False
) -> int:
    """Run a session again; what it stored before stays, under its earlier attempt."""
    with reading() as db:
        session_id = lookup.find(db, CrawlSession, session).id
    crawl = Crawl("pdp", (f"session={session_id}",), tuple(settings or ()), verbose=verbose)
    return crawl_and_report(crawl, as_json=as_json)


def _row(session: SessionDocument) -> tuple[Any, ...]:
    return (
        str(session.id)[:8], session.created_at, session.domain or session.url, shown_status(session),
        session.product.get("name"), why_not(session),
    )  # fmt: skip


SESSIONS = Listing(
    "sessions",
    ("session", "created", "domain", "status", "product", "why not"),
    _row,
    empty="no sessions; `vitrine crawl pdp URL` makes one",
    then="vitrine sessions show ID",
)


def _show(session: SessionWithLog) -> None:
    say(
        "[bold]{id}[/]  {status}  {why}\n{url}  policy {policy}  attempt {attempt}\n"
        "created {created}  finished {finished}",
        id=session.id, status=shown_status(session), why=why_not(session), url=session.url,
        policy=session.crawl_policy_version, attempt=session.attempts, created=session.created_at,
        finished=session.finished_at,
    )  # fmt: skip
    if session.pdp_url:
        facts = session.product
        price = f"{facts.get('price') or '?'} {facts.get('currency') or ''}"
        say("product: {name}  {price}  {url}", name=facts.get("name"), price=price, url=session.pdp_url)
    pages = [
        (page.page_type, page.viewport, page.status, page.http_status, page.url,
         ", ".join(page.low_confidence_reasons))
        for page in session.pages
    ]  # fmt: skip
    table(("page", "viewport", "status", "http", "url", "doubts"), pages, title="\npages")
    files = [
        (file.type, file.storage_uri, file.size_bytes, file.checksum[:12], file.retention_until,
         file.deleted_at)
        for file in session.artifacts
    ]  # fmt: skip
    table(("artifact", "storage_uri", "bytes", "sha256", "goes", "deleted"), files, title="\nartifacts")
    lines = [(line.timestamp, line.level, line.message, _as_text(line.details)) for line in session.log]
    table(("time", "level", "event", "details"), lines, title="\nlog")


def _as_text(details: dict[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in details.items() if value is not None)
