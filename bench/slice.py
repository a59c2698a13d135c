"""Pages a second of everything that Vitrine does to a page, beside a bare Scrapy spider on the same pages.

The bare spider yields each page's URL and nothing else. `pages` is that spider's way through Vitrine's
settings: one session a domain, every page judged and kept. `sessions` is the pdp spider: a session,
with its lock, states and log, for every two pages.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.demo import NETWORK, spawn

if TYPE_CHECKING:
    from collections.abc import Mapping

SHOPS = 200
PAGE_BYTES = 100_000
AT_ONCE = 16
ROUNDS = 3
MODES = ("bare", "pages", "sessions")


def main() -> None:
    """Measure each way in turn, a few rounds, and print the best of each."""
    best: dict[str, dict[str, Any]] = {}
    with spawn(bulk=SHOPS, page_bytes=PAGE_BYTES) as shops:
        homes = [shops.url(f"shop-{number:04}") for number in range(1, SHOPS + 1)]
        _run("bare", homes)  # renders every page once, so that nobody pays for it below
        for _ in range(ROUNDS):
            for mode in MODES:
                figures = _run(mode, homes)
                if mode not in best or figures["per_second"] > best[mode]["per_second"]:
                    best[mode] = figures
    _print(best)


def _run(mode: str, homes: list[str]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        urls = Path(folder) / "urls.txt"
        urls.write_text("\n".join(homes))
        done = subprocess.run(
            [sys.executable, "-m", "bench.slice_worker", mode, str(urls)],
            env=_environment(folder), check=True, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
    return dict(json.loads(done.stdout.splitlines()[-1]))


def _environment(folder: str) -> dict[str, str]:
    return {
        **os.environ,
        "VITRINE_HOME": folder,
        "EGRESS_ALLOW": NETWORK,
        "SESSIONS_AT_ONCE": str(AT_ONCE),
        "DOMAIN_MIN_DELAY_MS": "0",
    }


def _print(best: Mapping[str, Mapping[str, Any]]) -> None:
    bare = best["bare"]["per_second"]
    print(f"{PAGE_BYTES // 1000} KB pages of {SHOPS} shops, {AT_ONCE} at once, best of {ROUNDS} rounds\n")
    print("| way | pages | pages/s | of bare | reactor ms/page | elsewhere ms/page | peak MiB |")
    print("|---|---|---|---|---|---|---|")
    for mode in MODES:
        f = best[mode]
        print(
            f"| {mode} | {f['pages']} | {f['per_second']:.0f} | {f['per_second'] / bare:.2f} "
            f"| {f['reactor_ms']:.2f} | {f['elsewhere_ms']:.2f} | {f['peak_mib']:.0f} |"
        )


if __name__ == "__main__":
    main()
