"""A store of each kind; the bucket is on a real S3 server of this machine."""

from __future__ import annotations

import sys
from http.client import HTTPConnection, HTTPException
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from crawler.config import load_settings
from crawler.evidence.bodies import open_blobs
from tests.embedded.process import free_port, server_folder, start_guarded

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from crawler.evidence.blobs import BlobStore

    MakeStore = Callable[[str], BlobStore]

KINDS = ("folder", "bucket")


@pytest.fixture(scope="session")
def s3_endpoint() -> Generator[str]:
    """An S3 server for the whole run."""
    port = free_port()
    endpoint = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with server_folder() as folder:
        server = start_guarded(command, folder, None, lambda: _answers(endpoint))
        yield endpoint
        server.stop()


@pytest.fixture
def open_place(request: pytest.FixtureRequest, tmp_path: Path) -> MakeStore:
    """Opens the store of a place; of a folder that is not there, or a bucket that nobody made, as well."""
    if request.param == "folder":
        return lambda place: open_blobs(load_settings({"ARTIFACTS_DIR": str(tmp_path / place)}))
    endpoint: str = request.getfixturevalue("s3_endpoint")

    def opened(place: str) -> BlobStore:
        return open_blobs(
            load_settings(
                {
                    "ARTIFACTS_DIR": f"s3://{place}/some/prefix",
                    "AWS_ENDPOINT_URL": endpoint,
                    "AWS_REGION": "us-east-1",
                    "AWS_ACCESS_KEY_ID": "key",
                    "AWS_SECRET_ACCESS_KEY": "secret",
                }
            )
        )

    return opened


@pytest.fixture
def blobs(open_place: MakeStore, request: pytest.FixtureRequest, tmp_path: Path) -> BlobStore:
    """An empty store."""
    place = f"place-{uuid4().hex[:12]}"
    if "bucket" in request.node.callspec.params.values():
        assert _asked(request.getfixturevalue("s3_endpoint"), "PUT", f"/{place}") == 200
    else:
        (tmp_path / place).mkdir()
    return open_place(place)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every test runs on each kind of store."""
    if "open_place" in metafunc.fixturenames:
        metafunc.parametrize("open_place", KINDS, indirect=True)


def _asked(endpoint: str, method: str, path: str) -> int:
    connection = HTTPConnection(endpoint.removeprefix("http://"), timeout=10)
    try:
        connection.request(method, path)
        return connection.getresponse().status
    finally:
        connection.close()


def _answers(endpoint: str) -> bool:
    try:
        return _asked(endpoint, "GET", "/") == 200
    except (HTTPException, OSError):
        return False
