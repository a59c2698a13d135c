"""`vitrine search` and `vitrine snapshots`: captured pages, found again."""

from __future__ import annotations

import re
import sys
from html import unescape
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crawler.archive.asked import as_known
from crawler.archive.indexing import IndexResult, index_pages
from crawler.archive.query import imbalance
from crawler.archive.rebuilding import WAYS
from crawler.archive.rebuilding import rebuild as remake
from crawler.archive.search import MAX_PAGE_SIZE, SORTS, VIEWS, SearchOrder
from crawler.archive.sites import Sites
from crawler.cli.lists import list_command
from crawler.cli.options import FailEmpty, Json, OfSource, add_group, day_of, person
from crawler.cli.output import NOTHING_MATCHED, Listing, emit, note, progress_bar, say, table
from crawler.cli.stores import opened, reading
from crawler.config import load_settings
from crawler.db import lookup
from crawler.db.models import Snapshot
from crawler.errors import UsageError
from crawler.retention.holds import note_action
from crawler.views import search as found_views
from crawler.views import snapshots as views
from crawler.views.paging import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.views.paging import Wanted
    from crawler.views.snapshots import ListedSnapshot

LAST_PAGE = 10**12


SNAPSHOTS = Listing(
    "snapshots",
    lambda one: {
        "id": one.id,
        "captured": as_known(one.captured_at, one.date_precision),
        "status": one.status_code,
        "title": one.title,
        "url": one.url,
        "language": one.language,
        "source": one.source,
    },
    empty="no snapshots; `vitrine snapshots index` makes kept pages findable",
    then="vitrine snapshots show ID",
    key=attrgetter("id"),
)
SnapshotId = Annotated[str, typer.Argument(metavar="ID", help="Its number.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("search")(search)
    add_group(
        app, "snapshots", "Captured pages that can be found: index them, show one, read its body.",
        list=list_snapshots, index=index, show=show, cat=cat, export=export, rebuild=rebuild,
    )  # fmt: skip


def search(
    query: Annotated[str, typer.Argument(help="Words, a phrase in quotes, a URL, or an expression.")] = "",
    *,
    source: Annotated[str | None, typer.Option(help="Of this source, or this domain, only.")] = None,
    since: Annotated[
        str | None, typer.Option("--from", metavar="DAY", help="Captured on or after it.")
    ] = None,
    until: Annotated[
        str | None, typer.Option("--to", metavar="DAY", help="Captured on or before it.")
    ] = None,
    view: Annotated[str, typer.Option(help="snapshots, or pages: of each the newest.")] = "snapshots",
    sort: Annotated[str | None, typer.Option(help="relevance, or newest.")] = None,
    with_non_2xx: Annotated[
        bool, typer.Option("--include-non-2xx", help="Redirects and errors too, after the rest.")
    ] = False,
    with_repeats: Annotated[
        bool, typer.Option("--include-duplicates", help="All captures of a day that are the same.")
    ] = False,
    page: Annotated[int, typer.Option(min=1, max=LAST_PAGE, help="Which page of hits.")] = 1,
    page_size: Annotated[int, typer.Option(min=1, max=MAX_PAGE_SIZE, help="Hits on a page.")] = 20,
    explain: Annotated[bool, typer.Option("--explain", help="Say how the query was understood.")] = False,
    as_json: Json = False,
    fail_empty: FailEmpty = False,
) -> int:
    """Find captured pages by what they say.

    Examples:
      vitrine search "red shoes"

      vitrine search 'title:sale AND NOT (kids OR "gift card")' --from 2026-01-01
    """
    if problem := imbalance(query):
        raise UsageError(f"{query[:80]!r}: {problem}", hint="close it, or leave it out")
    order = SearchOrder(
        query, source, day_of("--from", since), day_of("--to", until), _one_of("--view", view, VIEWS),
        _one_of("--sort", sort, SORTS) if sort else None, with_non_2xx, page, page_size,
        load_settings().pages_fastpath, with_repeats,
    )  # fmt: skip
    with reading() as db:
        found = found_views.results(db, order, explain=explain)
    if as_json:
        emit(found)
    else:
        _show_hits(found)
    return NOTHING_MATCHED if fail_empty and not found.total else 0


@list_command(SNAPSHOTS)
def list_snapshots(
    wanted: Wanted,
    *,
    source: OfSource = None,
) -> Sequence[ListedSnapshot]:
    """List captured pages that can be found, those captured last first.

    Examples:
      vitrine snapshots list --domain shop.example --since 2026-05-01
    """
    with reading() as db:
        return listed(db, views.SNAPSHOTS, wanted, source=source or None)


def index(
    *,
    again: Annotated[bool, typer.Option("--force", help="Read those again that are indexed.")] = False,
    as_json: Json = False,
) -> int:
    """Make the kept pages of sessions and runs findable; what is indexed stays as it is.

    Examples:
      vitrine snapshots index
    """
    with opened() as stores, progress_bar() as bar:
        task = bar.add_task("indexing", total=None)

        def tell(so_far: IndexResult) -> None:
            bar.update(task, completed=so_far.indexed + so_far.bad, total=so_far.total)

        sites = Sites.of_file(stores.settings.sources_file)
        result = index_pages(stores.database, stores.blobs, again=again, sites=sites, on_progress=tell)
    if as_json:
        emit(result)
    else:
        table(
            ("indexed", "without text", "bad", "of"),
            [(result.indexed, result.without_text, result.bad, result.total)],
        )
        note("next: vitrine search WORDS")
    if not result.bad:
        return 0
    return 3 if result.indexed else 1


def show(snapshot: SnapshotId, *, as_json: Json = False) -> int:
    """Show a snapshot, and where its body lies.

    Examples:
      vitrine snapshots show 1
    """
    with opened() as stores:
        with stores.database.read() as db:
            document = views.snapshot(db, snapshot)
        document = views.as_read(stores.database, stores.blobs, document)
    if as_json:
        emit(document)
        return 0
    say("[bold]{title}[/]", title=document.title or document.url)
    say("  captured_at: {value}", value=as_known(document.captured_at, document.date_precision))
    for name in (
        "url",
        "source",
        "session",
        "status_code",
        "language",
        "container",
        "body",
        "raw_snapshot_path",
    ):
        say("  {name}: {value}", name=name, value=getattr(document, name))
    say("  {snippet}", snippet=document.snippet)
    return 0


def cat(snapshot: SnapshotId) -> int:
    """Write a snapshot's body, as the server sent it, to standard output.

    Examples:
      vitrine snapshots cat 1 > page.html
    """
    with opened() as stores:
        found = views.raw(stores.database, stores.blobs, snapshot)
    sys.stdout.buffer.write(found.body)
    sys.stdout.buffer.flush()
    return 0


def export(
    snapshot: SnapshotId,
    file: Annotated[Path, typer.Argument(help="Where the copy goes, such as page.html.")],
    *,
    as_json: Json = False,
) -> None:
    """Write a snapshot's body into a file, and note the file's path as the snapshot's static copy.

    Nothing is written over. The copy is yours: neither retention nor a purge deletes it.

    Examples:
      vitrine snapshots export 1 page.html
    """
    path = file.absolute()
    with opened() as stores:
        found = views.raw(stores.database, stores.blobs, snapshot)
        try:
            with path.open("xb") as copy:
                copy.write(found.body)
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}") from None
        with stores.database.write() as db:
            lookup.find(db, Snapshot, snapshot).raw_snapshot_path = str(path)
    if as_json:
        emit({"id": found.id, "file": path, "bytes": len(found.body)})
    else:
        say("{file}: {bytes} bytes of snapshot {id}", file=path, bytes=len(found.body), id=found.id)


def rebuild(
    what: Annotated[
        list[str] | None, typer.Argument(metavar="[WHAT]...", help="groups, repeats, words, parts; all.")
    ] = None,
    *,
    as_json: Json = False,
) -> None:
    """Make anew what is made of snapshots: page groups and links, repeats of one day, words, parts of words.

    It reads no page again: `vitrine snapshots index --force` and `vitrine jobs index ID --force` do.

    Examples:
      vitrine snapshots rebuild groups
    """
    wanted = [_one_of("WHAT", each, tuple(WAYS)) for each in what or WAYS]
    with opened() as stores, progress_bar() as bar:
        task = bar.add_task("making anew", total=None)
        done = remake(
            stores.database, wanted, lambda which, rows: bar.update(task, description=which, completed=rows)
        )
        with stores.database.write() as db:
            note_action(db, "snapshots.rebuild", " ".join(wanted), actor=person(), now=db.now)
    if as_json:
        emit(done)
    else:
        table(("made anew", "rows"), [(each.what, each.rows) for each in done])


def _say_marked(marked: str) -> None:
    """A passage with what was looked for in bold."""
    pieces = re.split(r"</?mark>", marked)
    line = "".join(f"[bold]{{p{n}}}[/]" if n % 2 else f"{{p{n}}}" for n in range(len(pieces)))
    say(f"    {line}", **{f"p{n}": unescape(piece) for n, piece in enumerate(pieces)})


def _show_hits(found: found_views.SearchResults) -> None:
    if found.explain:
        for name, value in found.explain.items():
            if name != "points":
                note("{name}: {value}", name=name.replace("_", " "), value=value)
        for points in found.explain["points"]:
            parts = ", ".join(f"{name} {value}" for name, value in points.items() if value and name != "id")
            note("  snapshot {id}: {parts}", id=points["id"], parts=parts)
    if not found.total:
        note("nothing was found; `vitrine snapshots index` makes kept pages findable")
        return
    for hit in found.results:
        say("[bold]{id}[/] {title}", id=hit.id, title=hit.title or hit.original_url)
        say(
            "    {url}  {at}  {language}",
            url=hit.original_url,
            at=as_known(hit.capture_timestamp, hit.date_precision),
            language=hit.language,
        )
        if hit.snippet_html:
            _say_marked(hit.snippet_html)
    note(f"{found.total} found, page {found.page}; next: vitrine snapshots show ID")


def _one_of(option: str, given: str, known: tuple[str, ...]) -> str:
    if given not in known:
        raise UsageError(f"{option} {given[:40]!r} is unknown", hint="it takes " + ", ".join(known))
    return given
