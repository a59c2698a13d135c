"""What can go wrong with a page or a session: every cause, in one table, with what follows from it. Pure."""

from __future__ import annotations

from enum import StrEnum

from attrs import frozen


class Summary(StrEnum):
    """The only sentences that reach the database and the API (SPEC F141)."""

    ALL_FAILED = "All viewports failed"
    AUDIT_FAILED = "Audit failed"
    BLOCKED = "Blocked (403/503)"
    BOT_BLOCK = "Bot-block"
    BOT_BLOCK_RELOAD = "Bot-block; reload failed"
    CRAWL_FAILED = "Crawl failed"
    LOCK_TIMEOUT = "Domain lock timeout"
    NAVIGATION_FAILED = "Navigation failed"
    NAVIGATION_TIMEOUT = "Navigation timeout"
    SOME_FAILED = "One or more viewports failed"
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


class Cause(StrEnum):
    """A stable code that says more than the summary may; what follows from it stands in `TRAITS`."""

    ABANDONED = "abandoned"  # its process died; found by its old heartbeat
    BAD_REDIRECT = "bad_redirect"  # to nowhere, or to what is no web page
    BAD_URL = "bad_url"
    BLOCKED = "blocked"
    BOT_BLOCK = "bot_block"
    CONNECTION_FAILED = "connection_failed"
    CRASHED = "crashed"  # an unforeseen error; the log has it
    DATABASE_UNAVAILABLE = "database_unavailable"  # the locks are in it, where no Redis has them
    DISK_FULL = "disk_full"
    DOMAIN_HELD = "domain_held"
    EGRESS_REFUSED = "egress_refused"
    EMPTY_PAGE = "empty_page"
    FILTERED = "filtered"  # a run's rules do not let it be asked for
    HEADERS_TOO_LARGE = "headers_too_large"  # longer, or more of them, than any honest site sends
    HTTP_ERROR = "http_error"
    INTERRUPTED = "interrupted"  # stopped by a signal or by Scrapy's CloseSpider
    LEASE_EXPIRED = "lease_expired"  # the process that had the task died, or was too slow
    LOCK_LOST = "lock_lost"
    LOST = "lost"  # the crawl lost track of its request, as where a middleware keeps what a callback gave
    NO_BROWSER = "no_browser"  # to render the page with
    NO_CANDIDATES = "no_candidates"  # nothing on the site looked like a product page
    NO_VALID_CANDIDATE = "no_valid_candidate"  # some did, none was
    NOT_HTML = "not_html"
    NOT_PDP = "not_pdp"  # the named product page is none
    NOT_STORED = "not_stored"  # a pipeline dropped it, or failed at it
    ODD_STATUS = "odd_status"  # an answer that is neither a page nor an error
    RATE_LIMITED = "rate_limited"
    REDIRECT_LOOP = "redirect_loop"
    REDIS_UNAVAILABLE = "redis_unavailable"
    ROBOTS_REFUSED = "robots_refused"
    ROBOTS_UNAVAILABLE = "robots_unavailable"  # nobody knows what it forbids
    STORE_FAILED = "store_failed"
    TIMEOUT = "timeout"
    TOO_LARGE = "too_large"
    TOO_LONG = "too_long"
    TRUNCATED = "truncated"
    UNKNOWN_HOST = "unknown_host"
    UNREADABLE = "unreadable"  # reading it took for ever, or killed its reader

    @property
    def traits(self) -> Traits:
        """What follows from it."""
        return TRAITS[self]

    @property
    def summary(self) -> Summary:
        """The listed sentence for a session that failed for this alone."""
        return TRAITS[self].summary


_CRAWL, _NAVIGATION, _LOCK = Summary.CRAWL_FAILED, Summary.NAVIGATION_FAILED, Summary.LOCK_TIMEOUT

TRAITS: dict[Cause, Traits] = {
    Cause.ABANDONED: Traits(_CRAWL, cuts_short=True),
    Cause.BAD_REDIRECT: Traits(_NAVIGATION),
    Cause.BAD_URL: Traits(_NAVIGATION),
    Cause.BLOCKED: Traits(Summary.BLOCKED, is_transient=True, is_block=True),
    Cause.BOT_BLOCK: Traits(Summary.BOT_BLOCK_RELOAD, is_transient=True, is_block=True),
    Cause.CONNECTION_FAILED: Traits(_NAVIGATION, is_transient=True),
    Cause.CRASHED: Traits(_CRAWL, is_transient=True, is_of_content=True),
    Cause.DATABASE_UNAVAILABLE: Traits(_LOCK, is_stores_fault=True),
    Cause.DISK_FULL: Traits(_CRAWL, is_stores_fault=True),
    Cause.DOMAIN_HELD: Traits(_LOCK, is_transient=True),
    Cause.EGRESS_REFUSED: Traits(_NAVIGATION),
    Cause.EMPTY_PAGE: Traits(_NAVIGATION, is_transient=True),
    Cause.FILTERED: Traits(_NAVIGATION, is_refusal=True),
    Cause.HEADERS_TOO_LARGE: Traits(_NAVIGATION),
    Cause.HTTP_ERROR: Traits(_NAVIGATION),  # transient from 500 on: `crawl.answers` knows the status
    Cause.INTERRUPTED: Traits(_CRAWL, cuts_short=True),
    Cause.LEASE_EXPIRED: Traits(_CRAWL, is_transient=True),
    Cause.LOCK_LOST: Traits(_CRAWL),
    Cause.LOST: Traits(_CRAWL, is_transient=True),
    Cause.NO_BROWSER: Traits(_CRAWL),
    Cause.NO_CANDIDATES: Traits(Summary.PDP_NOT_FOUND),
    Cause.NO_VALID_CANDIDATE: Traits(Summary.PDP_NOT_FOUND),
    Cause.NOT_HTML: Traits(_NAVIGATION),
    Cause.NOT_PDP: Traits(Summary.PDP_NOT_FOUND),
    Cause.NOT_STORED: Traits(_CRAWL, is_transient=True, is_of_content=True),
    Cause.ODD_STATUS: Traits(_NAVIGATION),
    Cause.RATE_LIMITED: Traits(Summary.RATE_LIMITED, is_transient=True, is_block=True),
    Cause.REDIRECT_LOOP: Traits(_NAVIGATION),
    Cause.REDIS_UNAVAILABLE: Traits(_LOCK),
    Cause.ROBOTS_REFUSED: Traits(_NAVIGATION, is_refusal=True),
    Cause.ROBOTS_UNAVAILABLE: Traits(_NAVIGATION, is_transient=True),
    Cause.STORE_FAILED: Traits(_CRAWL, is_stores_fault=True),
    Cause.TIMEOUT: Traits(Summary.NAVIGATION_TIMEOUT, is_transient=True),
    Cause.TOO_LARGE: Traits(_NAVIGATION),
    Cause.TOO_LONG: Traits(_CRAWL),
    Cause.TRUNCATED: Traits(_NAVIGATION, is_transient=True),
    Cause.UNKNOWN_HOST: Traits(_NAVIGATION, is_transient=True),
    Cause.UNREADABLE: Traits(_CRAWL, is_transient=True, is_of_content=True),
}

# Of pages that are not to be had, by the site's rules or the source's.
REFUSALS = frozenset(cause for cause in Cause if TRAITS[cause].is_refusal)
