"""One of the demo's shops as it was on some days, archived as a job leaves it: crawled, indexed, compared."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TYPE_CHECKING
from urllib.parse import urljoin
from urllib.request import urlopen

from crawler.db.models import RegisteredSource
from crawler.jobs import orders
from crawler.jobs.changes_step import Comparer
from crawler.jobs.indexing import Indexer
from tests.unit.archive.captured import day, exchange
from tests.unit.warc.made import made

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawler.config import Settings
    from crawler.db.engine import Database
    from crawler.demo import DemoServer
    from crawler.warc.messages import Exchange

SHOP = "price-changes"
_ADDRESSES = re.compile(rb"""(?:href|src)="(/[^"#]*)\"""")
_LEADS_NOWHERE = ("/account", "/cart", "/search")


def visited(shops: DemoServer, days: int, most: int = 30) -> Iterator[Exchange]:
    """What a visitor is answered who comes on each of the days at noon."""
    for number in range(1, days + 1):
        shops.set_day(number)
        found = [shops.url(SHOP)]
        for at in range(most):
            if at == len(found):
                break
            url = found[at]
            with urlopen(url) as answer:  # ruff: ignore[suspicious-url-open-usage] - our own server
                body, kind = answer.read(), answer.headers["Content-Type"]
            yield exchange(url, body, day(number, 12, at), kind=kind)
            if kind.startswith("text/html"):
                paths = [path.decode() for path in _ADDRESSES.findall(body)]
                wanted = (urljoin(url, path) for path in paths if not path.startswith(_LEADS_NOWHERE))
                found += [each for each in dict.fromkeys(wanted) if each not in found]


def archived(database: Database, settings: Settings, folder: Path, answers: Iterator[Exchange]) -> int:
    """Have answers archived by a job, indexed, and compared; the job's number."""
    path = folder / "warcs" / "demo.warc.gz"
    path.parent.mkdir(parents=True)
    path.write_bytes(made(*answers)[0])
    with database.write() as db:
        db.add(RegisteredSource(code="shop", name="Tide & Tally", created_at=db.now, updated_at=db.now))
        db.flush()
        job = orders.register(db, "shop", folder, "demo-days", now=db.now).id
    with ThreadPoolExecutor(1) as thread:  # pytest-twisted's loop runs in this one
        assert thread.submit(Indexer(database, settings).work_once).result()
        assert thread.submit(Comparer(database, settings, Event()).work_once).result()
    return job
