"""The enclosure around a browser: a proxy of our own on loopback, through which every connection of it goes.

It resolves names itself, judges the whole answer by the egress rule, and connects to the very addresses that
it judged. Each browsing context has a door of its own in it, which is open only while one of its pages is
being rendered and its session holds the domain. One request a connection: nothing is ever sent on to a site
that was not asked about just before.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from attrs import define, field, frozen

from crawler import logs
from crawler.access.egress import EgressPolicy, given_away, host_name
from crawler.rendering.wire import END, BadHeadError, Body, Head, Upstream, read_answer_head, read_head

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

LOOPBACK = "127.0.0.1"
CONNECT_SECONDS = 15.0
HEAD_SECONDS = 30.0
CHUNK = 64 * 1024
MOST_REMEMBERED = 200  # hosts that came to nothing
ESTABLISHED = b"HTTP/1.1 200 Connection Established\r\n\r\n"
REFUSED = b"HTTP/1.1 403 Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

# What ends a connection without anybody having done wrong.
GONE = (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError)

Streams: TypeAlias = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Resolve: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]
log = logs.get_logger(__name__)


class Trouble(StrEnum):
    """Why a host was not connected to."""

    REFUSED = "refused"  # by the egress rule
    CLOSED = "closed"  # nothing of this context may go out now
    UNKNOWN = "unknown_host"
    UNREACHABLE = "unreachable"
    TOO_SLOW = "too_slow"


class NotConnectedError(Exception):
    """A connection that was not made, and why."""

    def __init__(self, trouble: Trouble, reason: str) -> None:
        super().__init__(reason)
        self.trouble = trouble


@frozen
class Rules:
    """What holds for every connection of a browser."""

    policy: EgressPolicy
    upstream: Upstream | None = None  # the operator's proxy, which then resolves names


@define(eq=False)
class Door:
    """The way out of one browsing context."""

    is_open: Callable[[], bool]  # asked before every connection, and before each piece that is sent
    max_bytes: int
    server: asyncio.Server = field(init=False)
    received: int = 0  # bytes, of the page that is being rendered
    troubles: dict[str, tuple[Trouble, str]] = field(factory=dict)  # by host
    addresses: dict[str, str] = field(factory=dict)  # that hosts were reached at
    broken: set[str] = field(factory=set)  # what was asked for, and broke off
    _open: set[asyncio.StreamWriter] = field(factory=set)

    @property
    def url(self) -> str:
        """Where the context's proxy listens."""
        return f"http://{LOOPBACK}:{self.server.sockets[0].getsockname()[1]}"

    @property
    def is_over(self) -> bool:
        """Whether the page has brought more than it may."""
        return self.received > self.max_bytes

    def begin_page(self) -> None:
        """Count anew, for a page that is about to be rendered."""
        self.received = 0
        self.troubles.clear()
        self.addresses.clear()
        self.broken.clear()

    def cut(self) -> None:
        """End the connections that there are; what a page left running sends nothing more."""
        for writer in list(self._open):
            writer.transport.abort()

    async def close(self) -> None:
        """Stop listening, and cut what is connected."""
        self.server.close()
        self.cut()
        await self.server.wait_closed()

    def note(self, host: str, trouble: Trouble, reason: str) -> None:
        """Remember why a host could not be connected to, for who asks what became of a page."""
        if len(self.troubles) < MOST_REMEMBERED:
            self.troubles.setdefault(host_name(host), (trouble, reason))

    @property
    def not_reached(self) -> list[str]:
        """The hosts that a page wanted something of in vain, each with the reason."""
        lost = [(host, why) for host, (why, _) in self.troubles.items() if why is not Trouble.CLOSED]
        return [f"{host} {why.value}" for host, why in sorted(lost)]

    def reached(self, host: str, streams: Streams) -> None:
        """Remember at which address a host was reached; the browser has only seen our proxy's."""
        if len(self.addresses) < MOST_REMEMBERED:
            self.addresses[host_name(host)] = str(streams[1].get_extra_info("peername")[0])

    def broke_off(self, url: str) -> bool:
        """Whether the answer to a request is known not to have come whole; of a tunnel nothing is known."""
        return url.partition("#")[0] in self.broken

    @asynccontextmanager
    async def open_streams(self, *writers: asyncio.StreamWriter) -> AsyncGenerator[None]:
        """Have connections cut with the door, and closed after the block in any case."""
        self._open.update(writers)
        try:
            yield
        finally:
            self._open.difference_update(writers)
            for writer in writers:
                writer.close()


