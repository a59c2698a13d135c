"""`vitrine exceptions`: what in a run is worth a person's look, until somebody has looked."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crawler.cli.lists import list_command
from crawler.cli.options import MAX_NUMBER, Json, add_group, person
from crawler.cli.output import Listing, emit, note, say
from crawler.cli.stores import reading, writing
from crawler.errors import NotFoundError, UsageError
from crawler.retention.holds import note_action
from crawler.runs import exceptions
from crawler.runs.exceptions import MAX_RESOLUTION_CHARS, Stage
from crawler.views import exceptions as views
from crawler.views.paging import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.views.exceptions import ExceptionDocument
    from crawler.views.paging import Wanted

MAX_IDS = 1000
Run = Annotated[
    int | None, typer.Option("--run", metavar="ID", min=1, max=MAX_NUMBER, help="Those of this run.")
]
StageOption = Annotated[Stage | None, typer.Option("--stage", help="Only those of this stage.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    about = "What in a run is worth a person's look."
    add_group(app, "exceptions", about, list=list_exceptions, resolve=resolve)


def _row(each: ExceptionDocument) -> dict[str, Any]:
    state = f"resolved by {each.resolved_by}" if each.resolved_at else "open"
    return {
        "id": each.id,
        "run": each.run_id,
        "stage": each.stage,
        "url": each.url,
        "what": each.message,
        "times": each.times,
        "state": state,
        "last": each.last_at,
    }


EXCEPTIONS = Listing(
    "exceptions",
    _row,
    empty="nothing is open that matches",
    then="vitrine exceptions resolve ID",
    key=attrgetter("id"),
)


@list_command(EXCEPTIONS)
def list_exceptions(
    wanted: Wanted,
    *,
    run: Run = None,
    stage: StageOption = None,
    show_all: Annotated[bool, typer.Option("--all", help="Those that are resolved as well.")] = False,
) -> Sequence[ExceptionDocument]:
    """List what nobody has resolved yet, the newest first.

    Examples: vitrine exceptions list --run 7 --stage plugin
    """
    with reading() as db:
        return listed(db, views.EXCEPTIONS, wanted, run_id=run, stage=stage, open_only=not show_all)


def resolve(
    ids: Annotated[
        list[int] | None,
        typer.Argument(metavar="[ID…]", help="Their numbers; or --run.", min=1, max=MAX_NUMBER),
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
    with writing() as db:
        now = db.now
        if unknown := exceptions.unknown(db, ids or ()):
            raise NotFoundError(
                f"there is no exception {', '.join(map(str, unknown[:9]))}; nothing was resolved",
                hint="`vitrine exceptions list` shows them",
            )
        resolved = exceptions.resolve(
            db, ids=ids or None, run_id=run, stage=stage, by=person(), resolution=remark, now=now
        )
        numbers = " ".join(map(str, sorted(ids or ())[:20]))
        if resolved:
            subject = f"run {run}" if run is not None else f"exceptions {numbers}"
            note_action(
                db, "exceptions.resolve", subject, actor=person(), now=now, resolved=resolved,
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
