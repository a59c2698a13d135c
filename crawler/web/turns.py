"""So many requests are worked on at once, and the others wait for their turn.

A request holds a connection to the database, and may ask for another one: were more of them let in than there
are connections for, all could wait for each other.
"""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

# They wait for a site, without a connection, and count themselves.
_UNHURRIED = re.compile(r"/(?:api|admin)/snapshots/\d+/(?:compare-)?live")
AT_ONCE = 7  # twice that many connections are in an engine's pool


class Turns:
    """Lets requests in one by one; a turn is over when the answer begins, however slowly it is read."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._free = asyncio.Semaphore(AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Wait, then work."""
        if scope["type"] == "http" and _UNHURRIED.fullmatch(scope["path"]):
            await self._app(scope, receive, send)
            return
        await self._free.acquire()
        is_over = False

        def end() -> None:
            nonlocal is_over
            if not is_over:
                is_over = True
                self._free.release()

        async def sending(message: Message) -> None:
            end()
            await send(message)

        try:
            await self._app(scope, receive, sending)
        finally:
            end()
