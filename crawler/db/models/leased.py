"""Work that one process has on loan; `crawler.leases.rows` writes these columns, and nobody else."""

from __future__ import annotations

from datetime import datetime  # ruff: ignore[typing-only-standard-library-import] - SQLAlchemy reads it

from sqlalchemy.orm import Mapped, mapped_column

LEASED_STATUSES = "status IN ('pending', 'in_progress', 'finished', 'error')"
IS_PENDING = "status = 'pending'"
IS_NEW = "status = 'pending' AND attempts = 0"
# An index on the times of all that is pending would tempt planners to sort it by urgency at each lease. New
# things are due as they come; so only the times of what was tried before are in one.
IS_RESTING = "status = 'pending' AND attempts > 0"
IS_IN_PROGRESS = "status = 'in_progress'"
IS_ERROR = "status = 'error'"


class Leased:
    """The columns of a lease (SPEC D81)."""

    status: Mapped[str] = mapped_column(default="pending")  # pending, in_progress, finished, error
    priority: Mapped[int] = mapped_column(default=0)  # higher goes first
    attempts: Mapped[int] = mapped_column(default=0)  # counted when it is begun, not when it is leased
    begun_at: Mapped[datetime | None]  # of the last lease; unset while it only lies ready
    deaths: Mapped[int] = mapped_column(default=0)  # of workers under it; from one on it is tried alone
    next_run_at: Mapped[datetime]  # not before then
    lease_owner: Mapped[str | None]  # the process that has it
    lease_epoch: Mapped[int] = mapped_column(
        default=0
    )  # rises with each lease; a write of an older one is refused
    lease_expires_at: Mapped[datetime | None]  # its owner is taken for dead then, unless it renews
    lease_deadline_at: Mapped[datetime | None]  # no renewal goes beyond this
    last_error: Mapped[str | None]  # of the last attempt, in words
    cause: Mapped[str | None]  # the same as a code of `crawler.capture.failures`
    updated_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]
