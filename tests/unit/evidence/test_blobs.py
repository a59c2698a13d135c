"""What all stores of artifacts share: which paths are refused, what an error of the system means."""

from __future__ import annotations

import errno
import os

import pytest

from crawler.errors import CrawlerError
from crawler.evidence.blobs import (
    DiskFullError,
    UnsafePathError,
    as_store_error,
    safe_parts,
)


@pytest.mark.parametrize("uri", ["a", "a b/ü.html", "x/.hidden", "n" * 255, "~/b#?[]*.txt"])
def test_a_path_below_the_root_is_taken_apart(uri: str) -> None:
    """Nothing in a name is decoded, folded or hidden."""
    assert "/".join(safe_parts(uri)) == uri


@pytest.mark.parametrize(
    "uri",
    ["", "/", "/etc/passwd", "..", "a/../b", "./a", "a//b", "a/", "a\\b", "a\x00b", "\ud800", "n" * 256],
)
def test_a_path_that_could_leave_the_root_is_refused(uri: str) -> None:
    """Before anything is touched."""
    with pytest.raises(UnsafePathError, match="not a path below"):
        safe_parts(uri)


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ELOOP, UnsafePathError),
        (errno.ENOTDIR, UnsafePathError),
        (errno.ENOSPC, DiskFullError),
        (errno.EDQUOT, DiskFullError),
        (errno.EACCES, CrawlerError),
    ],
)
def test_an_error_of_the_system_says_what_it_means(number: int, kind: type[CrawlerError]) -> None:
    """A link on the way, a full disk, or anything else, with the file's name."""
    error = as_store_error(OSError(number, os.strerror(number)), "a/b.gz")
    assert type(error) is kind
    assert "a/b.gz" in str(error)
