"""How a session ends, by a rule on what became of its pages. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from attrs import frozen

from crawler.capture.failures import Cause, Summary

if TYPE_CHECKING:
    from collections.abc import Sequence


class Status(StrEnum):
    """SPEC F136."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    PARTIAL = "partial"


@frozen
class PageResult:
    """One page that the session was to have."""

    page_type: str
    ok: bool
    cause: Cause | None = None


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
    first_cause = next((page.cause for page in pages if page.cause), None)
    homes = [page for page in pages if page.page_type == "homepage"]
    if missing_pdp and homes and all(page.ok for page in homes):
        return Outcome(Status.PARTIAL, Summary.PDP_NOT_FOUND, missing_pdp)
    good = sum(page.ok for page in pages)
    if good and good == len(pages) and not missing_pdp:
        return Outcome(Status.COMPLETED)
    cause = first_cause or missing_pdp
    if good and not missing_pdp:
        return Outcome(Status.PARTIAL, Summary.SOME_FAILED, cause)
    return Outcome(Status.FAILED, first_cause.summary if first_cause else Summary.ALL_FAILED, cause)
