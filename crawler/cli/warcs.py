"""`vitrine warcs`: the files in which crawls are archived, listed, read, verified, erased from."""

from __future__ import annotations

import sys
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crawler.cli.lists import Found, list_command
from crawler.cli.options import Caused, Json, person
from crawler.cli.output import Listing, emit, note, say, table
from crawler.cli.stores import opened, reading
from crawler.clock import utc_now
from crawler.config import load_settings
from crawler.db import lookup
from crawler.db.models import Job
from crawler.errors import ExitCode, NoDatabaseError, NotFoundError, UsageError
from crawler.evidence import warc_tools as tools
from crawler.evidence.warc_checks import compared
from crawler.evidence.warc_files import WarcRows, note_erasure
from crawler.evidence.warc_shelf import recover as recover_folder
from crawler.retention.holds import note_action
from crawler.views import warcs as views
from crawler.views.paging import Wanted
from crawler.warc.messages import decoded
from crawler.warc.reader import NOT_SEEKABLE, body_of, open_record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.views.warcs import WarcView
    from crawler.warc.reader import Bad

MAX_OFFSET = 2**63 - 1
MOST_TOLD = 20  # damaged stretches that are named
FILES = Listing(
    "files",
    lambda w: {
        "id": w.id,
        "session": w.session,
        "state": w.state,
        "records": w.records,
        "bad": w.records_bad,
        "bytes": w.size_bytes,
        "first": w.first_at,
        "path": w.path,
    },
    "no WARC file is known; crawl with -s WARC_DIR=DIR, or name a folder",
    then="vitrine warcs verify FILE",
    key=attrgetter("id"),
)
Files = Annotated[list[Path], typer.Argument(metavar="FILE...", help="WARC files, or folders of them.")]
OneFile = Annotated[Path, typer.Argument(metavar="FILE", help="A WARC file.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True, help="WARC files: list, verify, read, index, recover, erase.")
    for command in (list_, verify, cat, cdxj, recover, erase):
        group.command(command.__name__.strip("_"))(command)
    app.add_typer(group, name="warcs")


@list_command(FILES, cause=Caused, limit=100)
def list_(
    wanted: Wanted,
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="[FOLDER]", help="Of a crawl's output; else all that are known."),
    ] = None,
) -> Sequence[WarcView] | Found:
    """The WARC files that crawls have written, the newest first; or those of a folder, all of them."""
    if folder is None:
        with reading() as db:
            return views.known(db, wanted)
    if wanted != Wanted(limit=wanted.limit):
        raise UsageError("a folder is listed whole", hint="without FOLDER, files that are known are cut")
    _require_folder(folder)
    paths = tools.discover(folder) or tools.in_folder(folder)
    missing = [views.missing(path) for path in tools.missing_in(folder)]
    return Found([*(views.found(path) for path in paths), *missing], is_whole=True)


def verify(
    files: Files,
    *,
    manifest: Annotated[
        bool, typer.Option("--manifest", help="Compare folders with their manifest.json instead.")
    ] = False,
    level: Annotated[
        int,
        typer.Option(
            min=0, max=2, help="0: there, and not empty; 1: members, records, lengths; 2: digests, too."
        ),
    ] = 2,
    as_json: Json = False,
) -> int:
    """Read files to their ends: members, lengths, digests; exit 6 if anything is bad or missing.

    A file that the database knows is compared with its recorded digest too, and what was found is stored.
    """
    depth = tools.Level.THERE if manifest else tools.Level(level)
    if manifest:
        found = [each for folder in files for each in tools.verify_manifest(folder)]
    else:
        paths, missing = _named(files, with_empty=True)
        named = {path.absolute() for path in missing}
        missing += [path for path in _known_and_missing(files) if path not in named]
        found = [*(tools.verify(path, depth) for path in paths), *map(tools.lacking, missing)]
    found = _compared(found, depth)
    if as_json:
        emit({"files": found})
    else:
        _show(found)
    return ExitCode.DONE if all(each.is_well for each in found) else ExitCode.BROKEN


