"""Many small sites on loopback addresses of their own, for runs that are killed while they crawl them."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from attrs import define, field

from tests.waiting import PATIENCE_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    # Path to status, extra header lines and body; None: an ordinary page. With SILENCE no answer comes.
    Special = Callable[[str], tuple[int, str, str | bytes] | None]

NETWORK = "127.0.0.0/8"
# Settings of runs that are not about politeness.
QUICK_RUNS = {
    "DOMAIN_MIN_DELAY_MS": "0",
    "TASK_JITTER_SECONDS": "0",
    "TASK_BACKOFF_MIN_SECONDS": "0",
    "EGRESS_ALLOW": NETWORK,
}
SILENCE = 0


def nothing_special(_path: str) -> None:
    """Every page is an ordinary one."""


@define
class Farm:
    """Sites of so many pages each; a page links to the next ones, and to some outside."""

    hosts: int
    pages: int
    special: Special = nothing_special
    opening: threading.Event | None = None  # until it is set, only robots.txt is answered
    of_first: Special | None = None  # what the first site answers instead of `special`
    asked: Counter[str] = field(factory=Counter)
    servers: list[asyncio.Server] = field(factory=list)
    starts: list[str] = field(factory=list)

    def body(self, path: str) -> str:
        """A page; the root leads to the first, and each to three more."""
        number = (
            int(path.strip("/").partition(".")[0] or 0) if path.strip("/").replace(".", "").isdigit() else 0
        )
        after = [n for n in (number + 1, 2 * number + 1, 2 * number + 2) if n < self.pages]
        links = "".join(f'<a href="/{n}">page {n}</a> ' for n in dict.fromkeys(after))
        return (
            f"<!doctype html><title>Page {number}</title><h1>Page {number}</h1><p>{'words ' * 40}</p>{links}"
        )

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Requests of one connection, one after the other."""
        try:
            await self.talk(reader, writer)
        finally:
            writer.close()

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer until the visitor has had enough."""
        host, port = writer.get_extra_info("sockname")[:2]
        with suppress(ConnectionError):
            while line := (await reader.readline()).decode("latin-1"):
                while (await reader.readline()).strip():
                    pass
                path = line.split(" ")[1]
                self.asked[f"{host}:{port}{path}"] += 1
                while self.opening and path != "/robots.txt" and not self.opening.is_set():  # ruff: ignore[async-busy-wait] - of another thread
                    await asyncio.sleep(0.01)
                answers = self.of_first if f"http://{host}:{port}/" == self.starts[0] else None
                special = (answers or self.special)(path)
                if special is not None and special[0] == SILENCE:
                    await reader.read()
                    return
                writer.write(self.reply(path, special))
                await writer.drain()

    def reply(self, path: str, special: tuple[int, str, str | bytes] | None) -> bytes:
        """The whole answer to a request for a path."""
        ordinary = (404, "", "") if path == "/robots.txt" else (200, "", self.body(path))
        status, headers, body = special or ordinary
        data = body if isinstance(body, bytes) else body.encode()
        kind = "" if "Content-Type" in headers else "Content-Type: text/html; charset=utf-8\r\n"
        head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(data)}\r\n{headers}{kind}\r\n"
        return head.encode() + data

    async def open(self) -> None:
        """Listen on one address a site."""
        for number in range(self.hosts):
            address = f"127.0.{3 + number // 200}.{1 + number % 200}"
            server = await asyncio.start_server(self.answer, address, 0)
            self.servers.append(server)
            self.starts.append(f"http://{address}:{server.sockets[0].getsockname()[1]}/")

    async def serve(self, opened: Future[asyncio.AbstractEventLoop], ended: asyncio.Event) -> None:
        """Be open until it is ended; connections that are left end with the loop."""
        await self.open()
        opened.set_result(asyncio.get_running_loop())
        await ended.wait()
        for server in self.servers:
            server.close()


@contextmanager
def farm(
    hosts: int,
    pages: int,
    special: Special = nothing_special,
    opening: threading.Event | None = None,
    of_first: Special | None = None,
) -> Generator[Farm]:
    """Sites that are open until the block ends, from their opening on."""
    sites = Farm(hosts, pages, special, opening, of_first)
    opened, ended = Future[asyncio.AbstractEventLoop](), asyncio.Event()
    thread = threading.Thread(target=asyncio.run, args=(sites.serve(opened, ended),), daemon=True)
    thread.start()
    loop = opened.result(PATIENCE_SECONDS)
    try:
        yield sites
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(PATIENCE_SECONDS)


def sources_file(sites: Farm, folder: Path) -> str:
    """Write a file with the source `farm`, which begins at all sites at once; its path."""
    file = folder / "sources.toml"
    file.write_text(
        f'[sources.farm]\nstart_urls = {json.dumps(sites.starts)}\nplugins = ["page"]\njitter_seconds = 0\n',
        encoding="utf-8",
    )
    return str(file)
