"""A durable run whose pages lie in WARC files: nothing is stored twice, and everything can be read again."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import func, select

from crawler.db.models import Artifact, Diagnostic, Page, Record, Task, WarcFile
from crawler.evidence.bodies import Bodies
from crawler.evidence.files import sha256
from crawler.evidence.folder_store import FolderStore
from tests.e2e.conftest import Home
from tests.e2e.test_warc import urls

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.demo import DemoServer

QUICK = {"DOMAIN_MIN_DELAY_MS": "0", "TASK_JITTER_SECONDS": "0"}


@pytest.mark.parametrize("judge", ["1", "0"], ids=["judged", "links alone"])
def test_pages_lie_in_warcs(tmp_path: Path, shops: DemoServer, judge: str) -> None:
    """No page has a file; each has a record whose body is the one that was read."""
    home = Home(tmp_path / "home", {**QUICK, "PAGE_STORE": "warc", "JUDGE_PAGES": judge})
    done = home.scrapy(
        "crawl",
        "site",
        "-a",
        f"start_url={shops.url('plain')}",
        "-a",
        "max_pages=8",
        "-s",
        "DOWNLOAD_DELAY=0",
    )
    assert done.returncode == 0, done.stderr
    database = home.database()
    with database.read() as db:
        pages = list(db.scalars(select(Page)))
        assert len(pages) > 5
        assert set(db.scalars(select(Artifact.type))) == {"session_logs_jsonl"}
        assert db.scalar(select(func.count()).select_from(Task).where(Task.page_id.is_not(None))) == len(
            pages
        )
        records = set(db.scalars(select(Record.id)))
        assert {page.record_id for page in pages} <= records
        [file] = db.scalars(select(WarcFile))
        assert bool(db.scalar(select(func.count()).select_from(Diagnostic))) == (judge == "1")
    assert {bool(page.verdict and page.facts) for page in pages} == {judge == "1"}
    bodies = Bodies(database, FolderStore(home.artifacts))
    for page in pages:
        body = bodies.of_page(page.id)
        content = body.read()
        assert (sha256(content), b"<html" in content) == (page.content_sha256, True)
        assert (body.content_type or "").startswith("text/html")
    assert file.state == "sealed"
    assert file.session_id == pages[0].session_id
    found = urls(home.path / "warcs")
    assert {page.url for page in pages} <= {url for kind, url in found if kind == "response"}
    listed = json.loads(home.vitrine("warcs", "list", "--json").stdout)["files"]
    assert [(each["records"], each["state"], each["session"]) for each in listed] == [
        (len(found) // 2, "sealed", str(file.session_id))
    ]
    assert len(records) == len(found) // 2
    made = json.loads(home.vitrine("snapshots", "index", "--json").stdout)
    assert (made["indexed"], made["bad"], made["total"]) == (len(pages), 0, len(pages))
    title = re.search(r"<title>([^<]+)", bodies.of_page(pages[0].id).read().decode())
    assert title
    word = max(re.findall(r"\w+", title[1]), key=len)
    results = json.loads(home.vitrine("search", word, "--json").stdout)["results"]
    assert pages[0].url in {each["original_url"] for each in results}
    verify_again(home, file, pages)
    database.close()


def bodies_of(home: Home) -> list[str]:
    """What `snapshots show` says of the body of each page."""
    listed = json.loads(home.vitrine("snapshots", "list", "--json").stdout)["snapshots"]
    shown = [home.vitrine("snapshots", "show", str(each["id"]), "--json") for each in listed]
    return [json.loads(each.stdout)["body"] for each in shown]


def verify_again(home: Home, file: WarcFile, pages: list[Page]) -> None:
    """`artifacts verify` reads them too: damage is told by page and place, a file that is gone as missing."""

    def verified(code: int) -> dict[str, Any]:
        done = home.vitrine("artifacts", "verify", "--json")
        assert done.returncode == code, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        assert found["pages_checked"] == len(pages)
        return found

    assert verified(0)["pages_failed"] == []
    path = home.path / "warcs" / file.path
    data = path.read_bytes()
    path.write_bytes(data[:-2000] + bytes(20) + data[-1980:])
    damaged = verified(6)["pages_failed"]
    assert {each["finding"] for each in damaged} == {"checksum_differs"}
    assert {each["warc"] for each in damaged} == {str(path)}
    assert {each["id"] for each in damaged} < {str(page.id) for page in pages}
    [listed] = json.loads(home.vitrine("warcs", "list", "--json").stdout)["files"]
    assert (listed["state"], listed["records_bad"]) == ("damaged", len(damaged))
    assert sorted(bodies_of(home)) == sorted(
        ["damaged"] * len(damaged) + ["there"] * (len(pages) - len(damaged))
    )
    path.write_bytes(data)
    assert home.vitrine("warcs", "verify", str(path)).returncode == 0
    assert set(bodies_of(home)) == {"there"}
    path.unlink()
    assert home.vitrine("warcs", "verify", str(path)).returncode == 6
    assert set(bodies_of(home)) == {"file_missing"}
    path.write_bytes(data)  # the check that found it missing is over
    assert set(bodies_of(home)) == {"there"}
    path.unlink()
    assert [each["finding"] for each in verified(6)["pages_failed"]] == ["missing"] * len(pages)
    assert f"{len(pages)} damaged" in home.vitrine("artifacts", "verify").stdout