def cat(
    file: OneFile,
    offset: Annotated[
        int, typer.Argument(metavar="OFFSET", min=0, max=MAX_OFFSET, help="Where the record begins.")
    ],
    *,
    payload: Annotated[bool, typer.Option("--payload", help="Only what was sent, unpacked.")] = False,
    as_json: Json = False,
) -> None:
    """Write a record's block to standard output; with --json its fields."""
    with tools.reading(file) as opened_file:
        record = open_record(opened_file, offset)
        if as_json:
            emit(
                {
                    "file": str(file),
                    "offset": offset,
                    "length": record.length,
                    "fields": dict(record.head.fields),
                }
            )
            return
        pieces = record.block()
        if payload:
            head, pieces = body_of(record)
            pieces = pieces if head is None else decoded(head, pieces)
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()


def cdxj(
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILE]...", help="WARC files, or folders of them.")
    ] = None,
    *,
    job: Annotated[
        str | None, typer.Option("--job", metavar="ID", help="The files of this job instead.")
    ] = None,
    pywb: Annotated[
        Path | None, typer.Option("--pywb", metavar="DIR", help="Make a collection of pywb's there.")
    ] = None,
    as_json: Json = False,
) -> int:
    """Write the sorted index of files to standard output, or make a collection that pywb serves.

    A collection links to the files, and its index is written anew. What is damaged is left out and reported,
    as are files that an archive names and that are not there; exit 6 then.

    Examples:
      vitrine warcs cdxj --job 1 --pywb /srv/pywb/collections/shop
    """
    if (job is None) == (not files):
        raise UsageError("name files, or a job with --job", hint="as in vitrine warcs cdxj --job 1")
    paths, missing = _files_of_job(job) if job else _named(files or ())
    for path in missing:
        note("{path} is missing: {why}", path=path, why=tools.NOT_THERE)
    damaged = len(missing)

    def tell(path: Path, bad: Bad) -> None:
        nonlocal damaged
        damaged += 1
        if damaged <= MOST_TOLD:
            where = {"length": bad.length, "offset": bad.offset, "reason": bad.reason}
            note("{file}: {length} bytes at {offset} are left out: {reason}", file=path, **where)
        if bad.reason == NOT_SEEKABLE:
            note("hint: {hint}", hint=tools.RECOMPRESS)

    if pywb is not None:
        tools.make_collection(paths, pywb, tell)
        _show_collection(pywb, paths, as_json=as_json)
    elif as_json:
        emit({"lines": [line.decode().rstrip("\n") for line in tools.index(paths, tell)]})
    else:
        sys.stdout.buffer.writelines(tools.index(paths, tell))
        sys.stdout.buffer.flush()
    return ExitCode.BROKEN if damaged else ExitCode.DONE


def _show_collection(folder: Path, files: Sequence[Path], *, as_json: bool) -> None:
    if as_json:
        emit({"collection": str(folder), "files": [str(path) for path in files]})
    else:
        note("{count} files in the collection {folder}", count=len(files), folder=folder)


def recover(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FOLDER]...",
            help="Else the folder that is set, those of files that are known to be open, and sessions' own.",
        ),
    ] = None,
    *,
    as_json: Json = False,
) -> None:
    """Seal what killed crawls have left open: what is not whole at the end is cut off, and counted.

    Without a folder, files of ended sessions (`-a warc=1`) become artifacts of these.
    """
    settings = load_settings()
    with opened(settings, may_make=True) as stores:
        register_rows = WarcRows(stores.database)
        for folder in folders or ():
            _require_folder(folder)
        with stores.database.read() as db:
            known = {settings.warcs, *views.folders_left_open(db)}
        named = folders or sorted(folder for folder in known if folder.is_dir())
        done = [facts for folder in named for facts in recover_folder(folder, register_rows)]
        kept = 0 if folders else stores.take_over()
    if as_json:
        emit({"recovered": done, "kept": kept})
        return
    for each in done:
        say(
            "{path}: {records} answers, {cut} bytes cut off",
            path=each.path, records=each.records, cut=each.cut_bytes,
        )  # fmt: skip
    note("{count} files recovered, {kept} given to their sessions", count=len(done), kept=kept)


