"""`vitrine sources`: the file of sources, what it says and what is odd about it."""

from __future__ import annotations

from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crawler.cli.options import FailEmpty, InDomain, Json, JsonLines, Most, Since, Until, wanted_of
from crawler.cli.output import Listing, emit, emit_line, note, say, show_list
from crawler.cli.stores import reading, writing
from crawler.config import Settings, load_settings
from crawler.db.engine import Database
from crawler.jobs.registry import registered_codes, seed_sources
from crawler.runs.sources import (
    Source,
    bundled_sources,
    find_source,
    known_plugins,
    known_sources,
    load_sources,
)
from crawler.views import sources as views

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from crawler.views.sources import SourceCheck

FAILED = 1
SHOWN_URLS = 3


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True, help="What durable runs crawl, as a file says it.")
    group.command("seed")(seed)
    group.command("list")(list_sources)
    group.command("check")(check)
    app.add_typer(group, name="sources")


def seed(
    *, file: Annotated[Path | None, typer.Option(help="The file of sources. Default: SOURCES_FILE.")] = None
) -> None:
    """Register the sources that come along and those of the file, so that jobs can name them.

    What is registered already stays as it is.
    """
    known = known_sources(file or load_settings().sources_file)
    with writing(may_make=True) as db:
        added = seed_sources(db, known.values(), db.now)
    say(_seeded(added, len(known)))


def list_sources(
    *,
    file: Annotated[Path | None, typer.Option(help="The file of sources. Default: SOURCES_FILE.")] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Those too that come along and are not registered.")
    ] = False,
    domain: InDomain = None,
    since: Since = None,
    until: Until = None,
    after: Annotated[
        str | None, typer.Option(metavar="CODE", help="Go on behind this one, the last of the page before.")
    ] = None,
    limit: Most = 1000,
    as_json: Json = False,
    as_jsonl: JsonLines = False,
    fail_empty: FailEmpty = False,
) -> int:
    """List the sources of the file, and those that come along and are registered.

    With --since and --until those that were registered then.
    """
    settings = load_settings()
    wanted = wanted_of(domain=domain, since=since, until=until, after=after, limit=limit)
    path, registered = file or settings.sources_file, _registered(settings)
    bundled = {code: one for code, one in bundled_sources().items() if everything or code in registered}
    own = load_sources(path) if path.exists() or not bundled else {}
    sources = {code.lower(): one for code, one in {**bundled, **own}.items()}
    kind = Listing(
        "sources", lambda plan: _row(sources[plan["code"].lower()]), then="vitrine sources check",
        empty="no such sources" if sources else f"{path} has no sources", key=itemgetter("code"),
    )  # fmt: skip
    plans = [
        {**sources[code].as_plan(), "registered": code in registered, "registered_at": registered.get(code)}
        for code in views.wanted_codes(sources, registered, wanted)
    ]
    return show_list(
        kind, plans, as_json=as_json, as_jsonl=as_jsonl, fail_empty=fail_empty, limit=limit, file=path
    )


def check(
    file: Annotated[Path | None, typer.Argument(help="A file of sources. Default: SOURCES_FILE.")] = None,
    *,
    url: Annotated[
        list[str] | None, typer.Option(help="Say whether this URL belongs to a source, and by which rule.")
    ] = None,
    source: Annotated[str | None, typer.Option(help="Look at this one only.")] = None,
    as_json: Json = False,
    as_jsonl: JsonLines = False,
) -> int:
    """Check the file of sources; exit 1 when one of them is odd, 2 when the file cannot be read.

    Examples: vitrine sources check --url https://shop.example/account/orders
    """
    path = file or load_settings().sources_file
    sources = [find_source(path, source)] if source else load_sources(path).values()
    plugins = known_plugins()
    checks = [views.check(each, plugins, url or ()) for each in sources]
    ok = all(each.ok for each in checks)
    if as_jsonl:
        for each in checks:
            emit_line(each)
    elif as_json:
        emit({"file": path, "ok": ok, "sources": checks})
    elif checks:
        _tell(checks)
    else:
        note(f"{path} has no sources")
    return 0 if ok else FAILED


def _seeded(added: int, known: int) -> str:
    """What came of it; what was there before is told apart."""
    if not added:
        return f"nothing to register: all {known} sources were registered before"
    before = f"; {known - added} were registered before" if added < known else ""
    return f"{added} source{'s' if added > 1 else ''} registered{before}"


def _registered(settings: Settings) -> dict[str, datetime]:
    """What jobs can name, and since when; a database that is not there yet is not made for that."""
    database = Database(settings.database)
    if database.path and not database.path.exists():
        return {}
    with reading(settings) as db:
        return registered_codes(db)


def _row(source: Source) -> dict[str, str]:
    shown, more = source.start_urls[:SHOWN_URLS], len(source.start_urls) - SHOWN_URLS
    starts = "\n".join([*shown, *([f"and {more} more"] if more > 0 else [])])
    limits = {"depth": source.depth, "pages": source.max_pages}
    told = ", ".join(f"{name} {limit}" for name, limit in limits.items() if limit is not None)
    return {"source": source.code, "name": source.name, "starts at": starts, "limits": told or "none"}


def _tell(checks: Sequence[SourceCheck]) -> None:
    for each in checks:
        if each.ok:
            say("[bold]{code}[/]: nothing odd", code=each.source)
        for odd in each.oddities:
            say("[bold]{code}[/]: {key}: {message}", code=each.source, key=odd.key, message=odd.message)
        for url in each.urls:
            answer = "[green]allowed[/]" if url.allowed else "[red]denied[/]"
            say(
                f"[bold]{{code}}[/]: {answer} {{url}}: {{told}}", code=each.source, url=url.url, told=url.told
            )
