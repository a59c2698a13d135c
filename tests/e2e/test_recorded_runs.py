"""What crawls keep in WARC files: whatever these have can be found, shown and listed, page or not."""

from __future__ import annotations

import json
import re
import shutil
import signal
from contextlib import closing
from datetime import timedelta
from threading import Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from sqlalchemy import func, select, update
from warcio.archiveiterator import ArchiveIterator

from crawler.clock import utc_now
from crawler.db.models import Artifact, Page, Record, Task, WarcFile
from crawler.evidence.bodies import Bodies
from crawler.evidence.files import sha256
from crawler.evidence.folder_store import FolderStore
from tests.e2e.conftest import Home
from tests.e2e.test_framing import Server
from tests.programs.s3 import make_bucket, own_s3, settings_for
from tests.unit.web.conftest import serving_on
from tests.waiting import wait_for

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Generator
    from pathlib import Path

    from tests.unit.web.conftest import Served

# warcio leaves its temporary files to whoever comes along.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*SpooledTemporaryFile:pytest.PytestUnraisableExceptionWarning", "ignore:Unclosed:ResourceWarning"
)
QUICK = {"DOMAIN_MIN_DELAY_MS": "0", "TASK_JITTER_SECONDS": "0", "TASK_MAX_RETRIES": "1"}
IN_WARCS = {**QUICK, "PAGE_STORE": "warc"}
TYPE = b"Content-Type: text/html\r\n"
PAGE = b"<html><title>%s</title><body><h1>%s</h1><p>Earthenware, glazed twice.</p>%s</body></html>"
LINKS = b"".join(b'<a href="%s">x</a>' % path for path in (b"/moved", b"/gone", b"/fails", b"/jug"))
OK = b"HTTP/1.0 200 OK\r\n" + TYPE + b"\r\n"
ANSWERS = {
    "/": OK + PAGE % (b"Start", b"Start", LINKS),
    "/jug": OK + PAGE % (b"Jug", b"Jug", b""),
    "/bowl": OK + PAGE % (b"Bowl", b"Bowl", b""),
    "/moved": b"HTTP/1.0 301 Moved\r\nLocation: /bowl\r\n" + TYPE + b"\r\n<p>it has moved",
    "/gone": b"HTTP/1.0 404 Not Found\r\n" + TYPE + b"\r\n<h1>no jug here</h1>",
    "/fails": b"HTTP/1.0 500 Oops\r\n" + TYPE + b"\r\n<h1>oops</h1>",
    "/robots.txt": b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nUser-agent: *\nDisallow: /secret\n",
}
STATUSES = {
    "/": 200,
    "/jug": 200,
    "/bowl": 200,
    "/moved": 301,
    "/gone": 404,
    "/fails": 500,
    "/robots.txt": 200,
}
PAGES = {"/", "/jug", "/bowl"}
WORDS = {"/": "Start", "/jug": "Jug", "/gone": "no jug here", "/fails": "oops", "/robots.txt": "/secret"}


def urls(folder: Path) -> list[tuple[str, str]]:
    """The records of a folder's files, as warcio reads them, each with digests that hold."""
    return [record for path in sorted(folder.iterdir()) for record in records(path)]


def records(path: Path) -> list[tuple[str, str]]:
    """Those of one file."""
    assert path.name.endswith(".warc.gz")
    found = []
    with path.open("rb") as file:
        for each in ArchiveIterator(file, check_digests=True):
            found.append((each.rec_type, each.rec_headers.get_header("WARC-Target-URI") or ""))
            each.raw_stream.read()
            assert each.digest_checker.passed is not False
    return found


@pytest.fixture(scope="module")
def shop() -> Generator[Server]:
    """A shop with pages that moved, are gone, and fail."""
    with Server() as server:
        server.answers = ANSWERS
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def recorded(home: Home) -> list[tuple[str, int | None]]:
    """The paths and statuses of all records that can be shown, in their order."""
    database = home.database()
    with database.read() as db:
        query = select(Record.url, Record.status_code).order_by(Record.captured_at)
        found = [(urlsplit(url).path, status) for url, status in db.execute(query)]
    database.close()
    return found


def sent(folder: Path) -> list[str]:
    """The paths of all answers in the WARC files of a folder, sorted."""
    found = [each for path in sorted(folder.rglob("*.warc.gz")) for each in records(path)]
    return sorted(urlsplit(url).path for kind, url in found if kind == "response")


