"""A real server on a free port, on a database that a test fills."""

from __future__ import annotations

import ssl
import threading
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol

import httpx2
import pytest
from attrs import frozen

from crawler.archive.changes import ChangesOrder, compute_changes
from crawler.clock import utc_now
from crawler.config import load_settings
from crawler.db.models import Job, JobStep, RegisteredSource
from crawler.evidence.folder_store import FolderStore
from crawler.evidence.store_mark import mark_store
from crawler.stores import Stores, open_stores
from crawler.web import serving
from tests.unit.archive.captured import SHOP, day
from tests.unit.archive.stored import index_pages, keep
from tests.unit.web.inside import OWN
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from crawler.db.engine import Database

TOKEN = "a-token-for-tests"
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # a client reads all authorities of this machine otherwise


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
            mark_store(stores.database, stores.blobs)
            bound = stack.enter_context(serving.listening("127.0.0.1", 0))
            server = serving.server_of(stores)
            thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
            thread.start()
            stack.callback(thread.join)
            stack.callback(lambda: setattr(server, "should_exit", True))
            wait_for(lambda: server.started)
            address = serving.address_of(bound)
            client = stack.enter_context(httpx2.Client(base_url=address, timeout=60, verify=NO_TLS))
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


@pytest.fixture
def inside(served: Served) -> Served:
    """A browser that has logged in."""
    response = served.client.post("/admin/login", data={"token": TOKEN, "next": "/admin"}, headers=OWN)
    assert response.status_code == 303
    return served


@pytest.fixture
def with_jobs(served_on_both: Served) -> Served:
    """A job of each kind of trouble: well, failed, without a source, and left by its worker."""
    now = utc_now()
    with served_on_both.database.write() as db:
        source = RegisteredSource(code="hc", name="Health", created_at=now, updated_at=now)
        db.add(source)
        db.flush()
        rows = {
            "well": Job(status="indexed", source_id=source.id, pages_crawled=7, pages_failed=2),
            "failed": Job(status="failed", source_id=source.id, cleanup_status="temp_cleaned"),
            "alone": Job(status="queued"),
            "left": Job(status="running", source_id=source.id),
        }
        for name, row in rows.items():
            row.name, row.output_dir = name, f"/archive/{name}"
            row.created_at = row.updated_at = row.queued_at = now - timedelta(hours=3)
            db.add(row)
            db.flush()
        db.add(
            JobStep(
                job_id=rows["left"].id, status="in_progress", detail={}, next_run_at=now, created_at=now,
                updated_at=now, begun_at=now - timedelta(hours=2), lease_owner="gone",
                lease_expires_at=now - timedelta(hours=1),
            )
        )  # fmt: skip
    return served_on_both


PAGE = "<html lang=en><title>Shoes</title><h1>Shoes</h1><p>Red shoes.<h2>Price &amp; more</h2><p>{}"


@pytest.fixture
def shop(served: Served) -> Served:
    """A page on three days, and another one on one."""
    for number, price in (
        (1, "10 EUR"),
        (2, "12 EUR <b>&lt;script&gt;"),
        (3, "12 EUR <b>&lt;script&gt;</b>"),
    ):
        keep(served.database, served.blobs, PAGE.format(price), SHOP, at=day(number))
        index_pages(served.database, served.blobs)
    keep(served.database, served.blobs, PAGE.format(1), f"{SHOP}other?a=1&b=]]>", at=day(2))
    index_pages(served.database, served.blobs)
    compute_changes(served.database, ChangesOrder())
    return served
