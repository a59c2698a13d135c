"""`vitrine demo` beside another one."""

from __future__ import annotations

import fcntl
import json
import shlex
import signal
from itertools import takewhile
from typing import TYPE_CHECKING

import httpx2

from tests.e2e.conftest import Home

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path


def test_two_demos_do_not_share_a_folder(home: Home, tmp_path: Path) -> None:
    """The second says so, and leaves alone what the first has made."""
    folder = tmp_path / "demo"
    folder.mkdir()
    (folder / "kept").touch()
    with (tmp_path / ".demo.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = home.vitrine("demo", "--home", str(folder))
    assert done.returncode == 5
    assert done.stderr.startswith("error[locked]: another demo is at work")
    assert (folder / "kept").exists()


def test_a_demo_that_is_kept_can_be_read_in_a_browser(
    home: Home, tmp_path: Path, endings: list[subprocess.Popen[str]]
) -> None:
    """Its address is one that answers, with what was found; a signal ends all of it."""
    process = home.start_vitrine("demo", "--home", str(tmp_path / "demo"), "--keep")
    endings.append(process)
    assert process.stdout
    said = takewhile(lambda line: "token" not in line, process.stdout)
    address = [line.strip() for line in said][-1]
    assert httpx2.get(f"{address}/api/stats").json()["snapshotsTotal"] > 5
    assert httpx2.get(f"{address}/api/admin/jobs").status_code == 403
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0


def test_the_demo_ends_with_pages_that_can_be_searched(home: Home, tmp_path: Path) -> None:
    """Each shop as it is meant to end, and the line that finds a page of one."""
    folder = tmp_path / "demo"
    done = home.vitrine("demo", "--home", str(folder))
    assert done.returncode == 0, done.stderr
    line = next(line for line in done.stdout.splitlines() if " search " in line)
    word = shlex.split(line)[-1]
    found = Home(folder).vitrine("search", word, "--json")
    assert json.loads(found.stdout)["total"] >= 1
