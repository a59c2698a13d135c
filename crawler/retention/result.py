"""What came of a cleanup."""

from __future__ import annotations

from typing import Any

from attrs import asdict, frozen


@frozen
class CleanupResult:
    """The figures of one pass; the field names are a contract with scripts."""

    candidates: int = 0  # rows that the pass took; in a dry run, that it would have taken
    deleted: int = 0  # rows that it marked as deleted
    failed: int = 0  # rows whose file could not be removed
    reclaimed_bytes: int = 0  # the size of the files that it removed
    remaining: int = 0  # rows past their date that are still there after it
    dry_run: bool = False
    collections: tuple[dict[str, Any], ...] = ()

    @property
    def collections_failed(self) -> int:
        """How many collections could not be looked after."""
        return sum(bool(each["error"]) for each in self.collections)

    @property
    def reclaimed_mb(self) -> float:
        """The bytes in MB, to two decimals."""
        return round(self.reclaimed_bytes / (1024 * 1024), 2)

    def as_document(self) -> dict[str, Any]:
        """The figures for JSON."""
        return {**asdict(self), "collections": list(self.collections)}

    def __str__(self) -> str:
        return (
            f"deleted={self.deleted}, failed={self.failed}, "
            f"reclaimed_bytes={self.reclaimed_bytes} ({self.reclaimed_mb:.2f} MB)"
        )
