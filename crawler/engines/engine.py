"""What an archive may come to, as a stage and as an exit code; which errors are the machine's."""

from __future__ import annotations

import errno
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING

from crawler.errors import CrawlerError

if TYPE_CHECKING:
    from pathlib import Path

# Of disks that are full, mounts that are stale, servers that are away: nothing that a page or a source did.
INFRASTRUCTURE_ERRNOS = {
    errno.EIO, errno.ENOSPC, errno.ENETUNREACH, errno.ENOTCONN, errno.ETIMEDOUT, errno.ECONNREFUSED,
    errno.EHOSTUNREACH, errno.ESTALE, errno.EDQUOT, errno.EROFS,
}  # fmt: skip


class ToolExit(IntEnum):
    """The exit codes of the archive tool, which a job has of our own engine, too."""

    DONE = 0
    FAILED = 1
    USAGE = 2  # wrong arguments: never tried again
    INFRASTRUCTURE = 75
    INTERRUPTED = 130


class Stage(StrEnum):
    """How far an archive came."""

    COMPLETED = "completed"
    PARTLY = "partly"  # some pages could not be had
    LIMIT_HIT = "limit_hit"  # one that was asked for
    EXISTS = "exists"
    STALLED = "stalled"
    FAILED = "failed"
    USAGE = "usage"
    INFRASTRUCTURE = "infrastructure"
    INTERRUPTED = "interrupted"


EXIT_OF = {
    Stage.COMPLETED: ToolExit.DONE, Stage.PARTLY: ToolExit.DONE, Stage.LIMIT_HIT: ToolExit.DONE,
    Stage.EXISTS: ToolExit.FAILED, Stage.STALLED: ToolExit.FAILED, Stage.FAILED: ToolExit.FAILED,
    Stage.USAGE: ToolExit.USAGE, Stage.INFRASTRUCTURE: ToolExit.INFRASTRUCTURE,
    Stage.INTERRUPTED: ToolExit.INTERRUPTED,
}  # fmt: skip


class InfrastructureError(CrawlerError):
    """Something that an archive stands on is broken: the disk, a mount, Docker."""

    code = "infrastructure"
    exit_code = 75


def is_infrastructure(error: OSError) -> bool:
    """Whether an error is the machine's."""
    return error.errno in INFRASTRUCTURE_ERRNOS


def newest_zim(folder: Path) -> Path | None:
    """The newest ZIM file of an archive."""
    found = [path for path in folder.glob("*.zim") if path.is_file() and not path.is_symlink()]
    return max(found, key=lambda path: path.stat().st_mtime, default=None)
