"""`scrapy crawl pdp -s FLEET=1`: one worker of many, fed through Redis as scrapy-redis has it.

What people know of scrapy-redis holds: names of keys and settings, the forms of an entry, the hook that reads
one. What loses entries there, or holds up the event loop, does not: nothing is popped, and threads ask Redis.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Self, cast

from scrapy import Request, signals

from crawler.fleet.entries import arguments_of
from crawler.fleet.store import FleetStore
from crawler.fleet.worker import SPARE_ENTRIES, Worker
from crawler.spiders.orders import PdpArguments, check_worker
from crawler.spiders.pdp import PdpSpider

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Sequence
    from uuid import UUID

    from scrapy.crawler import Crawler

    from crawler.sessions.rows import SessionOrder


class FleetSpider(PdpSpider):
    """The pdp spider as a worker; its name is given to it, so that no command finds two of that name.

    Scrapy loads this module whatever it crawls, and the client of Redis takes 10 MiB: the worker that is made
    has scrapy-redis' mixin behind this class.
    """

    name = ""
    # What the mixin sets.
    redis_key: str
    redis_encoding: str
    redis_batch_size: int
    max_idle_time: float
    server: object

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(PdpSpider.name, *args, **kwargs)
        self.worker: Worker | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Scrapy's way to make a spider."""
        kind = _with_mixin(cast("Any", cls))
        spider = super(FleetSpider, kind).from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.leave_fleet, signal=signals.spider_closed)
        return cast("Self", spider)

    def setup_redis(self, crawler: Crawler | None = None) -> None:
        """Take scrapy-redis's settings; its client, which would wait for minutes, is put aside."""
        settings = self.visits.settings
        room = settings.sessions_at_once + SPARE_ENTRIES
        self.redis_batch_size = settings.redis_start_urls_batch_size or room
        cast("Any", super()).setup_redis(crawler)
        self.server = None

    def spider_idle(self) -> None:
        """Called once the worker has ended; until then start() goes on, and keeps the crawl open."""

    def make_request_from_data(self, data: bytes) -> Request:
        """scrapy-redis's hook: the page that an entry asks for, with the spider's arguments in its meta."""
        given = arguments_of(data, self.redis_encoding)
        return Request(given.pop("url"), meta=given)

    async def orders(self) -> Sequence[tuple[UUID, SessionOrder]]:
        """Join the fleet; what there is to do comes by and by."""
        from crawler.fleet.queue import FleetQueue  # ruff: ignore[import-outside-top-level] - see the class

        settings = self.visits.settings
        check_worker(settings, self.given)
        stores = await self.visits.open()
        self.setup_redis(self.crawler)
        owner, silent_ms = stores.sessions.owner, settings.domain_lock_ttl_seconds * 1000
        self.worker = Worker(
            visits=self.visits,
            queue=FleetQueue(settings.redis_url, self.redis_key, owner, silent_ms=silent_ms),
            store=FleetStore(stores.sessions),
            order_of=self.order_of,
            most_at_once=self.redis_batch_size,
            idle_seconds=self.max_idle_time,
            count=self.count,
        )
        return ()

    # ruff: ignore[unused-method-argument] - the frame's signature
    async def run_sessions(
        self, orders: Sequence[tuple[UUID, SessionOrder]], outgoing: asyncio.Queue[Request | None]
    ) -> None:
        """Work until there has been nothing to do for MAX_IDLE_TIME_BEFORE_CLOSE."""
        if self.worker is not None:
            await self.worker.work(lambda visit: self.see_through(visit, outgoing))

    async def all_ended(self) -> None:
        """Nothing is left to be closed."""

    async def leave_fleet(self) -> None:
        """Called when the crawl is over, however it ended in order."""
        if self.worker is not None:
            await self.worker.leave()

    def order_of(self, data: bytes) -> SessionOrder:
        """What an entry asks of its session; where it says nothing, the worker's own arguments do."""
        request = self.make_request_from_data(data)
        arguments = PdpArguments.parse({**self.given, **request.meta, "url": request.url})
        [line] = arguments.targets
        return arguments.order(line, self.visits.settings.crawl_policy_version)

    def count(self, event: str, number: int) -> None:
        """Add to the crawl's stats."""
        if number:
            self.crawler.stats.inc_value(f"vitrine/fleet/{event}", number)


@cache
def _with_mixin(kind: type[FleetSpider]) -> Any:
    from scrapy_redis.spiders import RedisMixin  # ruff: ignore[import-outside-top-level] - see the class

    return kind if issubclass(kind, RedisMixin) else type(kind.__name__, (kind, RedisMixin), {})
