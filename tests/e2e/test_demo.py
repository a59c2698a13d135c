"""`vitrine demo` beside another one."""

from __future__ import annotations

import fcntl
import json
import shlex
import signal
from itertools import takewhile
from typing import TYPE_CHECKING

import httpx2
import pytest

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


@pytest.mark.soak(minutes=10)
def test_what_a_demo_found_can_be_searched_and_read_in_a_browser(
    home: Home, tmp_path: Path, endings: list[subprocess.Popen[str]]
) -> None:
    """By the lines that it tells; each shop ended as it is meant to, and a signal ends the demo."""
    folder = tmp_path / "demo"
    process = home.start_vitrine("demo", "--home", str(folder), "--keep")
    endings.append(process)
    assert process.stdout
    said = [line.strip() for line in takewhile(lambda line: "token" not in line, process.stdout)]
    assert httpx2.get(f"{said[-1]}/api/stats").json()["snapshotsTotal"] > 5
    assert httpx2.get(f"{said[-1]}/api/admin/jobs").status_code == 403
    word = shlex.split(next(line for line in said if " search " in line))[-1]
    found = Home(folder).vitrine("search", word, "--json")
    assert json.loads(found.stdout)["total"] >= 1
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=120)
    assert process.returncode == 0
