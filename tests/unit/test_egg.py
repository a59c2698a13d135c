"""What a zipped package needs: its files in a folder, and children that find it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING
from zipfile import ZipFile

import pytest

from crawler import egg

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def zipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A zipped package with a file in a folder below it, on the path of this process."""
    path = tmp_path / "1.egg"
    with ZipFile(path, "w") as file:
        file.writestr("packed_up/__init__.py", "")
        file.writestr("packed_up/below/data.txt", "here")
    monkeypatch.syspath_prepend(str(path))
    return path


def test_files_of_an_egg_lie_in_a_folder_for_the_meantime(zipped: Path) -> None:
    """Also those below; afterwards nothing is left of them."""
    with egg.as_folder("packed_up") as folder:
        assert (folder / "below" / "data.txt").read_text() == "here"
    assert not folder.exists()
    del sys.modules["packed_up"]


def test_children_find_an_egg_before_anything_else_and_once(zipped: Path) -> None:
    """What stood in PYTHONPATH stays behind it."""
    environment = {"PYTHONPATH": "/elsewhere"}
    egg.hand_over(environment, zipped)
    egg.hand_over(environment, zipped)
    assert environment == {"PYTHONPATH": f"{zipped}:/elsewhere"}
