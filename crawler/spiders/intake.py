"""From the pdp spider's arguments to queued sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve
from scrapy.utils.asyncio import run_in_thread

from crawler import logs
from crawler.capture.failures import Cause, Summary
from crawler.catalogue import products
from crawler.config import shown
from crawler.sessions.batches import UrlLine, close_batch, open_batch
from crawler.sessions.journal import Journal
from crawler.sessions.outcome import Outcome, Status
from crawler.sessions.rows import SessionOrder
from crawler.urls import domain_of, root_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from crawler.crawl.visits import Visits
    from crawler.db.engine import Database
    from crawler.spiders.arguments import PdpArguments

    Queued = tuple[UUID, SessionOrder]

log = logs.get_logger(__name__)


class Intake:
    """Queues the sessions that the arguments ask for, or takes up those that were left over."""

    def __init__(self, visits: Visits, arguments: PdpArguments) -> None:
        self.visits = visits
        self.arguments = arguments
        self._batch_id: int | None = None

    async def queue(self) -> Sequence[Queued]:
        """The sessions that this crawl is to run, in order."""
        if self.arguments.session:
            return await self._requeue(self.arguments.session)
        if self.arguments.listings:
            return await self._queue_listings(self.arguments.listings)
        if self.arguments.file:
            return await self._queue_file(str(self.arguments.file))
        return await self._queue_lines(self.arguments.targets)

    async def close(self) -> None:
        """Mark the file's batch as finished, if nothing of it is left to do."""
        if self._batch_id is not None:
            await run_in_thread(close_batch, self.visits.stores.sessions, self._batch_id)

    async def _queue_file(self, source: str) -> Sequence[Queued]:
        stores = await self.visits.open()
        batch = await run_in_thread(open_batch, stores.sessions, source)
        self._batch_id = batch.id
        if batch.left:
            self._tell_queued([session_id for session_id, _ in batch.left])
        fresh = [line for line in self.arguments.targets if line.url not in batch.urls]
        if batch.left:
            log.info("urls.resumed", file=source, left=len(batch.left), new=len(fresh))
        return [*batch.left, *await self._queue_lines(fresh, batch.id)]

    async def _queue_lines(self, lines: Sequence[UrlLine], batch_id: int | None = None) -> Sequence[Queued]:
        orders = [evolve(self._order(line), batch_id=batch_id) for line in lines]
        queued = list(zip(await self._queue(orders), orders, lines, strict=True))
        for session_id, order, line in queued:
            if line.error:
                log.error("urls.bad_line", line=line.number, error=line.error)
                await self._refuse(session_id, order, line)
        return [(session_id, order) for session_id, order, line in queued if not line.error]

    async def _queue_listings(self, words: Sequence[str]) -> Sequence[Queued]:
        """Known products, captured again: each one's site first, then its page."""
        database = (await self.visits.open()).database
        urls = await run_in_thread(listing_urls, database, words)
        orders = [
            evolve(self._order(UrlLine(number, root_of(url), None)), wanted_pdp_url=url)
            for number, url in enumerate(urls, start=1)
        ]
        return list(zip(await self._queue(orders), orders, strict=True))

    async def _requeue(self, session: str) -> Sequence[Queued]:
        stores = await self.visits.open()
        session_id, order = await run_in_thread(stores.sessions.requeue, session)
        self._tell_queued([session_id])
        return [(session_id, order)]

    async def _queue(self, orders: Sequence[SessionOrder]) -> Sequence[UUID]:
        """Write sessions as queued, with the settings that they will run under."""
        stores = await self.visits.open()
        ids = await run_in_thread(stores.sessions.queue, orders, shown(self.visits.settings))
        self._tell_queued(ids)
        return ids

    def _tell_queued(self, ids: Sequence[UUID]) -> None:
        self.visits.tell("queued", sessions=[str(session_id) for session_id in ids])

    async def _refuse(self, session_id: UUID, order: SessionOrder, line: UrlLine) -> None:
        """End the session of an entry that is no URL."""
        cause = Cause.BAD_URL
        journal = Journal(str(session_id), order.domain)
        journal.error("error", "session.refused", cause=cause, line=line.number, error=line.error)
        await self.visits.refuse(order, journal, Outcome(Status.FAILED, Summary.CRAWL_FAILED, cause))

    def _order(self, line: UrlLine) -> SessionOrder:
        return order_for(line, self.arguments, self.visits.settings.crawl_policy_version)


def order_for(line: UrlLine, arguments: PdpArguments, policy: str) -> SessionOrder:
    """What a session for one URL is asked to do; by `policy` where the arguments name none."""
    return SessionOrder(
        url=line.url,
        domain="" if line.error else domain_of(line.url),
        mode=arguments.mode,
        retention_policy=arguments.retention,
        policy=arguments.policy or policy,
        wanted_pdp_url=arguments.pdp,
    )


def listing_urls(database: Database, words: Sequence[str]) -> list[str]:
    """Where the products are that were named."""
    with database.read() as db:
        return [products.find(db, word).url for word in words]
