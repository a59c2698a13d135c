"""`vitrine exceptions`: what in a run is worth a person's look, until somebody has looked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from crawler.cli.cleanup import open_evidence
from crawler.cli.output import emit, emit_line, note, say, table, when
from crawler.cli.targets import person
from crawler.config import load_settings
from crawler.errors import NotFoundError, UsageError
from crawler.retention.holds import note_action
from crawler.runs import exceptions
from crawler.runs.exceptions import MAX_RESOLUTION_CHARS, Stage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.orm import Session

    from crawler.db.models import CrawlException

NOTHING_MATCHED = 4
MAX_IDS = 1000
MAX_ID = 2**63 - 1
FIELDS = (
    "id", "run_id", "stage", "url", "message", "times", "context", "created_at", "last_at", "resolved_at",
    "resolved_by", "resolution",
)  # fmt: skip
Run = Annotated[int | None, typer.Option("--run", metavar="ID", min=1, max=MAX_ID, help="Those of this run.")]
StageOption = Annotated[Stage | None, typer.Option("--stage", help="Only those of this stage.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON document.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True, help="What in a run is worth a person's look.")
    group.command("list")(list_exceptions)
    group.command("resolve")(resolve)
    app.add_typer(group, name="exceptions")


def list_exceptions(
    *,
    run: Run = None,
    stage: StageOption = None,
    show_all: Annotated[bool, typer.Option("--all", help="Those that are resolved as well.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="The newest so many.")] = 50,
    as_json: Json = False,
    as_jsonl: Annotated[bool, typer.Option("--jsonl", help="One JSON document a line.")] = False,
    fail_empty: Annotated[bool, typer.Option("--fail-empty", help="Exit 4 when nothing matches.")] = False,
) -> int:
    """List what nobody has resolved yet, the newest first.

    Examples: vitrine exceptions list --run 7 --stage plugin
    """
    with open_evidence(load_settings()) as (database, _), database.read() as db:
        found = exceptions.listing(db, run_id=run, stage=stage, open_only=not show_all, limit=limit)
    if as_jsonl:
        for each in found:
            emit_line(_document(each))
    elif as_json:
        emit({"exceptions": [_document(each) for each in found]})
    else:
        _show(found)
    return NOTHING_MATCHED if fail_empty and not found else 0


def resolve(
    ids: Annotated[
        list[int] | None, typer.Argument(metavar="[ID…]", help="Their numbers; or --run.", min=1, max=MAX_ID)
    ] = None,
    *,
    run: Run = None,
    stage: StageOption = None,
    remark: Annotated[str, typer.Option("--note", help="What came of it, for the record.")] = "",
    as_json: Json = False,
) -> None:
    """Note that somebody has looked: at these, or at all that are open in a run.

    Examples: vitrine exceptions resolve 12 13 --note "the shop was moved"; vitrine exceptions resolve --run 7
    """
    _check(ids, run, stage, remark)
    with open_evidence(load_settings()) as (database, _), database.write() as db:
        now = db.now
        _require_known(db, ids)
        resolved = exceptions.resolve(
            db, ids=ids or None, run_id=run, stage=stage, by=person(), resolution=remark, now=now
        )
        if resolved:
            note_action(
                db, "exceptions.resolve", _subject(ids, run), actor=person(), now=now, resolved=resolved,
                ids=sorted(ids or ()), stage=stage.value if stage else None, note=remark,
            )  # fmt: skip
    if as_json:
        emit({"resolved": resolved})
    else:
        say(f"{resolved} resolved")
        if ids and resolved < len(set(ids)):
            note(f"{len(set(ids)) - resolved} of them were resolved already")


def _check(ids: list[int] | None, run: int | None, stage: Stage | None, remark: str) -> None:
    if bool(ids) == (run is not None):
        raise UsageError("name what is resolved", hint="give the numbers of exceptions, or --run ID")
    if ids and stage:
        raise UsageError("--stage goes with --run", hint="numbers need no stage")
    if ids and len(ids) > MAX_IDS:
        raise UsageError(f"at most {MAX_IDS} at once", hint="--run ID resolves all of a run")
    if len(remark) > MAX_RESOLUTION_CHARS or "\x00" in remark:
        raise UsageError(f"--note takes up to {MAX_RESOLUTION_CHARS} characters")


def _require_known(db: Session, ids: list[int] | None) -> None:
    if unknown := exceptions.unknown(db, ids or ()):
        raise NotFoundError(
            f"there is no exception {', '.join(map(str, unknown[:9]))}; nothing was resolved",
            hint="`vitrine exceptions list` shows them",
        )


def _subject(ids: list[int] | None, run: int | None) -> str:
    return f"run {run}" if run is not None else f"exceptions {' '.join(map(str, sorted(ids or ())[:20]))}"


def _show(found: Sequence[CrawlException]) -> None:
    if not found:
        note("nothing is open that matches")
        return
    rows = [
        (each.id, each.run_id, each.stage, each.url, each.message, each.times,
         f"resolved by {each.resolved_by}" if each.resolved_at else "open", when(each.last_at))
        for each in found
    ]  # fmt: skip
    table(("id", "run", "stage", "url", "what", "times", "state", "last"), rows)
    note("next: vitrine exceptions resolve ID")


def _document(each: CrawlException) -> dict[str, Any]:
    return {name: getattr(each, name) for name in FIELDS}
