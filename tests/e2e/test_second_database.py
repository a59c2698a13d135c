"""A store belongs to one database: what another one is refused, and how it is handed over."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

import pytest

from tests.e2e.conftest import Home

if TYPE_CHECKING:
    from crawler.demo import DemoServer

WEEK_SECONDS = 7 * 86_400


@pytest.fixture
def other(home: Home, shops: DemoServer) -> Home:
    """The same home with another, empty database, after a crawl whose files are a week old."""
    assert [each["status"] for each in home.crawl(shops.url("plain"))] == ["completed"]
    long_ago = time.time() - WEEK_SECONDS
    for path in home.artifacts.rglob("*"):
        os.utime(path, (long_ago, long_ago))
    second = Home(home.path, {"DATABASE_URL": f"sqlite:///{home.path / 'second.db'}"})
    assert second.vitrine("db", "upgrade").returncode == 0
    return second


@pytest.mark.soak(minutes=10)
@pytest.mark.parametrize(
    "command",
    [
        ("cleanup",),
        ("cleanup", "--dry-run"),
        ("retention", "orphans", "--delete"),
        ("crawl", "pdp", "https://shop.example/"),
        ("crawl", "site", "https://shop.example/"),
    ],
)
def test_an_empty_database_is_refused_the_store_of_another(
    home: Home, other: Home, command: tuple[str, ...]
) -> None:
    """It ends with 6 and the way out, nothing goes, and the first one works on."""
    before = home.files()
    done = other.vitrine(*command)
    assert done.returncode == 6, done.stderr
    assert "error[other_store]" in done.stderr
    assert "vitrine artifacts adopt" in done.stderr
    assert home.files() == before != set()
    assert home.vitrine("cleanup").returncode == 0


def test_a_store_that_was_adopted_loses_no_file_of_its_other_database(home: Home, other: Home) -> None:
    """The files have no rows there, and are older than a day; the first database is refused from now on."""
    before = home.files()
    assert other.vitrine("artifacts", "adopt").returncode == 0
    done = other.vitrine("cleanup", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["unclaimed"] == 0
    assert home.files() == before
    refused = home.vitrine("cleanup")
    assert (refused.returncode, "error[other_store]" in refused.stderr) == (6, True)
    assert home.vitrine("artifacts", "adopt").returncode == 0
    assert home.vitrine("artifacts", "verify").returncode == 0


def test_a_file_without_a_row_is_announced_counted_and_on_record(home: Home, shops: DemoServer) -> None:
    """The dry run names it, the cleanup counts it, and the audit log has it."""
    home.crawl(shops.url("plain"))
    with home.database().write() as db:  # the store has been this database's for longer than the file is old
        db.connection().exec_driver_sql("UPDATE store_marks SET created_at = '2020-01-01 00:00:00.000000'")
    lost = home.artifacts / "plain" / "lost.html.gz"
    lost.parent.mkdir()
    lost.write_bytes(b"a page")
    os.utime(lost, (time.time() - WEEK_SECONDS,) * 2)
    planned = json.loads(home.vitrine("cleanup", "--dry-run", "--json").stdout)
    assert planned["unclaimed"] == 1
    assert planned["unclaimed_files"] == [{"storage_uri": "plain/lost.html.gz", "size_bytes": 6}]
    assert "file without a row would go: plain/lost.html.gz" in home.vitrine("cleanup", "--dry-run").stdout
    assert lost.exists()
    done = json.loads(home.vitrine("cleanup", "--json").stdout)
    assert (done["unclaimed"], done["reclaimed_bytes"], lost.exists()) == (1, 6, False)
    with home.database().read() as db:
        details = db.connection().exec_driver_sql("SELECT details FROM audit_log").scalars().all()
    assert any('"unclaimed_files": 1' in each for each in details)
