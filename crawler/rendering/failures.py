"""What a browser's failures mean: to Scrapy, and to who takes a page's evidence."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from playwright.async_api import Error
from playwright.async_api import TimeoutError as PageTimeoutError
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
)

from crawler.access.egress import EgressRefusedError, host_name
from crawler.capture.failures import Cause
from crawler.crawl.answers import RequestRefusedError, SessionStoppedError
from crawler.rendering.enclosure import Trouble
from crawler.urls import host_of

if TYPE_CHECKING:
    from crawler.rendering.enclosure import Door


class NoPageError(RequestRefusedError):
    """The answer is a file to be kept, which the browser does not do."""

    cause = Cause.NOT_HTML


class NoBrowserError(RequestRefusedError):
    """There is no browser to render a page with, or it does not start."""

    cause = Cause.NO_BROWSER


class Transient(StrEnum):
    """The browser errors after which a page's evidence is taken once more (SPEC F149)."""

    CONTEXT_DESTROYED = "execution_context_destroyed"
    TARGET_CLOSED = "target_closed"
    NAVIGATION = "navigation_interrupted"


# In the browser's words; the first that fits.
_TRANSIENT = (
    ("execution context was destroyed", Transient.CONTEXT_DESTROYED),
    ("cannot find context", Transient.CONTEXT_DESTROYED),
    ("has been closed", Transient.TARGET_CLOSED),
    ("target closed", Transient.TARGET_CLOSED),
    ("crashed", Transient.TARGET_CLOSED),
    ("interrupted by another navigation", Transient.NAVIGATION),
    ("because of a navigation", Transient.NAVIGATION),
    ("is navigating", Transient.NAVIGATION),
    ("frame was detached", Transient.NAVIGATION),
)
_BY_TROUBLE: dict[Trouble | None, type[Exception]] = {
    Trouble.CLOSED: SessionStoppedError,
    Trouble.UNKNOWN: CannotResolveHostError,
    Trouble.UNREACHABLE: DownloadConnectionRefusedError,
}


def why_transient(error: BaseException) -> Transient | None:
    """Which of the three it is; None where trying again would not help."""
    words = str(error).lower()
    return next((transient for said, transient in _TRANSIENT if said in words), None)


def as_scrapys(error: Exception, door: Door, url: str) -> Exception:
    """A failed rendering in the words that every failed request has, whatever fetched it."""
    if door.is_over:
        return DownloadCancelledError(f"{url} brought more than a page may")
    host = host_of(url)
    trouble, reason = door.troubles.get(host_name(host), (None, ""))
    if trouble is Trouble.REFUSED:
        hint = "a host or network that may be fetched all the same goes into EGRESS_ALLOW"
        return EgressRefusedError(f"{host} is not to be connected to: {reason}", hint=hint)
    if trouble in _BY_TROUBLE:
        return _BY_TROUBLE[trouble](reason)
    if trouble is Trouble.TOO_SLOW or isinstance(error, TimeoutError | PageTimeoutError):
        return DownloadTimeoutError(f"rendering {url} took too long: {_first_line(error)}")
    return DownloadFailedError(_first_line(error))


def _first_line(error: Exception) -> str:
    text = error.message if isinstance(error, Error) else str(error)
    return text.partition("\n")[0]
