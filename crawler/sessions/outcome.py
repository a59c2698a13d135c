"""How a session ends: the listed summaries, the causes beside them, and the rule that picks one. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

MIN_TEXT_CHARS = 100


class Status(StrEnum):
    """SPEC F136."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    PARTIAL = "partial"


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


class Cause(StrEnum):
    """A stable code that says more than the summary may."""

    ABANDONED = "abandoned"  # its process died; found by its old heartbeat
    BAD_URL = "bad_url"
    BLOCKED = "blocked"
    BOT_BLOCK = "bot_block"
    CONNECTION_FAILED = "connection_failed"
    CRASHED = "crashed"  # an unforeseen error; the log has it
    DATABASE_UNAVAILABLE = "database_unavailable"  # the locks are in it, where no Redis has them
    DISK_FULL = "disk_full"
    EMPTY_PAGE = "empty_page"
    DOMAIN_HELD = "domain_held"
    EGRESS_REFUSED = "egress_refused"
    FILTERED = "filtered"  # a run's rules do not let it be asked for
    HTTP_ERROR = "http_error"
    INTERRUPTED = "interrupted"  # stopped by a signal or by Scrapy's CloseSpider
    LOCK_LOST = "lock_lost"
    NO_CANDIDATES = "no_candidates"  # nothing on the site looked like a product page
    NO_VALID_CANDIDATE = "no_valid_candidate"  # some did, none was
    NOT_HTML = "not_html"
    NOT_PDP = "not_pdp"  # the named product page is none
    RATE_LIMITED = "rate_limited"
    REDIRECT_LOOP = "redirect_loop"
    REDIS_UNAVAILABLE = "redis_unavailable"
    ROBOTS_REFUSED = "robots_refused"
    STORE_FAILED = "store_failed"
    TIMEOUT = "timeout"
    TOO_LARGE = "too_large"
    TOO_LONG = "too_long"
    TRUNCATED = "truncated"
    UNKNOWN_HOST = "unknown_host"
    UNREADABLE = "unreadable"  # reading it took for ever, or killed its reader


@frozen
class Trouble:
    """What went wrong, as it may be stored."""

    summary: Summary
    cause: Cause


@frozen
class PageResult:
    """One page that the session was to have."""

    page_type: str
    ok: bool
    trouble: Trouble | None = None


@frozen
class Outcome:
    """How a session ended."""

    status: Status
    summary: Summary | None = None
    cause: Cause | None = None


def outcome_of(pages: Sequence[PageResult], missing_pdp: Cause | None = None) -> Outcome:
    """SPEC F138, applied to the pages that the session was to have.

    `missing_pdp` says why there is no product page; None when there is one, or when none was looked for.
    """
    if not pages and missing_pdp is None:
        return Outcome(Status.COMPLETED)  # a spider's visit that kept no page, such as one for data alone
    first_trouble = next((page.trouble for page in pages if page.trouble), None)
    homes = [page for page in pages if page.page_type == "homepage"]
    if missing_pdp and homes and all(page.ok for page in homes):
        return Outcome(Status.PARTIAL, Summary.PDP_NOT_FOUND, missing_pdp)
    good = sum(page.ok for page in pages)
    if good and good == len(pages) and not missing_pdp:
        return Outcome(Status.COMPLETED)
    cause = first_trouble.cause if first_trouble else missing_pdp
    if good and not missing_pdp:
        return Outcome(Status.PARTIAL, Summary.SOME_FAILED, cause)
    return Outcome(Status.FAILED, first_trouble.summary if first_trouble else Summary.ALL_FAILED, cause)


def low_confidence_reasons(
    *, page_type: str, text_chars: int, has_h1: bool, has_cta: bool, has_price: bool, has_add_to_cart: bool
) -> tuple[str, ...]:
    """Why a page that loaded is not to be trusted much (SPEC F140)."""
    doubts = [
        ("missing_h1", not has_h1),
        ("missing_primary_cta", not has_cta),
        (f"text_too_short_{text_chars}", text_chars < MIN_TEXT_CHARS),
        ("missing_price", page_type == "pdp" and not has_price),
        ("missing_add_to_cart", page_type == "pdp" and not has_add_to_cart),
    ]
    return tuple(reason for reason, holds in doubts if holds)
