"""How crawls of other people's spiders end: in the log, in the exit code, in a script of theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.disks import mounted
from tests.e2e.farm import farm
from tests.e2e.projects import VITRINES, Project

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from tests.e2e.conftest import Home

pytestmark = pytest.mark.soak(minutes=5)

SPIDER = """
import scrapy

class Shop(scrapy.Spider):
    name = "shop"
    custom_settings = %s

    def __init__(self, url, pages=3, **more):
        super().__init__(**more)
        self.urls = [f"{url}{number}" for number in range(int(pages))] + [f"{url}broken"]

    async def start(self):
        for url in self.urls:
            yield scrapy.Request(url)

    def parse(self, response):
        return {"title": response.css("title::text").get()}
"""
SCRIPT = """
import sys
from scrapy.crawler import {process}
from scrapy.utils.project import get_project_settings
from crawler.addon import exit_code

process = {process}(get_project_settings())
crawler = process.create_crawler("shop")
process.crawl(crawler, url=sys.argv[1])
process.start()
sys.exit(exit_code(crawler))
"""
REFUSED = {"TWISTED_DNS_RESOLVER": "scrapy.resolver.CachingThreadedResolver"}


def broken(path: str) -> tuple[int, str, str] | None:
    """One page that fails."""
    return (501, "", "<p>no") if path == "/broken" else None


def lines_with(done: subprocess.CompletedProcess[str], words: str) -> list[str]:
    """The log's lines that have these words."""
    return [line for line in done.stderr.splitlines() if words in line]


@pytest.mark.parametrize("way", VITRINES)
def test_a_failed_page_is_told_with_its_url_and_its_cause(home: Home, tmp_path: Path, way: str) -> None:
    """In the log of Scrapy's own making, and in the exit code."""
    project = Project.make(tmp_path / "theirs", home, way, SPIDER % {})
    with farm(1, 5, broken) as sites:
        done = project.crawl(sites.starts[0])
    [line] = lines_with(done, "page.failed")
    assert f"url={sites.starts[0]}broken" in line
    assert "cause=http_error" in line
    assert done.returncode == 3


@pytest.mark.parametrize(
    ("body", "settings", "expected"),
    [
        (
            'raise scrapy.exceptions.CloseSpider("enough")',
            {},
            ("completed", "Stopped by the spider: enough", 0),
        ),
        ("", {"CLOSESPIDER_PAGECOUNT": 2}, ("completed", "Stopped by the spider: closespider_pagecount", 0)),
        ("", {}, ("completed", None, 0)),
        ('if "/1" in response.url: raise ValueError("no price")', {}, ("partial", "Some pages failed", 3)),
    ],
    ids=["CloseSpider", "CLOSESPIDER", "404", "callback"],
)
def test_an_ordinary_end_is_no_failure(
    home: Home, tmp_path: Path, body: str, settings: dict[str, int], expected: tuple[str, str | None, int]
) -> None:
    """A spider that has enough, a page that is not there, a callback that cannot read one of its pages."""
    spider = (SPIDER % {}).replace("        return", f"        {body or 'pass'}\n        return")
    project = Project.make(tmp_path / "theirs", home, "add-on", spider, **settings)
    with farm(1, 5, lambda path: (404, "", "") if path == "/broken" else None) as sites:
        done = project.crawl(sites.starts[0])
    [session] = home.sessions()
    assert (session["status"], session["error_summary"], done.returncode) == expected, done.stderr
    assert session["pages"]


@pytest.mark.parametrize("way", VITRINES)
@pytest.mark.parametrize("command", ["crawl", "runspider"])
@pytest.mark.parametrize("custom", [REFUSED, {"HTML_RETENTION_DAYS": "abc"}], ids=["promise", "setting"])
def test_a_refusal_is_a_line_and_a_hint(
    home: Home, tmp_path: Path, way: str, command: str, custom: dict[str, str]
) -> None:
    """And exit code 2, whichever command runs the spider."""
    project = Project.make(tmp_path / "theirs", home, way, SPIDER % custom)
    which = "shop" if command == "crawl" else "theirs/spiders/shop.py"
    done = project.scrapy(command, which, "-a", "url=http://127.0.0.1:9/", "-s", "LOG_LEVEL=WARNING")
    assert done.returncode == 2
    error, hint = done.stderr.splitlines()
    assert error.startswith("error[config]: ")
    assert hint.startswith("hint: ")


@pytest.mark.parametrize("process", ["CrawlerProcess", "AsyncCrawlerProcess"])
@pytest.mark.parametrize(("custom", "code"), [({}, 3), (REFUSED, 2), ({"HTML_RETENTION_DAYS": "abc"}, 2)])
def test_a_script_can_exit_as_the_command_does(
    home: Home, tmp_path: Path, process: str, custom: dict[str, str], code: int
) -> None:
    """A refusal is a line of the log."""
    project = Project.make(tmp_path / "theirs", home, "add-on", SPIDER % custom)
    (project.folder / "run.py").write_text(SCRIPT.format(process=process), encoding="utf-8")
    with farm(1, 5, broken) as sites:
        done = project.python("run.py", sites.starts[0])
    assert done.returncode == code, done.stderr
    refusals = lines_with(done, "crawl.refused code=config error=")
    assert len(refusals) == (code == 2)
    assert all("hint=" in line for line in refusals)
    assert process == "CrawlerProcess" or "Traceback" not in done.stderr


@pytest.mark.parametrize("what", ["ARTIFACTS_DIR", "WARC_DIR"])
def test_a_full_disk_is_one_message_and_a_stop(home: Home, tmp_path: Path, what: str) -> None:
    """No callback is blamed for it, and no request is told one by one."""
    project = Project.make(tmp_path / "theirs", home, "add-on", SPIDER % {})
    small = tmp_path / "small"
    with farm(1, 300) as sites, mounted(small, "size=120k"):
        home.extra.update({what: str(small / "in"), "STORE_PATIENCE_SECONDS": "1"})
        done = project.crawl(sites.starts[0], "-a", "pages=300")
        *_, session = home.sessions()
    assert done.returncode == 1, done.stderr
    assert done.stderr.splitlines()[-1].startswith("error[disk_full]: no room for ")
    assert "Traceback" not in done.stderr
    assert "'finish_reason': 'disk_full'" in done.stderr
    [_given_up] = lines_with(done, "crawl.given_up")
    assert not lines_with(done, "Spider error")
    assert not lines_with(done, "Error downloading")
    assert (session["status"], session["cause"]) == ("failed", "disk_full")


def test_the_log_is_as_the_spider_wants_it(home: Home, tmp_path: Path) -> None:
    """Its own level and file, in its own format, with the fields of events."""
    wanted = {"LOG_LEVEL": "WARNING", "LOG_FILE": "mine.log", "LOG_FORMAT": "mine %(message)s"}
    for way in VITRINES:
        project = Project.make(tmp_path / way, home, way, SPIDER % wanted)
        with farm(1, 5, broken) as sites:
            project.crawl(sites.starts[0])
        lines = (project.folder / "mine.log").read_text(encoding="utf-8").splitlines()
        assert all(line.startswith("mine ") for line in lines)
        assert sum("page.failed" in line and "url=" in line for line in lines) == 1
