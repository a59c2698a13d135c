"""The archive for programs: numbers, sources, snapshots, searches, changes and lists."""

from __future__ import annotations

import csv
import gzip
import io
import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import uuid4
from xml.etree import ElementTree as ET  # ruff: ignore[suspicious-xml-etree-import] - to read our own

import pytest
from sqlalchemy import select

from crawler.archive import search as archive_search
from crawler.db.models import Artifact, ExportRecord, Page, RegisteredSource, Snapshot
from crawler.views import search as views_of_search
from crawler.views.export_tables import Archived, ArchiveOrder
from crawler.views.exports import Form
from crawler.web.api import exports
from tests.unit.archive.captured import SHOP
from tests.unit.views.rows import a_job
from tests.unit.web.conftest import TOKEN

if TYPE_CHECKING:
    from typing import Any

    from crawler.archive.search import SearchOrder
    from tests.unit.web.conftest import Serve, Served


def test_an_empty_archive_has_zeros(served_on_both: Served) -> None:
    """Nothing is an answer, not an error."""
    assert served_on_both.get("/api/stats").json() == {
        "snapshotsTotal": 0, "pagesTotal": 0, "sourcesTotal": 0, "latestCaptureDate": None,
        "latestCaptureAgeDays": None,
    }  # fmt: skip
    assert served_on_both.get("/api/sources").json() == []
    health = served_on_both.get("/api/health").json()
    assert (health["status"], health["checks"]["db"]) == ("ok", "ok")
    assert health["checks"]["snapshots"] == {"total": 0}
    assert served_on_both.get("/api/search?q=anything").json() == {
        "results": [], "total": 0, "page": 1, "pageSize": 20,
    }  # fmt: skip


def test_a_database_that_is_gone_is_reported(served: Served) -> None:
    """The health check fails with the body that is promised; the page of the system can be had."""
    served.database.close()
    assert served.database.path
    served.database.path.unlink()
    served.database.path.mkdir()
    response = served.get("/api/health")
    assert response.status_code == 500
    assert response.json() == {"status": "error", "checks": {"db": "error"}}
    page = served.get("/-/system.json")
    assert (page.status_code, page.json()["database_answers"]) == (200, False)


def test_what_is_captured_is_counted_and_found(filled: Served) -> None:
    """Stats, sources, search, snapshot and raw agree; the source for tests is hidden."""
    assert filled.get("/api/stats").json()["snapshotsTotal"] == 3
    [source] = filled.get("/api/sources").json()
    assert (source["sourceCode"], source["recordCount"]) == ("shop.example", 3)
    found = filled.get("/api/search", params={"q": "beech", "pageSize": 2}).json()
    assert (found["total"], len(found["results"])) == (3, 2)
    hit = found["results"][0]
    shown = filled.get(f"/api/snapshot/{hit['id']}").json()
    of_searches = {"pageSnapshotsCount", "titleHtml", "snippetHtml"}
    assert {name: shown[name] for name in hit.keys() - of_searches}.items() <= hit.items()
    raw = filled.get(hit["rawSnapshotUrl"])
    assert raw.headers["content-type"] == "text/html; charset=utf-8"
    assert "Made of beech" in raw.text
    assert raw.headers["content-security-policy"].startswith("sandbox;")
    with filled.database.write() as db:
        db.scalars(select(RegisteredSource)).one().code = "test"
    assert filled.get("/api/sources").json() == []


def test_a_source_has_editions(filled: Served) -> None:
    """One for each job with captures; its entry is the first one that was answered well."""
    at = "/api/sources/SHOP.example/editions"
    assert filled.get(at).json() == []  # visits are no edition
    with filled.database.write() as db:
        first, second, empty = (a_job(name=name) for name in ("first", "second", "empty"))
        db.add_all([first, second, empty])
        db.flush()
        one, two, three = db.scalars(select(Snapshot).order_by(Snapshot.id))
        one.job_id = two.job_id = first.id
        one.status_class, three.job_id = -1, second.id
        for number, each in enumerate((one, two, three)):
            each.captured_at = datetime(2026, 3, 1 + number, tzinfo=UTC)
        ids, pages = (first.id, second.id), (two.url, three.url)
    later, earlier = filled.get(at).json()
    assert later["entryBrowseUrl"].endswith(f"/{pages[1]}")
    assert earlier["entryBrowseUrl"].endswith(f"/{pages[0]}")
    names = ("jobId", "jobName", "recordCount", "firstCapture", "lastCapture")
    assert [tuple(each[name] for name in names) for each in (later, earlier)] == [
        (ids[1], "second", 1, "2026-03-03", "2026-03-03"), (ids[0], "first", 2, "2026-03-01", "2026-03-02"),
    ]  # fmt: skip
    for unknown in ("other", "test", "%25", "x" * 90):
        assert filled.get(f"/api/sources/{unknown}/editions").status_code == 404


