"""Archives whose records say no more of their time than the year or the month."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from crawler.archive.changes import ChangesOrder, compute_changes
from crawler.db.models import RegisteredSource
from crawler.jobs import orders
from crawler.jobs.indexing import Indexer
from tests.e2e.conftest import Home
from tests.unit.archive.warcs import Page, write_warc
from tests.unit.web.conftest import TOKEN, serving_on

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
    pages += [
        Page(f"{URL}bowl", f"<title>Bowl</title><p>{text}", at=at, headers=LATER)
        for at, text in (("2014-02", "Earthenware."), ("2015-03", "Stoneware."))
    ]
    write_warc(tmp_path / "job" / "warcs" / "a.warc.gz", pages)
    with serving_on(sqlite_database, tmp_path / "home") as serve:
        served = serve(admin_token=TOKEN)
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


def test_changes_are_dated_as_exactly_as_it_is_known(
    served: Served, sqlite_database: str, tmp_path: Path
) -> None:
    """In the list of changes, between two captures, in a page's timeline, and where a time is resolved."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(compute_changes, served.database, ChangesOrder()).result()
    found = served.get("/api/changes?latest=false").json()["results"]
    [change] = [each for each in found if each["changeType"] == "updated"]
    assert (change["fromDatePrecision"], change["toDatePrecision"]) == ("month", "month")
    before, after = change["fromSnapshotId"], change["toSnapshotId"]
    paths = "/changes", f"/diff/{before}/{after}", "/admin/jobs/1"
    pages = [served.get(path, headers={"X-Admin-Token": TOKEN}).text for path in paths]
    for page in pages:
        assert (">2015-03</time>" in page, "2015-03-01" in page) == (True, False)
    assert ">2014-02</option>" in pages[1]
    compared = served.get(f"/api/changes/compare?fromSnapshotId={before}&toSnapshotId={after}").json()
    assert compared["fromSnapshot"]["datePrecision"] == "month"
    timeline = served.get(f"/api/snapshots/{after}/timeline").json()["snapshots"]
    assert [each["captureDate"] for each in timeline] == ["2014-02", "2015-03"]
    resolved = served.get(f"/api/replay/resolve?url={URL}bowl&timestamp=20150315000000").json()
    assert (resolved["snapshotId"], resolved["datePrecision"]) == (after, "month")
    home = Home(tmp_path / "home", {"DATABASE_URL": sqlite_database})
    for arguments in (("changes", "list"), ("diff", str(before), str(after))):
        said = home.vitrine(*arguments).stdout
        assert ("2015-03" in said, "2015-03-01" in said) == (True, False)


def test_addresses_have_the_earliest_time(served: Served) -> None:
    """All fourteen digits of it; a time of the same month is not called another one."""
    for name, (_, _, digits) in DATES.items():
        [line] = served.get(f"/web/cdx?url={URL}{name}&output=json").text.splitlines()
        assert json.loads(line)["timestamp"] == digits
    assert "the nearest capture" not in served.get(f"/web/20140220000000/{URL}month").text
    assert "the nearest capture" in served.get(f"/web/20140320000000/{URL}month").text
