"""A disk that is full stops a crawl; nothing is half there, and with room it goes on."""

from __future__ import annotations

import json
import threading
import time
from contextlib import closing, contextmanager, suppress
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import update

from crawler.db.models import Artifact
from tests.e2e.conftest import Home
from tests.e2e.disks import mounted
from tests.e2e.farm import farm
from tests.waiting import wait_for

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Generator
    from pathlib import Path

    from crawler.demo import DemoServer

PAGES = 16
FULL = "size=120k"  # some of the pages, and not all
ROOMY = "size=64m"


@pytest.mark.parametrize("database", [pytest.param("elsewhere", marks=pytest.mark.soak), "on it"])
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


@pytest.mark.soak
def test_with_room_again_the_same_command_goes_on_at_once(
    home: Home, shops: DemoServer, tmp_path: Path, endings: list[subprocess.Popen[str]]
) -> None:
    """Nothing could be written of the first one's end; that its process is gone is enough to know.

    Sessions that wait for their turn do not wait for the disk, too; that it is full is said once.
    """
    small, urls = tmp_path / "small", tmp_path / "urls.txt"
    urls.write_text(f"{shops.url('plain')}\n{shops.url('german')}\n", encoding="utf-8")
    command = ("crawl", "pdp", "--urls", str(urls), "-s", "DOWNLOAD_DELAY=0.5")
    with mounted(small, ROOMY):
        home.extra.update(
            DATABASE_URL=f"sqlite:///{small}/vitrine.db", ARTIFACTS_DIR=str(small / "artifacts"),
            STORE_PATIENCE_SECONDS="1", DOMAIN_LOCK_TTL_SECONDS="300", SESSIONS_AT_ONCE="1",
        )  # fmt: skip
        shops.forget()
        first = home.start_vitrine(*command)
        endings.append(first)
        wait_for(lambda: shops.log.entries("plain"))
        with filled(small, until=lambda: first.poll() is not None):
            _, log = first.communicate(timeout=120)
        assert (first.returncode, "Traceback" in log) == (1, False), log
        assert log.count("error[database_unavailable]") == 1, log

        second = home.vitrine(*command)
        assert second.returncode == 0, (second.stdout, second.stderr)
        ended = [each["status"] for each in home.sessions()]
        assert ended == ["completed", "completed"]


@pytest.mark.soak
def test_cleanup_and_purge_make_room_on_a_full_disk(shops: DemoServer, tmp_path: Path) -> None:
    """Everything in one home, as it is by default, and a WARC file that keeps another shop's records."""
    home = Home(tmp_path / "small")
    with mounted(home.path, ROOMY):
        home.crawl(shops.url("plain"), shops.url("german"), "-s", f"WARC_DIR={home.path / 'warcs'}")
        with closing(home.database()) as database, database.write() as db:
            past = db.now - timedelta(days=1)
            db.execute(update(Artifact).where(Artifact.type == "html_gz").values(retention_until=past))
        purge = ("purge", "--domain", shops.domain("plain"), "--prices", "--yes")
        for command in (("cleanup", "--dry-run"), ("cleanup",), purge):
            with filled(home.path, until=lambda: True):
                done = home.vitrine(*command)
                assert done.returncode == 0, (command, done.stderr)
                assert home.vitrine("sessions", "list").returncode == 0  # there is some room now
        assert [each["domain"] for each in home.sessions()] == [shops.domain("german")]
        assert not [uri for uri in home.files() if uri.endswith("html.gz")]
        [shared] = (home.path / "warcs").iterdir()
        listed = home.vitrine("warcs", "cdxj", str(shared)).stdout
        assert (shops.domain("german") in listed, shops.domain("plain") in listed) == (True, False)
        assert home.vitrine("artifacts", "verify").returncode == 0
        assert [each["status"] for each in home.crawl(shops.url("plain"))] == ["completed"]


@contextmanager
def filled(disk: Path, until: Callable[[], bool]) -> Generator[None]:
    """Leave no room on a disk, whatever is freed there until a time, and give it back at the end."""
    filler, full = disk / "filler", threading.Event()

    def fill() -> None:
        with filler.open("ab", buffering=0) as file:
            while True:
                for size in (65_536, 512):
                    with suppress(OSError):
                        while file.write(b"x" * size):
                            pass
                full.set()
                if until():
                    return
                time.sleep(0.02)

    filling = threading.Thread(target=fill)
    filling.start()
    full.wait()
    try:
        yield
    finally:
        filling.join()
        filler.unlink()
