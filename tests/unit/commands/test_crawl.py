"""`scrapy crawl` refuses in one line what cannot work, and logs as it is told."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crawler.config import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    Scrapy = Callable[..., subprocess.CompletedProcess[str]]

ROOT = Path(__file__).parents[3]
# A crawl that needs no network: nothing is asked of a private address.
REFUSED = ("crawl", "pdp", "-a", "url=http://127.0.0.1:1/")


@pytest.fixture
def scrapy(tmp_path: Path) -> Scrapy:
    """The command, in a home of its own; keywords are environment variables."""
    ours = {name.upper() for name in Settings.model_fields}
    inherited = {name: value for name, value in os.environ.items() if name.upper() not in ours}

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "scrapy", *arguments],
            cwd=ROOT,
            env={**inherited, "VITRINE_HOME": str(tmp_path / "home"), **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_a_wrong_setting_is_refused(scrapy: Scrapy, tmp_path: Path) -> None:
    """What `-s` gives is held to its range before anything is written; exit code 2."""
    done = scrapy(*REFUSED, "-s", "SESSION_MAX_SECONDS=0", "-s", "LOG_LEVEL=ERROR")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "error[config]: SESSION_MAX_SECONDS is '0'; it takes a whole number of seconds from 1 to 86400",
        "hint: the default is 1200; see docs/settings.md",
    ]
    assert not (tmp_path / "home").exists()


def test_a_server_without_tables_is_refused(scrapy: Scrapy, postgres_url: str) -> None:
    """Before a session is queued in a database that this program does not know."""
    done = scrapy(*REFUSED, "-s", "LOG_LEVEL=ERROR", DATABASE_URL=postgres_url)
    assert done.returncode == 2
    assert done.stderr.startswith("error[db_revision]: the database is at revision none")
    assert "Traceback" not in done.stderr


def test_scrapys_log_settings_hold(scrapy: Scrapy, tmp_path: Path) -> None:
    """LOG_FILE and LOG_LEVEL mean what Scrapy's users know."""
    file = tmp_path / "crawl.log"
    done = scrapy(*REFUSED, "-s", f"LOG_FILE={file}", "-s", "LOG_LEVEL=WARNING")
    written = file.read_text(encoding="utf-8")
    assert (done.returncode, done.stderr) == (1, "")  # nothing was fetched
    assert "WARNING: page.failed" in written
    assert "INFO" not in written
