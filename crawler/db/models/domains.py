"""Who visits which domain, where no Redis says it."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Mapped, mapped_column

from crawler.db.models.base import Base


class DomainGate(Base):
    """A domain's lock and throttle, the local gate's counterpart of the Redis keys."""

    __tablename__ = "domain_gates"

    domain: Mapped[str] = mapped_column(primary_key=True)
    token: Mapped[str | None]  # unique per acquisition, names the session; None: free
    holder: Mapped[str | None]  # the process, so that a dead one's lock is free at once
    expires_at: Mapped[datetime | None]  # when it ends by itself
    last_end_at: Mapped[datetime | None]  # when the last session ended
    delay_until: Mapped[datetime | None]  # a longer delay that the site asked for
    delay_reason: Mapped[str | None]  # who asked for it: Retry-After or Crawl-delay
