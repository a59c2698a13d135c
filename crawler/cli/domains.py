"""`vitrine domains`: who holds which domain, how long, which delay applies and why."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated

import typer

from crawler.access.acquisition import open_gate
from crawler.access.gate import LOCK_BROKEN, NEVER
from crawler.cli.options import FailEmpty, Json, JsonLines, Most, add_group, person
from crawler.cli.output import Listing, emit, note, say, show_list
from crawler.cli.stores import opened
from crawler.config import load_settings
from crawler.errors import LockedError, NotFoundError, UsageError
from crawler.retention.holds import note_action
from crawler.urls import domain_of
from crawler.views import domains as views
from crawler.views.domains import FREE

if TYPE_CHECKING:
    from collections.abc import Generator

    from crawler.access.gate import Gate
    from crawler.db.engine import Database
    from crawler.views.domains import DomainDocument

Domain = Annotated[str, typer.Argument(help="A domain, or any URL of it.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    about = "Who visits which domain, and when the next one may."
    add_group(app, "domains", about, list=list_domains, show=show, release=release)


def list_domains(
    *,
    after: Annotated[
        str | None, typer.Option(metavar="DOMAIN", help="Go on behind this one, the last of the page before.")
    ] = None,
    limit: Most = 1000,
    as_json: Json = False,
    as_jsonl: JsonLines = False,
    fail_empty: FailEmpty = False,
) -> int:
    """List the domains that are held or delayed, by name."""
    with _gate() as (database, gate), database.read() as db:
        states = [state for state in gate.states() if after is None or state.domain > domain_of(after)]
        found = views.of(db, states[:limit])
    where = "" if gate.shared else " on this machine"
    kind = Listing(
        "domains",
        lambda one: {"domain": one.domain, "held by": _holder_text(one), "next visit": _delay_text(one)},
        empty=f"no domain is held or delayed{where}",
        key=attrgetter("domain"),
    )
    return show_list(
        kind, found, as_json=as_json, as_jsonl=as_jsonl, fail_empty=fail_empty, limit=limit,
        shared=gate.shared,
    )  # fmt: skip


def show(domain: Domain, *, as_json: Json = False) -> None:
    """Show one domain."""
    with _gate() as (database, gate):
        found = _one(database, gate, domain)
    if as_json:
        emit(found)
        return
    say(
        "[bold]{domain}[/]\n  held by     {holder}\n  next visit  {delay}",
        domain=found.domain, holder=_holder_text(found), delay=_delay_text(found),
    )  # fmt: skip
    note(f"next: vitrine sessions list --domain {found.domain}")


def release(
    domain: Domain,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Break a domain's lock, for a holder that is gone for good.

    A session that still runs there stops fetching when it next renews its lock, and the next one begins
    after that.
    """
    with _gate() as (database, gate):
        found = _one(database, gate, domain)
        if found.value is None:
            raise NotFoundError(f"nobody holds {found.domain}")
        _confirm(found, yes=yes)
        if not gate.break_lock(found.domain, found.value):
            raise LockedError(f"{found.domain} changed hands meanwhile; nothing was broken")
        with database.write() as db:
            now = db.now
            note_action(db, "domains.release", found.domain, actor=person(), now=now, value=found.value)
    if as_json:
        emit({"released": found})
    else:
        say("{domain} is free; it was held by {holder}", domain=found.domain, holder=_holder_text(found))


@contextmanager
def _gate() -> Generator[tuple[Database, Gate]]:
    settings = load_settings()
    with opened(settings) as stores:
        gate = open_gate(settings, stores.database)
        try:
            yield stores.database, gate
        finally:
            gate.close()


def _one(database: Database, gate: Gate, domain: str) -> DomainDocument:
    with database.read() as db:
        [found] = views.of(db, [gate.state(domain_of(domain))])
    return found


def _confirm(found: DomainDocument, *, yes: bool) -> None:
    if yes:
        return
    question = f"{found.domain} is held by {_holder_text(found)}. Break that lock?"
    if not sys.stdin.isatty():
        raise UsageError(question, hint="nobody is here to answer; repeat with --yes")
    if not typer.confirm(question, err=True):
        raise typer.Exit(1)


def _holder_text(found: DomainDocument) -> str:
    if found.value is None:
        return "nobody"
    left = "no expiry"
    if found.expires_in_ms is not None and found.expires_in_ms != NEVER:
        left = f"runs out in {found.expires_in_ms / 1000:.0f} s unless renewed"
    if found.session is None:
        return f"another system ({found.value}), {left}"
    since = f" since {found.since:%Y-%m-%d %H:%M:%SZ}" if found.since else ""
    return f"session {found.session} ({found.host}, process {found.pid}){since}, {left}"


def _reason_text(reason: str | None) -> str:
    if reason == LOCK_BROKEN:
        return "until then who held it may not have heard that its lock was broken"
    return f"the site asked for it ({reason})"


def _delay_text(found: DomainDocument) -> str:
    waits = [
        (found.throttled_for_ms, "the least delay after a session (DOMAIN_MIN_DELAY_MS)"),
        (found.delayed_for_ms, _reason_text(found.delay_reason)),
    ]
    longest, why = max(waits)
    if not longest:
        return "as soon as it is free" if found.state != FREE else "at once"
    return f"in {longest / 1000:.1f} s: {why}"
