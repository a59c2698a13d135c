"""An answer's headers: read to a bound, and refused beyond it before they are kept."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from twisted.python.failure import Failure
from twisted.web.client import ResponseFailed

from crawler.crawl.answers import HeadersTooLargeError
from crawler.middlewares.bounded_headers import (
    MAX_HEADER_BYTES,
    MAX_HEADER_LINES,
    _BoundedParser,
    too_large,
)


def parser() -> Any:
    """A parser in the midst of an answer's headers."""
    request = SimpleNamespace(method=b"GET", absoluteURI=None, persistent=False)
    made = _BoundedParser(request, lambda _rest: None)  # type: ignore[no-untyped-call]
    made.makeConnection(SimpleNamespace(loseConnection=lambda: None, abortConnection=lambda: None))  # type: ignore[no-untyped-call]
    made.lineReceived(b"HTTP/1.1 200 OK")
    return made


def test_as_many_as_are_allowed() -> None:
    """The status line counts as one."""
    reading = parser()
    for number in range(MAX_HEADER_LINES - 1):
        reading.lineReceived(b"X-%d: y" % number)
    with pytest.raises(HeadersTooLargeError, match="more than 500 header lines"):
        reading.lineReceived(b"X: y")


@pytest.mark.parametrize("line", [b"X: " + b"y" * 8000, b" " + b"y" * 8000, b"y" * 8000])
def test_as_much_as_is_allowed(line: bytes) -> None:
    """Folded lines count, and those without a colon."""
    reading = parser()
    reading.lineReceived(b"X-First: y")
    for _ in range(MAX_HEADER_BYTES // 8003):
        reading.lineReceived(line)
    with pytest.raises(HeadersTooLargeError, match="262144 bytes"):
        reading.lineReceived(b"y" * 9000)


def test_a_line_without_end() -> None:
    """Twisted gives up on it; we say why."""
    with pytest.raises(HeadersTooLargeError, match="a header line of more than"):
        parser().lineLengthExceeded(b"X" * 20_000)


def test_the_refusal_is_found_in_what_twisted_makes_of_it() -> None:
    """It wraps what a parser raises in a list of reasons; any other failure is none."""
    refusal = HeadersTooLargeError("much")
    failed = OSError("failed")
    failed.__cause__ = ResponseFailed([Failure(ValueError()), Failure(refusal)])  # type: ignore[no-untyped-call]
    assert too_large(failed) is refusal
    assert too_large(OSError("failed")) is None
