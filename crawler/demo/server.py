"""The demo's web server: opens the doors, answers until it is stopped, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

from crawler.demo.addresses import BACKLOG, Addressing, hosts_of, open_doors
from crawler.demo.answers import CONTROL_PATH, DemoServer, control
from crawler.demo.scenarios import ENDLESS_BYTES
from crawler.demo.shops import all_shops
from crawler.demo.wire import BadRequestError, Ending, Reply, Request, head_bytes, parse_request

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from crawler.demo.addresses import Place


MAX_HEAD_BYTES = 64 * 1024
_LOOK_SECONDS = 0.05
_BAD_REQUEST = Reply(b"That is not HTTP/1.1.\n", 400, "text/plain")
_HEAD_TOO_LARGE = Reply(b"That is a very long request.\n", 431, "text/plain")


class Connection:
    """Serves one client until it or an answer ends the connection."""

    def __init__(self, demo: DemoServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._demo = demo
        self._reader = reader
        self._writer = writer
        self._place: Place = writer.get_extra_info("sockname")[:2]

    async def serve(self) -> None:
        """Answer request after request."""
        try:
            while await self._one():
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client is gone, which is its right
        finally:
            self._writer.close()

    async def _one(self) -> bool:
        """Answer the next request; whether another may follow."""
        try:
            request = parse_request(await self._reader.readuntil(b"\r\n\r\n"))
        except BadRequestError:
            return await self._refuse(_BAD_REQUEST)
        except asyncio.LimitOverrunError:
            return await self._refuse(_HEAD_TOO_LARGE)
        if request.path.startswith(CONTROL_PATH):
            return await self._send(request, control(self._demo, request))
        return await self._answer(request)

    async def _refuse(self, reply: Reply) -> bool:
        self._writer.write(head_bytes(reply, keep_alive=False) + reply.body)
        await self._writer.drain()
        return False

    async def _answer(self, request: Request) -> bool:
        host = self._demo.doors.host_behind(request.host, self._place)
        shop = self._demo.shop_of(host)
        arrival = self._demo.log.arrived(request, shop.name if shop else "")
        status = 0
        try:
            reply = self._demo.answer(request, host)
            await self._pause(reply.delay)
            status = 0 if reply.ending is Ending.RESET else reply.status
            if reply.ending is Ending.ENDLESS:
                return await self._send(request, reply)
        finally:
            # Before the last byte goes out, so that whoever has the answer finds it in the log.
            self._demo.log.left(arrival, status)
        return self._reset() if reply.ending is Ending.RESET else await self._send(request, reply)

    async def _pause(self, seconds: float) -> None:
        """Wait, but not for a client that has hung up: its request is over then."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while (left := until - loop.time()) > 0:
            await asyncio.sleep(min(left, _LOOK_SECONDS))
            if self._reader.at_eof() or self._writer.is_closing():
                raise ConnectionResetError

    async def _send(self, request: Request, reply: Reply) -> bool:
        whole = reply.ending is Ending.WHOLE
        # What a request may carry in its body is not read, so nothing can follow it.
        goes_on = whole and request.keep_alive and request.method in {"GET", "HEAD"}
        head = head_bytes(reply, keep_alive=goes_on)
        if request.method == "HEAD":
            self._writer.write(head)
        elif reply.ending is Ending.ENDLESS:
            await self._send_endless(head, reply.body)
        else:
            self._writer.write(head + (reply.body if whole else reply.body[: len(reply.body) // 2]))
        await self._writer.drain()
        return goes_on

    async def _send_endless(self, head: bytes, block: bytes) -> None:
        self._writer.write(head)
        chunk = b"%x\r\n%s\r\n" % (len(block), block)
        for _ in range(ENDLESS_BYTES // len(block)):
            self._writer.write(chunk)
            await self._writer.drain()
        self._writer.write(b"0\r\n\r\n")

    def _reset(self) -> bool:
        """Close so that the client sees a reset instead of an orderly end."""
        raw: socket.socket = self._writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()
        return False


# What the crawler's EGRESS_ALLOW must name, so that the shops may be visited.
NETWORK = "127.0.0.0/8"
# A connection that was accepted just now becomes a task within this many turns of the loop.
_TURNS = 4


@asynccontextmanager
async def running(
    *, port: int = 0, bulk: int = 0, page_bytes: int = 0, addressing: str | Addressing = Addressing.AUTO
) -> AsyncGenerator[DemoServer, None]:
    """Serve in the event loop that is running, until the block ends."""
    shops = all_shops(bulk)
    doors = open_doors(hosts_of(shops), port, Addressing(addressing))
    demo = DemoServer(shops, doors, page_bytes)
    clients: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None:  # asyncio runs this in a task, always; the type does not say so
            return
        clients[task] = writer
        task.add_done_callback(clients.pop)
        # Hanging up is how this server ends; asyncio would log a cancelled client as an error.
        with suppress(asyncio.CancelledError):
            await Connection(demo, reader, writer).serve()

    servers = [
        await asyncio.start_server(client, sock=listener, limit=MAX_HEAD_BYTES, backlog=BACKLOG)
        for listener in doors.sockets
    ]
    try:
        yield demo
    finally:
        await _close(servers, clients)


async def _close(
    servers: list[asyncio.Server], clients: dict[asyncio.Task[None], asyncio.StreamWriter]
) -> None:
    """Hang up on everyone and wait until all of it is gone."""
    # Whoever was accepted just now is served first: a server that is closed already would forget the
    # connection and leave its socket open.
    for listener in [listener for server in servers for listener in server.sockets]:
        asyncio.get_running_loop().remove_reader(listener.fileno())
    for _ in range(_TURNS):
        await asyncio.sleep(0)
    for server in servers:
        server.close()
    ending = list(clients)
    for task in ending:
        clients[task].transport.abort()
        task.cancel()
    await asyncio.gather(*ending, return_exceptions=True)
    for server in servers:
        await server.wait_closed()
    await asyncio.sleep(0)


_Started = Future[tuple[DemoServer, Callable[[], object]]]


@contextmanager
def serve(
    *, port: int = 0, bulk: int = 0, page_bytes: int = 0, addressing: str | Addressing = Addressing.AUTO
) -> Generator[DemoServer, None, None]:
    """Serve in a thread until the block ends; then no thread, task or socket is left.

    `bulk` adds that many numbered shops, `page_bytes` pads every page to about that size, and `addressing`
    says how the shops are told apart (`names`, `addresses`, `ports`) instead of letting the machine decide.
    """
    started: _Started = Future()

    async def serving() -> None:
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        async with running(port=port, bulk=bulk, page_bytes=page_bytes, addressing=addressing) as server:
            started.set_result((server, partial(loop.call_soon_threadsafe, stop.set)))
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
