"""`vitrine sources`: the file of sources, what it says and what is odd about it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from attrs import asdict, frozen
from rich.markup import escape

from crawler.cli.output import emit, emit_line, note, say, table
from crawler.config import load_settings
from crawler.runs.sources import Oddity, Source, find_source, known_plugins, load_sources, oddities, told
from crawler.urls import redact

if TYPE_CHECKING:
    from crawler.access.scope import Ruling

Json = Annotated[bool, typer.Option("--json", help="One JSON document.")]
JsonLines = Annotated[bool, typer.Option("--jsonl", help="One JSON document a line.")]
FAILED = 1
NOTHING_MATCHED = 4
SHOWN_URLS = 3


@frozen
class Checked:
    """A source, what is odd about it, and what it makes of the URLs that were asked about."""

    source: Source
    oddities: tuple[Oddity, ...]
    rulings: dict[str, Ruling]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True, help="What durable runs crawl, as a file says it.")
    group.command("list")(list_sources)
    group.command("check")(check)
    app.add_typer(group, name="sources")


def list_sources(
    *,
    file: Annotated[Path | None, typer.Option(help="The file of sources. Default: SOURCES_FILE.")] = None,
    as_json: Json = False,
    as_jsonl: JsonLines = False,
    fail_empty: Annotated[bool, typer.Option("--fail-empty", help="Exit 4 when there is none.")] = False,
) -> int:
    """List the sources of the file: where each begins, and its limits."""
    path = file or load_settings().sources_file
    sources = list(load_sources(path).values())
    documents = [source.as_plan() for source in sources]
    if as_jsonl:
        for each in documents:
            emit_line(each)
    elif as_json:
        emit({"file": path, "sources": documents})
    else:
        _show(path, sources)
    return NOTHING_MATCHED if fail_empty and not sources else 0


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
    sources = [find_source(path, source)] if source else list(load_sources(path).values())
    plugins = known_plugins()
    checked = [_checked(each, plugins, url or []) for each in sources]
    if as_jsonl:
        for each in checked:
            emit_line(_document(each))
    elif as_json:
        emit({"file": path, "ok": not _is_odd(checked), "sources": [_document(each) for each in checked]})
    else:
        _tell(path, checked)
    return FAILED if _is_odd(checked) else 0


def _checked(source: Source, plugins: set[str], urls: list[str]) -> Checked:
    rulings = {redact(url): source.scope.ruling(url) for url in urls}
    return Checked(source, oddities(source, plugins), rulings)


def _is_odd(checked: list[Checked]) -> bool:
    return any(each.oddities for each in checked)


def _document(checked: Checked) -> dict[str, Any]:
    return {
        "source": checked.source.code,
        "ok": not checked.oddities,
        "oddities": [asdict(oddity) for oddity in checked.oddities],
        "urls": [
            {"url": url, "allowed": ruling.reason is None, "reason": ruling.reason, "by": ruling.by or None,
             "rule": ruling.rule or None}
            for url, ruling in checked.rulings.items()
        ],
    }  # fmt: skip


def _show(path: Path, sources: list[Source]) -> None:
    if not sources:
        note(f"{path} has no sources")
        return
    rows = [(each.code, each.name, _starts(each), _limits(each)) for each in sources]
    table(("source", "name", "starts at", "limits"), rows)
    note("next: vitrine sources check")


def _starts(source: Source) -> str:
    shown, more = source.start_urls[:SHOWN_URLS], len(source.start_urls) - SHOWN_URLS
    return "\n".join([*shown, *([f"and {more} more"] if more > 0 else [])])


def _limits(source: Source) -> str:
    limits = {"depth": source.depth, "pages": source.max_pages}
    return ", ".join(f"{name} {limit}" for name, limit in limits.items() if limit is not None) or "none"


def _tell(path: Path, checked: list[Checked]) -> None:
    for each in checked:
        code = f"[bold]{escape(each.source.code)}[/]"
        if not each.oddities:
            say(f"{code}: nothing odd")
        for oddity in each.oddities:
            say(f"{code}: {oddity.key}: {escape(oddity.message)}")
        for url, ruling in each.rulings.items():
            answer = "[red]denied[/]" if ruling.reason else "[green]allowed[/]"
            say(f"{code}: {answer} {escape(url)}: {escape(told(ruling))}")
    if not checked:
        note(f"{path} has no sources")
