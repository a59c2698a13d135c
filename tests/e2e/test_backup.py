"""Backup and restore as the handbook has them, line by line; the digests prove what came back."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

from tests.e2e.conftest import ROOT, Home

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.demo import DemoServer


SECTION = (
    (ROOT / "docs" / "operations.md").read_text(encoding="utf-8").partition("\n## Backup and restore\n")[2]
)
BLOCKS = re.findall(r"^```\n(.*?)^```", SECTION.partition("With PostgreSQL")[0], re.MULTILINE | re.DOTALL)


def run_block(home: Home, block: str, backup: Path) -> None:
    """The lines of a block, with this machine's folders, one after the other until one fails."""
    program = f"{sys.executable} -m crawler.cli"
    text = block.replace("/var/lib/vitrine", str(home.path)).replace("/backup", str(backup))
    script = re.sub(r"^vitrine\b", program, text, flags=re.MULTILINE)
    done = subprocess.run(
        ["/bin/sh", "-ec", script],
        cwd=ROOT,
        env=home.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, (script, done.stdout, done.stderr)


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
    keep, restore = BLOCKS
    backup = tmp_path / "backup"
    backup.mkdir()
    run_block(home, keep, backup)

    for each in home.path.iterdir():
        if each.is_dir():
            shutil.rmtree(each)
        else:
            each.unlink()
    run_block(home, restore, backup)
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
