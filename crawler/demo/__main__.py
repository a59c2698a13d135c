"""The demo as a process: one line of JSON says where it is, the end of stdin or SIGTERM ends it."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import stat
import sys

from crawler.demo.addresses import Addressing
from crawler.demo.server import running
from crawler.errors import CrawlerError


def main() -> int:
    """Serve until told to stop."""
    options = _parser().parse_args()
    try:
        asyncio.run(_serve(options))
    except CrawlerError as error:
        print(f"error: {error}", file=sys.stderr)  # ruff: ignore[print] - this program's only way to speak
        return error.exit_code
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m crawler.demo", description="Serve the demo's shops.")
    parser.add_argument("--port", type=int, default=0, help="0 takes one that is free (the default)")
    parser.add_argument("--bulk", type=int, default=0, metavar="N", help="also serve shop-0001 to shop-N")
    parser.add_argument("--page-bytes", type=int, default=0, metavar="N", help="pad pages to about N bytes")
    parser.add_argument(
        "--addressing",
        choices=[way.value for way in Addressing],
        default=Addressing.AUTO.value,
        help="how the shops are told apart (auto: what works here)",
    )
    return parser


async def _serve(options: argparse.Namespace) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with running(
        port=options.port, bulk=options.bulk, page_bytes=options.page_bytes, addressing=options.addressing
    ) as server:
        place = {"port": server.port, "front": server.front, "shops": server.urls}
        print(json.dumps(place), flush=True)  # ruff: ignore[print] - the line that a parent reads
        lifeline = await _watch_stdin(loop, stop)
        await stop.wait()
        if lifeline is not None:
            lifeline.close()


async def _watch_stdin(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> asyncio.BaseTransport | None:
    """Let the end of stdin end the demo, where stdin is a pipe that a parent holds.

    A terminal does not count, nor does /dev/null: a demo in the background is meant to stay.
    """
    if not stat.S_ISFIFO(os.fstat(sys.stdin.fileno()).st_mode):
        return None
    transport, _ = await loop.connect_read_pipe(lambda: _Lifeline(stop), sys.stdin)
    return transport


class _Lifeline(asyncio.Protocol):
    """Sets the event when the other end of the pipe is gone."""

    def __init__(self, stop: asyncio.Event) -> None:
        self._stop = stop

    def connection_lost(self, exc: Exception | None) -> None:  # ruff: ignore[unused-method-argument] - asyncio passes it
        """The parent closed the pipe, or is gone."""
        self._stop.set()


if __name__ == "__main__":
    sys.exit(main())
