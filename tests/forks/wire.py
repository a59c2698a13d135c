"""What is told to a template: an order in JSON, and the files that the new process gets."""

from __future__ import annotations

import json
import socket
from struct import Struct

from attrs import asdict, frozen

LENGTH = Struct("!I")
MOST_FILES = 64


@frozen
class Order:
    """A process to be."""

    program: str  # a module of ours or Scrapy's, or what is said after -c
    is_code: bool
    arguments: list[str]
    folder: str
    environment: dict[str, str]
    targets: list[int]  # the numbers that its files get, in their order
    ignored: list[int]  # signals
    umask: int
    safe_path: bool  # python -P
    strict: bool  # python -W error
    session: bool  # of its own
    group: int  # to join, or to lead if 0; that of its parent if -1


def send(control: socket.socket, order: Order, files: list[int]) -> None:
    """Tell it whole."""
    told = json.dumps(asdict(order)).encode("ascii")
    socket.send_fds(control, [LENGTH.pack(len(told))], files)
    control.sendall(told)


def receive(control: socket.socket) -> tuple[Order, list[int]] | None:
    """The next one, with its files; None when nobody will ask any more."""
    head, files, _flags, _address = socket.recv_fds(control, LENGTH.size, MOST_FILES)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    told = bytearray()
    while len(told) < length:
        if not (part := control.recv(length - len(told))):
            return None  # whoever asked was killed in the middle of it
        told += part
    return Order(**json.loads(told)), files
