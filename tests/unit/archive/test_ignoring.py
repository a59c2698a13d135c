"""What a source's file says of texts that do not count is taken by its code, whatever its case."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawler.archive.ignoring import ignored_by_source
from crawler.errors import CrawlerError
from crawler.html.content import Ignored
from crawler.runs.sources import bundled_sources

if TYPE_CHECKING:
    from pathlib import Path


def test_only_sources_that_ignore_something(tmp_path: Path) -> None:
    """By selectors, by texts, or by both."""
    path = tmp_path / "sources.toml"
    path.write_text(
        '[sources.Shop]\nstart_urls = ["https://shop.example/"]\nignore_selectors = [".ad"]\n'
        '[sources.news]\nstart_urls = ["https://news.example/"]\nignore_text = ["visitors today"]\n'
        '[sources.plain]\nstart_urls = ["https://plain.example/"]\n',
        encoding="utf-8",
    )
    found = ignored_by_source(path)
    assert found["shop"] == Ignored((".ad",), ())
    assert found["news"] == Ignored((), ("visitors today",))
    assert "plain" not in found


def test_the_operators_source_wins(tmp_path: Path) -> None:
    """Though it ignores nothing, where the one that comes along does."""
    bundled = next(iter(bundled_sources()))
    path = tmp_path / "sources.toml"
    path.write_text(
        f'[sources.{bundled}]\nstart_urls = ["https://shop.example/"]\nignore_text = ["mine"]\n', "utf-8"
    )
    assert ignored_by_source(path)[bundled.lower()] == Ignored((), ("mine",))


def test_without_a_file_there_are_those_that_come_along(tmp_path: Path) -> None:
    """One that cannot be read is an error, not an empty one."""
    ignored_by_source(tmp_path / "absent.toml")
    (tmp_path / "broken.toml").write_text("[sources", encoding="utf-8")
    with pytest.raises(CrawlerError):
        ignored_by_source(tmp_path / "broken.toml")
