"""What a cleanup does with the rows that it took: which files go, when a failure is tried again. Pure."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from attrs import asdict, frozen

from crawler.errors import ExitCode
from crawler.leases.backoff import Backoff

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from uuid import UUID


PAUSES = Backoff(600, maximum=86_400)


@frozen
class DueRow:
    """An artifact that is to go."""

    id: UUID
    session_id: UUID
    storage_uri: str
    size_bytes: int
    attempts: int  # cleanups that failed on it


@frozen
class DuePlan:
    """What is to be done with the rows of one claim."""

    files: dict[str, tuple[DueRow, ...]]  # files to remove, each with the rows that named it
    keep: tuple[DueRow, ...]  # rows whose file stays, because a row outside the claim needs it


def planned(rows: Iterable[DueRow], needed: Collection[str]) -> DuePlan:
    """Remove each file once, in the order of their names; leave those that are `needed` elsewhere."""
    by_file: defaultdict[str, list[DueRow]] = defaultdict(list)
    for row in rows:
        by_file[row.storage_uri].append(row)
    files = {uri: tuple(by_file[uri]) for uri in sorted(by_file.keys() - set(needed))}
    keep = tuple(row for uri in sorted(by_file.keys() & set(needed)) for row in by_file[uri])
    return DuePlan(files, keep)


def pause_after(failures: int) -> timedelta:
    """How long a row rests after so many failures: ten minutes, doubled each time, a day at most."""
    return timedelta(seconds=PAUSES.delay(failures))


# ── what came of a cleanup ──


@frozen
class CleanupResult:
    """The figures of one pass; the field names are a contract with scripts."""

    candidates: int = 0  # rows that the pass took; in a dry run, that it would have taken
    deleted: int = 0  # rows that it marked as deleted
    failed: int = 0  # rows whose file could not be removed
    reclaimed_bytes: int = 0  # the size of the files that it removed
    remaining: int = 0  # rows past their date that are still there after it
    dry_run: bool = False
    artifacts: tuple[dict[str, Any], ...] = ()  # in a dry run, those that it would have taken
    unclaimed: int = 0  # files without a row that it removed; in a dry run, that it would have removed
    unclaimed_files: tuple[dict[str, Any], ...] = ()  # in a dry run, the first of them
    collections_processed: int = 0  # those that could be looked after
    collections: tuple[dict[str, Any], ...] = ()

    @property
    def reclaimed_mb(self) -> float:
        """The bytes in MB, to two decimals."""
        return round(self.reclaimed_bytes / (1024 * 1024), 2)

    @property
    def exit_code(self) -> ExitCode:
        """What a command ends with: all done, some of it failed, or nothing could be done."""
        if not self.failed and self.collections_processed == len(self.collections):
            return ExitCode.DONE
        return ExitCode.PARTLY if self.deleted or not self.failed else ExitCode.FAILED

    def as_document(self) -> dict[str, Any]:
        """The figures for JSON."""
        lists = ("artifacts", "unclaimed_files", "collections")
        return {**asdict(self), **{name: list(getattr(self, name)) for name in lists}}

    def __str__(self) -> str:
        unclaimed = f", unclaimed={self.unclaimed}" if self.unclaimed else ""
        return (
            f"deleted={self.deleted}, failed={self.failed}, "
            f"reclaimed_bytes={self.reclaimed_bytes} ({self.reclaimed_mb:.2f} MB){unclaimed}"
        )
