"""One client's connection: requests come in, answers go out, until one of them ends it."""

from __future__ import annotations

import asyncio
import socket
import struct
from typing import TYPE_CHECKING

from crawler.demo.desk import DESK_PATH, Desk
from crawler.demo.scenarios import ENDLESS_BYTES
from crawler.demo.wire import BadRequestError, Ending, Reply, Request, head_bytes, parse_request

if TYPE_CHECKING:
    from crawler.demo.addresses import Place

MAX_HEAD_BYTES = 64 * 1024
_LOOK_SECONDS = 0.05
_BAD_REQUEST = Reply(b"That is not HTTP/1.1.\n", 400, "text/plain")
_HEAD_TOO_LARGE = Reply(b"That is a very long request.\n", 431, "text/plain")


class Connection:
    """Serves one client until it or an answer ends the connection."""

    def __init__(self, desk: Desk, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._desk = desk
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
        if request.path.startswith(DESK_PATH):
            return await self._send(request, self._desk.at_desk(request))
        return await self._answer(request)

    async def _refuse(self, reply: Reply) -> bool:
        self._writer.write(head_bytes(reply, keep_alive=False) + reply.body)
        await self._writer.drain()
        return False

    async def _answer(self, request: Request) -> bool:
        host = self._desk.doors.host_behind(request.host, self._place)
        shop = self._desk.shop_of(host)
        visit = self._desk.log.arrived(request, shop.name if shop else "")
        try:
            reply = self._desk.answer(request, host)
            await self._pause(reply.delay)
            visit.status = 0 if reply.ending is Ending.RESET else reply.status
            if reply.ending is Ending.ENDLESS:
                return await self._send(request, reply)
        finally:
            # Before the last byte goes out, so that whoever has the answer finds it in the log.
            self._desk.log.left(visit)
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
