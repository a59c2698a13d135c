"""A pipeline of the user's that gives stored pages another type changes nothing but the feeds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.demo import DemoServer
    from tests.e2e.conftest import Home

pytestmark = pytest.mark.soak(minutes=5)

AS_DICTS = ("-s", 'ITEM_PIPELINES={"tests.e2e.foreign_spider.AsDict": 400}', "-s", "DOWNLOAD_DELAY=0")


@pytest.mark.parametrize(("spider", "more"), [("pdp", ()), ("site", ("-a", "max_pages=5"))])
def test_pages_as_dicts(
    home: Home, shops: DemoServer, tmp_path: Path, spider: str, more: tuple[str, ...]
) -> None:
    """The crawl ends well, and both the spider's feed and PAGES_FEED have the pages."""
    feeds = ("-O", str(tmp_path / "all.jsonl"), "-s", f"PAGES_FEED={tmp_path / 'pages.jsonl'}")
    done = home.scrapy("crawl", spider, "-a", f"url={shops.url('plain')}", *feeds, *more, *AS_DICTS)
    assert done.returncode == 0, done.stderr
    [session] = home.sessions()
    assert session["status"] == "completed"
    pages = {page["url"] for page in session["pages"]}
    for feed in ("all.jsonl", "pages.jsonl"):
        lines = (tmp_path / feed).read_text(encoding="utf-8").splitlines()
        assert {json.loads(line)["url"] for line in lines} == pages
