"""Which errors are the machine's, and which ZIM is an archive's newest."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

import pytest

from crawler.engines.engine import is_infrastructure, newest_zim

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("number", "machine"),
    [
        (errno.ENOSPC, True), (errno.ESTALE, True), (errno.EROFS, True), (errno.ECONNREFUSED, True),
        (errno.ENOENT, False), (errno.EACCES, False), (errno.EEXIST, False), (None, False),
    ],
)  # fmt: skip
def test_what_a_page_cannot_have_done(number: int | None, *, machine: bool) -> None:
    """A full disk or a stale mount costs no retry; a file that is not there does."""
    error = OSError("broken") if number is None else OSError(number, "broken")
    assert is_infrastructure(error) is machine


def test_the_newest_zim(tmp_path: Path) -> None:
    """A file, no link and no folder, whatever its name says of its date."""
    assert newest_zim(tmp_path) is None
    for number, name in enumerate(("z_2026.zim", "a_2025.zim", "other.txt")):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (number, number))
    (tmp_path / "folder.zim").mkdir()
    (tmp_path / "link.zim").symlink_to("/etc/passwd")
    assert newest_zim(tmp_path) == tmp_path / "a_2025.zim"
    assert newest_zim(tmp_path / "none") is None
