"""Rendered sessions: what they cost beside a bare browser, and whether they come out alike.

`python -m bench render`; a second number on its line is the peer's or the limit.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from operator import itemgetter
from pathlib import Path
from typing import Any

from crawler.demo import NETWORK, serve
from crawler.rendering.chromium import launch_options, require_chromium

ROOT = Path(__file__).parents[1]
ROUNDS = 2
PAGES_OF_MEMORY = 200
PAGES_A_SESSION = 4
EARLY_PAGES = 40
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
    with tempfile.TemporaryDirectory() as folder, serve(bulk=PAGES_OF_MEMORY // PAGES_A_SESSION) as shop:
        home = Path(folder)
        ours, quick, bare = _times(home, shop)
        print(f"{'a rendered session, s (beside bare scrapy-playwright)':<60} {ours:>8.1f} {bare:>8.1f}")
        print(f"{'the same without its waits, s':<60} {quick:>8.1f} {bare:>8.1f}")
        different, compared = _differing(home, shop)
        print(f"{'screenshots that differ between two runs (goal 0)':<60} {different:>8} {compared:>8}")
        for cause, (gone, shown) in _popups(home, shop).items():
            print(f"{'popups dismissed, of those that were there: ' + cause:<60} {gone:>8} {shown:>8}")
        early, late = _memory(home, shop)
        what = f"peak memory of {PAGES_OF_MEMORY} pages, MiB (beside that of {EARLY_PAGES})"
        print(f"{what:<60} {late:>8.0f} {early:>8.0f}")


def _times(home: Path, shop: Any) -> tuple[float, float, float]:
    """Seconds of a session at default settings, of one that waits for little, of a bare fetch."""
    url = shop.url("plain")
    tries = [home / f"t{number}" for number in range(ROUNDS)]
    ours, session = min(((_timed(crawl, folder, [url]), folder) for folder in tries), key=itemgetter(0))
    quick = min(_timed(crawl, home / f"q{round_}", [url], **QUICK) for round_ in range(ROUNDS))
    [found] = sessions(session)
    urls = [page["url"] for page in found["pages"]]
    program = home / "bare.py"
    program.write_text(BARE % (launch_options(require_chromium()), urls), encoding="utf-8")
    command = [sys.executable, "-m", "scrapy", "runspider", str(program)]
    bare = min(_timed(subprocess.run, command, check=True, cwd=home) for _ in range(ROUNDS))
    return ours, quick, bare


def _timed(work: Any, *given: Any, **more: Any) -> float:
    begun = time.monotonic()
    work(*given, **more)
    return time.monotonic() - begun


def _differing(home: Path, shop: Any) -> tuple[int, int]:
    """Of the screenshots of two runs over the same shops: how many differ, and how many there are."""
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
    return sum(first[key] != second.get(key) for key in first), len(first)


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


def _memory(home: Path, shop: Any) -> tuple[float, float]:
    """The peak in MiB of the crawl and its browser: within the first 40 pages, and within all of them."""
    urls = [shop.url(f"shop-{number:04}") for number in range(1, PAGES_OF_MEMORY // PAGES_A_SESSION + 1)]
    peaks: list[float] = []
    early = 0.0
    folder = home / "memory"
    process = _crawling(folder, urls, SESSIONS_AT_ONCE="2", **QUICK)
    is_over = threading.Event()
    while not is_over.wait(LOOK_SECONDS):
        peaks.append(_resident(process.pid))
        if not early and len(list((folder / "artifacts").glob("*/*/*/screenshot.png"))) >= EARLY_PAGES:
            early = max(peaks)
        if process.poll() is not None:
            is_over.set()
    process.communicate()
    return early, max(peaks)


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
