"""From the pdp spider's arguments to queued sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from crawler import logs
from crawler.sessions.outcome import Cause
from crawler.sessions.store import SessionOrder
from crawler.urls import domain_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from crawler.sessions.desk import Desk
    from crawler.spiders.arguments import PdpArguments

    Queued = tuple[UUID, SessionOrder]

log = logs.get_logger(__name__)


class Intake:
    """Queues the sessions that the arguments ask for, or takes up those that were left over."""

    def __init__(self, desk: Desk, arguments: PdpArguments) -> None:
        self.desk = desk
        self.arguments = arguments

    async def queue(self) -> Sequence[Queued]:
        """The sessions that this crawl is to run, in order."""
        if self.arguments.session:
            return [await self.desk.requeue(self.arguments.session)]
        if self.arguments.urls:
            return await self._queue_file()
        assert self.arguments.url is not None  # ruff: ignore[assert] - parse() has seen to it
        order = evolve(self._order(self.arguments.url), wanted_pdp_url=self.arguments.pdp)
        [session_id] = await self.desk.queue([order])
        return [(session_id, order)]

    async def _queue_file(self) -> Sequence[Queued]:
        source = str(self.arguments.urls)
        lines = self.arguments.lines()
        batch = await self.desk.open_batch(source)
        fresh = [line for line in lines if line.url not in batch.urls]
        orders = [evolve(self._order(line.url, line.error), batch_id=batch.id) for line in fresh]
        ids = await self.desk.queue(orders)
        for session_id, order, line in zip(ids, orders, fresh, strict=True):
            if line.error:
                log.error("urls.bad_line", file=source, line=line.number, error=line.error)
                await self.desk.refuse(session_id, order, Cause.BAD_URL, line=line.number, error=line.error)
        if batch.left:
            log.info("urls.resumed", file=source, left=len(batch.left), new=len(fresh))
        good = [(i, o) for i, o, line in zip(ids, orders, fresh, strict=True) if not line.error]
        return [*batch.left, *good]

    def _order(self, url: str, error: str | None = None) -> SessionOrder:
        arguments = self.arguments
        return SessionOrder(
            url=url,
            domain="" if error else domain_of(url),
            mode=arguments.mode,
            retention_policy=arguments.retention,
            policy=arguments.policy or self.desk.settings.crawl_policy_version,
        )
