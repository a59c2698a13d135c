"""How a session ends, by a rule on what became of its pages. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from attrs import frozen

from crawler.capture.failures import Cause, Summary
from crawler.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


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
    cause: Cause | None = None  # why it failed
    is_doubted: bool = False  # it was kept with low confidence


@frozen
class Outcome:
    """How a session ended."""

    status: Status
    summary: str | None = None
    cause: Cause | None = None


def exit_code_of(ends: Mapping[Status, int], *, is_locked: bool) -> ExitCode:
    """The truth about several sessions in one number; `is_locked`: one of them did not get its domain."""
    sessions, well = sum(ends.values()), ends.get(Status.COMPLETED, 0)
    if sessions == 1 and is_locked:
        return ExitCode.LOCKED
    if well and well == sessions:
        return ExitCode.DONE
    return ExitCode.PARTLY if well or ends.get(Status.PARTIAL) else ExitCode.FAILED


def outcome_of(
    pages: Sequence[PageResult], missing_pdp: Cause | None = None, *, has_viewports: bool = True
) -> Outcome:
    """SPEC F138, applied to the pages that the session was to have.

    What failed all of them alike is told by its own summary.

    `missing_pdp` says why there is no product page; None when there is one, or when none was looked for.
    """
    if not pages and missing_pdp is None:
        return Outcome(Status.COMPLETED)  # a spider's visit that kept no page, such as one for data alone
    causes = [page.cause for page in pages if page.cause]
    homes = [page for page in pages if page.page_type == "homepage"]
    if missing_pdp and homes and not any(page.cause for page in homes):
        return Outcome(Status.PARTIAL, Summary.PDP_NOT_FOUND, missing_pdp)
    if not causes and not missing_pdp:
        return Outcome(Status.COMPLETED)
    cause = causes[0] if causes else missing_pdp
    some_failed = Summary.SOME_FAILED if has_viewports else Summary.SOME_PAGES_FAILED
    all_failed = Summary.ALL_FAILED if has_viewports else Summary.ALL_PAGES_FAILED
    if len(causes) < len(pages) and not missing_pdp:
        return Outcome(Status.PARTIAL, some_failed, cause)
    summaries = {each.summary for each in causes} if len(causes) == len(pages) else set()
    return Outcome(Status.FAILED, summaries.pop() if len(summaries) == 1 else all_failed, cause)
