"""How a pass is reported."""

from __future__ import annotations

from crawler.retention.plan import CleanupResult


def test_document_has_the_documented_keys() -> None:
    """Scripts read these names."""
    result = CleanupResult(candidates=4, deleted=3, failed=1, reclaimed_bytes=5, remaining=6)
    assert result.as_document() == {
        "candidates": 4, "deleted": 3, "failed": 1, "reclaimed_bytes": 5, "remaining": 6,
        "dry_run": False, "collections": [],
    }  # fmt: skip


def test_line_has_the_documented_form() -> None:
    """MB are of 1024 * 1024 bytes, to two decimals (SPEC B53, B54)."""
    result = CleanupResult(deleted=3, failed=1, reclaimed_bytes=1_600_000)
    assert str(result) == "deleted=3, failed=1, reclaimed_bytes=1600000 (1.53 MB)"
    assert f"{result.reclaimed_mb}" == "1.53"
