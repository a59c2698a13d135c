"""Serves the app: binds its port first, so that its address is known, and ends when it is told to."""

from __future__ import annotations

import ipaddress
import logging
import signal
import socket
import threading
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import uvicorn

from crawler.config import Settings
from crawler.errors import ConfigError, UsageError
from crawler.reading.bounds import WEB_BYTES, bound_memory
from crawler.web.app import create_app
from crawler.web.patience import Crowd, PatientProtocol
from crawler.web.proxies import Proxies

if TYPE_CHECKING:
    from collections.abc import Generator

    from crawler.stores import Stores

BACKLOG = 512
GRACE_SECONDS = 10
AT_ONCE = 1_000  # connections; more are told to come again
MAX_HEADER_BYTES = 131_072  # so that who asks for too much is told so, and not cut off


class PublicBindError(ConfigError):
    """Others could reach this, and nothing keeps them from changing it."""

    code = "public_bind"


class PortError(UsageError):
    """The address cannot be listened on."""

    code = "port"


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a host."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_bind(host: str, settings: Settings) -> None:
    """Refuse an address that others reach where no token guards what is behind it."""
    if not settings.admin_token.get_secret_value() and not is_loopback(host):
        raise PublicBindError(
            f"{host} can be reached from elsewhere, and ADMIN_TOKEN is not set",
            hint="set ADMIN_TOKEN, or serve on 127.0.0.1 behind a proxy",
        )


@contextmanager
def listening(host: str, port: int) -> Generator[socket.socket]:
    """A port that is listened on; 0 is any that is free."""
    try:
        [found, *_] = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        bound = socket.create_server(found[4][:2], family=found[0], backlog=BACKLOG)
    except OSError as error:
        raise PortError(
            f"{host} port {port} cannot be listened on: {error.strerror}", hint="try another --port"
        ) from None
    # What accepts inherits it; else the end of each answer waits for the client's word on its beginning.
    bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with bound:
        yield bound


def address_of(bound: socket.socket) -> str:
    """Where a browser finds what listens there."""
    host, port = bound.getsockname()[:2]
    if ipaddress.ip_address(host).is_unspecified:
        host = "127.0.0.1" if bound.family == socket.AF_INET else "::1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(stores: Stores, bound: socket.socket) -> None:
    """Answer until a signal says stop; requests under way are answered first."""
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: None)  # uvicorn raises again what it has heeded
    bound_memory(WEB_BYTES)
    server_of(stores).run(sockets=[bound])


def server_of(stores: Stores) -> uvicorn.Server:
    """The server, as it is set up."""
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    protocol: Any = partial(PatientProtocol, crowd=Crowd(Proxies(stores.settings.trusted_proxies)))
    config = uvicorn.Config(
        create_app(stores), log_config=None, access_log=False, server_header=False, proxy_headers=False,
        lifespan="off", ws="none", http=protocol, limit_concurrency=AT_ONCE,
        timeout_graceful_shutdown=GRACE_SECONDS, h11_max_incomplete_event_size=MAX_HEADER_BYTES,
    )  # fmt: skip
    return uvicorn.Server(config)
