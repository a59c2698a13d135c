"""Rendered sessions: what they cost beside a bare browser, and whether they come out alike.

`python -m bench render`; a second number on a line is the peer's or the limit. `python -m bench.render PART…`
measures `times`, `alike`, `popups` or `memory` alone; `brief` is a session and its peer, each of them once.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from attrs import define

from bench.words import parser_of
from crawler.config import load_settings
from crawler.demo import NETWORK, serve
from crawler.rendering.chromium import launch_options, require_chromium
from crawler.rendering.pictures import size_of
from crawler.rendering.viewports import VIEWPORTS
from crawler.rendering.waiting import Limits, Look, Place, Scroll, scroll_through, until_quiet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawler.config import Settings

Lines: TypeAlias = "Iterator[tuple[Any, ...]]"  # what was measured, its figure, what stands beside it

ROOT = Path(__file__).parents[1]
ROUNDS = 2
MARKS = (40, 100, 200, 400)  # pages after which memory is looked at
PAGES_A_SESSION = 4
LOOK_SECONDS = 0.5
# What lies over the demo's pages, by scene, and what is logged when it is cleared away.
POPUPS = {
    "newsletter": "popup.dismissed",
    "banner-in-frame": "popup.dismissed",
    "consent-dialog": "popup.dismissed",
    "overlay": "overlay_hide_fallback",
}
ALIKE = ("plain", "german", "japanese", "lazy", "script-only", "newsletter", "consent-banner", "overlay")
QUICK = {
    "RENDER_IDLE_MS": "150", "RENDER_STABLE_MS": "200", "RENDER_MIN_MS": "500",
    "RENDER_SCROLL_WAIT_MS": "250",
    "RENDER_BOTTOM_MS": "100", "RENDER_SETTLE_MS": "500", "RENDER_POPUP_SETTLE_MS": "200",
    "RENDER_SCROLL_STEPS": "3",
}  # fmt: skip
BARE = """
import scrapy
class Bare(scrapy.Spider):
    name = "bare"
    custom_settings = {
        "DOWNLOAD_HANDLERS": dict.fromkeys(
            ("http", "https"), "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler"
        ),
        "PLAYWRIGHT_LAUNCH_OPTIONS": %r, "ROBOTSTXT_OBEY": False, "CONCURRENT_REQUESTS": 1,
        "LOG_LEVEL": "ERROR", "TELNETCONSOLE_ENABLED": False,
    }
    async def start(self):
        for number, url in enumerate(%r):
            yield scrapy.Request(url, meta={"playwright": True}, dont_filter=True)
    def parse(self, response):
        assert response.status == 200
