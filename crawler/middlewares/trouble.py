"""What an answer or an error means for a page: a listed summary and a cause. Reads, decides, does nothing."""

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

from crawler.clock import utc_now
from crawler.middlewares.domain_gate import BadRequestUrlError, DomainHeldError, SessionStoppedError
from crawler.middlewares.egress import EgressRefusedError
from crawler.middlewares.scope import FilteredError
from crawler.sessions.outcome import Cause, Summary, Trouble

if TYPE_CHECKING:
    from scrapy.http import Response

OK = 200
BLOCKED = (403, 503)
RATE_LIMITED = 429
MAX_DIGITS = 10  # of a Retry-After: three centuries
# What a page says that keeps robots out (SPEC F148), in its visible text, and only where that is all
# it says: many a shop is "protected by reCAPTCHA", or loads a script from a network's host.
BOT_BLOCK_WORDS = ("captcha", "verify you are human", "attention required", "ddos protection")
BOT_BLOCK_MAX_BYTES = 64 * 1024
BOT_BLOCK_MAX_CHARS = 1000
_UNSEEN = re.compile(rb"<(script|style|noscript)\b.*?</\1\s*>|<!--.*?-->|<[^>]*>", re.DOTALL | re.IGNORECASE)

_BY_STATUS = {
    403: Trouble(Summary.BLOCKED, Cause.BLOCKED),
    503: Trouble(Summary.BLOCKED, Cause.BLOCKED),
    429: Trouble(Summary.RATE_LIMITED, Cause.RATE_LIMITED),
}
# The first that fits; the more special stand before the more general.
_BY_ERROR: tuple[tuple[type[Exception], Trouble], ...] = (
    (EgressRefusedError, Trouble(Summary.NAVIGATION_FAILED, Cause.EGRESS_REFUSED)),
    (FilteredError, Trouble(Summary.NAVIGATION_FAILED, Cause.FILTERED)),
    (BadRequestUrlError, Trouble(Summary.NAVIGATION_FAILED, Cause.BAD_URL)),
    (DomainHeldError, Trouble(Summary.LOCK_TIMEOUT, Cause.DOMAIN_HELD)),
    (SessionStoppedError, Trouble(Summary.CRAWL_FAILED, Cause.INTERRUPTED)),
    (DownloadTimeoutError, Trouble(Summary.NAVIGATION_TIMEOUT, Cause.TIMEOUT)),
    (CannotResolveHostError, Trouble(Summary.NAVIGATION_FAILED, Cause.UNKNOWN_HOST)),
    (DownloadConnectionRefusedError, Trouble(Summary.NAVIGATION_FAILED, Cause.CONNECTION_FAILED)),
    (ResponseDataLossError, Trouble(Summary.NAVIGATION_FAILED, Cause.TRUNCATED)),
    (DownloadCancelledError, Trouble(Summary.NAVIGATION_FAILED, Cause.TOO_LARGE)),
    (DownloadFailedError, Trouble(Summary.NAVIGATION_FAILED, Cause.CONNECTION_FAILED)),
    (UnsupportedURLSchemeError, Trouble(Summary.NAVIGATION_FAILED, Cause.BAD_URL)),
    (OSError, Trouble(Summary.NAVIGATION_FAILED, Cause.CONNECTION_FAILED)),
)
# Scrapy tells these apart in words only.
_BY_REASON = (
    ("robots.txt", Trouble(Summary.NAVIGATION_FAILED, Cause.ROBOTS_REFUSED)),
    ("max redirections", Trouble(Summary.NAVIGATION_FAILED, Cause.REDIRECT_LOOP)),
    ("not to be connected to", Trouble(Summary.NAVIGATION_FAILED, Cause.EGRESS_REFUSED)),
    ("DOWNLOAD_MAXSIZE", Trouble(Summary.NAVIGATION_FAILED, Cause.TOO_LARGE)),
)


def trouble_of_answer(response: Response) -> Trouble | None:
    """Why an answer is not the page that was asked for; None when it is."""
    if response.status != OK:
        unknown = Trouble(Summary.NAVIGATION_FAILED, Cause.HTTP_ERROR)
        return _BY_STATUS.get(response.status, unknown)
    if "truncated" in response.flags or "partial" in response.flags:
        return Trouble(Summary.NAVIGATION_FAILED, Cause.TRUNCATED)
    if is_bot_block(response):
        return Trouble(Summary.BOT_BLOCK_RELOAD, Cause.BOT_BLOCK)
    if not response.body.strip():
        return Trouble(Summary.NAVIGATION_FAILED, Cause.EMPTY_PAGE)
    return None


def trouble_of_error(error: BaseException) -> Trouble:
    """What a failed request means."""
    for kind, trouble in _BY_ERROR:
        if isinstance(error, kind):
            return trouble
    if isinstance(error, IgnoreRequest):
        for words, trouble in _BY_REASON:
            if words in str(error):
                return trouble
    return Trouble(Summary.CRAWL_FAILED, Cause.CRASHED)


def is_bot_block(response: Response) -> bool:
    """Whether the page only keeps robots out."""
    if response.status != OK or len(response.body) > BOT_BLOCK_MAX_BYTES:
        return False
    seen = b" ".join(_UNSEEN.sub(b" ", response.body).split()).decode("utf-8", "replace").lower()
    return len(seen) <= BOT_BLOCK_MAX_CHARS and any(word in seen for word in BOT_BLOCK_WORDS)


def retry_after(response: Response) -> float:
    """The seconds that the site asks to be left alone; 0 when it does not say, or says nonsense."""
    raw = (response.headers.get("Retry-After") or b"").decode("latin-1").strip()
    if raw.isdecimal():
        return float(min(int(raw[:MAX_DIGITS]), 10 ** (MAX_DIGITS - 1)))
    try:
        when = parsedate_to_datetime(raw)
    except ValueError:
        return 0
    aware: datetime = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (aware - utc_now()).total_seconds())
