"""A home folder that is moved or copied has its WARC files with it, and leaves the original's alone."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.e2e.conftest import Home

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.demo import DemoServer

pytestmark = pytest.mark.soak(minutes=5)

RECORDED = ("-s", "PAGE_STORE=warc", "-s", "DOWNLOAD_DELAY=0")


@pytest.fixture
def recorded(home: Home, shops: DemoServer) -> Home:
    """A home with a run that keeps its pages in WARC files, and is not through."""
    stopped = ("-s", "CLOSESPIDER_PAGECOUNT=3")
    home.vitrine("crawl", "site", shops.url("plain"), "--max-pages", "9", *RECORDED, *stopped)
    assert warcs(home)
    return home


def warcs(home: Home) -> dict[str, bytes]:
    """All WARC files of a home, and what is in them."""
    return {path.name: path.read_bytes() for path in home.path.rglob("*.warc.gz")}


def named(home: Home) -> set[str]:
    """The folders in which rows say that WARC files are."""
    done = home.vitrine("warcs", "list", "--json")
    assert done.returncode == 0, done.stderr
    return {each["path"].rpartition("/")[0] for each in json.loads(done.stdout)["files"]}


def test_a_moved_home_has_its_captures(recorded: Home, tmp_path: Path) -> None:
    """They are read, verified, and found where they are now; a run goes on in the folder there."""
    moved = Home(recorded.path.rename(tmp_path / "moved"), recorded.extra)
    done = moved.vitrine("artifacts", "verify")
    assert done.returncode == 0, done.stdout + done.stderr
    assert " pages in WARC files: 0 damaged" in done.stdout + done.stderr
    assert named(moved) == {str(moved.path / "warcs")}
    done = moved.vitrine("runs", "resume", "1")
    assert done.returncode == 0, done.stderr
    assert named(moved) == {str(moved.path / "warcs")}
    assert not recorded.path.exists()


def test_a_purge_in_a_copy_leaves_the_original_alone(
    recorded: Home, shops: DemoServer, tmp_path: Path
) -> None:
    """What is purged in the copy is gone there, and there alone."""
    before = warcs(recorded)
    copy = Home(tmp_path / "copy", recorded.extra)
    shutil.copytree(recorded.path, copy.path)
    done = copy.vitrine("purge", "--domain", shops.domain("plain"), "--yes")
    assert done.returncode == 0, done.stderr
    assert warcs(copy) == {}
    assert warcs(recorded) == before
    assert recorded.vitrine("artifacts", "verify").returncode == 0


def test_a_home_with_two_names_stays_as_it_is(recorded: Home, tmp_path: Path) -> None:
    """A link to the folder is no move."""
    (tmp_path / "link").symlink_to(recorded.path)
    link = Home(tmp_path / "link", recorded.extra)
    assert link.vitrine("artifacts", "verify").returncode == 0
    assert named(link) == named(recorded) == {str(recorded.path / "warcs")}


def test_a_copy_that_is_restored_elsewhere_has_the_files_beside_it(recorded: Home, tmp_path: Path) -> None:
    """The restored database names the files of its own home."""
    assert recorded.vitrine("db", "backup", str(tmp_path / "copy.db")).returncode == 0
    second = Home(tmp_path / "second", recorded.extra)
    done = second.vitrine("db", "restore", str(tmp_path / "copy.db"))
    assert done.returncode == 0, done.stderr
    for folder in ("warcs", "artifacts"):
        shutil.copytree(recorded.path / folder, second.path / folder)
    shutil.rmtree(recorded.path)
    done = second.vitrine("artifacts", "verify")
    assert done.returncode == 0, done.stdout + done.stderr
    assert named(second) == {str(second.path / "warcs")}
