"""What an answer or an error means for a page: a cause why it failed, or what was read in it."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    ResponseDataLossError,
    UnsupportedURLSchemeError,
)
from scrapy.spidermiddlewares.httperror import HttpError
from sqlalchemy.exc import SQLAlchemyError

from crawler.access.egress import EgressRefusedError
from crawler.capture.failures import Cause
from crawler.capture.items import FetchedPage
from crawler.clock import utc_now
from crawler.db.engine import DatabaseUnavailableError
from crawler.evidence.blobs import DiskFullError, StoreUnavailableError
from crawler.pdp import PageQuestion
from crawler.reading.readers import ReadingFailedError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.http import Response

    from crawler.reading.readers import Readers

CACHED = "cached"  # Scrapy's flag of what no site has answered just now
OK = 200
REDIRECTS = (301, 302, 303, 307, 308)
CLIENT_ERROR, NO_ERROR = 400, 600
GONE = (404, 410)
BLOCKED = (403, 503)
RATE_LIMITED = 429
MAX_DIGITS = 10  # of a Retry-After: three centuries
# What a page says that keeps robots out (SPEC F148), in its visible text, and only where that is all
# it says: many a shop is "protected by reCAPTCHA", or loads a script from a network's host.
BOT_BLOCK_WORDS = ("captcha", "verify you are human", "attention required", "ddos protection")
BOT_BLOCK_MAX_BYTES = 64 * 1024
BOT_BLOCK_MAX_CHARS = 1000
_BEGINS = re.compile(rb"<(?:!--|(?:script|style|noscript)\b)?", re.IGNORECASE)
_ENDS = {
    b"<": re.compile(rb">"),
    b"<!--": re.compile(rb"-->"),
    **{
        b"<" + name: re.compile(rb"</%b\s*+>" % name, re.IGNORECASE)
        for name in (b"script", b"style", b"noscript")
    },
}

_BY_STATUS = {
    403: Cause.BLOCKED,
    503: Cause.BLOCKED,
    429: Cause.RATE_LIMITED,
}


# Flag of an answer, and doubt about its page: its end was neither announced nor confirmed.
MAYBE_TRUNCATED = "maybe_truncated"
REFUSED = "vitrine/requests/refused"  # of Scrapy's statistics: requests that no session was begun for


class HeadersTooLargeError(DownloadFailedError):
    """An answer's headers were longer, or more, than any honest site sends; the connection was closed."""


# The first that fits; the more special stand before the more general.
_BY_ERROR: tuple[tuple[type[Exception], Cause], ...] = (
    (EgressRefusedError, Cause.EGRESS_REFUSED),
    (HeadersTooLargeError, Cause.HEADERS_TOO_LARGE),
    (DownloadTimeoutError, Cause.TIMEOUT),
    (CannotResolveHostError, Cause.UNKNOWN_HOST),
    (DownloadConnectionRefusedError, Cause.CONNECTION_FAILED),
    (ResponseDataLossError, Cause.TRUNCATED),
    (DownloadCancelledError, Cause.TOO_LARGE),
    (DownloadFailedError, Cause.CONNECTION_FAILED),
    (UnsupportedURLSchemeError, Cause.BAD_URL),
    (DatabaseUnavailableError, Cause.DATABASE_UNAVAILABLE),
    (SQLAlchemyError, Cause.STORE_FAILED),
    (HttpError, Cause.HTTP_ERROR),  # what is no callback's to see: a redirect without a target
    (DiskFullError, Cause.DISK_FULL),
    (StoreUnavailableError, Cause.STORE_FAILED),
    (OSError, Cause.CONNECTION_FAILED),
    (ValueError, Cause.BAD_REDIRECT),  # to what is no URL at all
)
# Scrapy tells these apart in words only.
_BY_REASON = (
    ("robots.txt", Cause.ROBOTS_REFUSED),
    ("max redirections", Cause.REDIRECT_LOOP),
    ("not to be connected to", Cause.EGRESS_REFUSED),
    ("DOWNLOAD_MAXSIZE", Cause.TOO_LARGE),
)


class RequestRefusedError(IgnoreRequest):
    """A request that one of our middlewares does not let out, and why."""

    cause: Cause


class DomainHeldError(RequestRefusedError):
    """The domain could not be had."""

    cause = Cause.DOMAIN_HELD


class BadRequestUrlError(RequestRefusedError):
    """The URL is none that is fetched: another scheme, a user name in it, no host."""

    cause = Cause.BAD_URL


class NoStoreError(RequestRefusedError):
    """What comes could not be kept."""

    cause = Cause.STORE_FAILED


class RobotsUnavailableError(RequestRefusedError):
    """The site cannot say what it forbids."""

    cause = Cause.ROBOTS_UNAVAILABLE


class BrokenOffError(Exception):
    """An answer that had begun did not come to its end; what came of it is no page, and is recorded."""

    def __init__(self, response: Response, why: str) -> None:
        super().__init__(why)
        self.response = response


class PartialAnswerError(BrokenOffError, ResponseDataLossError):
    """The connection was lost."""


class SlowAnswerError(BrokenOffError, DownloadTimeoutError):
    """It took longer than is waited for."""


class LargeAnswerError(BrokenOffError, DownloadCancelledError):
    """It is larger than is taken."""


