"""What can go wrong with a page or a session: every cause, in one table, with what follows from it. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from attrs import frozen


class Summary(StrEnum):
    """The only sentences that reach the database and the API (SPEC F141)."""

    ALL_FAILED = "All viewports failed"
    ALL_PAGES_FAILED = "All pages failed"  # of a session that has no viewports
    AUDIT_FAILED = "Audit failed"
    BLOCKED = "Blocked (403/503)"
    BOT_BLOCK = "Bot-block"
    BOT_BLOCK_RELOAD = "Bot-block; reload failed"
    CRAWL_FAILED = "Crawl failed"
    LOCK_TIMEOUT = "Domain lock timeout"
    NAVIGATION_FAILED = "Navigation failed"
    NAVIGATION_TIMEOUT = "Navigation timeout"
    SOME_FAILED = "One or more viewports failed"
    SOME_PAGES_FAILED = "Some pages failed"
    STOPPED_BY_SPIDER = "Stopped by the spider"  # with the reason behind it
    PDP_NOT_FOUND = "PDP not found"
    PDP_NAVIGATION_FAILED = "PDP navigation failed"
    RATE_LIMITED = "Rate limited (429)"


@frozen
class Traits:
    """What follows from a cause: the listed summary, and how it is dealt with."""

    summary: Summary
    is_transient: bool = False  # may be different the next time
    is_refusal: bool = False  # by the site's rules or ours: nothing has failed
    is_block: bool = False  # the site keeps us out
    is_stores_fault: bool = False  # a store refused; the page is not to blame
    is_of_content: bool = False  # it came, and could not be read
    cuts_short: bool = False  # the session was not done, and is taken up again by whoever goes on


_CRAWL, _NAVIGATION, _LOCK = Summary.CRAWL_FAILED, Summary.NAVIGATION_FAILED, Summary.LOCK_TIMEOUT
_NOTHING_MORE = Traits(_CRAWL)


class Cause(StrEnum):
    """A stable code that says more than the summary may, and what follows from it."""

    traits: Traits

    def __new__(cls, code: str, traits: Traits = _NOTHING_MORE) -> Self:
        """A word, by which it is found again, and what follows from it."""
        cause = str.__new__(cls, code)
        cause._value_, cause.traits = code, traits
        return cause

    ABANDONED = "abandoned", Traits(_CRAWL, cuts_short=True)  # its process died; found by its old heartbeat
    BAD_REDIRECT = "bad_redirect", Traits(_NAVIGATION)  # to nowhere, or to what is no web page
    BAD_URL = "bad_url", Traits(_NAVIGATION)
    BLOCKED = "blocked", Traits(Summary.BLOCKED, is_transient=True, is_block=True)
    BOT_BLOCK = "bot_block", Traits(Summary.BOT_BLOCK_RELOAD, is_transient=True, is_block=True)
    CONNECTION_FAILED = "connection_failed", Traits(_NAVIGATION, is_transient=True)
    # an unforeseen error; the log has it
    CRASHED = "crashed", Traits(_CRAWL, is_transient=True, is_of_content=True)
    # the locks are in it, where no Redis has them
    DATABASE_UNAVAILABLE = "database_unavailable", Traits(_LOCK, is_stores_fault=True)
    DISK_FULL = "disk_full", Traits(_CRAWL, is_stores_fault=True)
    DOMAIN_HELD = "domain_held", Traits(_LOCK, is_transient=True)
    EGRESS_REFUSED = "egress_refused", Traits(_NAVIGATION)
    EMPTY_PAGE = "empty_page", Traits(_NAVIGATION, is_transient=True)
    FILTERED = "filtered", Traits(_NAVIGATION, is_refusal=True)  # a run's rules do not let it be asked for
    # longer, or more of them, than any honest site sends
    HEADERS_TOO_LARGE = "headers_too_large", Traits(_NAVIGATION)
    HTTP_ERROR = "http_error", Traits(_NAVIGATION)  # transient from 500 on: `crawl.answers` knows the status
    # stopped by a signal or by Scrapy's CloseSpider
    INTERRUPTED = "interrupted", Traits(_CRAWL, cuts_short=True)
    # the process that had the task died, or was too slow
    LEASE_EXPIRED = "lease_expired", Traits(_CRAWL, is_transient=True)
    LOCK_LOST = "lock_lost", Traits(_CRAWL)
    # the crawl lost track of its request, as where a middleware keeps what a callback gave
    LOST = "lost", Traits(_CRAWL, is_transient=True)
    NO_BROWSER = "no_browser", Traits(_CRAWL)  # to render the page with
    # nothing on the site looked like a product page
    NO_CANDIDATES = "no_candidates", Traits(Summary.PDP_NOT_FOUND)
    NO_VALID_CANDIDATE = "no_valid_candidate", Traits(Summary.PDP_NOT_FOUND)  # some did, none was
    # the site has no such page: nothing has failed
    NOT_FOUND = "not_found", Traits(_NAVIGATION, is_refusal=True)
    NOT_HTML = "not_html", Traits(_NAVIGATION)
    NOT_PDP = "not_pdp", Traits(Summary.PDP_NOT_FOUND)  # the named product page is none
    NOT_RENDERED = "not_rendered", Traits(_NAVIGATION)  # it asks for what no page is rendered with
    # a pipeline dropped it, or failed at it
    NOT_STORED = "not_stored", Traits(_CRAWL, is_transient=True, is_of_content=True)
    ODD_STATUS = "odd_status", Traits(_NAVIGATION)  # an answer that is neither a page nor an error
    RATE_LIMITED = "rate_limited", Traits(Summary.RATE_LIMITED, is_transient=True, is_block=True)
    REDIRECT_LOOP = "redirect_loop", Traits(_NAVIGATION)
    REDIS_UNAVAILABLE = "redis_unavailable", Traits(_LOCK)
    ROBOTS_REFUSED = "robots_refused", Traits(_NAVIGATION, is_refusal=True)
    # nobody knows what it forbids
    ROBOTS_UNAVAILABLE = "robots_unavailable", Traits(_NAVIGATION, is_transient=True)
    STORE_FAILED = "store_failed", Traits(_CRAWL, is_stores_fault=True)
    TIMEOUT = "timeout", Traits(Summary.NAVIGATION_TIMEOUT, is_transient=True)
    TOO_LARGE = "too_large", Traits(_NAVIGATION)
    TOO_LONG = "too_long", Traits(_CRAWL)
    TRUNCATED = "truncated", Traits(_NAVIGATION, is_transient=True)
    UNKNOWN_HOST = "unknown_host", Traits(_NAVIGATION, is_transient=True)
    # reading it took for ever, or killed its reader
    UNREADABLE = "unreadable", Traits(_CRAWL, is_transient=True, is_of_content=True)

    @property
    def summary(self) -> Summary:
        """The listed sentence for a session that failed for this alone."""
        return self.traits.summary


# Of pages that are not to be had, by the site's rules or the source's.
REFUSALS = frozenset(cause for cause in Cause if cause.traits.is_refusal)
CUT_SHORT = tuple(cause for cause in Cause if cause.traits.cuts_short)  # by who started it: nobody's news