def erase(
    file: OneFile,
    *,
    url: Annotated[str, typer.Option("--url", help="Whose records are to go.")],
    reason: Annotated[str, typer.Option("--reason", help="Goes on record.")] = "asked for",
    yes: Annotated[bool, typer.Option("--yes", help="Do it; else it is only shown.")] = False,
    as_json: Json = False,
) -> int:
    """Overwrite a URL's records in place: answers, requests, revisits of them; a dry run without --yes."""
    if file.name.endswith(".open"):
        raise UsageError(f"{file} is being written", hint="wait for its end, or `vitrine warcs recover`")
    with opened(makes_room=True) as stores:
        now = utc_now()
        done = tools.erase(file, url, now, dry_run=not yes)
        if done.is_done:
            with stores.database.write() as db:
                note_erasure(db, file, done, reason)
                note_action(
                    db, "warc.erase", str(file.absolute()), actor=person(), now=db.now, reason=reason,
                    records=len(done.records), sha256_before=done.sha256_before, sha256=done.sha256,
                )  # fmt: skip
    if as_json:
        emit(done)
    else:
        table(("offset", "length", "type", "url"), [tuple(each.values()) for each in done.records])
        verb = "erased" if done.is_done or not done.records else "would be erased; --yes does it"
        note("{count} records {verb}", count=len(done.records), verb=verb)
    return ExitCode.DONE if done.records else ExitCode.NOTHING_MATCHED


def _files_of_job(given: str) -> tuple[list[Path], list[Path]]:
    with reading() as db:
        job = lookup.find(db, Job, given)
    folder = Path(job.output_dir)
    if not (paths := tools.discover(folder)):
        raise NotFoundError(
            f"job {job.id} has no WARC file in {job.output_dir}", hint="`vitrine jobs show ID`"
        )
    return paths, tools.missing_in(folder)


def _require_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise NotFoundError(f"there is no folder {folder}")


def _named(files: Sequence[Path], *, with_empty: bool = False) -> tuple[list[Path], list[Path]]:
    """Return files as they are named, of folders those in them, and what these folders lack."""
    found: list[Path] = []
    missing: list[Path] = []
    for path in files:
        if path.is_dir():
            inside = tools.discover(path, with_empty=with_empty)
            inside = inside or tools.in_folder(path, with_empty=with_empty)
            missing += (lacks := tools.missing_in(path))
            if not (inside or lacks):
                raise NotFoundError(f"there is no WARC file in {path}")
            found += inside
        else:
            found.append(path)
    return found, missing


def _known_and_missing(files: Sequence[Path]) -> list[Path]:
    """Return the files that the database knows in folders, and that are not there."""
    try:
        with opened() as stores, stores.database.read() as db:
            return [path for folder in files for path in views.missing_below(db, folder)]
    except NoDatabaseError:
        return []


def _compared(found: Sequence[tools.Verified], level: tools.Level) -> list[tools.Verified]:
    """Compare files with their rows, where there is a database."""
    try:
        with opened() as stores:
            return [compared(stores.database, each, level) for each in found]
    except NoDatabaseError:
        return list(found)


def _show(found: Sequence[tools.Verified]) -> None:
    for each in found:
        for bad in each.bad:
            say(
                "{file}: {length} bytes at {offset}: {reason}",
                file=each.file, length=bad.length, offset=bad.offset, reason=bad.reason,
            )  # fmt: skip
        for offset in each.wrong:
            say("{file}: the record at {offset} has another digest", file=each.file, offset=offset)
        if each.error:
            say("{file}: {error}", file=each.file, error=each.error)
    rows = [
        (each.file, each.state, each.records, each.records_bad, each.digests_checked, each.digests_wrong)
        for each in found
    ]
    table(("file", "state", "records", "bad", "digests", "wrong"), rows)
