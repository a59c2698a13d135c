"""The enclosure around a browser: what it connects to, what it refuses, and that it ends with its session."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import pytest
from attrs import define, field

from crawler.access.egress import EgressPolicy
from crawler.rendering.enclosure import Enclosure, NotConnectedError, Rules, Trouble
from crawler.rendering.wire import BadHeadError, Head, Upstream
from tests.unit.components import awaited

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

    from crawler.rendering.enclosure import Door

PUBLIC = "93.184.216.34"
ONLY_HERE = EgressPolicy.of(["127.0.0.1/32"])
NOTHING = EgressPolicy.of([])


@define
class Site:
    """A server that notes what it is sent, and answers as it was told."""

    answer: bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\nhello"
    port: int = 0
    asked: list[bytes] = field(factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection."""
        with suppress(OSError, asyncio.IncompleteReadError):
            self.asked.append(await reader.readuntil(b"\r\n\r\n"))
            if b"POST" in self.asked[-1]:
                self.asked[-1] += await reader.readexactly(4)
            writer.write(self.answer)
            await writer.drain()
        writer.close()


@define
class World:
    """An enclosure, the door of one context in it, and a site behind it."""

    site: Site
    enclosure: Enclosure
    door: Door
    is_open: bool = True

    async def ask(self, data: bytes, more: bytes = b"") -> bytes:
        """What a browser gets for what it sends."""
        port = self.door.server.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(data)
        if more:
            await asyncio.sleep(0.01)
            writer.write(more)
        async with asyncio.timeout(120):
            answer = await reader.read(1_000_000) if data.startswith(b"CONNECT") and more else b""
            answer += await reader.read() if not answer else b""
        writer.close()
        return answer

    def get(self, host: str = "127.0.0.1", path: str = "/a?b=c") -> bytes:
        """A browser's request to its proxy."""
        return (
            f"GET http://{host}:{self.site.port}{path} HTTP/1.1\r\nHost: {host}\r\nCookie: a=b\r\n"
            "Proxy-Connection: keep-alive\r\n\r\n"
        ).encode()


@asynccontextmanager
async def a_world(
    policy: EgressPolicy = ONLY_HERE, resolve: Any = None, max_bytes: int = 1000, answer: bytes = b"",
    proxy: str = "",
) -> AsyncGenerator[World]:  # fmt: skip
    """All of it, for as long as the block."""
    site = Site(answer) if answer else Site()
    server = await asyncio.start_server(site.serve, "127.0.0.1", 0)
    site.port = server.sockets[0].getsockname()[1]
    enclosure = Enclosure(Rules(policy, Upstream.of(proxy.format(port=site.port))), resolve)
    world: Any = None
    door = await enclosure.open_door(lambda: world.is_open, max_bytes)
    world = World(site, enclosure, door)
    try:
        yield world
    finally:
        await enclosure.close()
        server.close()


def in_world(test: Callable[[World], Awaitable[Any]], **how: Any) -> Any:
    """What comes of something that is done in one."""

    async def run() -> Any:
        async with a_world(**how) as world:
            return await test(world)

    return awaited(run())


def test_a_request_reaches_the_site_as_a_site_sees_requests() -> None:
    """With its path alone, its headers, and nothing that was for the proxy; one request a connection."""

    async def test(world: World) -> None:
        answer = await world.ask(world.get())
        assert answer == b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"
        assert world.site.asked == [
            b"GET /a?b=c HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: a=b\r\nConnection: close\r\n\r\n"
        ]
        assert world.door.received == 5
        assert world.door.addresses == {"127.0.0.1": "127.0.0.1"}

    in_world(test, answer=Site().answer.replace(b"keep-alive", b"keep-alive") + b"")


def test_a_body_is_passed_on() -> None:
    """Before the answer has begun."""

    async def test(world: World) -> None:
        head = world.get().replace(b"GET", b"POST").replace(b"Cookie: a=b", b"Content-Length: 4")
        assert (await world.ask(head, b"body")).endswith(b"hello")
        assert world.site.asked[0].endswith(b"\r\n\r\nbody")

    in_world(test)


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "127.1", "0x7f.1", "2130706433", "0", "[::1]", "[::ffff:127.0.0.1]",
     "169.254.169.254", "10.0.0.1", "100.64.0.1", "[64:ff9b::7f00:1]", "[2002:7f00:1::]"],
)  # fmt: skip
def test_private_addresses_are_not_connected_to(host: str) -> None:
    """However they are spelt, for requests and for tunnels; nothing reaches the site; the reason is told."""

    async def test(world: World) -> None:
        assert await world.ask(world.get(host)) == b""
        tunnel = f"CONNECT {host}:{world.site.port} HTTP/1.1\r\n\r\n".encode()
        assert (await world.ask(tunnel)).startswith(b"HTTP/1.1 403")
        assert world.site.asked == []
        [(trouble, reason)] = world.door.troubles.values()
        assert trouble is Trouble.REFUSED
        assert reason
        assert world.door.addresses == {}

    in_world(test, policy=NOTHING)


