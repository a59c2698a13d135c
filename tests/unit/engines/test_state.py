"""The tool's memory: written whole, read with suspicion."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from crawler.engines.state import STATE_FILE, ArchiveState, temp_folders, warc_files
from crawler.engines.strategy import Adaptation

if TYPE_CHECKING:
    from pathlib import Path


def test_what_was_written_is_read(tmp_path: Path) -> None:
    """All of it, and no other file is left; folders that are gone are forgotten."""
    (tmp_path / ".tmpa").mkdir()
    state = ArchiveState(Adaptation(3, 1, 2, 5.0, 1), [".tmpa", ".tmpgone"], crawled=9, stages=2)
    state.save(tmp_path)
    assert ArchiveState.load(tmp_path) == ArchiveState(Adaptation(3, 1, 2, 5.0, 1), [".tmpa"], 9, 2)
    assert sorted(path.name for path in tmp_path.iterdir()) == [STATE_FILE, ".tmpa"]
    assert (tmp_path / STATE_FILE).stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    "said",
    [
        "", "null", "[]", "{", "nonsense\x00", '{"temp_dirs_host_paths": 7, "stages": "7", "adaptation": []}',
        json.dumps({"stages": True, "crawled": 1.5, "adaptation": {"workers": "many"}}),
        json.dumps({"temp_dirs_host_paths": ["/etc", "../..", "a\x00b", 5, None, "/x/.tmpnone"]}),
        '{"stages":' * 100_000,
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_forgotten(tmp_path: Path, said: str) -> None:
    """Other types, a million folders, folders elsewhere, half a file."""
    (tmp_path / STATE_FILE).write_text(said, encoding="utf-8")
    assert ArchiveState.load(tmp_path) == ArchiveState()


def test_a_link_is_neither_state_nor_folder(tmp_path: Path) -> None:
    """It could lead anywhere."""
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "collections").mkdir(parents=True)
    (elsewhere / "collections" / "a.warc.gz").touch()
    ArchiveState(stages=7).save(elsewhere)
    archive = tmp_path / "archive"
    archive.mkdir()
    (archive / STATE_FILE).symlink_to(elsewhere / STATE_FILE)
    (archive / ".tmpx").symlink_to(elsewhere)
    (archive / "warcs").symlink_to(elsewhere)
    assert ArchiveState.load(archive).stages == 0
    assert (temp_folders(archive), list(warc_files(archive))) == ([], [])
    ArchiveState(stages=8).save(archive)
    assert (ArchiveState.load(archive).stages, ArchiveState.load(elsewhere).stages) == (8, 7)


def names(found: Any) -> list[str]:
    """The files' names."""
    return [path.name for path in found]


def test_warcs_are_found_wherever_an_engine_leaves_them(tmp_path: Path) -> None:
    """Stable ones first."""
    for name in (
        ".tmpa/collections/crawl-1/archive/b.warc.gz",
        "warcs/a.warc.gz",
        ".tmpa/c.warc",
        ".tmpa/d.txt",
        "e.warc.gz",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert names(warc_files(tmp_path)) == ["a.warc.gz", "c.warc", "b.warc.gz"]