def test_a_source_has_a_preview(filled: Served) -> None:
    """The newest picture that may still be read, and none of another source."""
    at = "/api/sources/SHOP.example/preview"
    assert (filled.get(at).status_code, filled.get(at).json()["error"]) == (404, "No preview")
    with filled.database.write() as db:
        [page, *_] = db.scalars(select(Page))
        for number, gone in enumerate((None, None, db.now)):
            filled.blobs.publish(f"{number}.png", b"picture %d" % number)
            db.add(
                Artifact(
                    id=uuid4(), session_id=page.session_id, page_id=page.id, type="screenshot",
                    storage_uri=f"{number}.png", size_bytes=9, checksum=str(number), content_sha256="",
                    content_type="image/png", created_at=db.now + timedelta(days=number), deleted_at=gone,
                )
            )  # fmt: skip
    answer = filled.get(at)
    assert (answer.content, answer.headers["content-type"]) == (b"picture 1", "image/png")
    assert filled.get("/api/sources/other/preview").status_code == 404


def test_what_cannot_be_understood_is_422(served: Served) -> None:
    """Bounds are checked before a database sees a value."""
    for query in (
        "page=0", "pageSize=0", "pageSize=101", "page=9007199254740993", "from=0000-01-01", "from=2026-13-01",
        "to=1700000000", "from=2026-02-01&to=2026-01-01", "sort=odd", "view=odd", "q=", f"q={'a' * 257}",
        "page=x", "includeNon2xx=maybe", "includeDuplicates=maybe",
    ):  # fmt: skip
        assert (query, served.get(f"/api/search?{query}").status_code) == (query, 422)
    for number in ("9223372036854775808", "-1", "x"):
        assert served.get(f"/api/snapshot/{number}").status_code == 422


def test_any_text_is_a_question(filled: Served) -> None:
    """Whatever it is made of; a page past the end is empty, and the total stays."""
    for q in ("(((((", 'a" OR', "NOT NOT", "title:", "%", "\\", "'; DROP TABLE snapshots", "*"):
        assert (q, filled.get("/api/search", params={"q": q}).status_code) == (q, 200)
    found = filled.get("/api/search?page=1000000000000").json()
    assert (found["results"], found["total"]) == ([], 3)


def test_a_search_explains_the_points_of_its_hits(filled: Served) -> None:
    """To operators; the parts of each add up."""
    found = filled.get("/api/admin/search-debug?q=beech", headers={"X-Admin-Token": TOKEN}).json()
    assert (found["query"], found["total"], len(found["ids"])) == ("beech", 3, 3)
    points = found["explain"]["points"]
    assert [each["id"] for each in points] == found["ids"]
    for each in points:
        assert each["total"] == sum(value for name, value in each.items() if name not in {"id", "total"})


@pytest.mark.parametrize("fast", [True, False])
def test_the_search_heeds_the_setting_of_its_fast_path(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, *, fast: bool
) -> None:
    """`PAGES_FASTPATH` holds for programs and pages as for the command."""
    asked: list[bool] = []
    found = archive_search.search

    def search(db: Any, order: SearchOrder, **more: Any) -> Any:
        asked.append(order.fast_pages)
        return found(db, order, **more)

    monkeypatch.setattr(views_of_search, "search", search)
    served = serve(pages_fastpath=fast)
    assert served.get("/api/search?view=pages").status_code == 200
    assert served.get("/search?view=pages").status_code == 200
    assert asked == [fast, fast]


