"""The errors that people and programs read."""

from __future__ import annotations

import re
from importlib import import_module
from pkgutil import walk_packages
from typing import TYPE_CHECKING

import crawler
from crawler.errors import CrawlerError

if TYPE_CHECKING:
    from collections.abc import Iterator

EXIT_CODES = {1, 2, 5, 6, 75}  # 75: what the archive tool says of a disk or a Docker that fails


def every_kind() -> list[type[CrawlerError]]:
    """All errors of the package, wherever they are defined."""
    for module in walk_packages(crawler.__path__, "crawler."):
        if not module.name.endswith("__main__") and ".migrations" not in module.name:
            import_module(module.name)
    return list(_below(CrawlerError))


def _below(kind: type[CrawlerError]) -> Iterator[type[CrawlerError]]:
    yield kind
    for inner in kind.__subclasses__():
        yield from _below(inner)


def test_every_kind_keeps_the_contract() -> None:
    """A stable code in snake case, an exit code of the list, an HTTP status that is an error, a sentence."""
    kinds = every_kind()
    assert len(kinds) > 10
    for kind in kinds:
        assert re.fullmatch(r"[a-z][a-z_]+", kind.code), kind
        assert kind.exit_code in EXIT_CODES, kind
        assert 400 <= kind.http_status < 600, kind
        assert kind.__doc__, kind
