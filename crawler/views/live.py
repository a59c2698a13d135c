"""A capture beside the page as it is now; nothing is kept of that page but the visit that it took."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen

from crawler.archive.changes import ERROR, UNCHANGED, UPDATED, said_of_texts, side_of
from crawler.archive.comparing import SectionChange, Side, compared
from crawler.db import lookup
from crawler.db.models import Snapshot
from crawler.engines.live import look_at
from crawler.views.changes import ComparedSnapshot, NotComparableError, side

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from crawler.config import Settings
    from crawler.db.engine import Database
    from crawler.engines.live import LivePage

SAME = "The page says now what it said then."
# What a person reads where nothing could be compared; another cause is told by its code.
_WHY = {
    "robots_refused": "robots.txt forbids this address to crawlers.",
    "egress_refused": "This address is private; EGRESS_ALLOW names private hosts that may be asked.",
    "domain_held": "A crawl is at this site; it is not disturbed.",
    "http_error": "The site answers with {status}.",
    "blocked": "The site refuses crawlers ({status}).",
    "timeout": "The page did not come in time.",
    "unknown_host": "There is no such host any more.",
    "not_html": "What is there now is no page.",
    "too_large": "The page is larger than what is compared.",
}


@frozen(kw_only=True)
class LiveDiff:
    """What differs between a capture and the page as it is now."""

    snapshot: ComparedSnapshot
    url: str | None  # where redirects led to
    fetched_at: datetime | None
    status_code: int | None
    cause: str | None  # why nothing could be compared
    change_type: str
    summary: str
    added_lines: int = 0
    removed_lines: int = 0
    added_sections: int = 0
    removed_sections: int = 0
    changed_sections: int = 0
    change_ratio: float = 0.0
    is_coarse: bool = False
    is_cut: bool = False
    sections: tuple[SectionChange, ...] = ()


def live_diff(
    database: Database, settings: Settings, given: str, look: Callable[[int], LivePage] = look_at
) -> LiveDiff:
    """Compare; no transaction is open while the page is asked for."""
    with database.read() as db:
        row = lookup.find(db, Snapshot, given)
        if row.text_id is None:
            raise NotComparableError(f"there is no text of snapshot {row.id} ({row.problem or 'gone'})")
        then, shown, number = side_of(db, row.text_id), side(db, settings, given), row.id
    page = look(number)
    return LiveDiff(
        snapshot=shown, url=page.url, fetched_at=page.fetched_at, status_code=page.status_code,
        cause=page.cause or page.problem or None, **_said(then, page),
    )  # fmt: skip


def _said(then: Side, page: LivePage) -> dict[str, Any]:
    cause = page.cause or page.problem
    if cause:
        why = _WHY.get(cause, f"The page could not be had: {cause}.")
        said = why.replace("{status}", str(page.status_code or "an error"))
        return {"change_type": ERROR, "summary": said}
    now = Side.of(page.title, page.text, page.headings)
    counted = said_of_texts(then, now)
    if counted["change_type"] == UNCHANGED:
        return {"change_type": UNCHANGED, "summary": SAME}
    names = ("added_lines", "removed_lines", "added_sections", "removed_sections", "changed_sections")
    return {
        "change_type": UPDATED, "summary": counted["summary"], "sections": compared(then, now).sections,
        **{name: counted[name] for name in (*names, "change_ratio", "is_coarse")},
        "is_cut": counted["diff_truncated"],
    }  # fmt: skip
