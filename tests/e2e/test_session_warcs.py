"""What a session has in a WARC file of its own is shown as long as that file is there, and no longer."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from sqlalchemy import func, select, update

from crawler.clock import utc_now
from crawler.db.models import Artifact, Record, WarcFile
from tests.e2e.conftest import Home
from tests.e2e.test_recorded_runs import STATUSES, recorded, shop
from tests.e2e.test_warc import records
from tests.programs.s3 import make_bucket, own_s3, settings_for
from tests.unit.web.conftest import serving_on

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.e2e.test_framing import Server
    from tests.unit.web.conftest import Served

__all__ = ["shop"]
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*SpooledTemporaryFile:pytest.PytestUnraisableExceptionWarning", "ignore:Unclosed:ResourceWarning"
)
WORDS = {"/": "Start", "/jug": "Jug", "/gone": "no jug here", "/fails": "oops", "/robots.txt": "/secret"}


def sent(home: Home) -> list[str]:
    """The paths of all answers in the session's file, in their order."""
    [path] = home.artifacts.rglob("*.warc.gz")
    return sorted(urlsplit(url).path for kind, url in records(path) if kind == "response")


def require_shown(served: Served, shop: Server) -> None:
    """A page, a redirect, a missing page and a failure are shown as what they were."""
    for path, words in WORDS.items():
        answer = served.get(f"/web/2026mp_/{shop.url(path)}")
        assert (answer.status_code, words in answer.text) == (STATUSES[path], True)
    moved = served.get(f"/web/2026mp_/{shop.url('/moved')}")
    place = re.sub(r"\d{14}", "T", moved.headers["location"])
    assert (moved.status_code, place) == (302, f"/web/Tmp_/{shop.url('/bowl')}")


def expire(home: Home) -> None:
    """Have the time of all HTML and WARC files be over."""
    database = home.database()
    with database.write() as db:
        dated = update(Artifact).where(Artifact.retention_until.is_not(None))
        db.execute(dated.values(retention_until=utc_now() - timedelta(days=1)))
    database.close()


def read(home: Home, *arguments: str) -> Mapping[str, object]:
    """The JSON that a command writes."""
    done = home.vitrine(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_each_answer_of_a_session_is_one_capture(tmp_path: Path, shop: Server, database_url: str) -> None:
    """Redirects, errors and robots.txt; a page that has a file of its own is not there twice."""
    home = Home(tmp_path / "home", {"DATABASE_URL": database_url})
    home.crawl(shop.url(), "-a", "warc=1")
    for arguments in ((), ("--force",)):
        assert read(home, "snapshots", "index", *arguments)["indexed"] == 1
        assert sorted(path for path, _ in recorded(home)) == sent(home)
    with serving_on(database_url, home.path) as serve:
        served = serve()
        require_shown(served, shop)
        lines = served.get(f"/web/cdx?url={shop.url('/*')}&output=json").text.splitlines()
        listed = {urlsplit(line["url"]).path: int(line["status"]) for line in map(json.loads, lines)}
        assert {path: listed[path] for path in STATUSES} == STATUSES
        expire(home)
        assert home.vitrine("cleanup").returncode == 0
        for path in STATUSES:
            gone = served.get(f"/web/2026mp_/{shop.url(path)}")
            assert (gone.status_code, "retention" in gone.text) == (410, True)
        assert not served.get(f"/web/cdx?url={shop.url('/*')}").text
    assert '"state": "gone"' in home.vitrine("warcs", "list", "--json").stdout


@pytest.mark.soak(minutes=10)
def test_it_goes_with_a_purge(tmp_path: Path, shop: Server, database_url: str) -> None:
    """With the file its row and all records."""
    home = Home(tmp_path / "home", {"DATABASE_URL": database_url})
    [session] = home.crawl(shop.url(), "-a", "warc=1")
    assert len(recorded(home)) == len(sent(home)) - 1  # the page is a capture once it is indexed
    assert home.vitrine("purge", "--session", session["id"], "--yes").returncode == 0
    assert home.files() == set()
    database = home.database()
    with database.read() as db:
        assert [db.scalar(select(func.count()).select_from(each)) for each in (Record, WarcFile)] == [0, 0]
    database.close()


@pytest.mark.soak(minutes=10)
def test_what_a_recorded_crawl_has_is_not_there_twice(tmp_path: Path, shop: Server) -> None:
    """With WARC_DIR the answers are in its files already."""
    home = Home(tmp_path / "home", {"WARC_DIR": str(tmp_path / "warcs")})
    home.crawl(shop.url(), "-a", "warc=1")
    assert sorted(path for path, _ in recorded(home)) == sent(home)


def test_it_is_read_from_a_bucket(tmp_path: Path, shop: Server) -> None:
    """As much of the file as an answer takes."""
    with own_s3() as endpoint:
        make_bucket(endpoint, "evidence")
        bucket = settings_for(endpoint, "evidence")
        home = Home(tmp_path / "home", bucket)
        home.crawl(shop.url(), "-a", "warc=1")
        read(home, "snapshots", "index")
        with serving_on(f"sqlite:///{home.path / 'vitrine.db'}", home.path) as serve:
            require_shown(serve(**{name.lower(): value for name, value in bucket.items()}), shop)
