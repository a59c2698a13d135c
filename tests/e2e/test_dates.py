"""Archives whose records say no more of their time than the year or the month."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from crawler.db.models import RegisteredSource
from crawler.jobs import orders
from crawler.jobs.indexing import Indexer
from tests.unit.archive.warcs import Page, write_warc
from tests.unit.web.conftest import serving_on

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from tests.unit.web.conftest import Served

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*SpooledTemporaryFile:pytest.PytestUnraisableExceptionWarning", "ignore:Unclosed:ResourceWarning"
)
URL = "https://shop.example/"
LATER = (("Date", "Mon, 30 Jan 2017 10:11:12 GMT"),)
# What a record says, and what is known of it.
DATES = {
    "year": ("2014", "2014", "20140101000000"),
    "month": ("2014-02", "2014-02", "20140201000000"),
    "day": ("2014-03-05", "2014-03-05", "20140305000000"),
    "minute": ("2014-04-05T10:11Z", "2014-04-05 10:11 UTC", "20140405101100"),
    "second": ("2014-05-05T10:11:12Z", "2014-05-05 10:11:12 UTC", "20140505101112"),
}


@pytest.fixture
def served(sqlite_database: str, tmp_path: Path) -> Generator[Served]:
    """A server on an archive with a page of each precision; their own server dated them years later."""
    pages = [
        Page(f"{URL}{name}", f"<title>Jug {name}</title><p>Earthenware.", at=at, headers=LATER)
        for name, (at, _, _) in DATES.items()
    ]
    write_warc(tmp_path / "job" / "warcs" / "a.warc.gz", pages)
    with serving_on(sqlite_database, tmp_path / "home") as serve:
        served = serve()
        with served.database.write() as db:
            db.add(RegisteredSource(code="shop", name="Shop", created_at=db.now, updated_at=db.now))
            db.flush()
            orders.register(db, "shop", tmp_path / "job", "job", now=db.now)
        with ThreadPoolExecutor(1) as thread:  # pytest-twisted's loop runs in this one
            assert thread.submit(Indexer(served.database, served.stores.settings).work_once).result()
        yield served


def test_the_records_date_is_shown_as_exactly_as_it_is_known(served: Served) -> None:
    """By the search, on the page of a snapshot, in the frame of replay and in its calendar."""
    hits = {hit["title"].split()[-1]: hit for hit in served.get("/api/search?q=jug").json()["results"]}
    assert hits.keys() == DATES.keys()
    for name, (_, shown, digits) in DATES.items():
        hit = hits[name]
        assert hit["datePrecision"] == (None if name == "second" else name)
        assert hit["captureDate"] == shown[:10]
        assert hit["captureTimestamp"].replace("-", "").replace("T", "").replace(":", "").startswith(digits)
        page = served.get(f"/snapshots/{hit['id']}").text
        assert f">{shown if name != 'second' else shown[:16] + ' UTC'}</time>" in page
        assert f">{shown}</time>" in served.get(f"/web/{digits}/{URL}{name}").text
        assert f">{shown}</time>" in served.get(f"/web/*/{URL}{name}").text


def test_addresses_have_the_earliest_time(served: Served) -> None:
    """All fourteen digits of it; a time of the same month is not called another one."""
    for name, (_, _, digits) in DATES.items():
        [line] = served.get(f"/web/cdx?url={URL}{name}&output=json").text.splitlines()
        assert json.loads(line)["timestamp"] == digits
    assert "the nearest capture" not in served.get(f"/web/20140220000000/{URL}month").text
    assert "the nearest capture" in served.get(f"/web/20140320000000/{URL}month").text
