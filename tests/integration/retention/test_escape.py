"""Paths that lead outside: refused, counted as failed, and nothing there is touched."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from crawler.db.engine import Database
from crawler.evidence.blobs import MARK
from crawler.retention.cleanup import CleanupOrder, clean_up
from tests.unit.retention.stored import new_evidence

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.retention.stored import Evidence

ESCAPES = {
    "parent": "../victim.txt",
    "parent further in": "a/../../victim.txt",
    "absolute": "{outside}/victim.txt",
    "backslash": "..\\victim.txt",
    "empty step": "a//b.gz",
    "dot": "./b.gz",
    "empty": "",
    "line break": "a\nb.gz",
    "linked folder": "link/victim.txt",
    "linked file": "victim-link",
    "folder": "folder",
    "pipe": "pipe",
    "through a file": "plain.gz/x",
}


@pytest.mark.parametrize("uri", ESCAPES.values(), ids=ESCAPES.keys())
def test_unsafe_path_fails_and_touches_nothing(
    evidence: Evidence, uri: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The row fails with its reason, and is tried again later; those beside it go."""
    outside = evidence.root.parent
    (outside / "victim.txt").write_bytes(b"mine")
    (evidence.root / "link").symlink_to(outside)
    (evidence.root / "victim-link").symlink_to(outside / "victim.txt")
    (evidence.root / "folder").mkdir()
    os.mkfifo(evidence.root / "pipe")
    evidence.write("plain.gz")
    key = evidence.add(uri.format(outside=outside), file=False)
    good = evidence.add("good/html.gz")
    result = clean_up(evidence.database, evidence.blobs, CleanupOrder())
    assert (result.deleted, result.failed, result.remaining) == (1, 1, 1)
    assert evidence.deleted() == {good}
    assert evidence.rows()[key].cleanup_attempts == 1
    [failure] = [entry for entry in caplog.records if entry.message == "retention_cleanup.failed"]
    assert vars(failure)["fields"]["reason"] == "unsafe_path"
    assert (outside / "victim.txt").read_bytes() == b"mine"
    assert {path.name for path in evidence.root.iterdir()} - {MARK} == {
        "link",
        "victim-link",
        "folder",
        "pipe",
        "plain.gz",
    }


def test_nul_is_refused_where_a_database_takes_it(sqlite_database: str, tmp_path: Path) -> None:
    """PostgreSQL stores no NUL at all; SQLite does, and then the row fails."""
    database = Database(sqlite_database)
    evidence = new_evidence(database, tmp_path / "artifacts")
    evidence.add("a\x00b", file=False)
    assert clean_up(database, evidence.blobs, CleanupOrder()).failed == 1
    database.close()
