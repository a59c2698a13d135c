"""What a crawl leaves behind when it is stopped, gently or not, and how it goes on."""

from __future__ import annotations

import random
import signal
import time
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from tests.e2e.conftest import Home, with_status
from tests.waiting import wait_for

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from crawler.demo import DemoServer

KILLS = 3
# A session that is still under way when the test comes to it, however slow the machine is.
HELD_UP = ("-s", "DOWNLOAD_DELAY=4")


def write_urls(path: Path, urls: list[str]) -> Path:
    """A URL file."""
    path.write_text("\n".join(["# shops", "", *urls]) + "\n", encoding="utf-8")
    return path


def shop_urls(shops: DemoServer, count: int) -> list[str]:
    """The start pages of numbered shops."""
    return [shops.url(f"shop-{number:04}") for number in range(1, count + 1)]


def assert_consistent(home: Home) -> None:
    """No row without its file, no half file, and a database that is whole."""
    # in this order: a cleanup marks abandoned sessions, and exports their logs
    if "DATABASE_URL" not in home.extra and not (home.path / "vitrine.db").exists():
        return  # it was stopped before it had begun
    assert home.vitrine("cleanup").returncode == 0
    rows = {a["storage_uri"]: a for session in home.sessions() for a in session["artifacts"]}
    files = home.files()
    assert rows.keys() <= files
    assert not [name for name in files if name.endswith(".part") or "/." in name]
    for uri, row in rows.items():
        assert (home.artifacts / uri).stat().st_size == row["size_bytes"]
    database = home.database()
    with database.read() as db:
        assert not database.is_sqlite or db.scalar(text("PRAGMA integrity_check")) == "ok"
    database.close()


@pytest.mark.soak(minutes=10)
def test_a_url_file_goes_on_where_it_stopped(
    home: Home, shops: DemoServer, endings: list[subprocess.Popen[str]], tmp_path: Path
) -> None:
    """Stopped in the middle and started again, each URL is visited to its end once."""
    urls = shop_urls(shops, 4)
    file = write_urls(tmp_path / "shops.txt", urls)
    one_by_one = ("-s", "DOWNLOAD_DELAY=1", "-s", "SESSIONS_AT_ONCE=1")
    process = home.start_scrapy("crawl", "pdp", "-a", f"urls={file}", *one_by_one)
    endings.append(process)
    wait_for(lambda: with_status(home, "completed"))
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=120)
    before = {s["id"]: s for s in home.sessions()}
    assert {s["status"] for s in before.values()} == {"completed", "queued"}

    again = home.scrapy("crawl", "pdp", "-a", f"urls={file}", "-s", "DOWNLOAD_DELAY=0")
    assert again.returncode == 0, again.stderr
    after = {s["id"]: s for s in home.sessions()}
    assert after.keys() == before.keys()
    assert all(session["status"] == "completed" for session in after.values())
    for session_id, session in before.items():
        if session["status"] == "completed":
            assert after[session_id]["finished_at"] == session["finished_at"]
    assert_consistent(home)


@pytest.mark.soak
@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGKILL])
def test_stopped_at_any_point_a_crawl_stays_consistent_and_can_be_finished(
    home: Home, shops: DemoServer, endings: list[subprocess.Popen[str]], tmp_path: Path, stop: signal.Signals
) -> None:
    """Again and again at random points; in the end every URL has been visited, and the store is whole."""
    home.extra["DOMAIN_LOCK_TTL_SECONDS"] = "4"
    file = write_urls(tmp_path / "shops.txt", shop_urls(shops, 20))
    dice = random.Random(stop)
    for _ in range(KILLS):
        process = home.start_scrapy("crawl", "pdp", "-a", f"urls={file}", "-s", "DOWNLOAD_DELAY=0.1")
        endings.append(process)
        time.sleep(dice.uniform(0.7, 2.5))
        process.send_signal(stop)
        process.communicate(timeout=120)
        assert_consistent(home)
    time.sleep(4.1)  # until the last heartbeats are old
    home.crawl("--urls", str(file))
    sessions = home.sessions()
    assert {session["url"] for session in sessions} == set(shop_urls(shops, 20))
    assert {session["status"] for session in sessions} == {"completed"}
    assert_consistent(home)


@pytest.mark.soak
def test_a_file_that_is_being_worked_through_is_refused(
    home: Home, shops: DemoServer, endings: list[subprocess.Popen[str]], tmp_path: Path
) -> None:
    """One line and exit 5, not an empty table and 0."""
    file = write_urls(tmp_path / "shops.txt", shop_urls(shops, 6))
    endings.append(home.start_scrapy("crawl", "pdp", "-a", f"urls={file}", "-s", "DOWNLOAD_DELAY=10"))
    wait_for(lambda: with_status(home, "running"))
    done = home.vitrine("crawl", "pdp", "--urls", str(file))
    assert done.returncode == 5
    assert "another process is working through" in done.stderr
    assert "Traceback" not in done.stderr
