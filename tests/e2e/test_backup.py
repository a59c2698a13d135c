"""Backup and restore as the handbook has them, line by line; the digests prove what came back."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from tests.e2e.handbook import block, run_lines

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.demo import DemoServer
    from tests.e2e.conftest import Home


def test_what_was_lost_comes_back(home: Home, shops: DemoServer, tmp_path: Path) -> None:
    """Sessions and a run that keeps its pages in WARC files; a changed byte is found."""
    assert [each["status"] for each in home.crawl(shops.url("plain"))] == ["completed"]
    site = home.vitrine(
        "crawl",
        "site",
        shops.url("hub"),
        "--max-pages",
        "3",
        "-s",
        "PAGE_STORE=warc",
        "-s",
        "DOWNLOAD_DELAY=0",
    )
    assert site.returncode == 0, site.stderr
    before, sessions = home.files(), home.sessions()
    recorded = sorted(path.name for path in home.path.rglob("*.warc.gz"))
    assert before
    assert recorded
    backup = tmp_path / "backup"
    backup.mkdir()
    run_lines(home, block("Backup and restore", 0), backup)

    for each in home.path.iterdir():
        if each.is_dir():
            shutil.rmtree(each)
        else:
            each.unlink()
    run_lines(home, block("Backup and restore", 1), backup)
    assert home.files() == before
    assert sorted(path.name for path in home.path.rglob("*.warc.gz")) == recorded
    assert home.sessions() == sessions
    with closing(sqlite3.connect(home.path / "vitrine.db")) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]

    changed = next(home.artifacts / name for name in before if name.endswith(".gz"))
    changed.write_bytes(changed.read_bytes()[:-1] + b"?")
    verified = home.vitrine("artifacts", "verify", "--json")
    assert verified.returncode == 6
    assert changed.name in json.dumps(json.loads(verified.stdout))
