"""Pages a second of everything that Vitrine does to a page, beside a bare Scrapy spider on the same pages.

The bare spider obeys robots.txt too, and yields each page's URL and nothing else. Two shapes of work:
`spider` is that very spider under Vitrine's settings (a session a domain, ten pages each, every page
judged and kept); `sessions` is the pdp spider (a session, with its lock, states and log, for every two
pages).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from attrs import frozen

from crawler.demo import NETWORK, spawn

PAGE_BYTES = 100_000
AT_ONCE = 16
ROUNDS = 3


@frozen
class Shape:
    """Shops, and how many pages of each are visited."""

    name: str
    shops: int
    pages: int


SHAPES = (Shape("spider", 100, 10), Shape("sessions", 400, 2))


def main() -> None:
    """Measure bare and full in turn, a few rounds, and print the best of each."""
    how = f"{AT_ONCE} at once, best of {ROUNDS} rounds, {os.cpu_count()} cores"
    print(f"pages of {PAGE_BYTES // 1000} KB, {how}\n")
    columns = (
        "work",
        "pages",
        "bare/s",
        "full/s",
        "of bare",
        "reactor ms",
        "elsewhere ms",
        "readers ms",
        "MiB",
    )
    print("| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))
    with (
        spawn(bulk=max(shape.shops for shape in SHAPES), page_bytes=PAGE_BYTES) as shops,
        # Emptied at the end only: some file systems are slow to give out inodes just after many went.
        tempfile.TemporaryDirectory() as place,
    ):
        for shape in SHAPES:
            homes = [shops.url(f"shop-{number:04}") for number in range(1, shape.shops + 1)]
            _run("bare", homes, shape, place)  # renders every page once, so that nobody pays for it below
            rounds = [
                (_run("bare", homes, shape, place), _run(shape.name, homes, shape, place))
                for _ in range(ROUNDS)
            ]
            _print(shape, *(max(runs, key=_speed) for runs in zip(*rounds, strict=True)))


def _run(mode: str, homes: list[str], shape: Shape, place: str) -> dict[str, Any]:
    folder = tempfile.mkdtemp(dir=place)
    urls = Path(folder) / "urls.txt"
    urls.write_text("\n".join(homes), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "bench.slice_worker", mode, str(urls), str(shape.pages)],
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


def _speed(figures: dict[str, Any]) -> float:
    return float(figures["per_second"])


def _print(shape: Shape, bare: dict[str, Any], full: dict[str, Any]) -> None:
    print(
        f"| {shape.name}, {shape.shops} shops | {full['pages']} | {_speed(bare):.0f} | {_speed(full):.0f} "
        f"| {_speed(full) / _speed(bare):.2f} | {full['reactor_ms']:.1f} (bare {bare['reactor_ms']:.1f}) "
        f"| {full['elsewhere_ms']:.1f} | {full['readers_ms']:.1f} | {full['peak_mib']:.0f} |"
    )


if __name__ == "__main__":
    main()