"""


def main() -> None:
    """Measure, and print a line each."""
    known = PARTS | {"brief": _brief}
    parser = parser_of("render", known)
    parser.set_defaults(parts=list(PARTS))
    parts = parser.parse_args().parts
    with tempfile.TemporaryDirectory() as folder, serve(bulk=MARKS[-1] // PAGES_A_SESSION) as shop:
        for name in parts:
            for what, figure, *beside in known[name](Path(folder), shop):
                print(f"{what:<60} {figure:>8}", *(f"{each:>8}" for each in beside), flush=True)


def _print_times(home: Path, shop: Any, rounds: int = ROUNDS) -> Lines:
    ours, quick, bare = _times(home, shop, rounds)
    yield "a rendered session, s (beside bare scrapy-playwright)", f"{ours:.1f}", f"{bare:.1f}"
    yield "of which its pages would be waited for at least, s", f"{_waits(home / 't0'):.1f}"
    yield "the same without its waits, s", f"{quick:.1f}", f"{bare:.1f}"


def _brief(home: Path, shop: Any) -> Lines:
    return _print_times(home, shop, rounds=1)


def _print_differing(home: Path, shop: Any) -> Lines:
    yield "screenshots that differ between two runs (goal 0)", *_differing(home, shop)


def _print_popups(home: Path, shop: Any) -> Lines:
    for cause, both in _popups(home, shop).items():
        yield f"popups dismissed, of those that were there: {cause}", *both


def _print_memory(home: Path, shop: Any) -> Lines:
    for pages, peak in _memory(home, shop).items():
        yield f"peak memory of {pages} pages, MiB", f"{peak:.0f}"


PARTS: dict[str, Callable[[Path, Any], Lines]] = {
    "times": _print_times,
    "alike": _print_differing,
    "popups": _print_popups,
    "memory": _print_memory,
}


def _times(home: Path, shop: Any, rounds: int) -> tuple[float, float, float]:
    """Seconds of a session at default settings, of one that waits for little, of a bare fetch."""
    url = shop.url("plain")
    tries = [home / f"t{number}" for number in range(rounds)]
    ours, session = min(((_timed(crawl, folder, [url]), folder) for folder in tries), key=itemgetter(0))
    quick = min(_timed(crawl, home / f"q{round_}", [url], **QUICK) for round_ in range(rounds))
    [found] = sessions(session)
    urls = [page["url"] for page in found["pages"]]
    program = home / "bare.py"
    program.write_text(BARE % (launch_options(require_chromium()), urls), encoding="utf-8")
    command = [sys.executable, "-m", "scrapy", "runspider", str(program)]
    bare = min(_timed(subprocess.run, command, check=True, cwd=home) for _ in range(rounds))
    return ours, quick, bare


@define
class StillPage:
    """A page that is there at once and never changes, and the clock that it is waited for by."""

    height: int
    window: int
    time: float = 0.0
    top_at: float = 0.0

    def now(self) -> float:
        """The seconds that were waited."""
        return self.time

    async def sleep(self, seconds: float) -> None:
        """Wait in no time."""
        self.time += seconds

    async def look(self) -> Look:
        """Always the same."""
        return Look(is_loaded=True)

    async def down(self, share: float) -> Place:
        """As a window moves."""
        self.top_at = min(self.top_at + share * self.window, max(self.height - self.window, 0))
        return Place(int(self.top_at + self.window), self.height)

    async def top(self) -> None:
        """Back to where it began."""
        self.top_at = 0


def _waits(folder: Path) -> float:
    """What the rules have one wait on a session, if nothing takes time, by the heights of its pictures."""
    total, settings = 0.0, load_settings({})
    for picture in folder.glob("artifacts/*/*/*/screenshot.png"):
        viewport = VIEWPORTS[picture.parent.name]
        page = StillPage(size_of(picture.read_bytes())[1], viewport.height)
        asyncio.run(_waited(page, settings))
        total += page.time
    return total


async def _waited(page: StillPage, settings: Settings) -> None:
    await until_quiet(page.look, Limits.ready(settings), page)
    await scroll_through(page, Scroll.of(settings), page)
    await until_quiet(page.look, Limits.within(settings.render_settle_ms), page)


def _timed(work: Any, *given: Any, **more: Any) -> float:
    begun = time.monotonic()
    work(*given, **more)
    return time.monotonic() - begun


def _differing(home: Path, shop: Any) -> tuple[int, int]:
    """Of the screenshots of two runs over the same shops: how many differ, and how many there are to be."""
    digests = []
    for number in (1, 2):
        folder = home / f"alike{number}"
        crawl(folder, [shop.url(name) for name in ALIKE], **QUICK)
        digests.append(
            {
                (session["url"], page["page_type"], page["viewport"]): artifact["checksum"]
                for session in sessions(folder)
                for page in session["pages"]
                for artifact in session["artifacts"]
                if artifact["type"] == "screenshot" and artifact["page_id"] == page["id"]
            }
        )
    first, second = digests
    keys = first.keys() | second.keys()
    return sum(first.get(key) != second.get(key) for key in keys), len(ALIKE) * PAGES_A_SESSION


def _popups(home: Path, shop: Any) -> dict[str, tuple[int, int]]:
    """By scene: pages on which something was logged as dismissed, of those on which it appeared."""
    folder, found = home / "popups", {}
    urls = {shop.url(name, "/?stubborn=1" if name == "consent-dialog" else "/"): name for name in POPUPS}
    crawl(folder, urls, **QUICK)
    for session in sessions(folder):
        name = urls[session["url"]]
        shown = json.loads(_vitrine(folder, "sessions", "show", session["id"], "--json").stdout)
        events = Counter(line["message"] for line in shown["log"])
        # what the product pages of the second vendor's shop remember is theirs: two pages ask stubbornly
        pages = PAGES_A_SESSION // 2 if name == "consent-dialog" else len(session["pages"])
        found[name] = (events[POPUPS[name]], pages)
    return found


def _memory(home: Path, shop: Any) -> dict[int, float]:
    """The peak in MiB of the crawl and its browser, by how many pages had been rendered at most."""
    urls = [shop.url(f"shop-{number:04}") for number in range(1, MARKS[-1] // PAGES_A_SESSION + 1)]
    peaks = dict.fromkeys(MARKS, 0.0)
    folder = home / "memory"
    process = _crawling(folder, urls, SESSIONS_AT_ONCE="2", **QUICK)
    while process.poll() is None:
        pages = len(list((folder / "artifacts").glob("*/*/*/screenshot.png")))
        resident = _resident(process.pid)
        for mark in MARKS:
            if pages <= mark:
                peaks[mark] = max(peaks[mark], resident)
        time.sleep(LOOK_SECONDS)
    return peaks


def _resident(parent: int) -> float:
    """The MiB of a process and all below it, each shared page counted once."""
    below, total, grew = {parent}, 0, True
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            continue
    while grew:
        more = {pid for pid, above in parents.items() if above in below} - below
        below |= more
        grew = bool(more)
    for pid in below:
        try:
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
        except OSError:
            continue
        total += next((int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")), 0)
    return total / 1024


# ── crawls ──


def crawl(folder: Path, urls: Any, **settings: str) -> None:
    """Render a session for each URL, to the end."""
    process = _crawling(folder, urls, **settings)
    process.communicate()


def _crawling(folder: Path, urls: Any, **settings: str) -> subprocess.Popen[str]:
    folder.mkdir(exist_ok=True)
    words = ["crawl", "pdp", "--render", "1", "--json", "-s", "DOWNLOAD_DELAY=0", *urls]
    return subprocess.Popen(
        [sys.executable, "-m", "crawler.cli", *words], cwd=ROOT, env=_environment(folder, settings),
        text=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def sessions(folder: Path) -> list[dict[str, Any]]:
    """What came of them."""
    listed = _vitrine(folder, "sessions", "list", "--json", "--limit", "1000")
    found: list[dict[str, Any]] = json.loads(listed.stdout)["sessions"]
    return found


def _vitrine(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "crawler.cli", *words], cwd=ROOT, env=_environment(folder, {}), text=True,
        check=True, capture_output=True,
    )  # fmt: skip


def _environment(folder: Path, settings: dict[str, str]) -> dict[str, str]:
    return {
        **os.environ, "VITRINE_HOME": str(folder), "EGRESS_ALLOW": NETWORK, "DOMAIN_MIN_DELAY_MS": "0",
        **settings,
    }  # fmt: skip


if __name__ == "__main__":
    main()