def test_lists_are_given_out_page_by_page(filled: Served) -> None:
    """By ids, in either form, packed or not; each row once."""
    assert {each["name"] for each in filled.get("/api/exports").json()["exports"]} == {"snapshots", "changes"}
    first = filled.get("/api/exports/snapshots?limit=2")
    assert first.headers["content-type"] == "application/x-ndjson"
    rows = [json.loads(line) for line in first.text.splitlines()]
    rest = filled.get(f"/api/exports/snapshots?limit=2&afterId={rows[-1]['id']}").text.splitlines()
    assert [row["id"] for row in (*rows, *map(json.loads, rest))] == [1, 2, 3]
    packed = filled.get("/api/exports/snapshots?format=csv&compressed=true")
    assert packed.headers["content-type"] == "application/gzip"
    listed = list(csv.DictReader(io.StringIO(gzip.decompress(packed.content).decode())))
    assert [row["sourceCode"] for row in listed] == ["shop.example"] * 3
    for query, number in (("source=SHOP.example", 3), ("source=other", 0), ("from=2999-01-01", 0)):
        assert len(filled.get(f"/api/exports/snapshots?{query}").text.splitlines()) == number
    assert filled.get("/api/exports/changes?format=csv").text.startswith("id,sourceCode")
    for wrong in (
        "snapshots?limit=10001", "snapshots?limit=0", "snapshots?format=xml", "prices", "snapshots?afterId=-1"
    ):  # fmt: skip
        assert filled.get(f"/api/exports/{wrong}").status_code == 422


def test_lists_are_on_record(filled: Served) -> None:
    """As those of `vitrine export` are, with the rows that left; as failed, where one broke off."""
    for query in ("snapshots?limit=2", "snapshots?format=csv&compressed=true", "changes?format=csv"):
        filled.get(f"/api/exports/{query}")
    order = ArchiveOrder(what=Archived.SNAPSHOTS)
    broken = exports.on_record(filled.database, order, Form.JSONL)
    next(broken)
    del broken
    with filled.database.read() as db:
        rows = db.scalars(select(ExportRecord).order_by(ExportRecord.id)).all()
    assert [(row.what, row.format, row.row_count, row.status, row.actor) for row in rows] == [
        ("snapshots", "jsonl", 2, "complete", "web"), ("snapshots", "csv", 3, "complete", "web"),
        ("changes", "csv", 0, "complete", "web"), ("snapshots", "jsonl", 0, "failed", "web"),
    ]  # fmt: skip


def test_lists_and_changes_can_be_switched_off(serve: Serve) -> None:
    """Then nothing is given out, and the feed says so."""
    served = serve(exports_enabled=False, change_tracking_enabled=False)
    response = served.get("/api/exports/snapshots")
    assert (response.status_code, response.json()["code"]) == (403, "exports_disabled")
    assert served.get("/api/changes").json()["enabled"] is False
    assert served.get("/api/changes/compare?toSnapshotId=1").status_code == 404
    assert "Changes are not tracked here" in served.get("/changes", headers={"Accept": "text/html"}).text


def test_the_feed_of_changes(shop: Served) -> None:
    """Newest first, without what is unchanged unless it is asked for."""
    found = shop.get("/api/changes").json()
    assert (found["enabled"], found["total"], found["page"], found["pageSize"]) == (True, 3, 1, 20)
    change = next(each for each in found["results"] if each["changeType"] == "updated")
    names = ("summary", "addedLines", "highNoise", "diffAvailable", "sourceCode", "normalizedUrlGroup")
    assert [change[name] for name in names] == [
        "1 section changed; 0 added; 0 removed", 1, False, True, "shop.example", SHOP
    ]  # fmt: skip
    assert shop.get("/api/changes?includeUnchanged=true").json()["total"] == 4
    assert shop.get("/api/changes?to=2026-05-01").json()["total"] == 1
    assert shop.get("/api/changes?page=99").json()["results"] == []
    unknown = shop.get("/api/changes?source=nowhere")
    assert (unknown.status_code, unknown.json()["detail"]) == (404, "Source not found")
    assert shop.get("/api/changes?from=2026-05-03&to=2026-05-01").status_code == 422


