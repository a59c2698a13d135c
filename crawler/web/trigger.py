"""A cleanup now and then on the back of requests, for hosts without a cron (SPEC E111-115); off at first."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from crawler.retention.cleanup import CleanupOrder, clean_up, maybe_clean_up

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from crawler.stores import Stores

PREFIXES = ("/admin/", "/api/")


class Trigger:
    """Asks, after an answer was sent, whether it is time; nobody waits for what comes of it."""

    def __init__(self, app: ASGIApp, stores: Stores) -> None:
        self._app = app
        self._stores = stores
        self._is_on = stores.settings.retention_cleanup_enabled

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer first."""
        await self._app(scope, receive, send)
        if self._is_on and scope["type"] == "http" and scope["path"].startswith(PREFIXES):
            asyncio.get_running_loop().run_in_executor(None, self._maybe)

    def _maybe(self) -> None:
        maybe_clean_up(self._stores.settings, self._stores.database, self._clean_up)

    def _clean_up(self) -> None:
        settings = self._stores.settings
        order = CleanupOrder(
            batch_size=settings.retention_cleanup_batch_size, dry_run=settings.retention_cleanup_dry_run,
            who="web",
        )  # fmt: skip
        clean_up(self._stores.database, self._stores.blobs, order)
