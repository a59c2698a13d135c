"""`vitrine sessions`: what happened, and how several ended in one table and one number."""

from __future__ import annotations

import os
import webbrowser
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crawler.capture.artifact_types import SCREENSHOT
from crawler.capture.failures import Summary
from crawler.cli.lists import list_command
from crawler.cli.options import Caused, Json, SessionId
from crawler.cli.output import LEFT, Listing, day, emit, note, say, short_id, table, table_of
from crawler.cli.stores import opened, reading
from crawler.errors import CrawlerError, UsageError
from crawler.sessions.outcome import Status, exit_code_of
from crawler.views import sessions as views

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from uuid import UUID

    from crawler.evidence.blobs import BlobStore
    from crawler.views.paging import Wanted
    from crawler.views.sessions import SessionDocument, SessionWithLog


MOST = 100  # rows of each kind of what belongs to a session: that of a run has thousands
group = typer.Typer(no_args_is_help=True, help="What was visited, and what came of it.")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(group, name="sessions")


def _row(session: SessionDocument) -> dict[str, Any]:
    return {
        "session": str(session.id)[:8],
        "created": session.created_at,
        "domain": session.domain or session.url,
        "status": _shown_status(session),
        "why not": _why_not(session),
        "product": session.said.name,
    }


SESSIONS = Listing(
    "sessions",
    _row,
    empty="no sessions; `vitrine crawl pdp URL` makes one",
    then="vitrine sessions show ID",
    key=short_id,
)


@group.command("list")
@list_command(SESSIONS, cause=Caused)
def list_sessions(
    wanted: Wanted,
    *,
    status: Annotated[Status | None, typer.Option(help="Only those that stand so.")] = None,
) -> Sequence[SessionDocument]:
    """List sessions, the newest first.

    Examples: vitrine sessions list --domain shop.example --since 2026-05-01 --cause robots_refused
    """
    with reading() as db:
        return views.newest(db, db.now, wanted, status=status)


@group.command("show")
def show(session: SessionId, *, as_json: Json = False) -> None:
    """Show one session: its pages, its artifacts, its log."""
    with reading() as db:
        found = views.shown(db, db.now, session)
    if as_json:
        emit(found)
        return
    say(
        "[bold]{id}[/]  {status}  {why}\n{url}  policy {policy}  attempt {attempt}\n"
        "created {created}  finished {finished}",
        id=found.id, status=_shown_status(found), why=_why_not(found), url=found.url,
        policy=found.crawl_policy_version, attempt=found.attempts, created=found.created_at,
        finished=found.finished_at,
    )  # fmt: skip
    if found.wanted_pdp_url:
        say("product page that was asked for: {url}", url=found.wanted_pdp_url)
    if found.pdp_url:
        price = found.said.price_in_words or "?"
        say("product: {name}  {price}  {url}", name=found.said.name, price=price, url=found.pdp_url)
    pages = [
        (page.page_type, page.viewport, page.status, page.http_status, page.url,
         ", ".join(page.low_confidence_reasons))
        for page in found.pages
    ]  # fmt: skip
    table(("page", "viewport", "status", "http", "url", "doubts"), pages[:MOST], title="\npages")
    files = [
        (str(file.id)[:8], file.type, file.size_bytes, day(file.retention_until), day(file.deleted_at),
         file.checksum[:12], file.storage_uri)
        for file in found.artifacts
    ]  # fmt: skip
    columns = ("id", "artifact", "bytes", "goes", "deleted", "sha256", "storage_uri")
    table(columns, files[:MOST], title="\nartifacts")
    lines = [(line.timestamp, line.level, line.message, _as_text(line.details)) for line in found.log]
    table(("time", "level", "event", "details"), lines, title="\nlog")
    if max(len(pages), len(files)) > MOST:
        note(f"shown are at most {MOST} of {len(pages)} pages and {len(files)} artifacts; all, in turn:")
        for kind in ("pages", "artifacts"):
            note(f"  vitrine {kind} list --session {str(found.id)[:8]}")
    if files:
        note("next: vitrine artifacts cat ID --decode")


@group.command("report")
def report(
    session: SessionId,
    *,
    out: Annotated[Path | None, typer.Option(help="Where to write it; - is standard output.")] = None,
    opens: Annotated[bool, typer.Option("--open", help="Show it in this machine's browser.")] = False,
) -> None:
    """Write one session as a single HTML file: screenshots, verdicts, facts, artifacts, log.

    Examples:
      vitrine sessions report 3f2a --open
    """
    from crawler.web.session_report import as_html  # ruff: ignore[import-outside-top-level] - slow to load

    with opened() as stores:
        with stores.database.read() as db:
            found, now = views.shown(db, db.now, session), db.now
        pictures = dict(_pictures(stores.blobs, found))
    html = as_html(found, pictures, now)
    if out == Path("-"):
        typer.echo(html)
        return
    path = out or Path(f"session-{str(found.id)[:8]}.html")
    _write(path, html)
    typer.echo(str(path))
    if opens:
        webbrowser.open(path.resolve().as_uri())


def _pictures(blobs: BlobStore, session: SessionWithLog) -> Iterator[tuple[UUID, bytes]]:
    """The screenshots that can be read; one that is missing costs its place in the report."""
    for file in session.artifacts:
        if file.type == SCREENSHOT.name and file.page_id is not None and file.deleted_at is None:
            with suppress(CrawlerError):
                yield file.page_id, b"".join(blobs.stream(file.storage_uri))


def _write(path: Path, html: str) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_text(html, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error


def tell(sessions: Sequence[SessionDocument], *, as_json: bool) -> int:
    """What a crawl's sessions came to, and the exit code that says so."""
    if as_json:
        emit({"sessions": sessions})
    else:
        table_of([result_row(session) for session in sessions])
    return exit_code(sessions)


def exit_code(sessions: Sequence[SessionDocument]) -> int:
    """The truth about several sessions in one number."""
    ends = Counter(Status(session.status) for session in sessions)
    return exit_code_of(ends, is_locked=any(s.error_summary == Summary.LOCK_TIMEOUT for s in sessions))


def result_row(session: SessionDocument) -> dict[str, Any]:
    """What a crawl's session came to, as cells by their headings."""
    said = session.said
    goes = [file.retention_until for file in session.artifacts if file.retention_until]
    return {
        "domain": session.domain or session.url,
        "status": _shown_status(session),
        "product": said.name,
        "price": said.price_in_words,
        "artifacts": len(session.artifacts),
        "bytes": sum(file.size_bytes for file in session.artifacts),
        "HTML goes": f"{min(goes):%Y-%m-%d}" if goes else "",
        "why not": _why_not(session),
    }


def _shown_status(session: SessionDocument) -> str:
    """How it stands, and whether anybody is at it."""
    return session.status + LEFT if session.silent else session.status


def _why_not(session: SessionDocument) -> str:
    """What kept it from its end; empty where nothing did."""
    return f"{session.error_summary} ({session.cause})" if session.error_summary else ""


def _as_text(details: dict[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in details.items() if value is not None)
