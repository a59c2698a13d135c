"""`vitrine demo` beside another one."""

from __future__ import annotations

import fcntl
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Home


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
