"""A real server on a free port, on a database that a test fills."""

from __future__ import annotations

import threading
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import httpx2
import pytest
from attrs import frozen

from crawler.config import load_settings
from crawler.evidence.folder_store import FolderStore
from crawler.stores import Stores, open_stores
from crawler.web import serving
from tests.e2e.conftest import wait_for

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from crawler.db.engine import Database

TOKEN = "a-token-for-tests"


@frozen
class Served:
    """A server, and a client that asks it."""

    address: str
    client: httpx2.Client
    stores: Stores

    @property
    def database(self) -> Database:
        """Where it reads."""
        return self.stores.database

    @property
    def blobs(self) -> FolderStore:
        """Where the files of artifacts lie."""
        assert isinstance(self.stores.blobs, FolderStore)
        return self.stores.blobs

    def get(self, path: str, **more: Any) -> httpx2.Response:
        """What a GET is answered."""
        return self.client.get(path, **more)


class Serve(Protocol):
    """Serves; keywords are settings."""

    def __call__(self, **settings: Any) -> Served:
        """Start a server that ends with the test."""


@contextmanager
def serving_on(url: str, home: Path) -> Generator[Serve]:
    """Starts servers on a database; they end with the block."""
    with ExitStack() as stack:

        def start(**settings: Any) -> Served:
            given = {"vitrine_home": home, "database_url": url, **settings}
            stores = stack.enter_context(open_stores(load_settings(given)))
            bound = stack.enter_context(serving.listening("127.0.0.1", 0))
            server = serving.server_of(stores)
            thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
            thread.start()
            stack.callback(thread.join)
            stack.callback(lambda: setattr(server, "should_exit", True))
            wait_for(lambda: server.started)
            address = serving.address_of(bound)
            client = stack.enter_context(httpx2.Client(base_url=address, timeout=60))
            return Served(address, client, stores)

        yield start


@pytest.fixture
def serve(sqlite_database: str, tmp_path: Path) -> Generator[Serve]:
    """Starts servers on the test's own SQLite database."""
    with serving_on(sqlite_database, tmp_path / "home") as start:
        yield start


@pytest.fixture
def served(serve: Serve) -> Served:
    """A server with nothing set but a token."""
    return serve(admin_token=TOKEN)


@pytest.fixture
def served_on_both(database_url: str, tmp_path: Path) -> Generator[Served]:
    """The same on each kind of database."""
    with serving_on(database_url, tmp_path / "home") as start:
        yield start(admin_token=TOKEN)