def read(home: Home, *arguments: str) -> dict[str, Any]:
    """The JSON that a command writes."""
    done = home.vitrine(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def require_shown(served: Served, shop: Server) -> None:
    """A page, a redirect, a missing page and a failure are shown and listed as what they were."""
    for path, words in WORDS.items():
        answer = served.get(f"/web/2026mp_/{shop.url(path)}")
        assert (answer.status_code, words in answer.text) == (STATUSES[path], True)
    moved = served.get(f"/web/2026mp_/{shop.url('/moved')}")
    place = re.sub(r"\d{14}", "T", moved.headers["location"])
    assert (moved.status_code, place) == (302, f"/web/Tmp_/{shop.url('/bowl')}")
    lines = served.get(f"/web/cdx?url={shop.url('/*')}&output=json").text.splitlines()
    listed = {urlsplit(line["url"]).path: int(line["status"]) for line in map(json.loads, lines)}
    assert {path: listed[path] for path in STATUSES} == STATUSES


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory, shop: Server) -> Home:
    """A run through the shop that keeps its pages in WARC files, indexed."""
    home = Home(tmp_path_factory.mktemp("crawled") / "home", dict(IN_WARCS))
    home.scrapy("crawl", "site", "-a", f"start_url={shop.url()}", "-s", "DOWNLOAD_DELAY=0")
    indexed = read(home, "snapshots", "index")
    assert (indexed["indexed"], indexed["bad"], indexed["total"]) == (3, 0, 3)
    return home


def test_each_answer_of_a_run_is_a_record(crawled: Home) -> None:
    """Redirects, errors and robots.txt among them; the search knows pages only."""
    found = recorded(crawled)
    assert sorted(path for path, _ in found) == sent(crawled.path / "warcs")
    assert dict(found) == STATUSES
    [listed] = read(crawled, "warcs", "list")["files"]
    assert (listed["records"], listed["state"]) == (len(found), "sealed")
    snapshots = read(crawled, "snapshots", "list")["snapshots"]
    assert {urlsplit(each["url"]).path for each in snapshots} == PAGES
    assert read(crawled, "search", "oops")["results"] == []
    assert {
        urlsplit(each["original_url"]).path for each in read(crawled, "search", "glazed")["results"]
    } == PAGES


def test_pages_lie_in_warcs_alone(crawled: Home) -> None:
    """No page has a file; each has a record, whose body is the one that was read and judged."""
    with closing(crawled.database()) as database:
        with database.read() as db:
            pages = list(db.scalars(select(Page).where(Page.status == "ok")))
            assert set(db.scalars(select(Artifact.type))) == {"session_logs_jsonl"}
            assert {page.id for page in pages} == set(db.scalars(select(Task.page_id))) - {None}
        bodies = Bodies(database, FolderStore(crawled.artifacts))
        for page in pages:
            body = bodies.of_page(page.id)
            content = body.read()
            assert (sha256(content), b"<html" in content) == (page.content_sha256, True)
            assert (body.content_type or "").startswith("text/html")
    assert {urlsplit(page.url).path for page in pages} == PAGES
    assert all(page.verdict and page.facts for page in pages)


def test_they_are_shown_as_what_they_were(crawled: Home, shop: Server) -> None:
    """A redirect leads on within the archive, a missing page is missing, and the CDX server lists both."""
    with serving_on(f"sqlite:///{crawled.path / 'vitrine.db'}", crawled.path) as serve:
        require_shown(serve(), shop)


def bodies_of(home: Home) -> list[str]:
    """What `snapshots show` says of the body of each page."""
    listed = read(home, "snapshots", "list")["snapshots"]
    return sorted(read(home, "snapshots", "show", str(each["id"]))["body"] for each in listed)


def test_damage_is_found_and_told(crawled: Home, tmp_path: Path) -> None:
    """By page and place; a file that is gone is missing, and one that is back is there again."""
    home = Home(shutil.copytree(crawled.path, tmp_path / "home"))

    def verified(code: int) -> list[dict[str, Any]]:
        done = home.vitrine("artifacts", "verify", "--json")
        assert done.returncode == code, done.stderr
        found = json.loads(done.stdout)
        assert found["pages_checked"] == len(PAGES)
        return list(found["pages_failed"])

    assert verified(0) == []
    [path] = (home.path / "warcs").iterdir()
    data = path.read_bytes()
    with closing(home.database()) as database, database.read() as db:
        [jug] = db.scalars(select(Record).where(Record.url.endswith("/jug")))
    middle = (jug.offset or 0) + (jug.length or 0) // 2
    path.write_bytes(data[:middle] + bytes(20) + data[middle + 20 :])
    [damaged] = verified(6)
    assert (damaged["finding"], damaged["warc"]) == ("checksum_differs", str(path))
    [listed] = read(home, "warcs", "list")["files"]
    assert (listed["state"], listed["records_bad"]) == ("damaged", 1)
    assert bodies_of(home) == ["damaged", "there", "there"]
    path.write_bytes(data)
    assert home.vitrine("warcs", "verify", str(path)).returncode == 0
    assert set(bodies_of(home)) == {"there"}
    path.unlink()
    assert [each["finding"] for each in verified(6)] == ["missing"] * len(PAGES)
    assert set(bodies_of(home)) == {"file_missing"}
    path.write_bytes(data)  # the check that found it missing is over
    assert set(bodies_of(home)) == {"there"}