def test_a_name_that_changes_its_answer_is_judged_by_each_answer() -> None:
    """The address that was judged is the one that is connected to: a second look-up comes to nothing."""
    answers = iter([[PUBLIC, "127.0.0.1"], ["127.0.0.1"]])
    asked: list[str] = []

    # ruff: ignore[unused-async] - as the enclosure asks
    async def rebinding(host: str, _port: int) -> Sequence[str]:
        asked.append(host)
        return next(answers)

    async def test(world: World) -> None:
        for _ in range(2):
            assert await world.ask(world.get("rebind.example")) == b""
        assert world.site.asked == []
        assert asked == ["rebind.example"] * 2  # one look-up a connection
        assert world.door.troubles["rebind.example"][0] is Trouble.REFUSED

    in_world(test, policy=NOTHING, resolve=rebinding)


def test_what_belongs_to_no_session_goes_nowhere() -> None:
    """A door that is shut connects to nothing, not even to what it looked up while it was open."""

    async def test(world: World) -> None:
        world.is_open = False
        assert await world.ask(world.get()) == b""
        assert world.site.asked == []
        assert world.door.troubles["127.0.0.1"][0] is Trouble.CLOSED

    in_world(test)

    async def closes(world: World) -> None:
        world.is_open = True

        # ruff: ignore[unused-async] - as the enclosure asks
        async def slow(_host: str, _port: int) -> Sequence[str]:
            world.is_open = False
            return ["127.0.0.1"]

        world.enclosure._resolve = slow
        assert await world.ask(world.get()) == b""
        assert world.site.asked == []

    in_world(closes)


def test_a_tunnel_is_passed_on_both_ways_until_its_session_has_lost_its_domain() -> None:
    """Nothing more is sent through it then, and what is under way breaks off."""

    async def tunnel(world: World) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        port = world.door.server.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"CONNECT 127.0.0.1:{world.site.port} HTTP/1.1\r\n\r\n".encode())
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
        return reader, writer

    async def test(world: World) -> None:
        reader, writer = await tunnel(world)
        writer.write(b"anything\r\n\r\n")
        assert (await reader.readexactly(20)).startswith(b"HTTP/1.1 200 OK")
        writer.close()
        reader, writer = await tunnel(world)
        world.is_open = False
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        assert await reader.read() == b""
        writer.close()
        assert world.site.asked == [b"anything\r\n\r\n"]

    in_world(test)


def test_a_page_is_cut_off_at_its_bound() -> None:
    """And gets no further connection; the next page begins anew."""
    long = b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 200_000

    async def test(world: World) -> None:
        assert len(await world.ask(world.get())) < 150_000
        assert world.door.is_over
        assert await world.ask(world.get()) == b""
        assert len(world.site.asked) == 1
        world.door.begin_page()
        assert await world.ask(world.get())

    in_world(test, answer=long)


def test_the_operators_proxy_is_asked_in_turn() -> None:
    """With its password; what a URL gives away is refused before."""

    async def test(world: World) -> None:
        await world.ask(world.get("shop.example"))
        assert await world.ask(world.get("127.0.0.1")) == b""
        [asked] = world.site.asked
        assert asked.startswith(f"GET http://shop.example:{world.site.port}/a?b=c HTTP/1.1".encode())
        assert b"Proxy-Authorization: Basic bWU6cMOkc3M=" in asked
        assert world.door.addresses == {}  # whom the proxy has asked is not known

    in_world(test, policy=NOTHING, proxy="http://me:p%C3%A4ss@127.0.0.1:{port}")


def test_what_was_not_reached_is_told_with_the_reason() -> None:
    """But not what came when nothing might go out, which is no fault of the host; a page begins anew."""

    # ruff: ignore[unused-async] - as the enclosure asks
    async def resolve(host: str, _port: int) -> Sequence[str]:
        if host == "nowhere.example":
            raise NotConnectedError(Trouble.UNKNOWN, f"{host} is not known")
        return [host]

    async def test(world: World) -> None:
        await world.ask(world.get("10.0.0.1"))
        await world.ask(world.get("nowhere.example"))
        await world.ask(b"GET http://127.0.0.1:1/ HTTP/1.1\r\n\r\n")
        world.is_open = False
        await world.ask(world.get("later.example"))
        assert [trouble for trouble, _ in world.door.troubles.values()] == [
            Trouble.REFUSED, Trouble.UNKNOWN, Trouble.UNREACHABLE, Trouble.CLOSED,
        ]  # fmt: skip
        assert world.door.not_reached == [
            "10.0.0.1 refused", "127.0.0.1 unreachable", "nowhere.example unknown_host",
        ]  # fmt: skip
        world.door.begin_page()
        assert world.door.not_reached == []

    in_world(test, resolve=resolve)


@pytest.mark.parametrize(
    "head",
    [b"nonsense", b"GET / HTTP/1.1", b"GET ftp://a.example/ HTTP/1.1", b"GET http:///a HTTP/1.1",
     b"CONNECT HTTP/1.1", b"CONNECT a.example:99999 HTTP/1.1", b"GET http://u:p@a.example/ HTTP/1.1",
     b"GET http://a.example/ SPDY/3", b"GET http://[::1/ HTTP/1.1"],
)  # fmt: skip
def test_what_is_no_request_to_a_proxy_is_none(head: bytes) -> None:
    """It gets no answer."""
    with pytest.raises(BadHeadError):
        Head.parse(head + b"\r\n\r\n")
