"""One root for every error that a person or a program is meant to read."""

from __future__ import annotations

import errno
from enum import IntEnum
from typing import ClassVar

NO_ROOM = {errno.ENOSPC, errno.EDQUOT}  # the numbers of a system's errors


class ExitCode(IntEnum):
    """What a command ends with."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    PARTLY = 3
    NOTHING_MATCHED = 4
    LOCKED = 5
    BROKEN = 6  # an integrity check failed
    INTERRUPTED = 130


class CrawlerError(Exception):
    """Something went wrong."""

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1
    http_status: ClassVar[int] = 500

    def __init__(self, message: str = "", *, hint: str = "") -> None:
        """Say what happened in `message` and, in `hint`, the next step that mends it."""
        super().__init__(message or (type(self).__doc__ or "").strip())
        self.hint = hint


class UsageError(CrawlerError):
    """The command was given something that it does not take."""

    code = "usage"
    exit_code = 2
    http_status = 400


class ConfigError(UsageError):
    """A setting has a value that it does not take."""

    code = "config"


class BadUrlError(UsageError):
    """That is not a URL that can be crawled."""

    code = "bad_url"


class NotFoundError(CrawlerError):
    """There is no such thing here."""

    code = "not_found"
    http_status = 404


class LockedError(CrawlerError):
    """Somebody else holds it."""

    code = "locked"
    exit_code = 5
    http_status = 409


class RevisionError(UsageError):
    """The database is at another revision than this program."""

    code = "db_revision"


class NoDatabaseError(UsageError):
    """There is no database where one was looked for."""

    code = "no_database"


class FileError(CrawlerError):
    """A file or folder cannot be used."""

    code = "file"


class InternalError(CrawlerError):
    """Something that was not foreseen; the program is at fault, or the machine."""

    code = "internal"


class IntegrityError(CrawlerError):
    """What is stored is not what was recorded."""

    code = "integrity"
    exit_code = 6