class OverpackedError(RequestRefusedError):
    """An answer is packed more often, or in more streams, than any that is to be read."""

    cause = Cause.TOO_LARGE


class SessionStoppedError(RequestRefusedError):
    """The request's session has ended."""

    cause = Cause.INTERRUPTED


class RobotsDelayedError(SessionStoppedError):
    """The request's session has ended before the site could say what it forbids."""

    cause = Cause.ROBOTS_UNAVAILABLE


class FilteredError(RequestRefusedError):
    """The source's rules do not let this URL be asked for."""

    cause = Cause.FILTERED


class KnownUrlError(RequestRefusedError):
    """A redirect led to a URL that the run has a task for."""

    cause = Cause.FILTERED


async def page_of(
    readers: Readers, response: Response, policy: str, *, with_links: bool = False, all_links: bool = False
) -> FetchedPage | Cause:
    """An answer read by `policy`, or why it is not the page that was asked for.

    `with_links` looks for candidates and hubs, `all_links` for every link. What is no HTML is a page too.
    """
    cause = cause_of_answer(response)
    if cause is not None:
        return cause
    try:
        return await read(readers, response, policy, with_links=with_links, all_links=all_links)
    except ReadingFailedError:
        return Cause.UNREADABLE


async def read(
    readers: Readers, response: Response, policy: str, *, with_links: bool = False, all_links: bool = False
) -> FetchedPage:
    """An answer read by `policy`, whatever it is."""
    content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
    question = PageQuestion(
        response.body, response.url, content_type, policy, with_links, all_links=all_links
    )
    fetch_ms = round(1000 * response.meta.get("download_latency", 0))
    reading = await readers.read(question)
    doubts = (MAYBE_TRUNCATED,) if MAYBE_TRUNCATED in response.flags else ()
    return FetchedPage(
        response.url, response.status, content_type, fetch_ms, response.body, reading, doubts=doubts
    )


def cause_of_answer(response: Response) -> Cause | None:
    """Why an answer is not the page that was asked for; None when it is."""
    if response.status != OK:
        return _BY_STATUS.get(response.status) or _by_class(response.status)
    # Scrapy's flag `partial` says only that no length was announced, as HTTP allows.
    if "truncated" in response.flags:
        return Cause.TRUNCATED
    if is_bot_block(response):
        return Cause.BOT_BLOCK
    if not response.body.strip():
        return Cause.EMPTY_PAGE
    return None


def _by_class(status: int) -> Cause:
    if CLIENT_ERROR <= status < NO_ERROR:
        return Cause.HTTP_ERROR
    # One that was not followed: it led nowhere, or to what is no web page.
    return Cause.BAD_REDIRECT if status in REDIRECTS else Cause.ODD_STATUS


def cause_of_error(error: BaseException) -> Cause:
    """What a failed request means."""
    if isinstance(error, RequestRefusedError):
        return error.cause
    if isinstance(error, HttpError):
        return cause_of_answer(error.response) or Cause.ODD_STATUS
    for kind, cause in _BY_ERROR:
        if isinstance(error, kind):
            return cause
    if isinstance(error, IgnoreRequest):
        for words, cause in _BY_REASON:
            if words in str(error):
                return cause
    return Cause.CRASHED


def status_of(error: BaseException) -> int | None:
    """The status of an answer that was no page."""
    return error.response.status if isinstance(error, HttpError) else None


def is_bot_block(response: Response) -> bool:
    """Whether the page only keeps robots out."""
    if response.status != OK or len(response.body) > BOT_BLOCK_MAX_BYTES:
        return False
    seen = b" ".join(b" ".join(_seen(response.body)).split()).decode("utf-8", "replace").lower()
    return len(seen) <= BOT_BLOCK_MAX_CHARS and any(word in seen for word in BOT_BLOCK_WORDS)


def _seen(body: bytes) -> Iterator[bytes]:
    """A page without its markup."""
    at, endless = 0, set[bytes]()
    for begin in _BEGINS.finditer(body):
        if begin.start() >= at and (end := _end_of(begin, body, endless)):
            yield body[at : begin.start()]
            at = end
    yield body[at:]


def _end_of(begin: re.Match[bytes], body: bytes, endless: set[bytes]) -> int:
    """Where it ends that begins so; what has no end is looked for once."""
    for kind in (begin[0].lower(), b"<"):
        if kind not in endless:
            if found := _ENDS[kind].search(body, begin.end()):
                return found.end()
            endless.add(kind)
    return 0


def asked_pause(response: Response) -> float:
    """Return the seconds for which an error asks for no requests; 0 for any other answer."""
    return retry_after(response) if response.status >= CLIENT_ERROR else 0


def retry_after(response: Response) -> float:
    """Return the seconds of a Retry-After; 0 where there is none, or nonsense."""
    raw = (response.headers.get("Retry-After") or b"").decode("latin-1").strip()
    if raw.isdecimal():
        return float(min(int(raw[:MAX_DIGITS]), 10 ** (MAX_DIGITS - 1)))
    try:
        when = parsedate_to_datetime(raw)
    except (ValueError, OverflowError):
        return 0
    aware: datetime = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (aware - utc_now()).total_seconds())
