"""An answer's headers are bounded: sent without end, they cost neither memory nor others' time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

# Scrapy offers no other place to read an answer's headers in.
# ruff: file-ignore[import-private-name] - see above
from scrapy.core.downloader.handlers.http11 import (
    _LenientHTTP11ClientFactory,
    _LenientHTTP11ClientProtocol,
    _LenientHTTPClientParser,
)

from crawler.crawl.answers import HeadersTooLargeError

if TYPE_CHECKING:
    from twisted.internet.defer import Deferred
    from twisted.web._newclient import Request as TxRequest
    from twisted.web.iweb import IResponse

MAX_HEADER_BYTES = 256 * 1024  # browsers and servers stop at a fraction of it
MAX_HEADER_LINES = 500
# ruff: file-ignore[invalid-function-name, unused-method-argument] - Twisted's names and signatures


class _BoundedParser(_LenientHTTPClientParser):
    """Counts what comes before the body; folded lines and those without a colon count as well."""

    header_bytes = 0
    header_lines = 0

    def lineReceived(self, line: bytes) -> None:
        """Give up before the line is kept, so that what was counted is all that is held."""
        self.header_lines += 1
        self.header_bytes += len(line)
        if self.header_lines > MAX_HEADER_LINES or self.header_bytes > MAX_HEADER_BYTES:
            raise HeadersTooLargeError(
                f"more than {MAX_HEADER_LINES} header lines or {MAX_HEADER_BYTES} bytes of them"
            )
        super().lineReceived(line)

    def lineLengthExceeded(self, line: bytes) -> Any:
        """A single line without end is the same."""
        raise HeadersTooLargeError(f"a header line of more than {self.MAX_LENGTH} bytes")


class _BoundedProtocol(_LenientHTTP11ClientProtocol):
    def request(self, request: TxRequest) -> Deferred[IResponse]:
        """Send a request; its answer is read by the parser above, which Twisted offers no way to name."""
        answered = super().request(request)
        self._parser.__class__ = _BoundedParser
        return answered


class BoundedClientFactory(_LenientHTTP11ClientFactory):
    """Makes the connections of the download handler's pool."""

    def buildProtocol(self, addr: Any) -> _BoundedProtocol:
        """A connection whose answers' headers are bounded."""
        return _BoundedProtocol(self._quiescentCallback)  # type: ignore[no-untyped-call]


def too_large(error: BaseException) -> HeadersTooLargeError | None:
    """The refusal that a failed download was, if it was one; Twisted wraps it in reasons."""
    cause = error.__cause__
    for reason in getattr(cause, "reasons", ()):
        if isinstance(reason.value, HeadersTooLargeError):
            return reason.value
    return None
