"""`vitrine retention hold`, `unhold` and `holds`: evidence that stays, whatever its date."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crawler.cli.cleanup import open_evidence
from crawler.cli.output import emit, note, say, table, when
from crawler.cli.targets import DomainOption, ListingOption, SessionOption, person, target_of
from crawler.config import load_settings
from crawler.errors import UsageError
from crawler.retention import holds

if TYPE_CHECKING:
    from crawler.db.models import Hold
    from crawler.retention.holds import HoldResult, Target

Json = Annotated[bool, typer.Option("--json", help="One JSON document.")]
MAX_WORDS = 1000


def register(group: typer.Typer) -> None:
    """Add the commands to `vitrine retention`."""
    group.command("hold")(hold)
    group.command("unhold")(unhold)
    group.command("holds")(list_holds)


def hold(
    *,
    who: Annotated[str, typer.Option(help="Who wants it kept.")],
    why: Annotated[str, typer.Option(help="The reason, for the record.")],
    session: SessionOption = None,
    listing: ListingOption = None,
    domain: DomainOption = None,
    until: Annotated[
        str | None, typer.Option(metavar="DATE", help="The hold ends at the beginning of this day, UTC.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Keep everything of a session, a product or a domain until further notice, or until a date.

    Examples: vitrine retention hold --domain shop.example --who legal --why "case 17" --until 2030-01-01
    """
    _check(who, why)
    with open_evidence(load_settings()) as (database, _), database.write() as db:
        now = db.now
        target = target_of(db, session, listing, domain)
        result = holds.hold(db, target, who=who, why=why, until=_date(until, now), now=now)
    _report(target, result, "held", as_json=as_json)


def unhold(
    *,
    who: Annotated[str | None, typer.Option(help="Who lifts it. Default: whoever runs this.")] = None,
    why: Annotated[str, typer.Option(help="The reason, for the record.")] = "",
    session: SessionOption = None,
    listing: ListingOption = None,
    domain: DomainOption = None,
    as_json: Json = False,
) -> None:
    """Lift every hold on a session, a product or a domain; what another hold covers stays."""
    with open_evidence(load_settings()) as (database, _), database.write() as db:
        target = target_of(db, session, listing, domain)
        result = holds.unhold(db, target, who=who or person(), why=why, now=db.now)
    _report(target, result, "given free", as_json=as_json)


def list_holds(*, as_json: Json = False) -> None:
    """List the holds that stand: on what, whose, why, until when."""
    with open_evidence(load_settings()) as (database, _), database.read() as db:
        standing = holds.standing_holds(db, db.now)
    if as_json:
        emit({"holds": [_document(each) for each in standing]})
    elif standing:
        rows = [
            (str(holds.target_of(each)), each.who, each.why, when(each.created_at), when(each.until))
            for each in standing
        ]
        table(("on", "who", "why", "since", "until"), rows)
    else:
        note("no holds")


def _check(who: str, why: str) -> None:
    for name, words in (("--who", who), ("--why", why)):
        if not words.strip() or len(words) > MAX_WORDS or "\x00" in words:
            raise UsageError(f"{name} takes 1 to {MAX_WORDS} characters")


def _date(text: str | None, now: datetime) -> datetime | None:
    if text is None:
        return None
    try:
        date = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"--until {text!r} is not a date", hint="write it as 2030-01-31") from None
    date = date if date.tzinfo else date.replace(tzinfo=UTC)
    if date <= now:
        raise UsageError(f"--until {text} is over")
    return date


def _report(target: Target, result: HoldResult, what: str, *, as_json: bool) -> None:
    if as_json:
        emit(
            {"target": str(target), "holds": result.holds, "artifacts": result.artifacts,
             "too_late": result.too_late}
        )  # fmt: skip
        return
    say(f"{target}: {result.artifacts} artifacts {what}")
    if result.too_late:
        note(f"{result.too_late} of them were just being deleted by a cleanup; their files may be gone")


def _document(each: Hold) -> dict[str, Any]:
    names = ("id", "session_id", "listing_id", "domain", "who", "why", "created_at", "until")
    return {name: getattr(each, name) for name in names}
