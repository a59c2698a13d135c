"""`vitrine artifacts`: stored files, read again."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer
from attrs import define, field
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from sqlalchemy import func, select

from crawler.cli.cleanup import open_evidence
from crawler.cli.output import emit, notes, say, size, table
from crawler.config import load_settings
from crawler.db.models import Artifact
from crawler.errors import IntegrityError, NotFoundError
from crawler.evidence import bodies
from crawler.evidence.bodies import Examined, Finding, examine_all, examined

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawler.db.engine import Database

ArtifactId = Annotated[str, typer.Argument(metavar="ID", help="Its id, or how it begins.")]


@define
class _Tally:
    """What was read."""

    checked: int = 0
    bytes: int = 0
    bad: list[Examined] = field(factory=list)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True, help="The stored files: read one, check them all.")
    group.command("verify")(verify)
    group.command("cat")(cat)
    app.add_typer(group, name="artifacts")


def verify(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]...", help="Only these; an id may be cut short.")
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> int:
    """Read stored files again, and compare both digests with what was recorded; exit 6 on a mismatch."""
    with open_evidence(load_settings()) as (database, blobs):
        if ids:
            rows = [_live(database, each) for each in ids]
            found: Iterable[Examined] = (Examined(row, examined(blobs, row)) for row in rows)
            total = len(rows)
        else:
            found, total = examine_all(database, blobs), _count(database)
        tally = _tallied(_with_progress(found, total))
    if as_json:
        emit(_document(tally))
    else:
        _show(tally)
    return IntegrityError.exit_code if tally.bad else 0


def cat(
    artifact: ArtifactId,
    *,
    decode: Annotated[bool, typer.Option("--decode", help="Unpack what is stored packed.")] = False,
) -> None:
    """Write the bytes of a stored file to standard output."""
    with open_evidence(load_settings()) as (database, blobs):
        row = _live(database, artifact)
        chunks = bodies.decoded(blobs, row) if decode else blobs.stream(row.storage_uri)
        for chunk in chunks:
            sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()


def _live(database: Database, prefix: str) -> Artifact:
    with database.read() as db:
        row = bodies.find(db, prefix)
        if db.scalar(select(Artifact.id).where(Artifact.id == row.id, bodies.is_readable(db.now))):
            return row
    when = f" at {row.deleted_at:%Y-%m-%d %H:%M}Z" if row.deleted_at else " just now"
    raise NotFoundError(f"artifact {row.id} was deleted{when}, as its retention says")


def _count(database: Database) -> int:
    with database.read() as db:
        query = select(func.count()).select_from(Artifact).where(bodies.is_readable(db.now))
        return db.execute(query).scalar_one()


def _with_progress(found: Iterable[Examined], total: int) -> Iterator[Examined]:
    bar = Progress(
        TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn(),
        console=notes(), transient=True, disable=not notes().is_terminal,
    )  # fmt: skip
    with bar:
        yield from bar.track(found, total=total, description="reading")


def _tallied(found: Iterable[Examined]) -> _Tally:
    tally = _Tally()
    for each in found:
        tally.checked += 1
        tally.bytes += each.artifact.size_bytes
        if each.finding is not Finding.INTACT:
            tally.bad.append(each)
    return tally


def _document(tally: _Tally) -> dict[str, Any]:
    return {
        "checked": tally.checked,
        "intact": tally.checked - len(tally.bad),
        "bytes": tally.bytes,
        "failed": [
            {
                "id": each.artifact.id,
                "session_id": each.artifact.session_id,
                "type": each.artifact.type,
                "storage_uri": each.artifact.storage_uri,
                "finding": each.finding,
            }
            for each in tally.bad
        ],
    }


def _show(tally: _Tally) -> None:
    if tally.bad:
        rows = [(each.artifact.id, each.finding, each.artifact.storage_uri) for each in tally.bad]
        table(("artifact", "finding", "storage_uri"), rows)
    intact = tally.checked - len(tally.bad)
    say(f"{tally.checked} artifacts, {size(tally.bytes)}: {intact} intact, {len(tally.bad)} not")
