"""The demo in a thread of its own, so that a test or a command can use it like any other web site."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future
from contextlib import contextmanager

from crawler.demo.addresses import Addressing
from crawler.demo.server import DemoServer, running

_Started = Future[tuple[DemoServer, Callable[[], None]]]


@contextmanager
def serve(
    *, port: int = 0, bulk: int = 0, page_bytes: int = 0, addressing: str | Addressing = Addressing.AUTO
) -> Generator[DemoServer, None, None]:
    """Serve until the block ends; then no thread, task or socket is left.

    `bulk` adds that many numbered shops, `page_bytes` pads every page to about that size, and `addressing`
    says how the shops are told apart (`names`, `addresses`, `ports`) instead of letting the machine decide.
    """
    started: _Started = Future()

    async def serving() -> None:
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        async with running(port=port, bulk=bulk, page_bytes=page_bytes, addressing=addressing) as server:
            started.set_result((server, lambda: _stop(loop, stop)))
            await stop.wait()

    def run() -> None:
        try:
            asyncio.run(serving())
        except Exception as error:
            if started.done():
                raise
            started.set_exception(error)

    thread = threading.Thread(target=run, name="vitrine-demo", daemon=True)
    thread.start()
    try:
        server, stop = started.result()
        try:
            yield server
        finally:
            stop()
    finally:
        thread.join()


def _stop(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    loop.call_soon_threadsafe(stop.set)
