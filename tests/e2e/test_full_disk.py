"""A disk that is full stops a crawl; nothing is half there, and with room it goes on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.e2e.disks import mounted
from tests.e2e.farm import farm

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Home

PAGES = 16
FULL = "size=120k"  # some of the pages, and not all
ROOMY = "size=64m"


@pytest.mark.parametrize("database", ["elsewhere", "on it"])
def test_a_full_disk_loses_nothing(home: Home, tmp_path: Path, database: str) -> None:
    """Evidence on a small file system, its database beside it or not; each row has its file, at any time."""
    small = tmp_path / "small"
    with farm(1, PAGES) as site, mounted(small, ROOMY if database == "on it" else FULL) as remount:
        # There is nothing to wait for here: the disk stays full.
        home.extra.update(ARTIFACTS_DIR=str(small / "artifacts"), STORE_PATIENCE_SECONDS="1")
        if database == "on it":
            home.extra["DATABASE_URL"] = f"sqlite:///{small}/vitrine.db"
            assert home.vitrine("db", "upgrade").returncode == 0
            used = sum(path.stat().st_size for path in small.iterdir())
            remount(f"size={used // 1024 + 240}k")
        first = home.vitrine("crawl", "site", site.starts[0], "-s", "DOWNLOAD_DELAY=0", "--json")
        assert first.returncode == 1, (first.stdout, first.stderr)
        assert "Traceback" not in first.stderr

        remount(ROOMY)
        assert home.vitrine("artifacts", "verify").returncode == 0
        [run] = json.loads(home.vitrine("runs", "list", "--json").stdout)["runs"]
        assert run["status"] in {"failed", "stopped", "running"}
        second = home.vitrine("runs", "resume", str(run["id"]), "-s", "DOWNLOAD_DELAY=0")
        assert second.returncode == 0, (second.stdout, second.stderr)
        assert home.vitrine("artifacts", "verify").returncode == 0
        [run] = json.loads(home.vitrine("runs", "list", "--json").stdout)["runs"]
        assert run["status"] == "completed"
        shown = json.loads(home.vitrine("runs", "show", str(run["id"]), "--json").stdout)
        assert shown["tasks"]["finished"] >= PAGES
        assert shown["tasks"]["error"] == 0
