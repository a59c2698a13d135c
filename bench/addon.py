"""What the add-on costs a plain crawl: the same project with and without its line in `ADDONS`.

`plain` is Scrapy alone, `addon` has the add-on, and `unkept` has it with `CAPTURE_PAGES=False`: the gate
without the evidence. The limits are alike (no delay, 8 requests at once for a domain, robots.txt obeyed), and
each crawl is a `scrapy crawl` of its own, from its start to its exit.

`python -m bench.addon [NAME…]`: `one-domain` is 3,000 pages of one domain, `domains` 5 pages of each of 300.
CPU time is the figure to read where others are at work.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter, sleep

from attrs import frozen

from bench.machine import Watch
from bench.words import parser_of
from crawler.demo import NETWORK, spawn
from tests.processes import below

ROUNDS = 3
LOOK_SECONDS = 0.25
SHAPES = {"one-domain": (1, 3000), "domains": (300, 5)}  # domains, and pages of each
ADDON = 'ADDONS = {"crawler.addon.Vitrine": 100}\n'
MODES = {"plain": "", "addon": ADDON, "unkept": ADDON + "CAPTURE_PAGES = False\n"}
SETTINGS = """
BOT_NAME = "bench"
SPIDER_MODULES = ["pages"]
DOWNLOAD_DELAY = 0
CONCURRENT_REQUESTS = 16
CONCURRENT_REQUESTS_PER_DOMAIN = 8
ROBOTSTXT_OBEY = True
LOG_LEVEL = "WARNING"
"""
SPIDER = """
import json
from pathlib import Path
from scrapy import Request, Spider

class PagesSpider(Spider):
    name = "pages"

    async def start(self):
        urls = json.loads(Path("urls.json").read_text())
        for page in range(int(self.pages)):
            for url in urls:
                yield Request(f"{url}?page={page}")

    def parse(self, response):
        yield {"url": response.url, "title": response.css("title::text").get()}
"""


@frozen
class Cost:
    """What one crawl took."""

    seconds: float
    cpu: float  # seconds, with the processes that read its pages
    mib: float  # at its peak, with the processes that read its pages
    beside: float  # cores of others


def main() -> None:
    """Crawl in each mode in turn, and print the medians."""
    shapes = parser_of("addon", SHAPES).parse_args().parts
    print("| work | crawl | s | of plain | CPU s | of plain | MiB | more MiB | others' cores |")
    print("|---|---|---|---|---|---|---|---|---|")
    with spawn(bulk=max(SHAPES[name][0] for name in shapes)) as shops, tempfile.TemporaryDirectory() as place:
        for name in shapes:
            domains, pages = SHAPES[name]
            urls = [shops.url(f"shop-{number:04}") for number in range(1, domains + 1)]
            bench = Bench(urls, pages, place, shops.pid)
            bench.crawl("plain")  # renders every page once, so that nobody pays for it below
            rounds = [{mode: bench.crawl(mode) for mode in MODES} for _ in range(ROUNDS)]
            for mode in MODES:
                _print(f"{name}: {domains} x {pages} pages", mode, rounds)


@frozen
class Bench:
    """The pages that each mode crawls."""

    urls: list[str]
    pages: int  # of each URL
    place: str
    shops: int  # the process that serves them

    def crawl(self, mode: str) -> Cost:
        """Crawl in a new project; a crawl that is not whole is an error."""
        folder = self._project(mode)
        root = str(Path(__file__).parent.parent)
        ours = {"VITRINE_HOME": str(folder / "var"), "EGRESS_ALLOW": NETWORK, "PYTHONPATH": root}
        command = ["scrapy", "crawl", "pages", "-a", f"pages={self.pages}", "-o", "items.jsonl"]
        watch, began, used, peak = Watch.start(self.shops), perf_counter(), _cpu(), 0.0
        with subprocess.Popen(
            [sys.executable, "-m", *command], cwd=folder, env={**os.environ, **ours}
        ) as process:
            while process.poll() is None:
                peak = max(peak, sum(map(_mib, [process.pid, *below(process.pid)])))
                sleep(LOOK_SECONDS)
        seconds, cpu = perf_counter() - began, _cpu() - used
        items = len((folder / "items.jsonl").read_text(encoding="utf-8").splitlines())
        if process.returncode or items != self.pages * len(self.urls):
            raise SystemExit(f"{mode}: {items} items, exit code {process.returncode}")
        return Cost(seconds, cpu, peak, watch.cores_of_others())

    def _project(self, mode: str) -> Path:
        folder = Path(tempfile.mkdtemp(dir=self.place))
        (folder / "scrapy.cfg").write_text("[settings]\ndefault = settings\n", encoding="utf-8")
        (folder / "settings.py").write_text(SETTINGS + MODES[mode], encoding="utf-8")
        (folder / "pages.py").write_text(SPIDER, encoding="utf-8")
        (folder / "urls.json").write_text(json.dumps(self.urls), encoding="utf-8")
        return folder


def _cpu() -> float:
    """Return the seconds of CPU time of the children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def _mib(pid: int) -> float:
    """Return a process's share of memory: what it shares with others is divided by their number."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def _print(work: str, mode: str, rounds: list[dict[str, Cost]]) -> None:
    seconds = median(each[mode].seconds for each in rounds)
    slower = median(each[mode].seconds / each["plain"].seconds for each in rounds)
    cpu = median(each[mode].cpu for each in rounds)
    dearer = median(each[mode].cpu / each["plain"].cpu for each in rounds)
    mib = median(each[mode].mib for each in rounds)
    more = mib - median(each["plain"].mib for each in rounds)
    beside = max(each[mode].beside for each in rounds)
    print(
        f"| {work} | {mode} | {seconds:.1f} | {slower:.2f} | {cpu:.1f} | {dearer:.2f} "
        f"| {mib:.0f} | {more:+.0f} | {beside:.2f} |",
        flush=True,
    )


if __name__ == "__main__":
    main()
