"""The handbook's first half hour, as a new operator would go through it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crawler.db import revisions
from crawler.db.engine import Database
from tests.e2e.conftest import ROOT, Home
from tests.e2e.test_backup import run_block

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.demo import DemoServer

HANDBOOK = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
WALK = HANDBOOK.partition("## The first half hour\n")[2].partition("\n## ")[0]


def block(step: str) -> str:
    """The first block below a step."""
    found = re.search(r"^```\w*\n(.*?)^```", WALK.partition(f"**{step}.")[2], re.MULTILINE | re.DOTALL)
    assert found, step
    return found[1]


def test_the_first_half_hour(home: Home, shops: DemoServer, tmp_path: Path) -> None:
    """The settings are taken, the source is known, and each line comes to a good end."""
    start = shops.url("plain")
    sources = tmp_path / "sources.toml"
    sources.write_text(block("3").replace("https://shop.example/", start), encoding="utf-8")
    said = dict(line.split("=", 1) for line in block("2").splitlines())
    home.extra.update(said, VITRINE_HOME=str(home.path), SOURCES_FILE=str(sources))
    run_block(home, block("4").replace("https://shop.example/", start), tmp_path)
    assert [(each["url"], each["status"]) for each in home.sessions()] == [(start, "completed")] * 2
    printed = home.vitrine("schedule", "acme")
    assert printed.returncode == 0
    lines = [line for line in printed.stdout.splitlines() if line and not line.startswith("#")]
    assert any(line.startswith("0 3 * * 1 ") for line in lines)  # nothing else goes into a crontab


def test_an_upgrade_as_the_handbook_has_it(home: Home, tmp_path: Path) -> None:
    """From the first revision to this program's, with a copy that is still what it was."""
    home.path.mkdir()
    old = home.database()
    revisions.migrate(old, "0001")
    old.close()
    section = HANDBOOK.partition("## Upgrading\n")[2]
    found = re.search(r"^```\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    assert found
    run_block(home, found[1], tmp_path)
    copy = Database(f"sqlite:///{tmp_path / 'before-upgrade.db'}")
    for database, revision in ((home.database(), revisions.HEAD), (copy, "0001")):
        assert revisions.current(database) == revision
        database.close()
