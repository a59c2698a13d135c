"""A cleanup now and then on the back of requests, for hosts without a cron (SPEC B49, E111-115)."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import TYPE_CHECKING

from sqlalchemy import or_, update

from crawler import logs
from crawler.db.models import RetentionConfig
from crawler.db.models.retention import CURRENT
from crawler.retention import policies

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.config import Settings
    from crawler.db.engine import Database

log = logs.get_logger(__name__)
CHANCE = 0.01
EVERY = timedelta(hours=1)


def maybe_clean_up(
    settings: Settings,
    database: Database,
    run: Callable[[], object],
    dice: Callable[[], float] = random.random,  # ruff: ignore[suspicious-non-cryptographic-random-usage] - no secret
) -> bool:
    """Run a cleanup after a request: where it is enabled, with a chance of one in a hundred, once an hour.

    The hour is that of all processes together. Called after an answer was sent, in a thread that nobody waits
    for; no error leaves it.
    """
    if not settings.retention_cleanup_enabled:
        return False
    try:
        if dice() >= CHANCE or not claim_hour(database):
            return False
        run()
    except Exception as error:
        log.exception("retention_trigger.failed", error_type=type(error).__name__)
        return False
    return True


def claim_hour(database: Database) -> bool:
    """Take the right to start a cleanup; at its start, so that nobody else starts one meanwhile."""
    with database.write() as db:
        policies.locked(db)
        now = db.now
        is_due = or_(RetentionConfig.triggered_at.is_(None), RetentionConfig.triggered_at <= now - EVERY)
        claimed = db.execute(
            update(RetentionConfig)
            .where(RetentionConfig.id == CURRENT, is_due)
            .values(triggered_at=now)
            .returning(RetentionConfig.id)
            .execution_options(synchronize_session=False)
        )
        return claimed.scalar_one_or_none() is not None
