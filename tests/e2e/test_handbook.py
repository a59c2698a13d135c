"""The handbook, as a new operator would go through it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

from crawler.db import revisions
from crawler.db.engine import Database
from tests.e2e.handbook import block, run_lines

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.demo import DemoServer
    from tests.e2e.conftest import Home

SHOP = "https://shop.example/"
HALF_HOUR = "The first half hour"


@pytest.mark.soak(minutes=10)
def test_the_first_half_hour(home: Home, shops: DemoServer, tmp_path: Path) -> None:
    """The settings are taken, the source is known, each line comes to a good end; so do clock and notices."""
    start = shops.url("plain")
    sources = tmp_path / "sources.toml"
    sources.write_text(block(HALF_HOUR, 2).replace(SHOP, start), encoding="utf-8")
    said = dict(line.split("=", 1) for line in block(HALF_HOUR, 1).splitlines())
    home.extra.update(said, VITRINE_HOME=str(home.path), SOURCES_FILE=str(sources))
    for line in block(HALF_HOUR, 3).replace(SHOP, start).splitlines():
        program, *arguments = shlex.split(line)
        done = home.vitrine(*arguments)
        assert (program, done.returncode) == ("vitrine", 0), done.stderr
    assert [(each["url"], each["status"]) for each in home.sessions()] == [(start, "completed")] * 2
    printed = run_lines(home, block("By the clock", 0), tmp_path)
    lines = [line for line in printed.splitlines() if line and not line.startswith("#")]
    assert lines[0].startswith("0 3 * * 1  cd ")
    assert f"VITRINE_HOME={home.path}" in lines[0]
    run_lines(home, block("Being told", 0), tmp_path)


@pytest.mark.soak(minutes=10)
def test_an_upgrade(home: Home, tmp_path: Path) -> None:
    """The lines of the handbook leave a copy, and a database at this program's revision."""
    home.path.mkdir()
    old = home.database()
    revisions.upgrade(old)
    old.close()
    run_lines(home, block("Upgrading", 0), tmp_path)
    for database in (home.database(), Database(f"sqlite:///{tmp_path / 'before-upgrade.db'}")):
        assert revisions.current(database) == revisions.HEAD
        database.close()
