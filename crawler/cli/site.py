"""Runs a durable crawl as a process of its own, shows how it goes, and says how it went."""

from __future__ import annotations

from crawler.cli.output import emit, note
from crawler.cli.run_results import describe_run, exit_code, show_run
from crawler.cli.running import Crawl, run_crawl
from crawler.cli.stores import open_book
from crawler.config import Settings, load_settings

INTERRUPTED, NONE_WELL = 130, 1


def crawl_site(arguments: tuple[str, ...], settings: tuple[str, ...], *, verbose: bool, as_json: bool) -> int:
    """Run it, show the run, and give the exit code that tells the truth."""
    finished = run_crawl(Crawl("site", arguments, settings, verbose=verbose))
    if finished.run is None:
        return INTERRUPTED if finished.interrupted else finished.refusal or finished.exit_code or NONE_WELL
    with open_book(load_settings(_named(settings))) as book:
        run = describe_run(book.database, finished.run)
    if as_json:
        emit(run)
    else:
        show_run(run)
    if finished.interrupted:
        note("interrupted")
        return INTERRUPTED
    return exit_code(run) or finished.exit_code


def _named(pairs: tuple[str, ...]) -> dict[str, str]:
    """Those of the crawl's settings that are Vitrine's: what it wrote is looked for where it wrote."""
    named = dict(pair.partition("=")[::2] for pair in pairs)
    return {name: value for name, value in named.items() if name.lower() in Settings.model_fields}
