"""An S3 server of this machine's own."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import TYPE_CHECKING

from tests.servers import Server, free_port, server_folder

if TYPE_CHECKING:
    from collections.abc import Generator


@contextmanager
def own_s3() -> Generator[str]:
    """The address of a server that runs for the length of the block."""
    port = free_port()
    endpoint = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with (
        server_folder() as folder,
        Server(command, folder, port, endpoint, lambda: _asked(endpoint, "GET", "/")),
    ):
        yield endpoint


def make_bucket(endpoint: str, name: str) -> None:
    """An empty bucket."""
    assert _asked(endpoint, "PUT", f"/{name}") == 200


def settings_for(endpoint: str, place: str) -> dict[str, str]:
    """What Vitrine is told, to keep its evidence in a bucket."""
    return {
        "ARTIFACTS_DIR": f"s3://{place}/some/prefix", "AWS_ENDPOINT_URL": endpoint, "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret",
    }  # fmt: skip


def _asked(endpoint: str, method: str, path: str) -> int:
    connection = HTTPConnection(endpoint.removeprefix("http://"), timeout=10)
    try:
        connection.request(method, path)
        return connection.getresponse().status
    finally:
        connection.close()
