"""Saved pages are judged one by one, in the order of their names; no match is a mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from crawler.config import load_settings
from crawler.errors import UsageError
from crawler.spiders.saved_pages import SavedPagesSpider
from tests.unit.components import awaited

if TYPE_CHECKING:
    from pathlib import Path


async def all_of(outputs: Any) -> list[Any]:
    """What is yielded."""
    return [each async for each in outputs]


def test_each_file_is_asked_for_once(tmp_path: Path) -> None:
    """In the order of the names, at one address; no duplicate filter drops the second."""
    for name in ("b.html", "a.html", "c.txt"):
        (tmp_path / name).write_bytes(b"<p>")
    spider = SavedPagesSpider(files=f"{tmp_path}/*.html", url="https://shop.example/p")
    requests = awaited(all_of(spider.start()))
    assert [each.cb_kwargs["file"] for each in requests] == [f"{tmp_path}/{name}.html" for name in "ab"]
    assert {(each.url, each.dont_filter) for each in requests} == {("https://shop.example/p", True)}


@pytest.mark.parametrize("pattern", ["", "{folder}/none*.html", "{folder}/[", "\0"])
def test_a_pattern_that_matches_nothing(tmp_path: Path, pattern: str) -> None:
    """Is told before anything starts."""
    given = {"files": pattern.replace("{folder}", str(tmp_path))}
    with pytest.raises((UsageError, ValueError)):
        SavedPagesSpider.prepared(load_settings({}), given)