def test_a_comparison(shop: Served) -> None:
    """With the capture before, with any other of the page, and with none of another."""
    answer = shop.get("/api/changes/compare?toSnapshotId=2")
    found = answer.json()
    assert (found["fromSnapshot"]["id"], found["toSnapshot"]["id"], found["event"]["changeId"]) == (1, 2, 2)
    assert "<del data-change" in found["diffHtml"]
    assert "<script>" not in found["diffHtml"]
    again = shop.get("/api/changes/compare?toSnapshotId=2", headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", answer.headers["ETag"])
    assert shop.get("/api/changes/compare?toSnapshotId=3").headers["ETag"] != answer.headers["ETag"]
    far = shop.get("/api/changes/compare?toSnapshotId=3&fromSnapshotId=1").json()
    assert (far["event"], far["changeType"]) == (None, "updated")
    first = shop.get("/api/changes/compare?toSnapshotId=1").json()
    assert (first["fromSnapshot"], first["changeType"], first["diffHtml"]) == (None, "new_page", None)
    for query, status, detail in (
        ("toSnapshotId=4&fromSnapshotId=1", 400, "Snapshot pair not available"),
        ("toSnapshotId=99", 404, "Change event not found"),
    ):
        refused = shop.get(f"/api/changes/compare?{query}")
        assert (refused.status_code, refused.json()["detail"]) == (status, detail)


def test_the_captures_of_a_page(shop: Served) -> None:
    """The oldest first, each with the one that it is compared with; and the newest."""
    found = shop.get("/api/snapshots/2/timeline").json()
    assert (found["sourceCode"], found["normalizedUrlGroup"]) == ("shop.example", SHOP)
    assert [each["compareFromSnapshotId"] for each in found["snapshots"]] == [None, 1, 2]
    assert found["snapshots"][0]["browseUrl"] == f"/web/20260501120000/{SHOP}"
    assert shop.get("/api/snapshots/1/latest").json()["id"] == 3
    for path in ("timeline", "latest"):
        answer = shop.get(f"/api/snapshots/99/{path}")
        assert (answer.status_code, answer.json()["detail"]) == (404, "Snapshot not found")


def test_the_capture_of_a_time(shop: Served, serve: Serve) -> None:
    """Is found for programs that link to it, here or in another replay, where one is set."""
    asked = {"url": SHOP, "timestamp": "20260502080000"}
    found = shop.get("/api/replay/resolve", params=asked).json()
    assert (found["found"], found["snapshotId"]) == (True, 2)
    assert found["browseUrl"] == f"/web/20260502120000/{SHOP}"
    for other in ({"url": "https://no.example/"}, {"jobId": "5"}):
        assert shop.get("/api/replay/resolve", params={**asked, **other}).json()["found"] is False
    assert shop.get("/api/replay/resolve", params={**asked, "timestamp": "2026"}).status_code == 422
    for bad in ("javascript:alert(1)", "http://", "ftp://shop.example/", "http://[::1/"):
        answer = shop.get("/api/replay/resolve", params={**asked, "url": bad})
        assert (answer.status_code, answer.json()["code"]) == (400, "bad_replay_address")
    assert shop.get("/api/replay/resolve", params={**asked, "timestamp": "20261301000000"}).status_code == 400
    elsewhere = serve(replay_base_url="pywb.example/shop/")
    found = elsewhere.get("/api/replay/resolve", params=asked).json()
    assert found["browseUrl"] == f"https://pywb.example/shop/20260502120000/{SHOP}"
    assert elsewhere.get(f"/web/20260502120000mp_/{SHOP}").status_code == 200


def parsed(shop: Served, path: str) -> ET.Element:
    """A feed, as its readers take it."""
    return ET.fromstring(shop.get(path).text)  # ruff: ignore[suspicious-xml-element-tree-usage] - see above


def test_feeds_can_be_read(shop: Served) -> None:
    """By their readers' own parsers, whatever is in a URL."""
    rss = parsed(shop, "/api/changes/rss")
    assert len(rss.findall("./channel/item")) == 3
    assert rss.findtext("./channel/item/link", "").startswith(shop.address)
    atom = parsed(shop, "/api/changes/atom?source=shop.example")
    assert len(atom.findall("{http://www.w3.org/2005/Atom}entry")) == 3
    feed = shop.get("/api/changes/feed.json").json()
    assert feed["version"].endswith("1.1")
    assert len({each["id"] for each in feed["items"]}) == 3
