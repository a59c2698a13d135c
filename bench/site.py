"""Pages a second of a durable run, beside the same pipelines fed by Scrapy's own queue, on the same sites.

Both visit every page of some shops, judge it and keep it with its files and rows. The durable run also
writes its links as tasks, leases and ends each task in the page's own transaction, and keeps its assets.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from crawler.demo import NETWORK, spawn

SHOPS = 16
AT_ONCE = 16
ROUNDS = 3


def main() -> None:
    """Measure both in turn, a few rounds, and print the best of each."""
    print(f"{SHOPS} shops, {AT_ONCE} at once, best of {ROUNDS} rounds, {os.cpu_count()} cores, SQLite\n")
    with spawn(bulk=SHOPS) as shops:
        homes = [shops.url(f"shop-{number:04}") for number in range(1, SHOPS + 1)]
        rounds = [(_run("memory", homes), _run("site", homes)) for _ in range(ROUNDS)]
    memory, site = (max(runs, key=lambda run: float(run["per_second"])) for runs in zip(*rounds, strict=True))
    print("| queue | pages | pages/s | MiB |\n|---|---|---|---|")
    for name, run in (("Scrapy's, in memory", memory), ("durable", site)):
        print(f"| {name} | {run['pages']} | {run['per_second']:.0f} | {run['peak_mib']:.0f} |")
    print(f"\ndurable / memory: {site['per_second'] / memory['per_second']:.2f}")


def _run(mode: str, homes: list[str]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        urls, sources = Path(folder) / "urls.txt", Path(folder) / "sources.toml"
        urls.write_text("\n".join(homes), encoding="utf-8")
        sources.write_text(f"[sources.bench]\nstart_urls = {json.dumps(homes)}\n", encoding="utf-8")
        environment = {
            **os.environ,
            "VITRINE_HOME": folder,
            "EGRESS_ALLOW": NETWORK,
            "SOURCES_FILE": str(sources),
            "SESSIONS_AT_ONCE": str(AT_ONCE),
            "DOMAIN_MIN_DELAY_MS": "0",
        }
        done = subprocess.run(
            [sys.executable, "-m", "bench.site_worker", mode, str(urls)],
            env=environment, check=True, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
    return dict(json.loads(done.stdout.splitlines()[-1]))


if __name__ == "__main__":
    main()
