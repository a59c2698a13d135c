"""What is odd about a source that can be read: it would crawl less than its file seems to say."""

from __future__ import annotations

from importlib.metadata import entry_points
from itertools import starmap
from typing import TYPE_CHECKING

from attrs import frozen

from crawler.access.globs import examples_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from crawler.access.scope import Ruling
    from crawler.frontier.sources import Source

BUILT_IN_PLUGINS = ("page", "product", "media")
PLUGIN_GROUP = "vitrine.plugins"


@frozen
class Oddity:
    """Something that its author can hardly have meant."""

    key: str  # of the source
    message: str


def known_plugins() -> set[str]:
    """The names of the plugins that come along or are installed; none is loaded for that."""
    return {*BUILT_IN_PLUGINS, *entry_points(group=PLUGIN_GROUP).names}


def oddities(source: Source, plugins: Collection[str]) -> tuple[Oddity, ...]:
    """What is odd, key by key."""
    return (*_lost_starts(source), *_shadowed_rules(source), *_unknown_plugins(source, plugins))


def told(ruling: Ruling) -> str:
    """The rule that decided about a URL, in words."""
    if ruling.by == "url":
        return ruling.rule
    if ruling.by == "allowed_domains":
        return f"{ruling.rule} is {'not ' if ruling.reason else ''}one of allowed_domains"
    if not ruling.rule:
        return "no rule of allow speaks of it"
    return f"{ruling.by} has {ruling.rule!r}"


def _lost_starts(source: Source) -> Iterator[Oddity]:
    for url in source.start_urls:
        ruling = source.scope.ruling(url)
        if ruling.reason:
            yield Oddity("start_urls", f"{url} is out of the source's own scope: {told(ruling)}")


def _shadowed_rules(source: Source) -> Iterator[Oddity]:
    for rule in source.allow:
        denied = list(starmap(source.scope.deny.first, examples_of(rule)))
        if all(denied):
            yield Oddity("allow", f"{rule!r} allows nothing: deny has {denied[0]!r}, and wins")


def _unknown_plugins(source: Source, plugins: Collection[str]) -> Iterator[Oddity]:
    for name in source.plugins:
        if name not in plugins:
            yield Oddity("plugins", f"there is no plugin {name!r}; known are {', '.join(sorted(plugins))}")
