"""Sessions that a fleet is asked for past its list in Redis: written as its workers write those of entries.

The session waits in the database at once, so whoever asked can look at it; any worker begins it when its
domain is free. Where there is no Redis there is no fleet, and nothing is written that nobody would work on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID, uuid4

from attrs import evolve
from redis.exceptions import RedisError

from crawler.access.redis_client import HINT, connect, refusal
from crawler.config import shown
from crawler.errors import CrawlerError
from crawler.fleet.queue import FleetUnavailableError
from crawler.fleet.store import FleetStore
from crawler.fleet.worker import MOST_WAITING

if TYPE_CHECKING:
    from crawler.config import Settings
    from crawler.sessions.rows import SessionOrder
    from crawler.sessions.store import SessionStore


class NoFleetError(CrawlerError):
    """Nobody would work on it: without REDIS_URL there is no fleet."""

    code = "no_fleet"
    http_status = 503


class FleetFullError(CrawlerError):
    """So many sessions wait already that no more are taken."""

    code = "fleet_full"
    http_status = 503


def ask_for(sessions: SessionStore, order: SessionOrder) -> UUID:
    """Have a session wait for any worker of the fleet, and say its id."""
    settings, store = sessions.settings, FleetStore(sessions)
    _require_fleet(settings)
    if store.count_waiting(MOST_WAITING) >= MOST_WAITING:
        raise FleetFullError(hint="the workers are behind; start more, or ask again later")
    session_id = uuid4()
    store.write({session_id: evolve(order, entry_id=f"asked-{session_id}")}, shown(settings))
    return session_id


def _require_fleet(settings: Settings) -> None:
    """Workers begin nothing while their Redis is away."""
    if not settings.redis_url:
        raise NoFleetError(hint="set REDIS_URL, and have a worker run: scrapy crawl pdp -s FLEET=1")
    with connect(settings.redis_url) as client:
        try:
            client.ping()
        except RedisError as error:
            raise FleetUnavailableError(refusal(client, error), hint=HINT) from error
