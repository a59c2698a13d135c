"""`vitrine domains`: who holds which domain, how long, which delay applies and why."""

from __future__ import annotations

import re
import sys
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer
from rich.markup import escape

from crawler.access.acquisition import open_gate
from crawler.access.gate import NEVER
from crawler.access.process import holder_of
from crawler.cli.output import emit, note, say, table, when
from crawler.cli.stores import open_book
from crawler.cli.targets import person
from crawler.config import load_settings
from crawler.db.models import CrawlSession
from crawler.errors import LockedError, NotFoundError, UsageError
from crawler.retention.holds import note_action
from crawler.urls import domain_of

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from crawler.access.gate import Gate, GateEntry
    from crawler.sessions.store import SessionStore

NOTHING_MATCHED = 4
FREE = "free"
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
Json = Annotated[bool, typer.Option("--json", help="One JSON document.")]
Domain = Annotated[str, typer.Argument(help="A domain, or any URL of it.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True, help="Who visits which domain, and when the next one may.")
    group.command("list")(list_domains)
    group.command("show")(show)
    group.command("release")(release)
    app.add_typer(group, name="domains")


def list_domains(
    *,
    as_json: Json = False,
    fail_empty: Annotated[bool, typer.Option("--fail-empty", help="Exit 4 when there is none.")] = False,
) -> int:
    """List the domains that are held or delayed."""
    with _stores() as (gate, book):
        described = _described(gate.entries(), book)
    if as_json:
        emit({"domains": described, "shared": gate.shared})
    elif described:
        rows = [(d["domain"], _holder_text(d), _delay_text(d)) for d in described]
        table(("domain", "held by", "next visit"), rows)
    else:
        where = "" if gate.shared else " on this machine"
        note(f"no domain is held or delayed{where}")
    return NOTHING_MATCHED if fail_empty and not described else 0


def show(domain: Domain, *, as_json: Json = False) -> None:
    """Show one domain."""
    with _stores() as (gate, book):
        [described] = _described([gate.entry(domain_of(domain))], book)
    if as_json:
        emit(described)
        return
    say(f"[bold]{escape(described['domain'])}[/]")
    say(f"  held by     {escape(_holder_text(described))}")
    say(f"  next visit  {escape(_delay_text(described))}")
    note(f"next: vitrine sessions list --domain {described['domain']}")


def release(
    domain: Domain,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Break a domain's lock, for a holder that is gone for good.

    A session that still runs there stops fetching as soon as it notices.
    """
    with _stores() as (gate, book):
        [described] = _described([gate.entry(domain_of(domain))], book)
        if described["state"] == FREE:
            raise NotFoundError(f"nobody holds {described['domain']}")
        _confirm(described, yes=yes)
        if not gate.break_lock(described["domain"], described["value"]):
            raise LockedError(f"{described['domain']} changed hands meanwhile; nothing was broken")
        with book.database.write() as db:
            now = db.now
            note_action(
                db, "domains.release", described["domain"], actor=person(), now=now, value=described["value"]
            )
    if as_json:
        emit({"released": described})
    else:
        say(f"{escape(described['domain'])} is free; it was held by {escape(_holder_text(described))}")


@contextmanager
def _stores() -> Generator[tuple[Gate, SessionStore]]:
    with open_book() as book:
        gate = open_gate(load_settings(), book.database)
        try:
            yield gate, book
        finally:
            gate.close()


def _confirm(described: dict[str, Any], *, yes: bool) -> None:
    if yes:
        return
    question = f"{described['domain']} is held by {_holder_text(described)}. Break that lock?"
    if not sys.stdin.isatty():
        raise UsageError(question, hint="nobody is here to answer; repeat with --yes")
    if not typer.confirm(question, err=True):
        raise typer.Exit(1)


def _described(entries: Sequence[GateEntry], book: SessionStore) -> list[dict[str, Any]]:
    sessions = _sessions_of(entries, book)
    return [_describe(entry, sessions) for entry in entries]


def _describe(entry: GateEntry, sessions: dict[str, CrawlSession]) -> dict[str, Any]:
    holder = holder_of(entry.value) if entry.value else None
    session = sessions.get(holder.session_id) if holder else None
    return {
        "domain": entry.domain,
        "state": "held" if entry.value else FREE,
        "value": entry.value,
        "host": holder.host if holder else None,
        "pid": holder.pid if holder else None,
        "session": holder.session_id if holder else None,
        "url": session.url if session else None,
        "since": session.started_at if session else None,
        "expires_in_ms": entry.expires_in_ms if entry.value else None,
        "throttled_for_ms": entry.throttled_for_ms,
        "delayed_for_ms": entry.delayed_for_ms,
        "delay_reason": entry.delay_reason,
    }


def _sessions_of(entries: Sequence[GateEntry], book: SessionStore) -> dict[str, CrawlSession]:
    holders = [holder_of(entry.value) for entry in entries if entry.value]
    # A lock's value is anybody's text.
    ids = [UUID(holder.session_id) for holder in holders if holder and _UUID.fullmatch(holder.session_id)]
    with book.database.read() as db:
        found = [db.get(CrawlSession, session_id) for session_id in ids]
    return {str(row.id): row for row in found if row}


def _holder_text(described: dict[str, Any]) -> str:
    if described["state"] == FREE:
        return "nobody"
    expires = described["expires_in_ms"]
    left = "no expiry" if expires == NEVER else f"runs out in {expires / 1000:.0f} s unless renewed"
    if described["session"] is None:
        return f"another system ({described['value']}), {left}"
    since = f" since {when(described['since'])}" if isinstance(described["since"], datetime) else ""
    return f"session {described['session']} ({described['host']}, process {described['pid']}){since}, {left}"


def _delay_text(described: dict[str, Any]) -> str:
    waits = [
        (described["throttled_for_ms"], "the least delay after a session (DOMAIN_MIN_DELAY_MS)"),
        (described["delayed_for_ms"], f"the site asked for it ({described['delay_reason']})"),
    ]
    longest, why = max(waits)
    if not longest:
        return "as soon as it is free" if described["state"] != FREE else "at once"
    return f"in {longest / 1000:.1f} s: {why}"
