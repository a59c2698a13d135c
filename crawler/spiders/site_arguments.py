"""What `-a` may say to the site spider."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from crawler.errors import UsageError
from crawler.runs.sources import Source, find_source
from crawler.runs.store import RunOrder
from crawler.urls import require_http_url

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

KNOWN = ("start_url", "source", "max_pages", "depth", "resume", "run_id")
TRUE, FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off", ""}


def run_order(given: Mapping[str, str], sources_file: Path) -> RunOrder:
    """The run that is asked for, or what is wrong with the asking."""
    # Scrapyd passes arguments of its own, which begin with an underscore.
    unknown = sorted(name for name in given if name not in KNOWN and not name.startswith("_"))
    if unknown:
        raise UsageError(f"-a {unknown[0]}=… is unknown", hint="it takes " + ", ".join(KNOWN))
    if given.get("start_url") and given.get("source"):
        raise UsageError("-a start_url=… and -a source=… exclude each other")
    run_id = _number(given, "run_id")
    source = _source(given, sources_file)
    if source is None and run_id is None:
        raise UsageError("there is nothing to crawl", hint="give -a start_url=https://… or -a source=CODE")
    if source is not None and run_id is not None:
        raise UsageError("-a run_id=… goes on with a run as it is", hint="leave start_url and source out")
    return RunOrder(source, resume=_flag(given, "resume"), run_id=run_id)


def _source(given: Mapping[str, str], sources_file: Path) -> Source | None:
    max_pages, depth = _number(given, "max_pages"), _number(given, "depth", least=0)
    if url := given.get("start_url"):
        return Source.of_url(require_http_url(url), max_pages=max_pages, depth=depth)
    if not (code := given.get("source")):
        return None
    source = find_source(sources_file, code)
    return evolve(
        source,
        max_pages=source.max_pages if max_pages is None else max_pages,
        depth=source.depth if depth is None else depth,
    )


def _number(given: Mapping[str, str], name: str, least: int = 1) -> int | None:
    text = given.get(name, "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and int(text) >= least):
        raise UsageError(f"-a {name}={text} is no whole number from {least}")
    return int(text)


def _flag(given: Mapping[str, str], name: str) -> bool:
    word = given.get(name, "").strip().lower()
    if word not in TRUE | FALSE:
        raise UsageError(f"-a {name}={word} is unknown", hint=f"{name} takes 1 or 0")
    return word in TRUE