class Enclosure:
    """Opens doors; one for each browsing context, and one that stays shut for all that belongs to none."""

    def __init__(self, rules: Rules, resolve: Resolve | None = None) -> None:
        self._rules = rules
        self._resolve = resolve or addresses_of
        self._doors: list[Door] = []
        self._serving: set[asyncio.Task[None]] = set()

    async def open_door(self, is_open: Callable[[], bool], max_bytes: int) -> Door:
        """Listen for a context on a port of its own."""
        door = Door(is_open, max_bytes)

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            if task is not None:
                self._serving.add(task)
                task.add_done_callback(self._serving.discard)
            with suppress(*GONE):
                async with door.open_streams(writer):
                    await self._serve(door, reader, writer)

        door.server = await asyncio.start_server(serve, LOOPBACK, 0, limit=CHUNK)
        self._doors.append(door)
        return door

    async def close_door(self, door: Door) -> None:
        """A context is gone."""
        if door in self._doors:
            self._doors.remove(door)
            await door.close()

    async def close(self) -> None:
        """Close every door, and wait until nothing is connected any more."""
        for door in list(self._doors):
            await self.close_door(door)
        for task in (serving := list(self._serving)):
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)

    # ── one connection of the browser ──

    async def _serve(self, door: Door, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(HEAD_SECONDS):
                head = await read_head(reader)
        except (BadHeadError, TimeoutError, asyncio.LimitOverrunError):
            return
        try:
            remote = await self._connected(door, head)
        except NotConnectedError as error:
            door.note(head.host, error.trouble, str(error))
            log.debug("enclosure.refused", host=head.host, trouble=error.trouble, reason=str(error))
            if head.is_tunnel:
                writer.write(REFUSED)
            return  # an answer of ours would look like the site's
        async with door.open_streams(remote[1]):
            exchange = Exchange(door, (reader, writer), remote)
            await exchange.run(head, self._rules.upstream)

    async def _connected(self, door: Door, head: Head) -> Streams:
        """A connection to the host that was asked for, if it may be had."""
        if not door.is_open() or door.is_over:
            raise NotConnectedError(Trouble.CLOSED, "nothing may go out now")
        upstream, policy = self._rules.upstream, self._rules.policy
        if upstream is not None:
            if reason := policy.refusal(head.host, given_away(head.host)):
                raise NotConnectedError(Trouble.REFUSED, reason)
            addresses, port = await self._resolve(upstream.host, upstream.port), upstream.port
        else:
            addresses, port = await self._resolve(head.host, head.port), head.port
            if reason := policy.refusal(head.host, addresses):
                raise NotConnectedError(Trouble.REFUSED, reason)
        if not door.is_open():  # looking up a name takes its time
            raise NotConnectedError(Trouble.CLOSED, "nothing may go out any more")
        streams = await connect(addresses, port)
        if upstream is None:
            door.reached(head.host, streams)
        return streams


async def addresses_of(host: str, port: int) -> Sequence[str]:
    """Every address that a name has now."""
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise NotConnectedError(Trouble.UNKNOWN, f"{host} is not known: {error}") from error
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


async def connect(addresses: Sequence[str], port: int) -> Streams:
    """A connection to the first of these addresses that takes one."""
    last: Exception = OSError("no address")
    for address in addresses:
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                return await asyncio.open_connection(address, port, limit=CHUNK)
        except (OSError, TimeoutError) as error:
            last = error
    trouble = Trouble.TOO_SLOW if isinstance(last, TimeoutError) else Trouble.UNREACHABLE
    raise NotConnectedError(trouble, str(last) or type(last).__name__)


@frozen
class Exchange:
    """A browser and a site, connected."""

    door: Door
    browser: Streams
    site: Streams

    async def run(self, head: Head, upstream: Upstream | None) -> None:
        """Have one request answered, or a tunnel used until either side has had enough of it."""
        if not head.is_tunnel or upstream is not None:
            self.site[1].write(head.as_sent(upstream))
        if head.is_tunnel:
            self.browser[1].write(ESTABLISHED if upstream is None else await self.site[0].readuntil(END))
        sending = asyncio.ensure_future(self._send())
        try:
            await (self._receive(Body()) if head.is_tunnel else self._answer(head))
        finally:
            sending.cancel()
            with suppress(asyncio.CancelledError, OSError):
                await sending

    async def _answer(self, head: Head) -> None:
        """Pass on one answer; of one that broke off that is remembered, for a browser does not tell."""
        said = await read_answer_head(self.site[0])
        body, is_whole = Body.of(head.method, said), False
        self.browser[1].write(said)
        self.door.broken.discard(head.url)
        try:
            await self._receive(body)
            is_whole = body.is_whole
        finally:
            if not is_whole:
                self.door.broken.add(head.url)

    async def _receive(self, body: Body) -> None:
        """Pass on what the site sends, up to what a page may bring."""
        reader, writer = self.site[0], self.browser[1]
        while not self.door.is_over and (data := await reader.read(CHUNK)):
            self.door.received += len(data)
            body.add(data)
            writer.write(data)
            await writer.drain()

    async def _send(self) -> None:
        """Pass on what the browser sends, for as long as its session may send anything."""
        reader, writer = self.browser[0], self.site[1]
        while data := await reader.read(CHUNK):
            if not self.door.is_open():
                writer.transport.abort()
                return
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