@pytest.mark.soak(minutes=10)
def test_a_killed_run_loses_none(tmp_path: Path, shop: Server, endings: list[subprocess.Popen[str]]) -> None:
    """Whoever opens the folder next writes down what its files have."""
    home = Home(tmp_path / "home", dict(IN_WARCS))
    process = home.start_scrapy("crawl", "site", "-a", f"start_url={shop.url()}", "-s", "DOWNLOAD_DELAY=2")
    endings.append(process)
    wait_for(lambda: "/moved" in shop.asked[:-1])  # it is written before the next request goes out
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert home.vitrine("warcs", "recover").returncode == 0
    there = sent(home.path / "warcs")
    assert "/moved" in there
    assert sorted(path for path, _ in recorded(home)) == there
    database = home.database()
    with database.read() as db:
        assert set(db.scalars(select(WarcFile.state))) == {"sealed"}
    database.close()


def expire(home: Home) -> None:
    """Have the time of all HTML and WARC files be over."""
    database = home.database()
    with database.write() as db:
        dated = update(Artifact).where(Artifact.retention_until.is_not(None))
        db.execute(dated.values(retention_until=utc_now() - timedelta(days=1)))
    database.close()


def test_each_answer_of_a_session_is_one_capture(tmp_path: Path, shop: Server) -> None:
    """In a file of its own, dated as its HTML; none is shown any more once that time is over."""
    home = Home(tmp_path / "home")
    home.crawl(shop.url(), "-a", "warc=1")
    [session] = home.sessions()
    dated = {each["type"]: each["retention_until"] for each in session["artifacts"]}
    assert str(dated["warc"])[:10] == str(dated["html_gz"])[:10]
    for arguments in ((), ("--force",)):
        assert read(home, "snapshots", "index", *arguments)["indexed"] == 1
        assert sorted(path for path, _ in recorded(home)) == sent(home.artifacts)
    assert list((home.path / "spool").iterdir()) == []
    with serving_on(f"sqlite:///{home.path / 'vitrine.db'}", home.path) as serve:
        served = serve()
        require_shown(served, shop)
        expire(home)
        assert home.vitrine("cleanup").returncode == 0
        for path in STATUSES:
            gone = served.get(f"/web/2026mp_/{shop.url(path)}")
            assert (gone.status_code, "retention" in gone.text) == (410, True)
        assert not served.get(f"/web/cdx?url={shop.url('/*')}").text
    assert '"state": "gone"' in home.vitrine("warcs", "list", "--json").stdout


@pytest.mark.soak
def test_a_session_that_is_tried_again_keeps_both_and_goes_with_a_purge(
    tmp_path: Path, shop: Server, database_url: str
) -> None:
    """What was sent each time; with the files go their rows and all records."""
    home = Home(tmp_path / "home", {"DATABASE_URL": database_url})
    [session] = home.crawl(shop.url(), "-a", "warc=1")
    again = home.vitrine("sessions", "retry", session["id"], "-s", "DOWNLOAD_DELAY=0")
    assert again.returncode == 3, again.stderr  # the shop has no product
    [shown] = home.sessions()
    assert [each["type"] for each in shown["artifacts"]].count("warc") == 2
    assert home.vitrine("artifacts", "verify").returncode == 0
    assert home.vitrine("purge", "--session", session["id"], "--yes").returncode == 0
    assert home.files() == set()
    with closing(home.database()) as database, database.read() as db:
        assert [db.scalar(select(func.count()).select_from(each)) for each in (Record, WarcFile)] == [0, 0]


@pytest.mark.soak
def test_what_a_recorded_crawl_has_is_not_there_twice(tmp_path: Path, shop: Server) -> None:
    """With WARC_DIR the answers are in its files already, and a page beside its own file."""
    home = Home(tmp_path / "home", {"WARC_DIR": str(tmp_path / "warcs")})
    home.crawl(shop.url(), "-a", "warc=1")
    for arguments in ((), ("--force",)):
        assert read(home, "snapshots", "index", *arguments)["indexed"] >= 1
        assert sorted(path for path, _ in recorded(home)) == sent(home.artifacts) == sent(tmp_path / "warcs")
    [listed] = read(home, "snapshots", "list")["snapshots"]
    assert read(home, "snapshots", "show", str(listed["id"]))["container"] == "warc"
    assert "Start" in home.vitrine("snapshots", "cat", str(listed["id"])).stdout


@pytest.mark.soak
def test_sessions_in_a_bucket(tmp_path: Path, shop: Server) -> None:
    """Their WARC files are written whole, read in parts, verified, and gone with a purge."""
    with own_s3() as endpoint:
        make_bucket(endpoint, "evidence")
        bucket = settings_for(endpoint, "evidence")
        home = Home(tmp_path / "home", bucket)
        [session] = home.crawl(shop.url(), "-a", "warc=1")
        read(home, "snapshots", "index")
        assert home.vitrine("artifacts", "verify").returncode == 0
        with serving_on(f"sqlite:///{home.path / 'vitrine.db'}", home.path) as serve:
            served = serve(**{name.lower(): value for name, value in bucket.items()})
            require_shown(served, shop)
            assert home.vitrine("purge", "--session", session["id"], "--yes").returncode == 0
            assert served.get(f"/web/2026mp_/{shop.url('/jug')}").status_code == 404
