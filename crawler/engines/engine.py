"""What the archive tool asks of an engine, and what an attempt of one may come to."""

from __future__ import annotations

import errno
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, Protocol

from attrs import frozen

from crawler.errors import CrawlerError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from crawler.engines.process import Launch
    from crawler.engines.state import ArchiveState

# Of disks that are full, mounts that are stale, servers that are away: nothing that a page or a source did.
INFRASTRUCTURE_ERRNOS = {
    errno.EIO, errno.ENOSPC, errno.ENETUNREACH, errno.ENOTCONN, errno.ETIMEDOUT, errno.ECONNREFUSED,
    errno.EHOSTUNREACH, errno.ESTALE, errno.EDQUOT, errno.EROFS,
}  # fmt: skip


class ToolExit(IntEnum):
    """What the archive tool exits with."""

    DONE = 0
    FAILED = 1
    USAGE = 2  # wrong arguments: never tried again
    INFRASTRUCTURE = 75
    INTERRUPTED = 130


class Stage(StrEnum):
    """The tool's word for what an archive came to."""

    COMPLETED = "completed"
    PARTLY = "partly"  # some pages could not be had
    LIMIT_HIT = "limit_hit"  # one that was asked for
    EXISTS = "exists"
    STALLED = "stalled"
    FAILED = "failed"
    OVER = "over"  # nothing was left of what was gone on with
    USAGE = "usage"
    INFRASTRUCTURE = "infrastructure"
    INTERRUPTED = "interrupted"


EXIT_OF = {
    Stage.COMPLETED: ToolExit.DONE, Stage.PARTLY: ToolExit.DONE, Stage.LIMIT_HIT: ToolExit.DONE,
    Stage.EXISTS: ToolExit.FAILED, Stage.STALLED: ToolExit.FAILED, Stage.FAILED: ToolExit.FAILED,
    Stage.OVER: ToolExit.FAILED,
    Stage.USAGE: ToolExit.USAGE, Stage.INFRASTRUCTURE: ToolExit.INFRASTRUCTURE,
    Stage.INTERRUPTED: ToolExit.INTERRUPTED,
}  # fmt: skip


class InfrastructureError(CrawlerError):
    """Something that an archive stands on is broken: the disk, a mount, Docker."""

    code = "infrastructure"
    exit_code = 75


@frozen
class Attempt:
    """One start of an engine."""

    number: int  # over all starts of the tool
    workers: int
    reductions: int
    state: ArchiveState


class Engine(Protocol):
    """The program that does the crawl."""

    def require(self) -> None:
        """Raise InfrastructureError where it could not work."""

    def launch(self, attempt: Attempt) -> Launch:
        """How it is started."""

    def progress(self) -> Iterator[str]:
        """Lines of statistics that do not come with its output; called after it was started."""

    def came_to(self, code: int, tail: Sequence[str]) -> Stage:
        """What its exit code means, beside the last lines that it wrote."""

    def final_zim(self) -> Launch | None:
        """How one ZIM is built of all WARCs of several attempts; None where that is not to be done."""


def is_infrastructure(error: OSError) -> bool:
    """Whether an error is the machine's."""
    return error.errno in INFRASTRUCTURE_ERRNOS


def newest_zim(folder: Path) -> Path | None:
    """The newest ZIM file of an archive."""
    found = [path for path in folder.glob("*.zim") if path.is_file() and not path.is_symlink()]
    return max(found, key=lambda path: path.stat().st_mtime, default=None)
