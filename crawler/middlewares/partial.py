"""What came of an answer that did not come to its end: Scrapy forgets it, and a record is to have it.

A lost connection, a deadline or a limit of bytes ends an answer. The error is for everybody else what it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

# Scrapy offers no other place that knows both an answer's head and its error.
# ruff: file-ignore[import-private-name] - see above
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler, _ResponseReader, _ScrapyAgent
from scrapy.exceptions import DownloadCancelledError, DownloadTimeoutError
from scrapy.utils._download_handlers import wrap_twisted_exceptions
from scrapy.utils.defer import maybe_deferred_to_future

from crawler.crawl.answers import LargeAnswerError, PartialAnswerError, SlowAnswerError

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response
    from twisted.web.client import Response as TxResponse

LOST, TOO_SLOW, TOO_LARGE = "dataloss", "too_slow", "too_large"  # flags of answers; the first is Scrapy's
FAIL_ON_LOSS = "download_fail_on_dataloss"  # Scrapy's key
# ruff: file-ignore[private-member-access] - of Scrapy's reader, which has no words for it


class _Agent(_ScrapyAgent):
    """Remembers the answer that has begun, and who reads it."""

    begun: TxResponse | None = None
    reader: _ResponseReader | None = None

    def _cb_bodyready(self, txresponse: TxResponse, request: Request) -> Any:
        self.begun = txresponse
        read = super()._cb_bodyready(txresponse, request)
        reader = txresponse._bodyProtocol
        if isinstance(reader, _ResponseReader):
            self.reader = reader
            reader._fail_on_dataloss = False  # it is judged below, where what came of it is at hand
        return read

    def so_far(self, url: str, flag: str) -> Response | None:
        """The answer as far as it came; of one that grew too large only its head is left."""
        if self.begun is None:
            return None
        came: Any = {"txresponse": self.begun, "flags": [flag]}  # as the reader says it
        if self.reader is not None:
            body = b"" if flag == TOO_LARGE else self.reader._bodybuf.getvalue()
            came |= {"body": body, "ip_address": self.reader._ip_address}
        return self._cb_bodydone(came, url)


class PartialHandler(HTTP11DownloadHandler):
    """Scrapy's handler, whose errors have what came of their answers with them."""

    async def download_request(self, request: Request) -> Response:
        """Download; an answer that ends before its end is the error that it ever was."""
        agent = self._agent()
        try:
            with wrap_twisted_exceptions():
                response = await maybe_deferred_to_future(agent.download_request(request))
        except DownloadTimeoutError as error:
            if part := agent.so_far(request.url, TOO_SLOW):
                raise SlowAnswerError(part, str(error)) from error
            raise
        except DownloadCancelledError as error:
            if part := agent.so_far(request.url, TOO_LARGE):
                raise LargeAnswerError(part, str(error)) from error
            raise
        if LOST in response.flags and request.meta.get(FAIL_ON_LOSS, self._fail_on_dataloss):
            raise PartialAnswerError(response, f"the answer broke off after {len(response.body)} bytes")
        return response

    def _agent(self) -> _Agent:
        spider = self._crawler.spider
        return _Agent(
            contextFactory=self._contextFactory, bindAddress=self._bind_address, pool=self._pool,
            maxsize=getattr(spider, "download_maxsize", self._default_maxsize),
            warnsize=getattr(spider, "download_warnsize", self._default_warnsize),
            fail_on_dataloss=False, crawler=self._crawler, tls_verbose_logging=self._tls_verbose_logging,
        )  # fmt: skip
