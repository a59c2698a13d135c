"""What a page of the workshop says after a form: sentences of ours, chosen by the action that was taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawler.views import audit

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy.orm import Session

    from crawler.views.audit import AuditDocument

_PLAIN = {
    "job.retry": "it is tried again",
    "job.index": "a worker indexes it next",
    "job.cleanup": "its temporary folders were removed",
    "run.stop": "its processes were asked to stop",
    "session.again": "a worker of the fleet begins it",
}


def _held(entry: AuditDocument) -> str:
    found: dict[str, Any] = entry.details
    late = f", {found['too_late']} of them too late" if found["too_late"] else ""
    return f"{entry.subject} is held: {found['artifacts']} files marked{late}"


def _lifted(entry: AuditDocument) -> str:
    found = entry.details
    return f"{entry.subject}: {len(found['lifted'])} lifted, {found['artifacts']} files go free"


def _deleted(entry: AuditDocument) -> str:
    found = entry.details
    files = found["artifacts"] + found.get("unclaimed_files", 0)
    return f"{files} files and {sum(found['rows'].values())} rows deleted"


def _kept(entry: AuditDocument) -> str:
    return f"{entry.subject} is kept for {entry.details['days']} days"


# Those that say how much it was, from the newest entry of the audit log.
_COUNTED: dict[str, Callable[[AuditDocument], str]] = {
    "retention.hold": _held,
    "retention.unhold": _lifted,
    "retention.set": _kept,
    "retention.cleanup": _deleted,
}


def sentence_of(db: Session, action: str) -> str:
    """Return what an action did; nothing for any other text that an address may carry."""
    if action in _PLAIN:
        return _PLAIN[action]
    if action not in _COUNTED:
        return ""
    entry = audit.newest_of(db, action)
    return _COUNTED[action](entry) if entry else ""
