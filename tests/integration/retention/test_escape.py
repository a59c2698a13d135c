"""Paths that lead outside: refused, counted as failed, and nothing there is touched."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from crawler.retention.cleanup import CleanupOrder, clean_up

if TYPE_CHECKING:
    import pytest

    from tests.unit.retention.stored import Evidence

ESCAPES = (
    "../victim.txt", "a/../../victim.txt", "{outside}/victim.txt", "..\\victim.txt", "a//b.gz", "./b.gz", "",
    "a\nb.gz", "link/victim.txt", "victim-link", "folder", "pipe", "plain.gz/x",
)  # fmt: skip


def test_unsafe_paths_fail_and_nothing_there_is_touched(
    evidence: Evidence, caplog: pytest.LogCaptureFixture
) -> None:
    """Each row fails with its reason and is tried again later; those beside it go."""
    outside = evidence.root.parent
    (outside / "victim.txt").write_bytes(b"mine")
    (evidence.root / "link").symlink_to(outside)
    (evidence.root / "victim-link").symlink_to(outside / "victim.txt")
    (evidence.root / "folder").mkdir()
    os.mkfifo(evidence.root / "pipe")
    evidence.write("plain.gz")
    before = {path.name for path in evidence.root.iterdir()}
    escapes = {evidence.add(uri.format(outside=outside), file=False) for uri in ESCAPES}
    if evidence.database.is_sqlite:  # PostgreSQL stores no NUL at all
        escapes.add(evidence.add("a\x00b", file=False))
    good = evidence.add("good/html.gz")
    result = clean_up(evidence.database, evidence.blobs, CleanupOrder())
    assert (result.deleted, result.failed, result.remaining) == (1, len(escapes), len(escapes))
    assert evidence.deleted() == {good}
    rows = evidence.rows()
    assert {rows[key].cleanup_attempts for key in escapes} == {1}
    failures = [vars(each)["fields"] for each in caplog.records if each.message == "retention_cleanup.failed"]
    assert [each["reason"] for each in failures] == ["unsafe_path"] * len(escapes)
    assert (outside / "victim.txt").read_bytes() == b"mine"
    assert {path.name for path in evidence.root.iterdir()} == before
