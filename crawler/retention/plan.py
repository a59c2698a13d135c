"""What a cleanup does with the rows that it took: which files go, when a failure is tried again. Pure."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from uuid import UUID

FIRST_PAUSE = timedelta(minutes=10)
LONGEST_PAUSE = timedelta(days=1)
_MOST_DOUBLINGS = 8  # after these the pause is longer than the longest


@frozen
class DueRow:
    """An artifact that is past its date."""

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
    doublings = min(failures - 1, _MOST_DOUBLINGS)
    return min(FIRST_PAUSE * (1 << doublings), LONGEST_PAUSE)
