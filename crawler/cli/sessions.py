"""`vitrine sessions`: what happened, and once more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from sqlalchemy import select

from crawler.cli.crawl import crawl_and_report
from crawler.cli.output import Markup, emit, emit_line, note, say, size, status_mark, table, when
from crawler.cli.results import describe, product_facts
from crawler.cli.running import Crawl
from crawler.cli.stores import open_book
from crawler.db.models import CrawlLog, CrawlSession
from crawler.errors import UsageError
from crawler.sessions import rows as sessions_rows
from crawler.sessions.outcome import Status

if TYPE_CHECKING:
    from collections.abc import Sequence

NOTHING_MATCHED = 4
Json = Annotated[bool, typer.Option("--json", help="One JSON document.")]


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
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="The newest so many.")] = 50,
    as_json: Json = False,
    as_jsonl: Annotated[bool, typer.Option("--jsonl", help="One JSON document a line.")] = False,
    fail_empty: Annotated[bool, typer.Option("--fail-empty", help="Exit 4 when nothing matches.")] = False,
) -> int:
    """List sessions, the newest first."""
    if status is not None and status not in set(Status):
        raise UsageError(f"--status {status} is unknown", hint="it takes " + ", ".join(Status))
    with open_book() as book:
        with book.database.read() as db:
            query = (
                select(CrawlSession.id).order_by(CrawlSession.created_at.desc(), CrawlSession.id).limit(limit)
            )
            query = query.where(CrawlSession.status == status) if status else query
            query = query.where(CrawlSession.domain == domain) if domain else query
            found = list(db.scalars(query))
        sessions = describe(book, found)
    if as_jsonl:
        for session in sessions:
            emit_line(session)
    elif as_json:
        emit({"sessions": sessions})
    else:
        _show_list(sessions)
    return NOTHING_MATCHED if fail_empty and not sessions else 0


def show(
    session: Annotated[str, typer.Argument(help="Its id, or how it begins.")], *, as_json: Json = False
) -> None:
    """Show one session: its pages, its artifacts, its log."""
    with open_book() as book:
        with book.database.read() as db:
            found = sessions_rows.find(db, session).id
            log = list(
                db.scalars(
                    select(CrawlLog)
                    .where(CrawlLog.session_id == found)
                    .order_by(CrawlLog.timestamp, CrawlLog.id)
                )
            )
        [described] = describe(book, [found])
    if as_json:
        emit({**described, "log": [_log_fields(line) for line in log]})
    else:
        _show_one(described, log)


def retry(
    session: Annotated[str, typer.Argument(help="Its id, or how it begins.")],
    *,
    settings: Annotated[
        list[str] | None, typer.Option("-s", metavar="NAME=VALUE", help="Passed on as a setting.")
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show the crawl's log.")] = False,
    as_json: Json = False,
) -> int:
    """Run a session again; what it stored before stays, under its earlier attempt."""
    with open_book() as book, book.database.read() as db:
        found = sessions_rows.find(db, session)
    crawl = Crawl("pdp", (f"session={found.id}",), tuple(settings or ()), verbose=verbose)
    return crawl_and_report(crawl, as_json=as_json)


def _show_list(sessions: Sequence[dict[str, Any]]) -> None:
    if not sessions:
        note("no sessions; `vitrine crawl pdp URL` makes one")
        return
    rows = [
        (
            str(session["id"])[:8],
            when(session["created_at"]),
            session["domain"] or session["url"],
            Markup(status_mark(session["status"])),
            product_facts(session).get("name"),
            f"{session['error_summary']} ({session['cause']})" if session["error_summary"] else "",
        )
        for session in sessions
    ]
    table(("session", "created", "domain", "status", "product", "why not"), rows)
    note("next: vitrine sessions show ID")


def _show_one(session: dict[str, Any], log: Sequence[CrawlLog]) -> None:
    why = f"  {session['error_summary']} ({session['cause']})" if session["error_summary"] else ""
    say(f"[bold]{session['id']}[/]  {status_mark(session['status'])}{escape(why)}")
    say(escape(f"{session['url']}  policy {session['crawl_policy_version']}  attempt {session['attempts']}"))
    say(f"created {when(session['created_at'])}  finished {when(session['finished_at'])}")
    facts = product_facts(session)
    if session["pdp_url"]:
        price = f"{facts.get('price') or '?'} {facts.get('currency') or ''}"
        say(escape(f"product: {facts.get('name')}  {price}  {session['pdp_url']}"))
    pages = [
        (page["page_type"], page["viewport"], page["status"], page["http_status"], page["url"],
         ", ".join(page["low_confidence_reasons"]))
        for page in session["pages"]
    ]  # fmt: skip
    table(("page", "viewport", "status", "http", "url", "doubts"), pages, title="\npages")
    files = [
        (a["type"], a["storage_uri"], size(a["size_bytes"]), a["checksum"][:12], when(a["retention_until"]),
         when(a["deleted_at"]))
        for a in session["artifacts"]
    ]  # fmt: skip
    table(("artifact", "storage_uri", "bytes", "sha256", "goes", "deleted"), files, title="\nartifacts")
    lines = [(when(line.timestamp), line.level, line.message, _as_text(line.details)) for line in log]
    table(("time", "level", "event", "details"), lines, title="\nlog")


def _log_fields(line: CrawlLog) -> dict[str, Any]:
    names = ("timestamp", "level", "event_type", "message", "details")
    return {name: getattr(line, name) for name in names}


def _as_text(details: dict[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in details.items() if value is not None)
