"""Many at once: everybody is answered, whoever writes meanwhile."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import httpx2

from crawler.clock import utc_now
from crawler.db.models import AuditEntry
from tests.unit.archive.stored import index_pages, keep
from tests.unit.web.conftest import NO_TLS

if TYPE_CHECKING:
    from tests.unit.web.conftest import Served

AT_ONCE = 200
UNLIMITED = httpx2.Limits(max_connections=None)
PATHS = ("/api/search?q=beech", "/search?q=beech", "/snapshots/1?verify=1", "/api/snapshots/raw/1")


def test_everybody_is_answered(served_on_both: Served) -> None:
    """More ask at once than there are threads and connections, and somebody writes all the while."""
    served = served_on_both
    keep(served.database, served.blobs, "<title>A chair</title><main><p>Made of beech.</p></main>")
    index_pages(served.database, served.blobs)
    over = threading.Event()

    def write() -> int:
        written = 0
        while not over.is_set():
            with served.database.write() as db:
                db.add(AuditEntry(timestamp=utc_now(), actor="a", action="b", subject="c", details={}))
            written += 1
        return written

    def ask(number: int) -> int:
        path = PATHS[number % len(PATHS)]
        return client.get(path, timeout=300).status_code

    with (
        httpx2.Client(base_url=served.address, limits=UNLIMITED, verify=NO_TLS) as client,
        ThreadPoolExecutor(AT_ONCE + 1) as threads,
    ):
        writing = threads.submit(write)
        answers = Counter(threads.map(ask, range(AT_ONCE)))
        over.set()
        assert writing.result() > 0
    assert answers == {200: AT_ONCE}
