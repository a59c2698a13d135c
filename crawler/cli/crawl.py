"""`vitrine crawl`: Scrapy's crawls, with progress, a result table and an exit code that tells the truth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crawler.cli.output import emit, note
from crawler.cli.results import NONE_WELL, describe, exit_code, show_results
from crawler.cli.running import Crawl, run_crawl
from crawler.cli.site import crawl_site
from crawler.cli.stores import open_book
from crawler.config import Settings, load_settings

INTERRUPTED = 130


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True, help="Crawl sites: politely, and with evidence.")
    group.command("pdp")(pdp)
    group.command("site")(site)
    app.add_typer(group, name="crawl")


def pdp(
    urls: Annotated[list[str] | None, typer.Argument(metavar="[URL]...", show_default=False)] = None,
    *,
    file: Annotated[
        Path | None,
        typer.Option("--urls", help="A file of URLs, one a line; run again, it goes on where it stopped."),
    ] = None,
    product: Annotated[
        str | None, typer.Option("--pdp", help="The product page itself, to capture it again.")
    ] = None,
    mode: Annotated[
        str | None, typer.Option(help="standard, or debug, which skips the delay between sessions.")
    ] = None,
    retention: Annotated[
        str | None, typer.Option(help="How long the HTML is kept: short, standard or long.")
    ] = None,
    policy: Annotated[str | None, typer.Option(help="The rule: v1.2 or v1.3.")] = None,
    arguments: Annotated[
        list[str] | None, typer.Option("-a", metavar="NAME=VALUE", help="Passed on to the spider.")
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("-s", metavar="NAME=VALUE", help="Passed on as a setting.")
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show the crawl's log.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> int:
    """Visit each site once: its home page, its candidates, its first valid product page.

    Examples:
      vitrine crawl pdp https://shop.example/

      vitrine crawl pdp --urls shops.txt --json
    """
    given = {
        "url": " ".join(urls) if urls else None,
        "urls": str(file) if file else None,
        "pdp": product,
        "mode": mode,
        "retention": retention,
        "policy": policy,
    }
    pairs = [*(f"{name}={value}" for name, value in given.items() if value), *(arguments or ())]
    return crawl_and_report(
        Crawl("pdp", tuple(pairs), tuple(settings or ()), verbose=verbose), as_json=as_json
    )


def site(
    url: Annotated[str | None, typer.Argument(metavar="[URL]", show_default=False)] = None,
    *,
    source: Annotated[str | None, typer.Option(help="A source of sources.toml, instead of a URL.")] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the newest run that was not completed.")
    ] = False,
    max_pages: Annotated[int | None, typer.Option(min=1, help="Plan no more pages than that.")] = None,
    depth: Annotated[int | None, typer.Option(min=0, help="Follow no more links than that in a row.")] = None,
    arguments: Annotated[
        list[str] | None, typer.Option("-a", metavar="NAME=VALUE", help="Passed on to the spider.")
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("-s", metavar="NAME=VALUE", help="Passed on as a setting.")
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show the crawl's log.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> int:
    """Crawl a whole site as a durable run: stop it, kill it, go on with it.

    Examples:
      vitrine crawl site https://shop.example/ --max-pages 500

      vitrine crawl site --source acme --resume
    """
    given = {
        "start_url": url, "source": source, "resume": "1" if resume else None,
        "max_pages": None if max_pages is None else str(max_pages),
        "depth": None if depth is None else str(depth),
    }  # fmt: skip
    pairs = [*(f"{name}={value}" for name, value in given.items() if value), *(arguments or ())]
    return crawl_site(tuple(pairs), tuple(settings or ()), verbose=verbose, as_json=as_json)


def crawl_and_report(crawl: Crawl, *, as_json: bool) -> int:
    """Run a crawl, show what came of its sessions, and say how it went as an exit code."""
    finished = run_crawl(crawl)
    if finished.interrupted and not finished.sessions:
        return INTERRUPTED
    if not finished.sessions:
        return finished.refusal or finished.exit_code or NONE_WELL  # it never began, and has said why
    with open_book(load_settings(_named(crawl.settings))) as book:
        sessions = describe(book, finished.sessions)
    if as_json:
        emit({"sessions": sessions})
    else:
        show_results(sessions)
    if finished.interrupted:
        goes_on = any(argument.startswith("urls=") for argument in crawl.arguments)
        note("interrupted" + ("; the same command goes on where it stopped" if goes_on else ""))
        return INTERRUPTED
    return exit_code(sessions) or finished.exit_code


def _named(pairs: tuple[str, ...]) -> dict[str, str]:
    """Those of the crawl's settings that are Vitrine's: what it wrote is looked for where it wrote."""
    named = dict(pair.partition("=")[::2] for pair in pairs)
    return {name: value for name, value in named.items() if name.lower() in Settings.model_fields}
