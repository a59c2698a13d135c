"""Temporary folders of attempts in vain: removed where all that they have is elsewhere too."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

from crawler.engines.leftovers import Leftovers
from tests.unit.engines.test_tool import captured

if TYPE_CHECKING:
    from pathlib import Path

PAGES = "https://shop.example/"


def attempt(folder: Path, name: str, *pages: str) -> Path:
    """A temporary folder with a file of these pages."""
    below = folder / name / "collections"
    below.mkdir(parents=True)
    file = below / "a.warc.gz"
    file.write_bytes(b"".join(gzip.compress(captured(PAGES + page)) for page in pages))
    return file


def test_what_cannot_be_read_is_kept(tmp_path: Path) -> None:
    """Nobody knows what is in it; half a record at the end of a file that was cut off is none."""
    attempt(tmp_path, ".tmp1", "a", "b")
    cut = attempt(tmp_path, ".tmp2", "a")
    cut.write_bytes(cut.read_bytes() + gzip.compress(captured(f"{PAGES}c"))[:40])
    (attempt(tmp_path, ".tmp3", "a").parent / "b.warc.gz").symlink_to(tmp_path / "nowhere")
    attempt(tmp_path, ".tmp4")
    notes: list[str] = []
    Leftovers(tmp_path).remove_repeats([".tmp1"], notes.append)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".tmp1", ".tmp3"]
    assert [note.split()[0] for note in notes] == [".tmp2", ".tmp4"]
